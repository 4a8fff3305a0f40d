/* SPDX-License-Identifier: MIT */
/* dirtree: opens, reads, writes and removes inside one directory, by descriptors. Never writes into an existing file,
 * which may be a hard link to a file of the user: unlinks it and creates a new one. Keeps no state. Called by
 * worktree.c. */
#define _GNU_SOURCE
#include "worktree/dirtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* chmod of the file itself, never of a symlink's target; no single system call does that. */
static int set_mode(int parent, const char *name, mode_t mode)
{
    int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct stat st;
    int result = fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode) ? chmod(path, mode) : -1;
    int saved = errno;
    close(fd);
    errno = saved;
    return result;
}

static int open_child(int parent, const char *name)
{
    int fd = openat(parent, name, DIRECTORY);
    if (fd < 0 && errno == EACCES && set_mode(parent, name, 0700) == 0)
        fd = openat(parent, name, DIRECTORY);
    return fd;
}

static int open_by_steps(int root, const char *path)
{
    char name[NAME_MAX + 1];
    int fd = openat(root, ".", DIRECTORY);
    while (fd >= 0 && *path != '\0') {
        size_t size = strcspn(path, "/");
        int child = -1;
        errno = ENAMETOOLONG;
        if (size < sizeof name) {
            memcpy(name, path, size);
            name[size] = '\0';
            errno = EXDEV;
            child = strcmp(name, "..") != 0 ? open_child(fd, name) : -1;
            /* A parent that may be listed but not entered. */
            if (child < 0 && errno == EACCES && fchmod(fd, 0700) == 0)
                child = open_child(fd, name);
        }
        int saved = errno;
        close(fd);
        errno = saved;
        fd = child;
        path += size + (path[size] == '/');
    }
    return fd;
}

int ap_dirtree_open(int root, const char *path)
{
    struct open_how how = {.flags = DIRECTORY, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    static bool missing; /* an old kernel lacks openat2, and a sandbox may refuse it */
    if (*path == '\0')
        return openat(root, ".", DIRECTORY);
    int fd = missing ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0 || (!missing && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)))
        return fd;
    missing = missing || errno == ENOSYS;
    return open_by_steps(root, path); /* also for a long path, or an unreadable directory on the way */
}

/* ---- removing ---- */

/* Directories to remove are first moved directly under root, under names of our own, so that depth costs neither stack
 * nor descriptors: first..next are waiting. */
struct removal {
    int root;
    unsigned next;
    struct ap_err *err;
};

static void waiting_name(char name[40], unsigned number)
{
    snprintf(name, 40, ".apsis-removed-%ld-%u", (long)getpid(), number);
}

static int set_aside(struct removal *removal, int parent, const char *name)
{
    char aside[40];
    set_mode(parent, name, 0700); /* it must be writable to be moved, because its ".." changes */
    for (;; removal->next++) {
        waiting_name(aside, removal->next);
        if (syscall(SYS_renameat2, parent, name, removal->root, aside, 1U /* RENAME_NOREPLACE */) == 0)
            break;
        if (errno != EEXIST)
            return ap_err_errno(removal->err, errno, "remove directory %s", name);
    }
    removal->next++;
    return 0;
}

static int remove_one(struct removal *removal, int parent, const char *name, bool *left)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    /* The folder is read-only, or name is a directory: Linux then reports EISDIR. */
    if (errno == EACCES || errno == EPERM) {
        fchmod(parent, 0700);
        if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
            return 0;
    }
    if (errno != EISDIR)
        return ap_err_errno(removal->err, errno, "remove %s", name);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    *left = true;
    return set_aside(removal, parent, name);
}

static int empty_directory(struct removal *removal, int fd)
{
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        int errnum = errno;
        close(fd);
        return ap_err_errno(removal->err, errnum, "remove a directory");
    }
    int result = 0;
    bool left = false;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = remove_one(removal, dirfd(dir), entry->d_name, &left);
    closedir(dir);
    return result;
}

