/* SPDX-License-Identifier: MIT */
/* recorder: preloaded into apsis, it writes down what a power cut could undo: every change below RECORD_ROOT that
 * succeeded, in order, into RECORD: a line `OP TAB PATH TAB NUMBER...`, and after a write's line its bytes and a newline.
 * It takes itself out of the environment, so that commands run without it. Used by cuts.lua. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int record = -1;
static char root[PATH_MAX];
static ssize_t (*next_write)(int, const void *, size_t);
static int (*next_open)(const char *, int, ...);

__attribute__((constructor)) static void begin(void)
{
    const char *below = getenv("RECORD_ROOT"), *path = getenv("RECORD");
    *(void **)&next_write = dlsym(RTLD_NEXT, "write");
    *(void **)&next_open = dlsym(RTLD_NEXT, "open");
    if (below != NULL && path != NULL) {
        snprintf(root, sizeof root, "%s", below);
        int fd = next_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        record = fcntl(fd, F_DUPFD_CLOEXEC, 900);
        close(fd);
    }
    unsetenv("LD_PRELOAD");
    unsetenv("RECORD");
    unsetenv("RECORD_ROOT");
}

/* The absolute name of path below dir, or of the file behind dir where path is NULL. Whether it is below the root. */
static bool place(char out[PATH_MAX], int dir, const char *path)
{
    char link[64], base[PATH_MAX] = "";
    if (record < 0)
        return false;
    if (path != NULL && *path == '/') {
        snprintf(out, PATH_MAX, "%s", path);
    } else {
        if (path != NULL && dir == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/self/cwd");
        else
            snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
        ssize_t length = readlink(link, base, sizeof base - 1);
        base[length > 0 ? length : 0] = '\0';
        snprintf(out, PATH_MAX, "%.2000s%s%.2000s", base, path != NULL ? "/" : "", path != NULL ? path : "");
    }
    size_t size = strlen(root);
    return strncmp(out, root, size) == 0 && (out[size] == '/' || out[size] == '\0');
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    char line[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (next_write(record, line, (size_t)length) != length)
        abort();
}

#define NEXT(name)                                                                                                     \
    static __typeof__(&name) next;                                                                                     \
    if (next == NULL)                                                                                                  \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

/* What an open of an existing or new file did. */
static int opened(int fd, int dir, const char *path, int flags, bool there)
{
    char name[PATH_MAX];
    int saved = errno;
    if (fd >= 0 && (flags & (O_CREAT | O_TRUNC)) != 0 && place(name, dir, path)) {
        if (!there)
            put("create\t%s\n", name + strlen(root));
        else if (flags & O_TRUNC)
            put("truncate\t%s\t0\n", name + strlen(root));
    }
    errno = saved;
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    struct stat st;
    bool there = record >= 0 && (flags & O_CREAT) && stat(path, &st) == 0;
    return opened(next_open(path, flags, mode), AT_FDCWD, path, flags, there || !(flags & O_CREAT));
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    NEXT(openat);
    struct stat st;
    bool there = record >= 0 && (flags & O_CREAT) && fstatat(dir, path, &st, 0) == 0;
    return opened(next(dir, path, flags, mode), dir, path, flags, there || !(flags & O_CREAT));
}

/* After bytes were written that end at `end`. */
static ssize_t wrote(int fd, const void *bytes, ssize_t count, long long end)
{
    char name[PATH_MAX];
    int saved = errno;
    if (count > 0 && fd != record && place(name, fd, NULL)) {
        put("write\t%s\t%lld\t%zd\n", name + strlen(root), end - count, count);
        if (next_write(record, bytes, (size_t)count) != count)
            abort();
        put("\n");
    }
    errno = saved;
    return count;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    ssize_t done = next_write(fd, bytes, count);
    return record >= 0 && done > 0 ? wrote(fd, bytes, done, lseek(fd, 0, SEEK_CUR)) : done;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    NEXT(writev);
    ssize_t done = next(fd, parts, count);
    if (record < 0 || done <= 0)
        return done;
    long long end = lseek(fd, 0, SEEK_CUR) - done;
    for (ssize_t i = 0, left = done; i < count && left > 0; left -= (ssize_t)parts[i++].iov_len) {
        ssize_t size = left < (ssize_t)parts[i].iov_len ? left : (ssize_t)parts[i].iov_len;
        end += size;
        wrote(fd, parts[i].iov_base, size, end);
    }
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    NEXT(pwrite);
    ssize_t done = next(fd, bytes, count, at);
    return wrote(fd, bytes, done, at + done);
}

static int did(int result, const char *what, int dir, const char *path)
{
    char name[PATH_MAX];
    int saved = errno;
    if (result == 0 && place(name, dir, path))
        put("%s\t%s\n", what, name + strlen(root));
    errno = saved;
    return result;
}

static int did_both(int result, const char *what, int old, const char *from, int new, const char *to)
{
    char first[PATH_MAX], second[PATH_MAX];
    int saved = errno;
    if (result == 0 && place(first, old, from) && place(second, new, to))
        put("%s\t%s\t%s\n", what, first + strlen(root), second + strlen(root));
    errno = saved;
    return result;
}

int fsync(int fd)
{
    NEXT(fsync);
    return did(next(fd), "fsync", fd, NULL);
}

int fdatasync(int fd)
{
    NEXT(fdatasync);
    return did(next(fd), "fsync", fd, NULL);
}

int ftruncate(int fd, off_t size)
{
    char name[PATH_MAX];
    NEXT(ftruncate);
    int result = next(fd, size);
    if (result == 0 && place(name, fd, NULL))
        put("truncate\t%s\t%lld\n", name + strlen(root), (long long)size);
    return result;
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    return did_both(next(from, to), "rename", AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
    NEXT(link);
    return did_both(next(from, to), "link", AT_FDCWD, from, AT_FDCWD, to);
}

int symlink(const char *target, const char *path)
{
    NEXT(symlink);
    return did(next(target, path), "symlink", AT_FDCWD, path);
}

int symlinkat(const char *target, int dir, const char *path)
{
    NEXT(symlinkat);
    return did(next(target, dir, path), "symlink", dir, path);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    return did(next(path, mode), "mkdir", AT_FDCWD, path);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    NEXT(mkdirat);
    return did(next(dir, path, mode), "mkdir", dir, path);
}

int unlink(const char *path)
{
    NEXT(unlink);
    return did(next(path), "unlink", AT_FDCWD, path);
}

int unlinkat(int dir, const char *path, int flags)
{
    NEXT(unlinkat);
    return did(next(dir, path, flags), "unlink", dir, path);
}

int rmdir(const char *path)
{
    NEXT(rmdir);
    return did(next(path), "unlink", AT_FDCWD, path);
}
