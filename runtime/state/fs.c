/* SPDX-License-Identifier: MIT */
/* fs: the file operations that need care; those on whole trees are in fstree.c. Nothing here blocks on a FIFO. Keeps no
 * state. lfs.c, the only caller, makes the plain system calls (rename, chmod, ...) itself. */
#define _GNU_SOURCE
#include "state/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

enum { CHUNK = 65536 };

int ap_fs_read(struct ap_buf *out, bool *cut, const char *path, size_t most, struct ap_err *err)
{
    int result = -1;
    struct stat st;
    *cut = false;
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        ap_err_errno(err, errno, "%s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        if (S_ISDIR(st.st_mode))
            ap_err_errno(err, EISDIR, "%s", path);
        else
            ap_err_set(err, "EINVAL", "%s: not a regular file", path);
        goto out;
    }
    for (size_t start = out->used;;) {
        size_t left = most - (out->used - start);
        size_t room = CHUNK <= left ? CHUNK : left + 1; /* one byte past the limit shows whether there is more */
        if (ap_buf_reserve(out, room) != 0) {
            ap_err_errno(err, ENOMEM, "%s", path);
            goto out;
        }
        ssize_t n = read(fd, out->bytes + out->used, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ap_err_errno(err, errno, "%s", path);
            goto out;
        }
        if ((size_t)n > left) {
            n = (ssize_t)left;
            *cut = true;
        }
        out->used += (size_t)n;
        if (n == 0 || *cut)
            break;
    }
    result = 0;
out:
    if (fd >= 0)
        close(fd);
    return result;
}

int ap_fs_write(const char *path, const void *bytes, size_t count, bool append, struct ap_err *err)
{
    /* O_NONBLOCK only for the open: a FIFO without a reader then fails with ENXIO instead of blocking. */
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | (append ? O_APPEND : O_TRUNC);
    int fd = open(path, flags, 0666);
    if (fd < 0)
        return ap_err_errno(err, errno, "%s", path);
    fcntl(fd, F_SETFL, append ? O_APPEND : 0);
    if (ap_sys_write(fd, bytes, count) != 0) {
        int errnum = errno;
        close(fd);
        return ap_err_errno(err, errnum, "%s", path);
    }
    if (close(fd) != 0)
        return ap_err_errno(err, errno, "%s", path);
    return 0;
}

int ap_fs_mkdir(const char *path, struct ap_err *err)
{
    struct stat st;
    int result = 0;
    if (mkdir(path, 0777) == 0) /* usually the parents exist, and checking each costs as much as making the folder */
        return 0;
    char *copy = *path != '\0' ? strdup(path) : NULL;
    if (copy == NULL)
        return ap_err_errno(err, *path != '\0' ? ENOMEM : ENOENT, "%s", path);
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        bool last = *at == '\0';
        *at = '\0';
        /* EEXIST is checked only at the end: a parent that is no directory shows there as ENOTDIR. Other errors of a
         * parent (EROFS, EACCES) do not matter if it exists. */
        int errnum = mkdir(copy, 0777) == 0 || (!last && errno == EEXIST) ? 0 : errno;
        if (errnum != 0 && (stat(copy, &st) != 0 || (last && !S_ISDIR(st.st_mode)))) {
            result = ap_err_errno(err, errnum, "%s", path);
            break;
        }
        if (last)
            break;
        *at = '/';
    }
    free(copy);
    return result;
}

int ap_fs_symlink(const char *target, const char *path, bool replace, struct ap_err *err)
{
    static unsigned counter;
    if (!replace)
        return symlink(target, path) == 0 ? 0 : ap_err_errno(err, errno, "%s", path);
    char *temporary = NULL;
    int made;
    do {
        free(temporary);
        if (asprintf(&temporary, "%s.tmp-%ld-%u", path, (long)getpid(), counter++) < 0)
            return ap_err_errno(err, ENOMEM, "%s", path);
        made = symlink(target, temporary);
    } while (made != 0 && errno == EEXIST);
    if (made != 0) {
        ap_err_errno(err, errno, "%s", path);
    } else if ((made = rename(temporary, path)) != 0) {
        ap_err_errno(err, errno, "%s", path);
        unlink(temporary);
    }
    free(temporary);
    return made;
}

bool ap_fs_glob_match(const char *pattern, const char *path)
{
    size_t length = strlen(pattern);
    if (length >= 3 && strcmp(pattern + length - 3, "/**") == 0) {
        size_t prefix = length - 3;
        if (strncmp(pattern, path, prefix) == 0 && (path[prefix] == '/' || path[prefix] == '\0'))
            return true;
    }
    return fnmatch(pattern, path, 0) == 0;
}
