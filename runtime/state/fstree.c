/* SPDX-License-Identifier: MIT */
/* fstree: removes and copies whole trees. Walks them by directory descriptors and never through a symbolic link,
 * because programs that we do not trust have written in them. The other half of fs.h; called only by lfs.c. */
#define _GNU_SOURCE
#include "state/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

enum { COPY_DEPTH = 64, REMOVE_AGAIN = 100, CHUNK = 65536 };

/* One directory being removed: its identity, and the folders in it still to be removed (their names, each
 * NUL-terminated). */
struct level {
    dev_t dev;
    ino_t ino;
    struct ap_buf names; /* the last one is being removed now */
    struct level *up;
};

static char *last_name(struct level *level)
{
    char *before = memrchr(level->names.bytes, '\0', level->names.used - 1);
    return before != NULL ? before + 1 : level->names.bytes;
}

/* Opens a directory of ours even if its mode forbids it, never through a link; -1 and errno. */
static int open_writable(int parent, const char *name, struct stat *st)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) {
        char proc[64];
        int there = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (there < 0)
            return -1;
        snprintf(proc, sizeof proc, "/proc/self/fd/%d", there);
        int changed = chmod(proc, 0700);
        close(there);
        if (changed != 0) {
            errno = EACCES;
            return -1;
        }
        fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd >= 0 && fstat(fd, st) != 0) {
        close(fd);
        return -1;
    }
    if (fd >= 0 && (st->st_mode & 0700) != 0700)
        fchmod(fd, 0700); /* if this fails, the removals below report why */
    return fd;
}

/* Unlinks the files in fd, and gathers the names of the folders. errno value, 0 when done. */
static int empty_files(int fd, struct ap_buf *folders)
{
    int result = 0, copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (dir == NULL) {
        result = errno;
        if (copy >= 0)
            close(copy);
        return result;
    }
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            result = errno;
            break;
        }
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (entry->d_type != DT_DIR && (unlinkat(fd, name, 0) == 0 || errno == ENOENT))
            continue;
        if (entry->d_type != DT_DIR && errno != EISDIR) {
            result = errno;
            break;
        }
        if (ap_buf_add(folders, name, strlen(name) + 1) != 0) {
            result = ENOMEM;
            break;
        }
    }
    closedir(dir);
    return result;
}

/* Enters the folder `name` of *fd: removes its files, and adds a level for its folders. errno value, 0 when done. */
static int descend(int *fd, struct level **top, const char *name)
{
    struct stat st;
    int below = open_writable(*fd, name, &st);
    if (below < 0)
        return errno;
    struct level *level = calloc(1, sizeof *level);
    if (level == NULL) {
        close(below);
        return ENOMEM;
    }
    *level = (struct level){.dev = st.st_dev, .ino = st.st_ino, .up = *top};
    *top = level;
    if (*fd != AT_FDCWD)
        close(*fd);
    *fd = below;
    return empty_files(below, &level->names);
}

