/* SPDX-License-Identifier: MIT */
/* gitreffile: reads a ref from its own file or from packed-refs, which it searches in place, and writes the file of one.
 * libgit2 reads all of packed-refs into memory before the first ref that it does not find as a file, and looks at each
 * name in it before it writes one: with a hundred thousand refs that is 11 MB and milliseconds for every candidate.
 * Called by gitref and git. */
#define _GNU_SOURCE
#include "gitreffile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX = GIT_OID_HEXSZ };

static bool ref_path(char path[PATH_MAX], git_repository *repo, const char *name, const char *end)
{
    return snprintf(path, PATH_MAX, "%s%s%s", ap_gitlib.repository_commondir(repo), name, end) < PATH_MAX;
}

bool ap_gitreffile_id(git_oid *out, int dir, const char *path)
{
    char text[HEX + 2];
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, text, sizeof text);
    int errnum = errno;
    close(fd);
    errno = errnum;
    if (size != HEX + 1 || text[HEX] != '\n')
        return false;
    text[HEX] = '\0';
    return strspn(text, "0123456789abcdef") == HEX && ap_gitlib.oid_fromstr(out, text) == 0;
}

/* ---- packed-refs ---- */

static const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline != NULL ? newline + 1 : end;
}

/* Where the line begins that holds a byte, or, of one that says what a tag peels to, the tag's before it. */
static const char *line_start(const char *at, const char *begin)
{
    for (;;) {
        const char *newline = at > begin ? memrchr(begin, '\n', (size_t)(at - begin)) : NULL;
        const char *start = newline != NULL ? newline + 1 : begin;
        if (*start != '^' || start == begin)
            return start;
        at = start - 1;
    }
}

static int compare_name(const char *line, const char *end, const char *name, size_t length)
{
    const char *own = line + HEX + 1;
    size_t size = end > own ? (size_t)(end - own) : 0;
    size -= size > 0 && end[-1] == '\n';
    int order = memcmp(own, name, size < length ? size : length);
    return order != 0 ? order : (size > length) - (size < length);
}

/* Searches the lines after the header, which are in the order of their names. */
static bool search(git_oid *out, const char *begin, const char *end, const char *name)
{
    size_t length = strlen(name);
    const char *low = begin, *high = end;
    while (low < high) {
        const char *line = line_start(low + (high - low) / 2, low), *next = line_end(line, end);
        if (next - line < HEX + 2)
            return false;
        int order = compare_name(line, next, name, length);
        if (order == 0) {
            char hex[HEX + 1];
            memcpy(hex, line, HEX);
            hex[HEX] = '\0';
            return ap_gitlib.oid_fromstr(out, hex) == 0;
        }
        if (order > 0) {
            high = line;
            continue;
        }
        while (next < high && *next == '^')
            next = line_end(next, end);
        low = next;
    }
    return false;
}

static enum ap_gitreffile search_all(git_oid *out, const char *begin, size_t size, const char *name)
{
    const char *end = begin + size, *first = line_end(begin, end);
    if (*begin != '#' || memmem(begin, (size_t)(first - begin), " sorted", 7) == NULL || end[-1] != '\n')
        return AP_GITREFFILE_UNKNOWN;
    return search(out, first, end, name) ? AP_GITREFFILE_PACKED : AP_GITREFFILE_ABSENT;
}

static enum ap_gitreffile read_packed(git_oid *out, git_repository *repo, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    if (!ref_path(path, repo, "packed-refs", ""))
        return AP_GITREFFILE_UNKNOWN;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? AP_GITREFFILE_ABSENT : AP_GITREFFILE_UNKNOWN;
    enum ap_gitreffile where = AP_GITREFFILE_UNKNOWN;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        size_t size = (size_t)st.st_size;
        char *bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
        if (size == 0)
            where = AP_GITREFFILE_ABSENT;
        else if (bytes != MAP_FAILED) {
            where = search_all(out, bytes, size, name);
            munmap(bytes, size);
        }
    }
    close(fd);
    return where;
}

/* ---- a ref ---- */

static bool of_one_working_tree(const char *name)
{
    return strncmp(name, "refs/bisect/", 12) == 0 || strncmp(name, "refs/worktree/", 14) == 0 ||
           strncmp(name, "refs/rewritten/", 15) == 0;
}

