/* SPDX-License-Identifier: MIT */
/* landlock: limits what a command in a box may do: no new privileges, no capabilities, a Landlock ruleset and the
 * filter. Part of the cage program. The init makes the ruleset; the command applies it to itself right before exec.
 * With namespaces the ruleset blocks tracing, mounting and (for root) devices; without them it is the whole box. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cage/filter.h"
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
        if (entry[0] != BOX_HIDDEN && entry[0] != BOX_PRIVATE && i >= 0)
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
                (strcmp(names[i], "nvidia") == 0 && strncmp(entry->d_name, "nvidia", 6) == 0)) {
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
    /* in namespaces, hidden paths do not exist; but a user may be allowed to read disks, keyboards, the kernel's log */
    struct rules rules = {*fd, set.fs, alone ? box : &nothing};
    folder_add(&rules, "/", readers);
    if (!alone)
        rule_add(&rules, "/", LANDLOCK_ACCESS_FS_READ_DIR);
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
    for (int capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EINVAL)
            break;
    syscall(SYS_capset, &header, none);
}

int cage_lock(int rules_fd, const struct cage_box *box, enum cage_mode mode)
{
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); /* a session keyring without the user's keys */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    capabilities_drop();
    if (rules_fd >= 0 && syscall(SYS_landlock_restrict_self, rules_fd, 0) != 0)
        return -1;
    bool alone = mode == CAGE_LANDLOCK;
    if (cage_filter(alone, box->network || !alone, false) == 0)
        return 0;
    return errno == EINVAL && (box->network || !alone) ? 0 : -1; /* a kernel without filters */
}
