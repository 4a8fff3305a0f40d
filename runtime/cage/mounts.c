/* SPDX-License-Identifier: MIT */
/* mounts: what a command in a box sees of the file system and of the network. Everything is visible and read-only.
 * Some folders are replaced by empty ones, some of these writable and discarded at the end; the box's own paths are
 * mounted over them. Part of the cage program; runs in its init, in its own mount namespace. Needs Linux 5.12
 * (mount_setattr). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cage/mounts.h"

enum { ENTRIES_MAX = 1024 };

struct attributes {
    uint64_t set, clear, propagation, user_fd;
};

static int tree_open(int dir, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dir, path, flags | OPEN_TREE_CLONE | O_CLOEXEC);
}

static int set_attributes(int dir, const char *path, unsigned flags, struct attributes attributes)
{
    return (int)syscall(SYS_mount_setattr, dir, path, flags, &attributes, sizeof attributes);
}

static int attach(int tree, const char *path)
{
    return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH);
}

/* A file system in memory, not attached anywhere yet. An empty file takes about 1 KB of the kernel's memory, which
 * `size` does not count. */
static int memory_open(long long bytes)
{
    char size[32], files[32];
    int mount_fd = -1, fd = (int)syscall(SYS_fsopen, "tmpfs", 1);
    if (fd < 0)
        return -1;
    snprintf(size, sizeof size, "%lld", bytes);
    snprintf(files, sizeof files, "%lld", ENTRIES_MAX + bytes / 1024);
    if (syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "size", size, 0) == 0 &&
        syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "nr_inodes", files, 0) == 0 &&
        syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0 &&
        syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount_fd = (int)syscall(SYS_fsmount, fd, 1, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    int saved = errno;
    close(fd);
    errno = saved;
    return mount_fd;
}

/* Creates a mount point inside a folder that the box has emptied: the parents and an empty folder or file. */
static int parents_make(const char *path)
{
    char part[4096];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return -1;
    memcpy(part, path, length + 1);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST && errno != EROFS)
            return -1;
        *slash = '/';
    }
    return 0;
}