int ap_dirtree_remove(int root, int parent, const char *name, struct ap_err *err)
{
    struct removal removal = {.root = root, .err = err};
    bool left = false;
    char aside[40];
    if (remove_one(&removal, parent, name, &left) != 0)
        return -1;
    for (unsigned at = left ? removal.next - 1 : 0; at < removal.next; at++) {
        waiting_name(aside, at);
        for (int tries = 0; unlinkat(root, aside, AT_REMOVEDIR) != 0 && errno != ENOENT; tries++) {
            if (errno == ENOTDIR) /* someone else's file of that name, which set_aside skipped */
                break;
            if (tries == 3)
                return ap_err_errno(err, errno, "remove %s", name);
            int fd = open_child(root, aside);
            if (fd < 0)
                return ap_err_errno(err, errno, "remove %s", name);
            fchmod(fd, 0700);
            if (empty_directory(&removal, fd) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- files ---- */

static int write_link(
    struct stat *st, int parent, const char *name, const void *bytes, size_t count, struct ap_err *err)
{
    char target[PATH_MAX];
    if (count == 0 || count >= sizeof target || memchr(bytes, '\0', count) != NULL)
        return ap_err_set(err, "EPATH", "symlink %s: its target is empty, too long, or has a NUL byte", name);
    memcpy(target, bytes, count);
    target[count] = '\0';
    if (symlinkat(target, parent, name) != 0 || fstatat(parent, name, st, AT_SYMLINK_NOFOLLOW) != 0)
        return ap_err_errno(err, errno, "symlink %s", name);
    return 0;
}

int ap_dirtree_write(
    struct stat *st, int parent, const char *name, const void *bytes, size_t count, unsigned mode, struct ap_err *err)
{
    if (S_ISLNK(mode))
        return write_link(st, parent, name, bytes, count, err);
    int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
    if (fd < 0)
        return ap_err_errno(err, errno, "create %s", name);
    int failed = ap_sys_write(fd, bytes, count) != 0 || fchmod(fd, mode & 0777) != 0 || fstat(fd, st) != 0;
    int errnum = errno;
    if (close(fd) != 0 && !failed) {
        failed = 1;
        errnum = errno;
    }
    return failed ? ap_err_errno(err, errnum, "write %s", name) : 0;
}

int ap_dirtree_open_file(struct stat *st, int parent, const char *name)
{
    enum { FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };
    if (fstatat(parent, name, st, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    errno = EINVAL; /* opening a device may have effects: check first */
    int fd = S_ISREG(st->st_mode) ? openat(parent, name, FLAGS) : -1;
    if (fd < 0 && errno == EACCES && set_mode(parent, name, (st->st_mode & 0100) | 0600) == 0)
        fd = openat(parent, name, FLAGS);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int ap_dirtree_read(struct ap_buf *out, int fd)
{
    for (;;) {
        if (ap_buf_reserve(out, 65536) != 0) {
            errno = ENOMEM;
            return -1;
        }
        ssize_t count = read(fd, out->bytes + out->used, out->room - out->used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return (int)count;
        out->used += (size_t)count;
    }
}

int ap_dirtree_read_link(struct ap_buf *out, int parent, const char *name)
{
    if (ap_buf_reserve(out, PATH_MAX) != 0) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t count = readlinkat(parent, name, out->bytes + out->used, PATH_MAX);
    if (count < 0)
        return -1;
    out->used += (size_t)count;
    return 0;
}

bool ap_dirtree_times_prove(int root)
{
    static const char name[] = ".apsis-times";
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    struct stat before, after;
    int fd = openat(root, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    char *byte = MAP_FAILED;
    if (fd >= 0 && write(fd, "a", 1) == 1 && futimens(fd, old) == 0 && fstat(fd, &before) == 0)
        byte = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (byte != MAP_FAILED) {
        volatile char *first = byte;
        *first = (char)(*first + 1); /* read first: then the page is there, and the kernel need not see the write */
        munmap(byte, 1);
    }
    if (fd >= 0)
        close(fd);
    bool proven = byte != MAP_FAILED && fstatat(root, name, &after, AT_SYMLINK_NOFOLLOW) == 0 &&
                  after.st_mtim.tv_sec != before.st_mtim.tv_sec;
    unlinkat(root, name, 0);
    return proven;
}
