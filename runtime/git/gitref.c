/* SPDX-License-Identifier: MIT */
/* gitref: refs of a repository: read, list, compare-and-swap, and which branches are in use. Every write is fsynced.
 * Never follows or changes HEAD. Called by lgitref.c and lgitobj.c. */
#define _GNU_SOURCE
#include "git/gitref.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_STALE_S = 10, LOCK_DEPTH = 16 };

static int check_ref(const char *name, struct ap_err *err)
{
    int valid = 0;
    if (ap_gitlib.reference_name_is_valid(&valid, name) < 0 || !valid || strncmp(name, "refs/", 5) != 0)
        return ap_err_set(err, "EINVAL", "\"%s\" is not a full ref name such as refs/heads/main", name);
    return 0;
}

int ap_gitref_read(git_oid *out, git_repository *repo, const char *name, struct ap_err *err)
{
    int result = ap_gitlib.reference_name_to_id(out, repo, name);
    return result < 0 ? ap_gitlib_fail_ref(err, result, repo, name) : 0;
}

int ap_gitref_symbolic(struct ap_buf *out, git_repository *repo, const char *name, struct ap_err *err)
{
    git_reference *ref = NULL;
    int result = ap_gitlib.reference_lookup(&ref, repo, name);
    if (result < 0)
        return ap_gitlib_fail_ref(err, result, repo, name);
    if (ap_gitlib.reference_type(ref) == GIT_REFERENCE_SYMBOLIC) {
        const char *target = ap_gitlib.reference_symbolic_target(ref);
        result = ap_buf_add(out, target, strlen(target) + 1);
    }
    ap_gitlib.reference_free(ref);
    return result != 0 ? ap_err_memory(err) : 0;
}

