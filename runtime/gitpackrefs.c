/* SPDX-License-Identifier: MIT */
/* gitpackrefs: writes packed-refs anew, with more refs in it, and then removes their files, as git pack-refs does; but of
 * all refs only those that it is told. The new file is complete before git's lock is taken, by a second name for it, so
 * that a process killed while packing leaves a lock in the way of git only if it dies between two system calls, and the
 * next packing takes that one away. Called by lgitpack.c. */
#define _GNU_SOURCE
#include "gitpackrefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitpack.h"
#include "gitreffile.h"

enum { HEX = GIT_OID_HEXSZ, TRIES = 3 };

static const char packed_name[] = "packed-refs", lock_name[] = "packed-refs.lock", new_name[] = "packed-refs.apsis";

int ap_gitpackrefs_loose(struct ap_buf *out, git_repository *repo, const char *prefix, struct ap_err *err)
{
    char path[PATH_MAX];
    size_t length = strlen(prefix);
    if (strncmp(prefix, "refs/", 5) != 0 || prefix[length - 1] != '/')
        return ap_err_set(err, "EINVAL", "\"%s\" is not a directory of refs such as refs/apsis/NAME/", prefix);
    if (snprintf(path, sizeof path, "%s%s", ap_gitlib.repository_commondir(repo), prefix) >= (int)sizeof path)
        return ap_err_errno(err, ENAMETOOLONG, "%s", prefix);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return errno == ENOENT ? 0 : ap_err_errno(err, errno, "%s", path);
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;) {
        git_oid id;
        char hex[HEX + 1];
        if (entry->d_type == DT_DIR || !ap_gitreffile_id(&id, dirfd(dir), entry->d_name))
            continue;
        ap_gitlib.oid_tostr(hex, sizeof hex, &id);
        if (ap_buf_add(out, prefix, length) != 0 || ap_buf_add(out, entry->d_name, strlen(entry->d_name) + 1) != 0 ||
            ap_buf_add(out, hex, sizeof hex) != 0)
            result = ap_err_set(err, "ENOMEM", "out of memory");
    }
    closedir(dir);
    return result;
}

/* ---- the lines of packed-refs ---- */

struct line {
    const char *text; /* the ref's line, and one after it that says what it peels to */
    size_t size, name_size;
    size_t rank; /* of two of one name the higher counts */
};

struct file {
    int dir;
    struct stat was; /* packed-refs as it was read; all zero: there was none */
    struct ap_buf old, added;
    struct line *lines;
    size_t count, room;
    struct ap_err *err;
};

static int add_line(struct file *file, const char *text, size_t size, size_t name_size)
{
    if (file->count == file->room) {
        size_t room = file->room > 0 ? 2 * file->room : 1024;
        struct line *lines = realloc(file->lines, room * sizeof *lines);
        if (lines == NULL)
            return ap_err_set(file->err, "ENOMEM", "out of memory");
        file->lines = lines;
        file->room = room;
    }
    file->lines[file->count] = (struct line){.text = text, .size = size, .name_size = name_size, .rank = file->count};
    file->count++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct line *one = a, *other = b;
    size_t least = one->name_size < other->name_size ? one->name_size : other->name_size;
    int order = memcmp(one->text + HEX + 1, other->text + HEX + 1, least);
    if (order == 0)
        order = (one->name_size > other->name_size) - (one->name_size < other->name_size);
    return order != 0 ? order : (one->rank > other->rank) - (one->rank < other->rank);
}

static int read_old(struct file *file)
{
    int fd = openat(file->dir, packed_name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    file->was = (struct stat){0};
    file->old.used = 0;
    if (fd < 0)
        return errno == ENOENT ? 0 : ap_err_errno(file->err, errno, packed_name);
    int result = fstat(fd, &file->was);
    while (result == 0) {
        ssize_t size =
            ap_buf_reserve(&file->old, 1 << 16) == 0 ? read(fd, file->old.bytes + file->old.used, 1 << 16) : -1;
        if (size < 0 && errno == EINTR)
            continue;
        result = size < 0 ? -1 : 0;
        if (size <= 0)
            break;
        file->old.used += (size_t)size;
    }
    if (result != 0)
        ap_err_errno(file->err, errno, packed_name);
    close(fd);
    return result;
}

static int parse_old(struct file *file)
{
    const char *at = file->old.bytes, *end = file->old.used > 0 ? at + file->old.used : at;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL)
            return ap_err_set(file->err, "EGIT", "packed-refs ends in the middle of a line");
        size_t size = (size_t)(newline + 1 - at);
        if (*at == '^' && file->count > 0)
            file->lines[file->count - 1].size += size;
        else if (*at != '#' && (size < HEX + 3 || at[HEX] != ' '))
            return ap_err_set(file->err, "EGIT", "packed-refs has a line that is no ref's");
        else if (*at != '#' && add_line(file, at, size, size - HEX - 2) != 0)
            return -1;
        at = newline + 1;
    }
    return 0;
}