/* Leaves the emptied folder through "..": one descriptor serves a tree of any depth. */
static int ascend(int *fd, struct level **top)
{
    struct level *left = *top;
    struct stat st;
    *top = left->up;
    ap_buf_dispose(&left->names);
    free(left);
    if (*top == NULL) {
        close(*fd);
        *fd = AT_FDCWD;
        return 0;
    }
    int above = openat(*fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return errno;
    close(*fd);
    *fd = above;
    /* Someone moved the folder meanwhile: what is above it now is not ours to remove. */
    if (fstat(above, &st) != 0 || st.st_dev != (*top)->dev || st.st_ino != (*top)->ino)
        return ESTALE;
    return 0;
}

/* Removes the directory `path`, level by level. errno value, 0 when done. */
static int remove_directory(const char *path)
{
    int fd = AT_FDCWD, again = 0;
    struct level *top = NULL;
    int result = descend(&fd, &top, path);
    while (result == 0) {
        if (top->names.used > 0) {
            result = descend(&fd, &top, last_name(top));
            if (result == ENOENT) { /* someone else removed it */
                top->names.used = (size_t)(last_name(top) - top->names.bytes);
                result = 0;
            }
            continue;
        }
        result = ascend(&fd, &top);
        if (result != 0)
            break;
        const char *name = top != NULL ? last_name(top) : path;
        if (unlinkat(fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT) {
            if (top == NULL)
                break;
            top->names.used = (size_t)(name - top->names.bytes);
        } else if ((errno == ENOTEMPTY || errno == EEXIST) && again++ < REMOVE_AGAIN) {
            result = descend(&fd, &top, name); /* something was created meanwhile */
        } else {
            result = errno;
        }
    }
    while (top != NULL) {
        struct level *level = top;
        top = level->up;
        ap_buf_dispose(&level->names);
        free(level);
    }
    if (fd != AT_FDCWD)
        close(fd);
    return result;
}

int ap_fs_remove_tree(const char *path, struct ap_err *err)
{
    int result = 0;
    char *copy = strdup(path);
    if (copy == NULL)
        return ap_err_errno(err, ENOMEM, "%s", path);
    size_t length = strlen(copy);
    while (length > 0 && copy[length - 1] == '/') /* "link/" would be the link's target */
        copy[--length] = '\0';
    const char *slash = strrchr(copy, '/'), *name = slash != NULL ? slash + 1 : copy;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        result = EINVAL;
    else if (unlink(copy) != 0 && errno != ENOENT && errno != ENOTDIR)
        result = errno == EISDIR ? remove_directory(copy) : errno;
    free(copy);
    return result != 0 && result != ENOENT ? ap_err_errno(err, result, "cannot remove %s", path) : 0;
}

/* State of copy_tree: its limits, its counts, and the target folder, which must not be copied into itself. */
struct copy {
    struct ap_fs_copied *copied;
    long long max_bytes, max_files;
    dev_t dev;
    ino_t ino;
    char chunk[CHUNK];
};

/* 0, or an errno value of the writing side; skips what cannot be read. */
static int copy_file(struct copy *copy, int from, int to, const char *name)
{
    struct ap_fs_copied *copied = copy->copied;
    struct stat st;
    int result = 0;
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    long long room = copy->max_bytes < 0 ? -1 : copy->max_bytes - copied->bytes;
    if (in < 0 || fstat(in, &st) != 0 || !S_ISREG(st.st_mode) || (room >= 0 && st.st_size > room) ||
        (copy->max_files >= 0 && copied->files >= copy->max_files)) {
        copied->skipped++;
        if (in >= 0)
            close(in);
        return 0;
    }
    int out = openat(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, st.st_mode & 0777);
    if (out < 0)
        result = errno;
    /* At most the size seen above: a growing file stays within the limit. */
    for (long long left = st.st_size; result == 0 && left > 0;) {
        ssize_t n = read(in, copy->chunk, left < CHUNK ? (size_t)left : CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (ap_sys_write(out, copy->chunk, (size_t)n) != 0)
            result = errno;
        left -= n;
        copied->bytes += n;
    }
    if (out >= 0 && close(out) != 0 && result == 0)
        result = errno;
    close(in);
    copied->files += result == 0;
    return result;
}

static int copy_folder(struct copy *copy, int from, int to, int depth);

/* Owns neither descriptor. Enters a folder, passes anything else to copy_file. */
static int copy_entry(struct copy *copy, int from, int to, const char *name, int depth)
{
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
        return copy_file(copy, from, to, name);
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (depth >= COPY_DEPTH || in < 0 || (st.st_dev == copy->dev && st.st_ino == copy->ino)) {
        copy->copied->skipped++;
        if (in >= 0)
            close(in);
        return 0;
    }
    int result = mkdirat(to, name, 0777) != 0 && errno != EEXIST ? errno : 0;
    int out = result == 0 ? openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (result == 0)
        result = out >= 0 ? copy_folder(copy, in, out, depth + 1) : errno;
    if (out >= 0)
        close(out);
    close(in);
    return result;
}

static int copy_folder(struct copy *copy, int from, int to, int depth)
{
    int again = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;
    DIR *dir = again >= 0 ? fdopendir(again) : NULL;
    if (dir == NULL) {
        if (again >= 0)
            close(again);
        return errno;
    }
    struct dirent *entry;
    while (result == 0 && (errno = 0, entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = copy_entry(copy, from, to, entry->d_name, depth);
    if (result == 0 && entry == NULL)
        result = errno;
    closedir(dir);
    return result;
}

int ap_fs_copy_tree(struct ap_fs_copied *copied, const char *from, const char *to, long long max_bytes,
    long long max_files, struct ap_err *err)
{
    struct stat st;
    int result = -1, in = -1, out = -1;
    *copied = (struct ap_fs_copied){0};
    struct copy *copy = calloc(1, sizeof *copy);
    if (copy == NULL)
        return ap_err_errno(err, ENOMEM, "%s", from);
    in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in < 0) {
        ap_err_errno(err, errno, "%s", from);
        goto out;
    }
    if (ap_fs_mkdir(to, err) != 0)
        goto out;
    out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (out < 0 || fstat(out, &st) != 0) {
        ap_err_errno(err, errno, "%s", to);
        goto out;
    }
    copy->copied = copied;
    copy->max_bytes = max_bytes;
    copy->max_files = max_files;
    copy->dev = st.st_dev;
    copy->ino = st.st_ino;
    int errnum = copy_folder(copy, in, out, 0);
    result = errnum == 0 ? 0 : ap_err_errno(err, errnum, "cannot copy %s to %s", from, to);
out:
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    free(copy);
    return result;
}