static int add_ref(struct ap_buf *out, git_reference *ref)
{
    git_reference *resolved = NULL;
    char id[GIT_OID_HEXSZ + 1];
    if (ap_gitlib.reference_resolve(&resolved, ref) < 0)
        return 0; /* a symbolic ref to nothing names nothing */
    ap_gitlib.oid_tostr(id, sizeof id, ap_gitlib.reference_target(resolved));
    const char *name = ap_gitlib.reference_name(ref);
    int result = ap_buf_add(out, name, strlen(name) + 1);
    if (result == 0)
        result = ap_buf_add(out, id, sizeof id);
    ap_gitlib.reference_free(resolved);
    return result;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts pairs of fields by their first: libgit2 lists loose refs before packed ones. */
static int sort_refs(struct ap_buf *out, size_t from, struct ap_err *err)
{
    struct ap_buf sorted = {0};
    size_t count = 0, size = out->used - from;
    const char **names = size > 0 ? calloc(size / (GIT_OID_HEXSZ + 1), sizeof *names) : NULL;
    if (size == 0)
        return 0;
    if (names == NULL || ap_buf_add(&sorted, out->bytes + from, size) != 0) {
        free(names);
        return ap_err_memory(err);
    }
    for (const char *at = sorted.bytes; at < sorted.bytes + size; at += strlen(at) + 1 + GIT_OID_HEXSZ + 1)
        names[count++] = at;
    qsort(names, count, sizeof *names, by_name);
    out->used = from;
    for (size_t i = 0; i < count; i++)
        ap_buf_add(out, names[i], strlen(names[i]) + 1 + GIT_OID_HEXSZ + 1); /* cannot fail: it fitted before */
    free(names);
    ap_buf_dispose(&sorted);
    return 0;
}

int ap_gitref_list(struct ap_buf *out, git_repository *repo, const char *prefix, struct ap_err *err)
{
    git_reference_iterator *iterator = NULL;
    git_reference *ref;
    size_t from = out->used;
    /* Given a plain directory prefix, libgit2 walks only that directory; other characters would be glob syntax. */
    char glob[1100];
    bool plain = strpbrk(prefix, "*?[\\") == NULL && snprintf(glob, sizeof glob, "%s*", prefix) < (int)sizeof glob;
    int result = plain ? ap_gitlib.reference_iterator_glob_new(&iterator, repo, glob)
                       : ap_gitlib.reference_iterator_new(&iterator, repo);
    if (result < 0)
        return ap_gitlib_fail(err, result, "refs");
    while ((result = ap_gitlib.reference_next(&ref, iterator)) == 0) {
        bool wanted = strncmp(ap_gitlib.reference_name(ref), prefix, strlen(prefix)) == 0;
        int added = wanted ? add_ref(out, ref) : 0;
        ap_gitlib.reference_free(ref);
        if (added != 0) {
            ap_gitlib.reference_iterator_free(iterator);
            return ap_err_memory(err);
        }
    }
    ap_gitlib.reference_iterator_free(iterator);
    return result != GIT_ITEROVER ? ap_gitlib_fail(err, result, "refs") : sort_refs(out, from, err);
}

static int say_moved(git_repository *repo, const char *name, struct ap_err *err)
{
    git_oid now;
    char hex[GIT_OID_HEXSZ + 1] = "absent";
    if (ap_gitlib.reference_name_to_id(&now, repo, name) == 0)
        ap_gitlib.oid_tostr(hex, sizeof hex, &now);
    return ap_err_set(err, "EMOVED", "%s is not as expected: it is %s", name, hex);
}

/* Syncs commondir/name[0..length). */
static int sync_folder(git_repository *repo, const char *name, size_t length, struct ap_err *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%.*s", ap_gitlib.repository_commondir(repo), (int)length, name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd >= 0 ? fsync(fd) : -1, errnum = errno;
    if (fd >= 0)
        close(fd);
    if (result == 0 || errnum == EINVAL || errnum == ENOTSUP) /* a file system that cannot sync folders */
        return 0;
    return ap_err_errno(err, errnum, "cannot sync %s", path);
}

/* libgit2 syncs a ref's file and its folder. If it created that folder too, the folder's name is durable only when the
 * folders above it are synced. */
static int sync_above(git_repository *repo, const char *name, struct ap_err *err)
{
    const char *last = strrchr(name, '/');
    for (const char *slash = strchr(name, '/'); slash != NULL && slash != last; slash = strchr(slash + 1, '/'))
        if (sync_folder(repo, name, (size_t)(slash - name), err) != 0)
            return -1;
    return 0;
}

static bool has_folder(git_repository *repo, const char *name)
{
    char path[PATH_MAX];
    int length = (int)(strrchr(name, '/') - name);
    snprintf(path, sizeof path, "%s%.*s", ap_gitlib.repository_commondir(repo), length, name);
    return access(path, F_OK) == 0;
}

/* An object's file is in a folder of objects/, whose name is durable only when objects/ is synced. A branch that
 * follows a candidate's ref names what was synced before. */
static int sync_objects(git_repository *repo, const git_oid *id, struct ap_err *err)
{
    static git_oid synced;
    static const git_repository *synced_in;
    if (synced_in == repo && memcmp(&synced, id, sizeof synced) == 0)
        return 0;
    if (sync_folder(repo, "objects", 7, err) != 0)
        return -1;
    synced_in = repo;
    synced = *id;
    return 0;
}

/* The user's `git gc` locks refs for a moment, and removes empty folders, also one that was just made for a lock file:
 * whether to try once more. */
static bool may_pass(int result, int tries)
{
    enum { LOCK_TRIES = 30, PAUSE_NS = 10000000 };
    if (result != GIT_ELOCKED)
        return result < 0 && tries < AP_GITLIB_TRIES && ap_gitlib_vanished();
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    return tries < LOCK_TRIES;
}

int ap_gitref_set(git_repository *repo, const char *name, const git_oid *id, enum ap_gitref_expect expect,
    const git_oid *expected, const char *log_message, struct ap_err *err)
{
    if (check_ref(name, err) != 0 || sync_objects(repo, id, err) != 0)
        return -1;
    bool had_folder = has_folder(repo, name);
    int result, tries = 0;
    do {
        git_reference *ref = NULL;
        result = ap_gitlib.reference_create_matching(&ref, repo, name, id, expect != AP_GITREF_ABSENT,
            expect == AP_GITREF_EXACTLY ? expected : NULL, log_message);
        ap_gitlib.reference_free(ref);
    } while (may_pass(result, tries++));
    if (result == 0)
        return had_folder ? 0 : sync_above(repo, name, err);
    ap_gitlib_fail_ref(err, result, repo, name);
    git_oid now;
    int known = ap_gitlib.reference_name_to_id(&now, repo, name);
    if (known == GIT_ERROR)
        return ap_gitlib_fail_ref(err, known, repo, name);
    bool moved = (expect == AP_GITREF_ABSENT && known == 0 && result == GIT_EEXISTS) ||
                 (expect == AP_GITREF_EXACTLY &&
                     (result == GIT_EMODIFIED || (result == GIT_ENOTFOUND && known == GIT_ENOTFOUND)));
    return moved ? say_moved(repo, name, err) : -1;
}

int ap_gitref_delete(git_repository *repo, const char *name, struct ap_err *err)
{
    if (check_ref(name, err) != 0)
        return -1;
    git_oid id;
    int result, tries = 0;
    do {
        result = ap_gitlib.reference_name_to_id(&id, repo, name);
        if (result == 0)
            result = ap_gitlib.reference_remove(repo, name);
    } while (may_pass(result, tries++));
    return result < 0 ? ap_gitlib_fail_ref(err, result, repo, name) : 0;
}

static bool is_lock(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".lock") == 0;
}

static void clear_lock(struct ap_gitref_locks *locks, int dir, const char *name, time_t before)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return;
    if (st.st_mtime > before)
        locks->left++;
    else if (unlinkat(dir, name, 0) == 0)
        locks->removed++;
}

