/* SPDX-License-Identifier: MIT */
/* test_cagecalls: system calls of the cage that the kernel refuses, one kind at a time: what makes a box is either made
 * or named, and the command does not start without it; what a box can do without keeps nothing from starting. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "tap.h"

enum { ANY = -1, REFUSALS = 2, NONE = 0 };
enum { WATCHED = CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, OWN_NAMESPACES = WATCHED | CLONE_NEWIPC };
enum { LISTED = O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC };
enum { TOP = AT_RECURSIVE, TREE = AT_RECURSIVE | AT_EMPTY_PATH }; /* what attributes of mounts are set of */

/* A call that is refused: its number, an argument (or ANY) with its value, and the error. */
struct refusal {
    int number, argument;
    uint32_t value;
    int error;
};

/* `step`: what the message names; NULL: the command starts, and writes `out`. */
struct scenario {
    const char *name;
    struct refusal refusals[REFUSALS];
    const char *step, *out;
};

static char place[] = "/tmp/apsis-test-XXXXXX", hidden[] = "/var/tmp/apsis-test-XXXXXX";
static char marker[64], file[64];

static int refuse(const struct refusal *refusals)
{
    struct sock_filter code[8 * REFUSALS + 1];
    size_t count = 0;
    for (int i = 0; i < REFUSALS && refusals[i].error != NONE; i++) {
        bool any = refusals[i].argument == ANY;
        code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        code[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refusals[i].number, 0, any ? 1 : 3);
        if (!any) {
            size_t at = offsetof(struct seccomp_data, args) + 8 * (size_t)refusals[i].argument;
            code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)at);
            code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusals[i].value, 0, 1);
        }
        code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)refusals[i].error);
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)count, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Runs a command in a box as a kernel that refuses has it; in a process of its own. What it wrote, or the message. */
static bool outcome(char *text, size_t room, const struct scenario *scenario, struct ap_proc_spec *spec)
{
    int ends[2];
    unlink(marker);
    if (pipe(ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        struct ap_proc *proc = NULL;
        struct ap_proc_result result;
        struct ap_err err = {0};
        if (refuse(scenario->refusals) != 0)
            _exit(2);
        bool ran = ap_proc_start(&proc, spec, &err) == 0 && (finish(proc), ap_proc_result(&result, proc, &err)) == 0;
        if (ran)
            (void)!write(ends[1], result.streams[0].head, result.streams[0].head_count);
        else
            (void)!write(ends[1], err.message, strlen(err.message));
        int code = ran && result.exited ? result.code : 1;
        ap_proc_close(proc);
        _exit(code);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t count; (count = read(ends[0], text + used, room - 1 - used)) > 0;)
        used += (size_t)count;
    text[used - (used > 0 && text[used - 1] == '\n')] = '\0';
    close(ends[0]);
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check(const char *way, const struct scenario *scenario, struct ap_proc_spec *spec)
{
    char text[2000];
    bool ran = outcome(text, sizeof text, scenario, spec);
    const char *step = scenario->step, *why = strerror(scenario->refusals[REFUSALS - 1].error);
    if (scenario->refusals[REFUSALS - 1].error == NONE)
        why = strerror(scenario->refusals[0].error);
    if (step == NULL)
        ok(ran && strcmp(text, scenario->out) == 0, "%s: without %s it runs: %s", way, scenario->name, text);
    else
        ok(!ran && strstr(text, step) != NULL && (strchr(step, ':') != NULL || strstr(text, why) != NULL) &&
                access(marker, F_OK) != 0,
            "%s: without %s it does not: %s", way, scenario->name, text);
}

static void file_make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ok(fd >= 0 && write(fd, "text", 4) == 4 && close(fd) == 0, "a file: %s", path);
}

/* If the smallest box cannot be made with nothing refused, this way of making one does not work here. */
static void check_all(const char *way, const struct scenario *scenarios, size_t count, struct ap_proc_spec *spec)
{
    char text[2000], *box[] = {"p/tmp", NULL}, *argv[] = {"true", NULL};
    const struct scenario nothing = {"nothing", {{0}}, NULL, ""};
    struct ap_proc_spec least = *spec;
    least.box = box;
    least.argv = argv;
    if (spec->box != NULL && !outcome(text, sizeof text, &nothing, &least)) {
        ok(1, "%s # SKIP %s", way, text);
        return;
    }
    bool has_landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
    for (size_t i = 0; i < count; i++)
        if (has_landlock || scenarios[i].refusals[0].number != SYS_landlock_restrict_self)
            check(way, &scenarios[i], spec);
}

/* 1024 paths, and one more. */
static void many_paths(struct ap_proc_spec spec)
{
    const struct scenario fits = {"nothing", {{0}}, NULL, "text 4 - - - looped"},
                          too_many = {"room", {{-1, ANY, 0, E2BIG}}, "(paths)", NULL};
    static char *paths[1026];
    for (int i = 0; i < 1025; i++)
        paths[i] = "h/nowhere";
    spec.box = paths;
    check_all("1025 paths", &too_many, 1, &spec);
    paths[1024] = NULL;
    check_all("1024 paths", &fits, 1, &spec);
}

static void in_namespaces(struct ap_proc_spec *spec)
{
    const char *const all = "- 0 text written - looped", *const no_paths = "- 0 - - - looped";
    const struct scenario scenarios[] = {
        {"nothing", {{0}}, NULL, all},
        {"mounts", {{SYS_mount, ANY, 0, EPERM}}, "(/)", NULL},
        {"a mount of /proc",
            {{SYS_mount, 3, MS_NOSUID | MS_NODEV | MS_NOEXEC, EPERM},
                {SYS_mount, 3, MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, EPERM}},
            "(/proc)", NULL},
        {"devpts", {{SYS_mount, 3, MS_NOSUID | MS_NOEXEC, EPERM}}, NULL, all},
        {"devpts and tmpfs",
            {{SYS_mount, 3, MS_NOSUID | MS_NOEXEC, EPERM}, {SYS_mount, 3, MS_RDONLY | MS_NOSUID | MS_NODEV, EPERM}},
            "(/dev/pts)", NULL},
        {"attributes of mounts", {{SYS_mount_setattr, 2, TOP, EPERM}}, "(/)", NULL},
        {"those of a path", {{SYS_mount_setattr, 2, TREE, EPERM}}, NULL, no_paths},
        {"those of a hidden folder", {{SYS_mount_setattr, 2, 0, EPERM}}, hidden, NULL},
        {"a mount at a hidden folder", {{SYS_mount_setattr, 2, 0, EINVAL}}, NULL, all},
        {"it and Landlock", {{SYS_mount_setattr, 2, 0, EINVAL}, {SYS_landlock_create_ruleset, ANY, 0, EOPNOTSUPP}},
            NULL, "- 0 text written put looped"},
        {"fsopen", {{SYS_fsopen, ANY, 0, ENOSYS}}, "(tmpfs)", NULL},
        {"options of a file system", {{SYS_fsconfig, 1, FSCONFIG_SET_STRING, EINVAL}}, "(tmpfs)", NULL},
        {"a new file system", {{SYS_fsconfig, 1, FSCONFIG_CMD_CREATE, EPERM}}, "(tmpfs)", NULL},
        {"fsmount", {{SYS_fsmount, ANY, 0, EPERM}}, "(tmpfs)", NULL},
        {"a tree of an empty folder", {{SYS_open_tree, 2, OPEN_TREE_CLONE | O_CLOEXEC, EPERM}}, "(/tmp)", NULL},
        {"trees of paths", {{SYS_open_tree, 2, OPEN_TREE_CLONE | O_CLOEXEC | TOP, EPERM}}, NULL, no_paths},
        {"attaching", {{SYS_move_mount, ANY, 0, EPERM}}, "(/tmp)", NULL},
        {"empty folders", {{SYS_mkdirat, 2, 0700, ENOSPC}}, "(/tmp)", NULL},
        {"their modes", {{SYS_fchmodat, 2, 01777, EPERM}}, "(/tmp)", NULL},
        {"empty files", {{SYS_openat, 3, 0444, ENOSPC}}, file, NULL},
        {"a network", {{SYS_unshare, ANY, 0, EPERM}}, "(network)", NULL},
        {"joining it", {{SYS_setns, ANY, 0, EPERM}}, "(network)", NULL},
        {"handing it over", {{SYS_dup3, 2, O_CLOEXEC, EBUSY}}, "(network)", NULL},
        {"a process that makes it", {{SYS_clone, 0, CLONE_FILES | SIGCHLD, EAGAIN}}, "(network)", NULL},
        {"sockets", {{SYS_socket, 0, AF_INET, EAFNOSUPPORT}}, NULL, "- 0 text written - -"},
        {"a loopback", {{SYS_ioctl, 1, SIOCSIFFLAGS, EPERM}}, NULL, "- 0 text written - -"},
        {"no_new_privs", {{SYS_prctl, 0, PR_SET_NO_NEW_PRIVS, EPERM}}, "(what it may do)", NULL},
        {"a ruleset to apply", {{SYS_landlock_restrict_self, ANY, 0, E2BIG}}, "(what it may do)", NULL},
        {"filters", {{SYS_seccomp, ANY, 0, EPERM}, {SYS_prctl, 0, PR_SET_SECCOMP, EPERM}}, "(what it may do)", NULL},
        {"flags of filters", {{SYS_seccomp, ANY, 0, EINVAL}}, NULL, all},
        {"a kernel with filters", {{SYS_seccomp, ANY, 0, ENOSYS}, {SYS_prctl, 0, PR_SET_SECCOMP, EINVAL}}, NULL, all},
        {"Landlock", {{SYS_landlock_create_ruleset, ANY, 0, EOPNOTSUPP}}, NULL, all},
        {"a ruleset", {{SYS_landlock_create_ruleset, 2, 0, ENOMEM}}, NULL, all},
        {"folders to list", {{SYS_openat, 2, LISTED, EACCES}}, "sh: Permission denied", NULL},
        {"keyrings", {{SYS_keyctl, ANY, 0, ENOSYS}}, NULL, all},
        {"descriptors of processes", {{SYS_pidfd_open, ANY, 0, ENOSYS}}, NULL, all},
        {"namespaces", {{SYS_clone, 0, OWN_NAMESPACES, EPERM}, {SYS_clone, 0, OWN_NAMESPACES | CLONE_NEWUSER, EPERM}},
            "(namespaces)", NULL},
    };
    spec->mode = AP_PROC_NAMESPACES;
    check_all("namespaces", scenarios, sizeof scenarios / sizeof scenarios[0], spec);
    many_paths(*spec);
}

static void in_landlock(struct ap_proc_spec *spec)
{
    const char *const all = "- 1 - written - -", *const linked = "- 1 - written - looped",
                      *const step = "(what it may do)";
    const struct scenario scenarios[] = {
        {"nothing", {{0}}, NULL, all},
        {"Landlock", {{SYS_landlock_create_ruleset, ANY, 0, EOPNOTSUPP}}, "(Landlock)", NULL},
        {"a ruleset", {{SYS_landlock_create_ruleset, 2, 0, ENOMEM}}, "(Landlock)", NULL},
        {"rules", {{SYS_landlock_add_rule, ANY, 0, EINVAL}}, "sh: Permission denied", NULL},
        {"folders to list", {{SYS_openat, 2, LISTED, EACCES}}, "sh: Permission denied", NULL},
        {"a ruleset to apply", {{SYS_landlock_restrict_self, ANY, 0, E2BIG}}, step, NULL},
        {"no_new_privs", {{SYS_prctl, 0, PR_SET_NO_NEW_PRIVS, EPERM}}, step, NULL},
        {"filters", {{SYS_seccomp, ANY, 0, EPERM}, {SYS_prctl, 0, PR_SET_SECCOMP, EPERM}}, step, NULL},
        {"a kernel with filters", {{SYS_seccomp, ANY, 0, ENOSYS}, {SYS_prctl, 0, PR_SET_SECCOMP, EINVAL}}, step, NULL},
    };
    const struct scenario networked[] = {
        {"nothing", {{0}}, NULL, linked},
        {"filters", {{SYS_seccomp, ANY, 0, EPERM}, {SYS_prctl, 0, PR_SET_SECCOMP, EPERM}}, step, NULL},
        {"a kernel with filters", {{SYS_seccomp, ANY, 0, ENOSYS}, {SYS_prctl, 0, PR_SET_SECCOMP, EINVAL}}, NULL,
            linked},
    };
    spec->mode = AP_PROC_LANDLOCK;
    check_all("Landlock", scenarios, sizeof scenarios / sizeof scenarios[0], spec);
    spec->network = true;
    check_all("Landlock, with a network", networked, sizeof networked / sizeof networked[0], spec);
}

/* Whether a process can make a user namespace with its user in it. */
static bool has_user_namespaces(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        char map[64];
        int length = snprintf(map, sizeof map, "%u %u 1", geteuid(), geteuid());
        int fd = unshare(CLONE_NEWUSER) == 0 ? open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC) : -1;
        _exit(fd >= 0 && write(fd, map, (size_t)length) == length ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return status == 0;
}

/* In a user namespace of its own a command has its user only; where that cannot be written it has none. */
static void users(struct ap_proc_spec spec)
{
    char own[64], ours[64] = "", script[] = "echo $(cat /proc/self/uid_map)", *argv[] = {"sh", "-c", script, NULL};
    spec.argv = argv;
    const struct scenario plain = {"nothing", {{0}}, NULL, NULL};
    spec.mode = AP_PROC_SUBREAPER;
    if (!outcome(ours, sizeof ours, &plain, &spec) || !has_user_namespaces()) {
        ok(1, "users # SKIP no user namespaces");
        return;
    }
    snprintf(own, sizeof own, "%u %u 1", geteuid(), geteuid());
    const struct scenario mapped = {"root's namespaces", {{SYS_clone, 0, WATCHED, EPERM}}, NULL, own},
                          unmapped = {"a file of users",
                              {{SYS_clone, 0, WATCHED, EPERM}, {SYS_openat, 2, O_WRONLY | O_CLOEXEC, EACCES}}, NULL,
                              ours};
    spec.mode = AP_PROC_WATCHED;
    check("users", &mapped, &spec);
    check("users", &unmapped, &spec);
}

static void without_box(struct ap_proc_spec *spec)
{
    const char *const all = "text 4 - written put looped";
    const struct scenario filtered[] = {
        {"nothing", {{0}}, NULL, all},
        {"no_new_privs", {{SYS_prctl, 0, PR_SET_NO_NEW_PRIVS, EPERM}}, "the sandbox of sh", NULL},
        {"filters", {{SYS_seccomp, ANY, 0, EPERM}, {SYS_prctl, 0, PR_SET_SECCOMP, EPERM}}, "the sandbox of sh", NULL},
        {"a kernel with filters", {{SYS_seccomp, ANY, 0, ENOSYS}, {SYS_prctl, 0, PR_SET_SECCOMP, EINVAL}}, NULL, all},
    };
    const struct scenario alone[] = {
        {"nothing", {{0}}, NULL, all},
        {"folders to list", {{SYS_openat, 2, LISTED, EACCES}}, NULL, all},
    };
    const struct scenario watched[] = {
        {"nothing", {{0}}, NULL, all},
        {"mounts", {{SYS_mount, ANY, 0, EPERM}}, NULL, all},
        {"root's namespaces", {{SYS_clone, 0, WATCHED, EPERM}}, NULL, all},
        {"namespaces", {{SYS_clone, 0, WATCHED, EPERM}, {SYS_clone, 0, WATCHED | CLONE_NEWUSER, EPERM}}, NULL, all},
        {"priorities", {{SYS_setpriority, ANY, 0, EPERM}}, NULL, all},
        {"groups", {{SYS_setpgid, ANY, 0, EPERM}}, NULL, all},
    };
    spec->box = NULL;
    spec->mode = AP_PROC_FILTERED;
    check_all("filtered", filtered, sizeof filtered / sizeof filtered[0], spec);
    spec->mode = AP_PROC_SUBREAPER;
    check_all("subreaper", alone, sizeof alone / sizeof alone[0], spec);
    char *slow[] = {"sh", "-c", "sleep 0.3; echo slept", NULL};
    const struct scenario looked[] = {
        {"nothing", {{0}}, NULL, "slept"},
        {"folders to list", {{SYS_openat, 2, LISTED, EACCES}}, NULL, "slept"},
    };
    struct ap_proc_spec limited = *spec;
    limited.argv = slow;
    limited.processes = 100000;
    limited.disk_reserve_bytes = 1;
    check_all("subreaper, with limits", looked, sizeof looked / sizeof looked[0], &limited);
    spec->mode = AP_PROC_WATCHED;
    check_all("watched", watched, sizeof watched / sizeof watched[0], spec);
    users(*spec);
}

int main(void)
{
    if (cage_load(getenv("APSIS_CAGE_FILE")) != 0 && cage_load(AP_CAGE) != 0) {
        ok(0, "the cage program must be at %s", AP_CAGE);
        return done();
    }
    if (mkdtemp(place) == NULL || mkdtemp(hidden) == NULL)
        return 1;
    static char paths[6][128], script[1000], put[64], secret[64], target[64];
    snprintf(put, sizeof put, "%s/new", hidden);
    snprintf(secret, sizeof secret, "%s/secret", hidden);
    snprintf(file, sizeof file, "%s.file", hidden);
    snprintf(target, sizeof target, "%s/r/target", place);
    snprintf(marker, sizeof marker, "%s/w/marker", place);
    snprintf(paths[0], sizeof paths[0], "p/tmp");
    snprintf(paths[1], sizeof paths[1], "h%s", hidden);
    snprintf(paths[2], sizeof paths[2], "h%s", file);
    snprintf(paths[3], sizeof paths[3], "r%s/r", place);
    snprintf(paths[4], sizeof paths[4], "w%s/w", place);
    snprintf(paths[5], sizeof paths[5], "l%s/links/link/%s", place, target);
    for (int i = 3; i < 5; i++)
        ok(mkdir(paths[i] + 1, 0755) == 0, "a folder: %s", paths[i] + 1);
    file_make(secret);
    file_make(file);
    file_make(target);
    snprintf(script, sizeof script,
        "see() { cat $1 2>/dev/null || printf -; }; echo $(see %s) $(see %s | wc -c) $(see %s/links/link)"
        " $(echo x 2>/dev/null >%s && echo written || echo -)"
        " $(echo x 2>/dev/null >%s/new && echo put || echo -)"
        " $(bash -c 'exec 3<>/dev/udp/127.0.0.1/9' 2>/dev/null && echo looped || echo -); sleep 0.2 >/dev/null 2>&1 &",
        secret, file, place, marker, hidden);
    char *box[] = {paths[0], paths[1], paths[2], paths[3], paths[4], paths[5], NULL},
         *argv[] = {"sh", "-c", script, NULL};
    struct ap_proc_spec spec = spec_of(argv);
    spec.box = box;
    spec.private_bytes = 1 << 20;
    in_namespaces(&spec);
    in_landlock(&spec);
    without_box(&spec);
    const char *const files[] = {put, secret, file, target, marker, NULL}, *const folders[] = {hidden, paths[3] + 1,
                                                                               paths[4] + 1, place};
    for (int i = 0; files[i] != NULL; i++)
        unlink(files[i]);
    for (int i = 0; i < 4; i++)
        ok(rmdir(folders[i]) == 0, "nothing is left in %s", folders[i]);
    return done();
}
