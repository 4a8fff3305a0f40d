/* SPDX-License-Identifier: MIT */
/* trip: a libc in which one call of those below fails, or in which a call that opens gives descriptor 0: trip_each
 * repeats an action so that each of its calls does once. No descriptor may be left open, and the action fails with the
 * call's reason, or does all that it should. */
#ifndef TRIP_H
#define TRIP_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "tap.h"

enum { TRIP_REFUSED = 2 }; /* what an action returns that left out what it could not read, or has a reason of its own */

static int trip_at, trip_zero_at, trip_calls;
static int trip_interrupts;    /* how many reads are interrupted */
static const char *trip_loses; /* a folder that is removed just before it is opened by this name */

static inline void trip_rest(void)
{
    trip_at = trip_zero_at = 0;
}

static int trips(void)
{
    if (trip_at == 0 || ++trip_calls != trip_at)
        return 0;
    errno = EIO;
    return 1;
}

static int trip_open(int folder, const char *path, int flags, mode_t mode)
{
    if (trips())
        return -1;
    if (trip_loses != NULL && strcmp(path, trip_loses) == 0) {
        trip_loses = NULL;
        syscall(SYS_unlinkat, folder, path, AT_REMOVEDIR);
    }
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd < 0 || trip_zero_at == 0 || ++trip_calls != trip_zero_at)
        return fd;
    dup3(fd, 0, flags & O_CLOEXEC);
    close(fd);
    return 0;
}

static mode_t trip_mode(int flags, va_list args)
{
    return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = trip_mode(flags, args);
    va_end(args);
    return trip_open(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = trip_mode(flags, args);
    va_end(args);
    return trip_open(folder, path, flags, mode);
}

static int trip_read(void)
{
    if (trip_interrupts <= 0)
        return trips();
    trip_interrupts--;
    errno = EINTR;
    return 1;
}

ssize_t read(int fd, void *bytes, size_t count)
{
    return trip_read() ? -1 : syscall(SYS_read, fd, bytes, count);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t at)
{
    return trip_read() ? -1 : syscall(SYS_pread64, fd, bytes, count, at);
}

int ftruncate(int fd, off_t size)
{
    return trips() ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    return trips() ? -1 : (int)syscall(SYS_mkdirat, folder, path, mode);
}

int unlinkat(int folder, const char *path, int flags)
{
    return trips() ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int symlinkat(const char *target, int folder, const char *path)
{
    return trips() ? -1 : (int)syscall(SYS_symlinkat, target, folder, path);
}

ssize_t readlinkat(int folder, const char *path, char *bytes, size_t room)
{
    return trips() ? -1 : syscall(SYS_readlinkat, folder, path, bytes, room);
}

int fchmod(int fd, mode_t mode)
{
    return trips() ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

#ifndef TRIP_WITHOUT_WRITE
static const char *trip_unsynced; /* the end of the path of a folder whose sync fails */
static int trip_unsynced_errno;

ssize_t write(int fd, const void *bytes, size_t count)
{
    return trips() ? -1 : syscall(SYS_write, fd, bytes, count);
}

int fsync(int fd)
{
    char link[40], path[400] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size_t end = trip_unsynced != NULL ? strlen(trip_unsynced) : 0;
    ssize_t length = end > 0 ? readlink(link, path, sizeof path - 1) : -1;
    if (length >= (ssize_t)end && end > 0 && strcmp(path + length - end, trip_unsynced) == 0) {
        errno = trip_unsynced_errno;
        return -1;
    }
    return trips() ? -1 : (int)syscall(SYS_fsync, fd);
}
#endif

#ifndef TRIP_WITHOUT_STAT
int fstat(int fd, struct stat *st)
{
    return trips() ? -1 : fstatat(fd, "", st, AT_EMPTY_PATH);
}
#endif

static int trip_descriptors(void)
{
    int count = 0;
    DIR *open_dir = opendir("/proc/self/fd");
    while (readdir(open_dir) != NULL)
        count++;
    closedir(open_dir);
    return count;
}

/* A folder that cannot be looked at may have been moved. */
static bool trip_is_reason(const char *code)
{
    return strcmp(code, "EIO") == 0 || strcmp(code, "ESTALE") == 0;
}

/* Descriptor 0 is taken until the call whose turn it is. */
static void trip_take_zero(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
    if (fd > 0) {
        dup2(fd, 0);
        close(fd);
    }
}

/* zero: instead of failing, a call opens descriptor 0, which is closed at the beginning. */
static inline void trip_each_of(const char *what, int (*act)(struct ap_err *err), bool zero)
{
    int before = trip_descriptors(), wrong = 0, calls = 0;
    char first_wrong[300] = "";
    struct ap_err err = {0};
    do {
        trip_calls = 0;
        if (zero)
            trip_take_zero();
        *(zero ? &trip_zero_at : &trip_at) = ++calls;
        int result = act(&err);
        bool right = result == 0 || (!zero && (result == TRIP_REFUSED || (result < 0 && trip_is_reason(err.code))));
        trip_rest();
        if (zero && trip_calls < calls)
            close(0);
        int left = trip_descriptors() - before;
        if ((!right || left != 0) && wrong++ == 0)
            snprintf(first_wrong, sizeof first_wrong, ", but %d: %d, %.200s, %d left open", calls, result, err.message,
                left);
    } while (trip_calls >= calls && calls < 200);
    ok(wrong == 0 && calls > 1, "%s: each of %d calls %s%s", what, calls - 1, zero ? "opens descriptor 0" : "fails",
        first_wrong);
}

static inline void trip_each(const char *what, int (*act)(struct ap_err *err))
{
    trip_each_of(what, act, false);
    trip_each_of(what, act, true);
}

/* An action that reads does all that it should though its first reads are interrupted. */
static inline void trip_interrupt(const char *what, int (*act)(struct ap_err *err))
{
    struct ap_err err = {0};
    trip_interrupts = 3;
    int result = act(&err);
    ok(result == 0 && trip_interrupts == 0, "%s: reads are interrupted: %d, %s", what, result, err.message);
    trip_interrupts = 0;
}

/* Runs body as a user for whom the modes of files count: in a process of its own. What it returns, or -1. */
static inline int trip_as_nobody(int (*body)(void))
{
    enum { NOBODY = 65534 };
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) ? 100 : body());
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
