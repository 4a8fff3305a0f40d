/* SPDX-License-Identifier: MIT */
/* shim: preloaded into apsis, it counts the calls by which a program touches the system, and makes one of them fail.
 * FAULT=KIND:NUMBER:ERRNO fails the NUMBER-th call of that kind once (ERRNO 0: a write of half the bytes; -1: the program
 * is killed); with FAULT_PATH=END only the calls on files whose path ends so count. FAULT_LOG=FILE gets a line for each
 * call, or for the one that failed. It takes itself out of the environment, so that commands run without it. Calls that
 * libc makes within itself (a stream's own write) are seen at the stream's function. Used by calls.lua and cuts.lua. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, WRITE, FSYNC, RENAME, SPAWN, POLL, READ, MKDIR, LINK, UNLINK, TRUNCATE, PIPE, KINDS };
static const char *const names[KINDS] = {
    "open", "write", "fsync", "rename", "spawn", "poll", "read", "mkdir", "link", "unlink", "truncate", "pipe"};

static struct {
    bool on;
    int log, wanted, errnum;
    long number, count[KINDS];
    char end[64];
} shim = {.log = -1, .wanted = -1};

/* Straight to the kernel: the shim's own calls count for nothing. */
static long system_call(long number, long a, long b, long c, long d)
{
    static long (*next)(long, ...);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, a, b, c, d);
}

__attribute__((constructor)) static void begin(void)
{
    const char *what = getenv("FAULT"), *log = getenv("FAULT_LOG"), *end = getenv("FAULT_PATH");
    char kind[16];
    snprintf(shim.end, sizeof shim.end, "%s", end != NULL ? end : "");
    if (log != NULL)
        shim.log = (int)system_call(
            SYS_openat, AT_FDCWD, (long)log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (shim.log >= 0) { /* out of the way of what the program expects at the next number */
        int high = (int)system_call(SYS_fcntl, shim.log, F_DUPFD_CLOEXEC, 900, 0);
        system_call(SYS_close, shim.log, 0, 0, 0);
        shim.log = high;
    }
    if (what != NULL && sscanf(what, "%15[a-z]:%ld:%d", kind, &shim.number, &shim.errnum) == 3)
        for (int i = 0; i < KINDS; i++)
            if (strcmp(names[i], kind) == 0)
                shim.wanted = i;
    shim.on = log != NULL || what != NULL;
    unsetenv("LD_PRELOAD");
    unsetenv("FAULT");
    unsetenv("FAULT_LOG");
    unsetenv("FAULT_PATH");
}

/* The file of a call: its path, or that of its descriptor, in name. */
static const char *file_of(int fd, const char *path, char name[static 4096])
{
    if (path != NULL || fd < 0)
        return path != NULL ? path : "";
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = system_call(SYS_readlinkat, AT_FDCWD, (long)link, (long)name, 4095);
    name[length > 0 ? length : 0] = '\0';
    return name;
}

static void note(enum kind kind, const char *call, int fd, const char *path)
{
    char name[4096], line[5000];
    int length =
        snprintf(line, sizeof line, "%s\t%ld\t%s\t%s\n", names[kind], shim.count[kind], call, file_of(fd, path, name));
    system_call(SYS_write, shim.log, (long)line, length, 0);
}

static bool counted(int fd, const char *path)
{
    char name[4096];
    size_t end = strlen(shim.end);
    if (end == 0)
        return true;
    path = file_of(fd, path, name);
    return strlen(path) >= end && strcmp(path + strlen(path) - end, shim.end) == 0;
}

/* Counts a call. Whether it is to fail; errno is set then, unless it is to be short. */
static bool fails(enum kind kind, const char *call, int fd, const char *path)
{
    if (!shim.on || !counted(fd, path))
        return false;
    bool hit = ++shim.count[kind] == shim.number && shim.wanted == (int)kind;
    int saved = errno;
    if (shim.log >= 0 && (hit || shim.wanted < 0))
        note(kind, call, fd, path);
    if (hit && shim.errnum < 0)
        kill(getpid(), SIGKILL);
    errno = hit && shim.errnum > 0 ? shim.errnum : saved;
    return hit;
}

#define NEXT(name)                                                                                                     \
    static __typeof__(&name) next;                                                                                     \
    if (next == NULL)                                                                                                  \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

#define OPENER(name)                                                                                                   \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                                        \
        va_end(args);                                                                                                  \
        NEXT(name);                                                                                                    \
        return fails(OPEN, flags & O_CREAT ? "create" : "open", -1, path) ? -1 : next(path, flags, mode);              \
    }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name)                                                                                                \
    int name(int dir, const char *path, int flags, ...)                                                                \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                                        \
        va_end(args);                                                                                                  \
        NEXT(name);                                                                                                    \
        return fails(OPEN, flags & O_CREAT ? "create" : "open", -1, path) ? -1 : next(dir, path, flags, mode);         \
    }
