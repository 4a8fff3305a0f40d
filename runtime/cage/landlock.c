/* SPDX-License-Identifier: MIT */
/* landlock: limits what a command in a box may do: no new privileges, no capabilities, a Landlock ruleset and seccomp
 * filters. Part of the cage program. The init makes the ruleset; the command applies it to itself right before exec.
 * With namespaces the ruleset blocks tracing, mounting and (for root) devices; without them it is the whole box. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cage/landlock.h"

/* Newer than the headers of Debian 12. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
#ifndef LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

/* The file system accesses that each Landlock version knows. */
static const uint64_t fs_of_version[] = {0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1};
static const uint64_t readers = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t writers = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;
/* The accesses that a rule for a file may name. */
static const uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                 LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
                                 LANDLOCK_ACCESS_FS_IOCTL_DEV;

/* struct landlock_ruleset_attr of version 6; the kernel accepts shorter ones too. */
struct ruleset {
    uint64_t fs, net, scoped;
};

struct rules {
    int fd;
    uint64_t handled;
    const struct cage_box *box;
    bool carves_dev;
};

static void rule_add(const struct rules *rules, const char *path, uint64_t access)
{
    struct stat st;
    struct landlock_path_beneath_attr rule = {access & rules->handled, open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return; /* a missing path needs no rule */
    if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed_access &= of_files;
    syscall(SYS_landlock_add_rule, rules->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

enum place { OUTSIDE, HIDES, ABOVE };

/* How the box treats a path: not at all, hidden, or with something hidden below it. */
static enum place place_of(const struct rules *rules, const char *path)
{
    size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);
    enum place found = OUTSIDE;
    for (int i = -1; i < rules->box->count; i++) {
        const char *entry = i < 0 ? "h/dev" : rules->box->entries[i];
        if ((i < 0 && !rules->carves_dev) || (entry[0] != BOX_HIDDEN && entry[0] != BOX_PRIVATE))
            continue;
        if (strcmp(entry + 1, path) == 0)
            return HIDES;
        if (strncmp(entry + 1, path, length) == 0 && entry[1 + length] == '/')
            found = ABOVE;
    }
    return found;
}

/* Gives access to everything below a folder except what the box hides. A folder with something hidden in it cannot be
 * listed, and nothing can be created in it. */
static void folder_add(const struct rules *rules, const char *folder, uint64_t access)
{
    char path[4096];
    enum place place = place_of(rules, folder);
    if (place == HIDES)
        return;
    if (place == OUTSIDE) {
        rule_add(rules, folder, access);
        return;
    }
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        int length = snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && entry->d_type != DT_LNK &&
            length < (int)sizeof path)
            folder_add(rules, path, access);
    }
    closedir(dir);
}

/* Devices without content, those that compute, and terminals if they are not the user's. */
static void devices_add(const struct rules *rules, bool terminals)
{
    static const char *const names[] = {
        "null", "zero", "full", "random", "urandom", "tty", "dri", "kfd", "accel", "nvidia", "dxg", "ptmx", "pts"};
    const size_t count = sizeof names / sizeof names[0] - (terminals ? 0 : 2);
    char path[300];
    DIR *dir = opendir("/dev");
    if (dir == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        for (size_t i = 0; i < count; i++)
            if (strcmp(entry->d_name, names[i]) == 0 ||
                (strncmp(names[i], "nvidia", 6) == 0 && strncmp(entry->d_name, "nvidia", 6) == 0)) {
                snprintf(path, sizeof path, "/dev/%s", entry->d_name);
                rule_add(rules, path, readers | writers | LANDLOCK_ACCESS_FS_IOCTL_DEV);
                break;
            }
    closedir(dir);
}

int cage_rules(int *fd, const struct cage_box *box, enum cage_mode mode, const char **step)
{
    bool alone = mode == CAGE_LANDLOCK, root = geteuid() == 0;
    struct cage_box nothing = {0};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    *fd = -1;
    *step = "Landlock";
    if (version < 1)
        return alone ? -1 : 0;
    struct ruleset set = {.fs = fs_of_version[version < 5 ? version : 5]};
    if (version >= 6)
        set.scoped = LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
    *fd = (int)syscall(SYS_landlock_create_ruleset, &set, version >= 6 ? sizeof set : sizeof set.fs, 0);
    if (*fd < 0)
        return alone ? -1 : 0;
    /* in namespaces, hidden paths do not exist; but root could reach the machine's disks */
    struct rules rules = {*fd, set.fs, alone ? box : &nothing, alone || root};
    folder_add(&rules, "/", readers);
    devices_add(&rules, !alone);
    if (!alone && !root)
        rule_add(&rules, "/proc", readers | writers);
    for (int i = 0; i < box->count; i++) {
        const char *entry = box->entries[i];
        if (entry[0] == BOX_WRITABLE || (entry[0] == BOX_PRIVATE && !alone))
            folder_add(&rules, entry + 1, set.fs);
        else if (entry[0] == BOX_SHOWN)
            folder_add(&rules, entry + 1, readers);
    }
    return 0;
}

/* Everything that root may do beyond its own files. */
static void capabilities_drop(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EINVAL)
            break;
    syscall(SYS_capset, &header, none);
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OLD_ARCHITECTURE AUDIT_ARCH_I386
enum { OLD_ADD_KEY = 286 };
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OLD_ARCHITECTURE AUDIT_ARCH_ARM
enum { OLD_ADD_KEY = 309 };
#endif

/* Without slowing what is measured: before Linux 5.16 a filter disabled speculation. */
static int filter_put(struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, code};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0)
        return 0;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Hides the user's keys: a command could link the user's keyring to its own. add_key, request_key and keyctl do not
 * exist for it, in no calling convention of this processor. */
static int keys_refuse(void)
{
#ifdef ARCHITECTURE
    enum { NOT_X32 = 0xbfffffff };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, NOT_X32),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_add_key, 0, 1),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_keyctl, 0, 5),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OLD_ARCHITECTURE, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OLD_ADD_KEY, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, OLD_ADD_KEY + 2, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filter_put(code, sizeof code / sizeof code[0]);
#else
    return 0;
#endif
}

/* Forbids every socket except pairs, also through io_uring and by the numbers of another architecture. */
static int sockets_refuse(void)
{
#ifdef ARCHITECTURE
    enum { X32 = 0x40000000 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    return filter_put(code, sizeof code / sizeof code[0]);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/* Forbids vsock, which no namespace holds back; if other processes are in reach, also changing their limits. */
static int others_refuse(bool alone)
{
#ifdef ARCHITECTURE
    enum { NOTHING = 0x7fffffff };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 9),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, alone ? SYS_prlimit64 : NOTHING, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 3, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_VSOCK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filter_put(code, sizeof code / sizeof code[0]);
#else
    (void)alone;
    return 0;
#endif
}

int cage_lock(int rules_fd, const struct cage_box *box, enum cage_mode mode)
{
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); /* a session keyring without the user's keys */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    capabilities_drop();
    if (rules_fd >= 0 && syscall(SYS_landlock_restrict_self, rules_fd, 0) != 0)
        return -1;
    if (keys_refuse() != 0 && errno != EINVAL) /* a kernel without seccomp filters */
        return -1;
    if (others_refuse(mode == CAGE_LANDLOCK) != 0 && errno != EINVAL)
        return -1;
    return mode == CAGE_LANDLOCK && !box->network ? sockets_refuse() : 0;
}