/* Only a commit's: of a tag the line would have to say what it peels to. */
static bool is_commit(git_repository *repo, const git_oid *id)
{
    git_commit *commit = NULL;
    bool is = ap_gitlib.commit_lookup(&commit, repo, id) == 0;
    ap_gitlib.commit_free(commit);
    return is;
}

static int read_loose(size_t *packed, struct file *file, git_repository *repo, const char *const *names, size_t count)
{
    *packed = 0;
    file->added.used = 0;
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += HEX + 2 + strlen(names[i]) + 1;
    if (ap_buf_reserve(&file->added, room + 1) != 0) /* at once: lines point into it */
        return ap_err_set(file->err, "ENOMEM", "out of memory");
    for (size_t i = 0; i < count; i++) {
        git_oid id;
        size_t length = strlen(names[i]);
        if (ap_gitlib_check_path(names[i], length, file->err) != 0)
            return -1;
        if (!ap_gitreffile_id(&id, file->dir, names[i]) || !is_commit(repo, &id))
            continue;
        char hex[HEX + 1], *text = file->added.bytes + file->added.used;
        ap_gitlib.oid_tostr(hex, sizeof hex, &id);
        file->added.used += (size_t)sprintf(text, "%s %s\n", hex, names[i]);
        if (add_line(file, text, HEX + 2 + length, length) != 0)
            return -1;
        ++*packed;
    }
    return 0;
}

static const char *header_of(const struct file *file)
{
    const char *old = file->old.bytes;
    size_t size = file->old.used;
    const char *newline = size > 0 ? memchr(old, '\n', size) : NULL;
    size_t length = newline != NULL && *old == '#' ? (size_t)(newline - old) : 0;
    if (size == 0 || (length > 0 && memmem(old, length, " fully-peeled", 13) != NULL))
        return "# pack-refs with: peeled fully-peeled sorted \n";
    if (length > 0 && memmem(old, length, " peeled", 7) != NULL)
        return "# pack-refs with: peeled sorted \n";
    return "# pack-refs with: sorted \n";
}

/* ---- the new file ---- */