static int clear_directory(struct ap_gitref_locks *locks, int fd, time_t before, int depth)
{
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return -1;
    }
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name;
        struct stat st;
        if (is_lock(name)) {
            clear_lock(locks, dirfd(dir), name, before);
        } else if (entry->d_type != DT_REG && depth < LOCK_DEPTH && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
                   fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
            int child = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            result = child >= 0 ? clear_directory(locks, child, before, depth + 1) : -1;
        }
    }
    int saved = errno;
    closedir(dir);
    errno = saved;
    return result;
}

int ap_gitref_clear_locks(
    struct ap_gitref_locks *locks, git_repository *repo, const char *prefix, int age_s, struct ap_err *err)
{
    *locks = (struct ap_gitref_locks){0};
    char path[PATH_MAX];
    size_t length = strlen(prefix);
    while (length > 0 && prefix[length - 1] == '/')
        length--;
    bool refs = length >= 6 && strncmp(prefix, "refs/", 5) == 0 && ap_gitlib_check_path(prefix, length, err) == 0;
    if (!refs && strcmp(prefix, "packed-refs") != 0)
        return ap_err_set(err, "EINVAL", "\"%s\" is not a ref or a directory of refs such as refs/apsis/NAME", prefix);
    int size = snprintf(path, sizeof path, "%s%.*s.lock", ap_gitlib.repository_commondir(repo), (int)length, prefix);
    if (size >= (int)sizeof path)
        return ap_err_errno(err, ENAMETOOLONG, "%s", prefix);
    time_t before = age_s > 0 ? time(NULL) - age_s : LONG_MAX; /* 0: of any time, which may be ahead of time()'s */
    clear_lock(locks, AT_FDCWD, path, before);
    path[size - 5] = '\0';
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || clear_directory(locks, fd, before, 0) != 0)
        return ap_err_errno(err, errno, "%s", path);
    return 0;
}

/* ---- branches in use ---- */

/* Whether the one-line file DIR/FILE contains refs/heads/BRANCH, with or without "ref: " before it. */
static bool names_branch(const char *directory, const char *file, const char *branch)
{
    char path[PATH_MAX], line[1200] = "";
    if (snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path)
        return false;
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    char *got = fgets(line, sizeof line, stream);
    fclose(stream);
    if (got == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    const char *name = strncmp(line, "ref: ", 5) == 0 ? line + 5 : line;
    return strncmp(name, "refs/heads/", 11) == 0 && strcmp(name + 11, branch) == 0;
}

static bool uses_branch(const char *directory, const char *branch)
{
    return names_branch(directory, "HEAD", branch) || names_branch(directory, "rebase-merge/head-name", branch) ||
           names_branch(directory, "rebase-apply/head-name", branch);
}

static void read_worktree_path(char path[4096], const char *directory)
{
    char file[PATH_MAX];
    snprintf(path, 4096, "%s", directory);
    if (snprintf(file, sizeof file, "%s/gitdir", directory) >= (int)sizeof file)
        return;
    FILE *stream = fopen(file, "re");
    if (stream == NULL)
        return;
    char line[4096];
    if (fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        size_t length = strlen(line);
        if (length > 5 && strcmp(line + length - 5, "/.git") == 0)
            line[length - 5] = '\0';
        snprintf(path, 4096, "%s", line);
    }
    fclose(stream);
}

static bool linked_worktree_uses(char path[4096], const char *common, const char *branch)
{
    char directory[PATH_MAX];
    bool found = false;
    if (snprintf(directory, sizeof directory, "%s/worktrees", common) >= (int)sizeof directory)
        return false;
    DIR *dir = opendir(directory);
    if (dir == NULL)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(dir)) != NULL;) {
        char one[PATH_MAX];
        if (entry->d_name[0] == '.' || snprintf(one, sizeof one, "%s/%s", directory, entry->d_name) >= (int)sizeof one)
            continue;
        found = uses_branch(one, branch);
        if (found)
            read_worktree_path(path, one);
    }
    closedir(dir);
    return found;
}

int ap_gitref_checked_out(bool *found, char path[4096], git_repository *repo, const char *branch, struct ap_err *err)
{
    char common[4096];
    git_config *config = NULL;
    int bare = 0;
    snprintf(common, sizeof common, "%s", ap_gitlib.repository_commondir(repo));
    size_t size = strlen(common);
    if (size > 1 && common[size - 1] == '/')
        common[size - 1] = '\0';
    int result = ap_gitlib.repository_config(&config, repo);
    if (result < 0)
        return ap_gitlib_fail(err, result, "the repository's configuration");
    if (ap_gitlib.config_get_bool(&bare, config, "core.bare") < 0)
        bare = 0;
    ap_gitlib.config_free(config);
    *found = !bare && uses_branch(common, branch);
    if (*found) {
        size_t length = strlen(common);
        snprintf(path, 4096, "%s", common);
        if (length > 5 && strcmp(common + length - 5, "/.git") == 0)
            path[length - 5] = '\0';
    } else {
        *found = linked_worktree_uses(path, common, branch);
    }
    return 0;
}
