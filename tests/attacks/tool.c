/* SPDX-License-Identifier: MIT */
/* tool: what attacks need of the kernel and a shell cannot ask for: `tool WHAT [ARGUMENT...]` says "GOT ..." where it had success, and
 * ends with 0 then. Compiled by tests/attacks/lib.sh, committed to the attacked projects, never linked to anything of apsis. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int got(const char *what)
{
    printf("GOT %s\n", what);
    return 0;
}

static int failed(const char *what)
{
    printf("refused %s: %s\n", what, strerror(errno));
    return 1;
}

/* Makes every write in a folder wait for the disk, by each of the calls that can. */
static int set_flags(const char *path)
{
    struct fsxattr extended = {0};
    struct { unsigned long long flags, rest[2]; } attributes = {FS_XFLAG_SYNC, {0}};
    int fd = open(path, O_RDONLY), flags = 0, count = 0;
    if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
        return failed("the flags");
    flags |= FS_SYNC_FL;
    count += ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    extended.fsx_xflags = FS_XFLAG_SYNC;
    count += ioctl(fd, FS_IOC_FSSETXATTR, &extended) == 0;
    count += syscall(469, AT_FDCWD, path, &attributes, sizeof attributes, 0) == 0; /* file_setattr, Linux 6.17 */
    return count > 0 ? got("a flag") : failed("every call that sets flags");
}

/* @NAME is an abstract socket. */
static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s", name);
    if (name[0] == '@')
        address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + (name[0] != '@'));
}

/* Answers every connection with a line, until its parent ends: a server that ended by itself would make attacks look stopped. */
static int serve(int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int peer = accept(fd, NULL, NULL);
        if (peer >= 0 && write(peer, "HELLO-FROM-OUTSIDE\n", 19) < 0)
            return 1;
        close(peer);
    }
}

static int unix_serve(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 8) != 0)
        return failed("listen");
    if (name[0] != '@')
        chmod(name, 0777);
    return serve(fd);
}

static int hear(int fd)
{
    char text[64];
    ssize_t count = read(fd, text, sizeof text - 1);
    if (count <= 0)
        return failed("read");
    text[count] = '\0';
    return got(text);
}

static int unix_connect(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, length) != 0)
        return failed("unix socket");
    return hear(fd);
}

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Prints its port, then serves. */
static int tcp_serve(int port)
{
    struct sockaddr_in address = loopback(port);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 8) != 0)
        return failed("listen");
    getsockname(fd, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return serve(fd);
}

static int tcp_connect(int port)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        return failed("tcp");
    return hear(fd);
}

/* One operation by an io_uring, done in the kernel and not by a system call of its own: its result, or -errno. */
static int ring_do(uint8_t operation, int fd, uint64_t offset, void *address, uint32_t length)
{
    enum { SETUP = 425, ENTER = 426, GET_EVENTS = 1, SUBMISSIONS = 0x10000000 };
    struct {
        uint32_t entries[2], flags, cpu, idle, features, wq, reserved[3], sq[10], cq[10];
    } set = {0};
    struct entry {
        uint8_t operation, flags;
        uint16_t priority;
        int32_t fd;
        uint64_t offset, address;
        uint32_t length, more[9];
    } entry = {.operation = operation, .fd = fd, .offset = offset, .address = (uint64_t)(uintptr_t)address, .length = length};
    int ring = (int)syscall(SETUP, 1, &set);
    if (ring < 0)
        return -errno;
    char *rings = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    struct entry *entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, SUBMISSIONS);
    if (rings == MAP_FAILED || entries == MAP_FAILED)
        return -errno;
    entries[0] = entry;
    *(volatile uint32_t *)(rings + set.sq[6]) = 0; /* the array's first is entry 0 */
    *(volatile uint32_t *)(rings + set.sq[1]) += 1; /* its tail */
    if (syscall(ENTER, ring, 1, 1, GET_EVENTS, NULL, 0) != 1)
        return -errno;
    int result = *(volatile int32_t *)(rings + set.cq[5] + 8); /* user_data, then res */
    close(ring);
    return result;
}

/* A server reached by io_uring, past a filter of system calls. */
static int ring_connect(int port)
{
    enum { CONNECT = 16, SOCKET = 45 };
    struct sockaddr_in address = loopback(port);
    int fd = ring_do(SOCKET, AF_INET, SOCK_STREAM, NULL, 0);
    int result = fd < 0 ? fd : ring_do(CONNECT, fd, sizeof address, &address, 0);
    if (result < 0) {
        errno = -result;
        return failed(fd < 0 ? "ring" : "ring's connection");
    }
    return hear(fd);
}

static int trace(pid_t pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
        return failed("ptrace");
    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL); /* without a stop it cannot be let go */
    waitpid(pid, NULL, __WALL);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return got("ptrace");
}

/* The first bytes that are mapped, by /proc/PID/mem, or by process_vm_readv. */
static int memory(pid_t pid)
{
    char path[64];
    unsigned long at = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    if (maps == NULL || fscanf(maps, "%lx", &at) != 1)
        return failed("maps");
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDWR);
    char byte;
    return fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1 ? got("memory") : failed("mem");
}

/* A system call by the convention of 32-bit programs, whose numbers are others: its result, or -errno. */
static long old_call(long number, long first, long second, long third, long fourth)
{
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third), "S"(fourth) : "memory");
    return result;