OPENER_AT(openat)
OPENER_AT(openat64)

/* What _FORTIFY_SOURCE makes of an open with two arguments. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}
int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}
int __openat_2(int dir, const char *path, int flags)
{
    return openat(dir, path, flags);
}
int __openat64_2(int dir, const char *path, int flags)
{
    return openat64(dir, path, flags);
}

int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int creat64(const char *path, mode_t mode)
{
    return open64(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

static const char *word_of(const char *mode)
{
    return mode[0] == 'r' ? "open" : "create";
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return fails(OPEN, word_of(mode), -1, path) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    NEXT(fopen64);
    return fails(OPEN, word_of(mode), -1, path) ? NULL : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(opendir);
    return fails(OPEN, "open", -1, path) ? NULL : next(path);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    NEXT(write);
    if (!fails(WRITE, "write", fd, NULL))
        return next(fd, bytes, count);
    return shim.errnum > 0 ? -1 : next(fd, bytes, (count + 1) / 2);
}

#define PWRITER(name, offset_type)                                                                                     \
    ssize_t name(int fd, const void *bytes, size_t count, offset_type at)                                              \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        if (!fails(WRITE, "pwrite", fd, NULL))                                                                         \
            return next(fd, bytes, count, at);                                                                         \
        return shim.errnum > 0 ? -1 : next(fd, bytes, (count + 1) / 2, at);                                            \
    }
PWRITER(pwrite, off_t)
PWRITER(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    NEXT(writev);
    if (!fails(WRITE, "writev", fd, NULL))
        return next(fd, parts, count);
    struct iovec half = {.iov_base = parts[0].iov_base, .iov_len = (parts[0].iov_len + 1) / 2};
    return shim.errnum > 0 ? -1 : next(fd, &half, 1);
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file)
{
    NEXT(fwrite);
    if (!fails(WRITE, "fwrite", fileno(file), NULL))
        return next(bytes, size, count, file);
    return shim.errnum > 0 ? 0 : next(bytes, size, count / 2, file);
}

int fflush(FILE *file)
{
    NEXT(fflush);
    return file != NULL && fails(WRITE, "fflush", fileno(file), NULL) && shim.errnum > 0 ? EOF : next(file);
}

ssize_t read(int fd, void *bytes, size_t count)
{
    NEXT(read);
    struct stat st;
    if (!fails(READ, "read", fd, NULL))
        return next(fd, bytes, count);
    if (shim.errnum == EIO && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)) /* a pipe has no such error */
        return next(fd, bytes, count);
    return shim.errnum > 0 ? -1 : next(fd, bytes, (count + 1) / 2);
}

#define PREADER(name, offset_type)                                                                                     \
    ssize_t name(int fd, void *bytes, size_t count, offset_type at)                                                    \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        if (!fails(READ, "pread", fd, NULL))                                                                           \
            return next(fd, bytes, count, at);                                                                         \
        return shim.errnum > 0 ? -1 : next(fd, bytes, (count + 1) / 2, at);                                            \
    }
PREADER(pread, off_t)
PREADER(pread64, off64_t)

#define SYNCER(name)                                                                                                   \
    int name(int fd)                                                                                                   \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        return fails(FSYNC, #name, fd, NULL) ? -1 : next(fd);                                                          \
    }