enum ap_gitreffile ap_gitreffile_read(git_oid *out, git_repository *repo, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int valid = 0;
    if (strncmp(name, "refs/", 5) != 0 || of_one_working_tree(name) ||
        ap_gitlib.reference_name_is_valid(&valid, name) < 0 || !valid || !ref_path(path, repo, name, ""))
        return AP_GITREFFILE_UNKNOWN;
    for (int again = 0; again < 3; again++) {
        if (ap_gitreffile_id(out, AT_FDCWD, path))
            return AP_GITREFFILE_LOOSE;
        bool there = stat(path, &st) == 0, folder = there && S_ISDIR(st.st_mode);
        if (there ? !folder : errno != ENOENT && errno != ENOTDIR)
            return AP_GITREFFILE_UNKNOWN;
        enum ap_gitreffile where = read_packed(out, repo, name);
        if (where != AP_GITREFFILE_ABSENT)
            return where;
        if (folder || access(path, F_OK) != 0) /* else it was made between the two looks */
            return AP_GITREFFILE_ABSENT;
    }
    return AP_GITREFFILE_UNKNOWN;
}

static int sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    int result = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP) ? 0 : -1;
    if (fd >= 0)
        close(fd);
    return result;
}

/* Makes the folders of a ref, unless another ref has the name of one. */
static int make_folders(char *path, git_repository *repo, const char *name, struct ap_err *err)
{
    char part[PATH_MAX];
    git_oid there;
    size_t before = strlen(path) - strlen(name);
    for (const char *slash = strchr(name + 5, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        enum ap_gitreffile where = ap_gitreffile_read(&there, repo, part);
        if (where == AP_GITREFFILE_UNKNOWN && ap_gitlib.reference_name_to_id(&there, repo, part) != 0)
            where = AP_GITREFFILE_ABSENT;
        if (where != AP_GITREFFILE_ABSENT)
            return ap_err_set(err, "EEXIST", "%s cannot be made: there is a ref %s", name, part);
        path[before + (size_t)(slash - name)] = '\0';
        bool made = mkdir(path, 0777) == 0, there_now = made ? sync_folder(path) == 0 : errno == EEXIST;
        path[before + (size_t)(slash - name)] = '/';
        if (!there_now)
            return ap_err_errno(err, errno, "%s", name);
    }
    return 0;
}

/* Takes git's lock of a ref: the descriptor of the file that becomes the ref's, or -1. */
static int take_lock(const char *lock, char *path, git_repository *repo, const char *name, struct ap_err *err)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC };
    int fd = open(lock, FLAGS, 0666);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        if (make_folders(path, repo, name, err) != 0)
            return -1;
        fd = open(lock, FLAGS, 0666);
    }
    if (fd < 0 && errno == EEXIST)
        return ap_err_set(err, "ELOCKED", "%s: another process holds its lock (%s)", name, lock);
    return fd < 0 ? ap_err_errno(err, errno, "%s", lock) : fd;
}

/* Writes the id into the locked file, which then takes the ref's place. */
static int commit_lock(int fd, const char *lock, char *path, const git_oid *id, struct ap_err *err)
{
    char text[HEX + 2];
    ap_gitlib.oid_tostr(text, HEX + 1, id);
    text[HEX] = '\n';
    bool written = write(fd, text, HEX + 1) == HEX + 1 && fsync(fd) == 0;
    int errnum = errno;
    if (close(fd) != 0 && written) {
        written = false;
        errnum = errno;
    }
    if (written && rename(lock, path) == 0)
        return sync_folder(path) == 0 ? 0 : ap_err_errno(err, errno, "cannot sync the folder of %s", path);
    errnum = written ? errno : errnum;
    unlink(lock);
    return ap_err_errno(err, errnum, "%s", path);
}

int ap_gitreffile_write(git_repository *repo, const char *name, const git_oid *id, struct ap_err *err)
{
    char path[PATH_MAX], lock[PATH_MAX];
    if (!ref_path(path, repo, name, "") || !ref_path(lock, repo, name, ".lock"))
        return ap_err_errno(err, ENAMETOOLONG, "%s", name);
    int fd = take_lock(lock, path, repo, name, err);
    return fd < 0 ? -1 : commit_lock(fd, lock, path, id, err);
}

int ap_gitreffile_unpack(git_repository *repo, const char *name, struct ap_err *err)
{
    char path[PATH_MAX], lock[PATH_MAX];
    git_oid id;
    if (!ref_path(path, repo, name, "") || !ref_path(lock, repo, name, ".lock"))
        return ap_err_errno(err, ENAMETOOLONG, "%s", name);
    int fd = take_lock(lock, path, repo, name, err);
    if (fd < 0)
        return -1;
    if (ap_gitreffile_read(&id, repo, name) == AP_GITREFFILE_PACKED)
        return commit_lock(fd, lock, path, &id, err);
    close(fd);
    unlink(lock);
    return 0;
}