static int target_make(const char *path, bool folder)
{
    if (access(path, F_OK) == 0)
        return 0;
    if (parents_make(path) != 0)
        return -1;
    if (folder)
        return mkdir(path, 0755) != 0 && errno != EEXIST ? -1 : 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

/* A path's tree as it is now, before everything becomes read-only; -1 if it does not exist. */
static int shown_open(const char *entry)
{
    int fd = tree_open(AT_FDCWD, entry + 1, AT_RECURSIVE);
    struct attributes attributes = {
        .set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (entry[0] == BOX_SHOWN ? MOUNT_ATTR_RDONLY : 0)};
    if (fd >= 0 && set_attributes(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, attributes) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static int shown_attach(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || target_make(path, S_ISDIR(st.st_mode)) != 0)
        return -1;
    return attach(fd, path);
}

/* Puts an empty folder (or file) over a path. */
static int empty_attach(int memory, int index, const char *entry)
{
    char name[16];
    struct stat st;
    bool writable = entry[0] == BOX_PRIVATE;
    if (writable && target_make(entry + 1, true) != 0)
        return -1;
    if (stat(entry + 1, &st) != 0)
        return 0; /* nothing to hide */
    snprintf(name, sizeof name, "%d", index);
    if (S_ISDIR(st.st_mode)) {
        if (mkdirat(memory, name, 0700) != 0 || fchmodat(memory, name, writable ? 01777 : 0755, 0) != 0)
            return -1;
    } else {
        int fd = openat(memory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
        if (fd < 0)
            return -1;
        close(fd);
    }
    int tree = tree_open(memory, name, 0);
    if (tree < 0)
        return -1;
    static bool has_place; /* memory, below the first of its folders: closing it unattached waits for every processor */
    int result = 0;
    if (!has_place && S_ISDIR(st.st_mode)) {
        result = attach(memory, entry + 1);
        has_place = result == 0;
    }
    if (result == 0)
        result = attach(tree, entry + 1);
    close(tree);
    return result;
}

/* A symbolic link in a folder that the box has emptied; elsewhere it is already there. */
static void link_make(const char *entry)
{
    char path[4096];
    const char *target = strstr(entry + 1, "//");
    size_t length = target != NULL ? (size_t)(target - entry - 1) : sizeof path;
    if (length >= sizeof path)
        return;
    memcpy(path, entry + 1, length);
    path[length] = '\0';
    if (parents_make(path) == 0)
        (void)!symlink(target + 1, path); /* or it is there already */
}

static int entries_attach(const struct cage_box *box, int memory, const int *trees, const char **step)
{
    for (int i = 0; i < box->count; i++) {
        const char *entry = box->entries[i];
        bool empties = entry[0] == BOX_PRIVATE || entry[0] == BOX_HIDDEN;
        *step = entry + 1;
        if (entry[0] == BOX_LINK)
            link_make(entry);
        else if (empties ? empty_attach(memory, i, entry) != 0
                         : trees[i] >= 0 && shown_attach(trees[i], entry + 1) != 0)
            return -1;
    }
    for (int i = 0; i < box->count; i++) /* now the paths inside them have their mount points */
        if (box->entries[i][0] == BOX_HIDDEN && access(box->entries[i] + 1, F_OK) == 0) {
            *step = box->entries[i] + 1;
            if (set_attributes(AT_FDCWD, *step, 0, (struct attributes){.set = MOUNT_ATTR_RDONLY}) != 0 &&
                errno != EINVAL)
                return -1;
        }
    return 0;
}

/* A /proc of this pid namespace; read-only for root, who could change the machine's settings there. */
static int proc_mount(bool root)
{
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | (root ? MS_RDONLY : 0), NULL);
}

/* A private devpts: the user's terminals have paths in the shared one, and writing to a terminal shows any text on
 * it. */
static int terminals_mount(void)
{
    static const char place[] = "/dev/pts";
    if (access(place, F_OK) != 0 ||
        mount("devpts", place, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") == 0)
        return 0;
    return mount("tmpfs", place, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k");
}

int cage_view(const struct cage_box *box, bool root, const char **step)
{
    int trees[ENTRIES_MAX], memory = -1, result = -1;
    *step = "paths";
    if (box->count > ENTRIES_MAX) {
        errno = E2BIG;
        return -1;
    }
    *step = "/";
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return -1;
    for (int i = 0; i < box->count; i++) {
        bool shows = box->entries[i][0] == BOX_SHOWN || box->entries[i][0] == BOX_WRITABLE;
        trees[i] = shows ? shown_open(box->entries[i]) : -1;
    }
    if (set_attributes(
            AT_FDCWD, "/", AT_RECURSIVE, (struct attributes){.set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID}) == 0 &&
        (*step = "tmpfs", memory = memory_open(box->private_bytes)) >= 0 &&
        entries_attach(box, memory, trees, step) == 0 && (*step = "/dev/pts", terminals_mount()) == 0 &&
        (*step = "/proc", proc_mount(root)) == 0)
        result = 0;
    int saved = errno;
    for (int i = 0; i < box->count; i++)
        if (trees[i] >= 0)
            close(trees[i]);
    if (memory >= 0)
        close(memory);
    errno = saved;
    return result;
}

static void loopback_raise(void)
{
    struct ifreq device = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    device.ifr_flags = IFF_UP | IFF_RUNNING;
    ioctl(fd, SIOCSIFFLAGS, &device);
    close(fd);
}

/* The kernel needs as long for a network namespace as for the rest of the box: a child that shares our descriptors
 * makes it meanwhile. */
static pid_t network_maker;
static int network_fd = -1;

int cage_network_begin(const char **step)
{
    *step = "network";
    network_fd = open("/", O_PATH | O_CLOEXEC); /* the number at which the child puts it */
    network_maker = network_fd < 0 ? -1 : (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
    if (network_maker != 0)
        return network_maker < 0 ? -1 : 0;
    int fd = -1;
    if (unshare(CLONE_NEWNET) == 0 && (fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) >= 0)
        loopback_raise();
    _exit(fd >= 0 && dup3(fd, network_fd, O_CLOEXEC) == network_fd && close(fd) == 0 ? 0 : errno);
}

int cage_network_join(const char **step)
{
    int status = -1;
    *step = "network";
    while (waitpid(network_maker, &status, 0) < 0 && errno == EINTR)
        ;
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    int result = errno != 0 || setns(network_fd, CLONE_NEWNET) != 0 ? -1 : 0;
    close(network_fd);
    return result;
}