#else
    (void)number, (void)first, (void)second, (void)third, (void)fourth;
    return -ENOSYS;
#endif
}

/* A vsock made by an old call, or by an io_uring. */
static int vsock(const char *how)
{
    enum { OLD_SOCKET = 359, RING_SOCKET = 45, VSOCK = 40 };
    long fd = strcmp(how, "ring") == 0 ? ring_do(RING_SOCKET, VSOCK, SOCK_STREAM, NULL, 0)
                                       : old_call(OLD_SOCKET, VSOCK, SOCK_STREAM, 0, 0);
    errno = (int)-fd;
    return fd < 0 ? failed("vsock") : got("vsock");
}

/* The limits of another process, by an old call that sets nothing. */
static int old_limits(pid_t pid)
{
    enum { OLD_PRLIMIT64 = 340, NOFILE = 7 };
    long result = old_call(OLD_PRLIMIT64, pid, NOFILE, 0, 0);
    errno = (int)-result;
    return result < 0 ? failed("prlimit64") : got("limits");
}

/* The user's keyring linked to one of our own; a key of it read, or put there. */
static int keyring(const char *what)
{
    enum { USER_KEYRING = -4, SESSION_KEYRING = -3, LINK = 8, SEARCH = 10, READ = 11 };
    char text[64] = "";
    if (strcmp(what, "put") == 0)
        return syscall(SYS_add_key, "user", "apsis-attack", "KEY-OF-THE-USER", 15L, USER_KEYRING) < 0 ? failed("add_key") : got("put");
    syscall(SYS_keyctl, LINK, USER_KEYRING, SESSION_KEYRING);
    long key = syscall(SYS_keyctl, SEARCH, SESSION_KEYRING, "user", "apsis-attack", 0);
    if (key < 0 || syscall(SYS_keyctl, READ, key, text, sizeof text - 1) < 0)
        return failed("key");
    return got(text);
}

/* A character into a terminal's input. */
static int terminal_input(const char *path)
{
    int fd = open(path, O_RDWR);
    if (fd < 0)
        return failed(path);
    return ioctl(fd, TIOCSTI, "x") == 0 ? got("terminal input") : failed("TIOCSTI");
}

static int make_device(const char *path)
{
    if (mknod(path, S_IFBLK | 0600, (dev_t)(8 << 8)) != 0)
        return failed("mknod");
    unlink(path);
    return got("a device");
}

/* Leaves a descriptor in a message that only its own receiver could read: the kernel closes both some time later. */
static int leave_behind(int fd)
{
    int pair[2];
    char byte = 0, control[CMSG_SPACE(3 * sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
        return failed("socketpair");
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){CMSG_LEN(3 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(header), (int[]){fd, pair[0], pair[1]}, 3 * sizeof(int));
    return sendmsg(pair[0], &message, 0) < 0 ? failed("sendmsg") : got("left behind");
}

/* Writes a text to the beginning of a file by a shared mapping, which it has read before: then the kernel does not see the write.
 * until, if not empty: waits for that file, and puts back what was there; the descriptor is left behind. */
static int mapped(const char *path, const char *text, const char *until)
{
    char before[64];
    size_t length = strnlen(text, sizeof before);
    int fd = open(path, O_RDWR);
    char *bytes = fd < 0 ? MAP_FAILED : mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return failed(path);
    memcpy(before, bytes, length);
    memcpy(bytes, text, length);
    if (until[0] == '\0')
        return got("written");
    got("written");
    fflush(stdout);
    alarm(60);
    while (access(until, F_OK) != 0)
        usleep(10000);
    memcpy(bytes, before, length);
    return leave_behind(fd);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *argument = argc > 2 ? argv[2] : "";
    if (strcmp(what, "mapped") == 0)
        return mapped(argument, argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
    if (strcmp(what, "landlock") == 0)
        return printf("%ld\n", syscall(444, NULL, 0, 1)) < 0;
    if (strcmp(what, "unix-serve") == 0)
        return unix_serve(argument);
    if (strcmp(what, "unix") == 0)
        return unix_connect(argument);
    if (strcmp(what, "tcp-serve") == 0)
        return tcp_serve(atoi(argument));
    if (strcmp(what, "tcp") == 0)
        return tcp_connect(atoi(argument));
    if (strcmp(what, "ring") == 0)
        return ring_connect(atoi(argument));
    if (strcmp(what, "vsock") == 0)
        return vsock(argument);
    if (strcmp(what, "old-limits") == 0)
        return old_limits((pid_t)atoi(argument));
    if (strcmp(what, "ptrace") == 0)
        return trace((pid_t)atoi(argument));
    if (strcmp(what, "mem") == 0)
        return memory((pid_t)atoi(argument));
    if (strcmp(what, "xattr") == 0)
        return setxattr(argument, "user.note", "1", 1, 0) != 0 ? failed("setxattr") : got("a note");
    if (strcmp(what, "flags") == 0)
        return set_flags(argument);
    if (strcmp(what, "keyring") == 0)
        return keyring(argument);
    if (strcmp(what, "terminal") == 0)
        return terminal_input(argument);
    if (strcmp(what, "mknod") == 0)
        return make_device(argument);
    return 2;
}