static int write_new(struct file *file)
{
    int fd = openat(file->dir, new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return ap_err_errno(file->err, errno, new_name);
    FILE *stream = fdopen(fd, "w");
    if (stream == NULL) {
        close(fd);
        return ap_err_errno(file->err, errno, new_name);
    }
    if (file->was.st_ino != 0 && fchmod(fd, file->was.st_mode & 0777) != 0)
        errno = 0; /* the umask's will do */
    fputs(header_of(file), stream);
    for (size_t i = 0; i < file->count; i++) {
        const struct line *line = &file->lines[i], *next = line + 1;
        bool twice = i + 1 < file->count && next->name_size == line->name_size &&
                     memcmp(next->text + HEX + 1, line->text + HEX + 1, line->name_size) == 0;
        if (!twice)
            fwrite(line->text, 1, line->size, stream);
    }
    bool written = !ferror(stream) && fflush(stream) == 0 && fsync(fd) == 0;
    int errnum = errno;
    if (fclose(stream) != 0 || !written)
        return ap_err_errno(file->err, written ? errno : errnum, new_name);
    return 0;
}

/* A lock of git's that is our own file under another name: of one that was killed. */
static void clear_stale(int dir)
{
    struct stat lock, mine;
    if (fstatat(dir, new_name, &mine, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (fstatat(dir, lock_name, &lock, AT_SYMLINK_NOFOLLOW) == 0 && lock.st_ino == mine.st_ino &&
        lock.st_dev == mine.st_dev)
        unlinkat(dir, lock_name, 0);
    unlinkat(dir, new_name, 0);
}

static bool is_as_read(const struct file *file)
{
    struct stat now = {0};
    if (fstatat(file->dir, packed_name, &now, 0) != 0)
        return errno == ENOENT && file->was.st_ino == 0;
    return now.st_ino == file->was.st_ino && now.st_dev == file->was.st_dev && now.st_size == file->was.st_size &&
           now.st_mtim.tv_sec == file->was.st_mtim.tv_sec && now.st_mtim.tv_nsec == file->was.st_mtim.tv_nsec;
}

/* Puts the new file in place under git's lock. 1: done; 0: somebody wrote packed-refs meanwhile. */
static int put_in_place(struct file *file)
{
    if (linkat(file->dir, new_name, file->dir, lock_name, 0) != 0) {
        if (errno == EEXIST)
            return ap_err_set(file->err, "ELOCKED", "%s: git holds its lock", packed_name);
        return ap_err_errno(file->err, errno, lock_name);
    }
    bool same = is_as_read(file);
    if (same && renameat(file->dir, lock_name, file->dir, packed_name) != 0) {
        int errnum = errno;
        unlinkat(file->dir, lock_name, 0);
        return ap_err_errno(file->err, errnum, packed_name);
    }
    unlinkat(file->dir, same ? new_name : lock_name, 0);
    return same;
}

/* Removes a packed ref's own file, unless it is not what was packed any more. */
static void prune(struct file *file, const struct line *line)
{
    char name[PATH_MAX], lock[PATH_MAX], hex[HEX + 1];
    git_oid id;
    if (snprintf(name, sizeof name, "%.*s", (int)line->name_size, line->text + HEX + 1) >= (int)sizeof name ||
        snprintf(lock, sizeof lock, "%s.lock", name) >= (int)sizeof lock)
        return;
    int fd = openat(file->dir, lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    close(fd);
    bool same = ap_gitreffile_id(&id, file->dir, name);
    if (same) {
        ap_gitlib.oid_tostr(hex, sizeof hex, &id);
        if (memcmp(hex, line->text, HEX) == 0)
            unlinkat(file->dir, name, 0);
    }
    unlinkat(file->dir, lock, 0);
}

static int try(size_t *packed, struct file *file, git_repository *repo, const char *const *names, size_t count)
{
    file->count = 0;
    if (read_old(file) != 0 || parse_old(file) != 0 || read_loose(packed, file, repo, names, count) != 0)
        return -1;
    if (*packed == 0)
        return 1;
    if (file->count > 1)
        qsort(file->lines, file->count, sizeof *file->lines, by_name);
    int result = write_new(file);
    if (result == 0)
        result = put_in_place(file);
    if (result != 1) {
        unlinkat(file->dir, new_name, 0);
        return result;
    }
    return fsync(file->dir) == 0 || errno == EINVAL || errno == ENOTSUP ? 1
                                                                        : ap_err_errno(file->err, errno, packed_name);
}

int ap_gitpackrefs_pack(
    size_t *packed, git_repository *repo, const char *const *names, size_t count, struct ap_err *err)
{
    struct file file = {.dir = -1, .err = err};
    int result = ap_gitpack_lock(&file.dir, repo, err), done = 0;
    if (result != 0)
        return result;
    clear_stale(file.dir);
    *packed = 0;
    done = count == 0;
    for (int i = 0; result == 0 && done == 0 && i < TRIES; i++) {
        done = try(packed, &file, repo, names, count);
        result = done < 0 ? -1 : 0;
    }
    if (done == 0 && result == 0)
        result = ap_err_set(err, "ELOCKED", "%s: it is written all the time", packed_name);
    const char *from = file.added.bytes, *to = from != NULL ? from + file.added.used : from;
    for (size_t i = 0; result == 0 && i < file.count; i++)
        if (file.lines[i].text >= from && file.lines[i].text < to)
            prune(&file, &file.lines[i]);
    close(file.dir);
    free(file.lines);
    ap_buf_dispose(&file.old);
    ap_buf_dispose(&file.added);
    return result;
}