SYNCER(fsync)
SYNCER(fdatasync)

int rename(const char *from, const char *to)
{
    NEXT(rename);
    return fails(RENAME, "rename", -1, to) ? -1 : next(from, to);
}

int renameat(int old, const char *from, int new, const char *to)
{
    NEXT(renameat);
    return fails(RENAME, "renameat", -1, to) ? -1 : next(old, from, new, to);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    return fails(MKDIR, "mkdir", -1, path) ? -1 : next(path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    NEXT(mkdirat);
    return fails(MKDIR, "mkdirat", -1, path) ? -1 : next(dir, path, mode);
}

int link(const char *from, const char *to)
{
    NEXT(link);
    return fails(LINK, "link", -1, to) ? -1 : next(from, to);
}

int linkat(int old, const char *from, int new, const char *to, int flags)
{
    NEXT(linkat);
    return fails(LINK, "linkat", -1, to) ? -1 : next(old, from, new, to, flags);
}

int symlink(const char *target, const char *path)
{
    NEXT(symlink);
    return fails(LINK, "symlink", -1, path) ? -1 : next(target, path);
}

int symlinkat(const char *target, int dir, const char *path)
{
    NEXT(symlinkat);
    return fails(LINK, "symlinkat", -1, path) ? -1 : next(target, dir, path);
}

int unlink(const char *path)
{
    NEXT(unlink);
    return fails(UNLINK, "unlink", -1, path) ? -1 : next(path);
}

int unlinkat(int dir, const char *path, int flags)
{
    NEXT(unlinkat);
    return fails(UNLINK, "unlinkat", -1, path) ? -1 : next(dir, path, flags);
}

int rmdir(const char *path)
{
    NEXT(rmdir);
    return fails(UNLINK, "rmdir", -1, path) ? -1 : next(path);
}

int ftruncate(int fd, off_t size)
{
    NEXT(ftruncate);
    return fails(TRUNCATE, "ftruncate", fd, NULL) ? -1 : next(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    NEXT(ftruncate64);
    return fails(TRUNCATE, "ftruncate", fd, NULL) ? -1 : next(fd, size);
}

int pipe2(int pair[2], int flags)
{
    NEXT(pipe2);
    return fails(PIPE, "pipe", -1, NULL) ? -1 : next(pair, flags);
}

int pipe(int pair[2])
{
    NEXT(pipe);
    return fails(PIPE, "pipe", -1, NULL) ? -1 : next(pair);
}

int memfd_create(const char *name, unsigned flags)
{
    NEXT(memfd_create);
    return fails(PIPE, "memfd_create", -1, name) ? -1 : next(name, flags);
}

/* Only pidfd_open is called so. */
long syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long), d = va_arg(args, long);
    va_end(args);
    if (number == SYS_pidfd_open && fails(PIPE, "pidfd_open", -1, NULL))
        return -1;
    return system_call(number, a, b, c, d);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    NEXT(posix_spawn);
    int saved = errno;
    if (!fails(SPAWN, "posix_spawn", -1, argv[3] != NULL ? argv[3] : path))
        return next(pid, path, actions, attributes, argv, env);
    errno = saved;
    return shim.errnum;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    NEXT(posix_spawnp);
    int saved = errno;
    if (!fails(SPAWN, "posix_spawnp", -1, file))
        return next(pid, file, actions, attributes, argv, env);
    errno = saved;
    return shim.errnum;
}

pid_t fork(void)
{
    NEXT(fork);
    return fails(SPAWN, "fork", -1, NULL) ? -1 : next();
}

FILE *popen(const char *command, const char *mode)
{
    NEXT(popen);
    return fails(SPAWN, "popen", -1, command) ? NULL : next(command, mode);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    NEXT(poll);
    return fails(POLL, "poll", -1, NULL) ? -1 : next(fds, count, timeout);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    NEXT(ppoll);
    return fails(POLL, "ppoll", -1, NULL) ? -1 : next(fds, count, timeout, mask);
}
