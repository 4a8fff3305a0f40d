/* SPDX-License-Identifier: MIT */
/* cage: a small static program, run once per command as `cage PLAN CWD BOX... COMMAND [ARGUMENT...]`, started only by
 * proc.c. It has two processes. The supervisor stays outside the namespaces until nothing of the command is left, and
 * passes SIGTERM on. The init starts the command, adopts its orphans, enforces its limits, and kills the rest when the
 * main process ends. Then it writes one line about the end to descriptor 3, which the command never sees; if apsis
 * wants a record that outlives it, also to descriptor 4, and it brings the output into files itself. (The supervisor
 * has written the init's pid there, so that apsis can wait for the init if the supervisor is killed.) The init is
 * process 1 of a pid namespace: directly as root, else inside a user namespace that maps the user to itself. Without
 * namespaces it is a child subreaper and finds descendants by their parents in /proc. A command that needs a box never
 * starts without one. If the parent, the supervisor or the init dies, everything below it dies too. Knows no Lua and
 * never judges how a command ended. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cage/clock.h"
#include "cage/copy.h"
#include "cage/filter.h"
#include "cage/kill.h"
#include "cage/landlock.h"
#include "cage/mounts.h"
#include "cage/plan.h"
#include "cage/timeout.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { REPORT_FD = 3, RECORD_FD, EXIT_UNUSABLE = 77, SETTLE_S = 10 };

static struct cage_box box;
static int rules_fd = -1;

/* The init inherits a copy. */
static struct {
    pid_t pid;
    int fd; /* a pidfd */
    uid_t uid;
    gid_t gid;
    int nice;
    sigset_t signals;
} supervisor;

/* Why the command could not be started: written by the child of vfork, which shares this memory. */
static volatile int start_errno;
static const char *volatile start_step;

/* ---- killing everything ---- */

/* Kills and reaps until no descendant is left. */
static void all_kill(void)
{
    if (cage_subreaper)
        cage_tree_kill(SETTLE_S);
    else if (kill(-1, SIGKILL) == 0)
        while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
            ;
}

/* ---- the command ---- */

static void limit_set(int resource, long long soft, long long hard)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || (limit.rlim_max != RLIM_INFINITY && (rlim_t)hard > limit.rlim_max))
        hard = (long long)limit.rlim_max;
    if (soft > hard && hard >= 0)
        soft = hard;
    limit.rlim_cur = (rlim_t)soft;
    limit.rlim_max = (rlim_t)hard;
    setrlimit(resource, &limit);
}

static void limits_set(void)
{
    static const int resources[] = {RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE};
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur != 0) {
        core.rlim_cur = 0; /* a crash must not leave a core file among the candidate's files */
        setrlimit(RLIMIT_CORE, &core);
    }
    if (cage_plan[CPU_S] >= 0)
        limit_set(RLIMIT_CPU, cage_plan[CPU_S], cage_plan[CPU_S] + 1); /* SIGXCPU, and SIGKILL a second later */
    for (int i = 0; i < 4; i++)
        if (cage_plan[MEMORY + i] >= 0)
            limit_set(resources[i], cage_plan[MEMORY + i], cage_plan[MEMORY + i]);
}

/* Opens the box's /dev/null. The inherited one is not read-only: a command of its owner could change its mode. */
static void null_reopen(void)
{
    struct stat given, null;
    if (fstat(STDIN_FILENO, &given) != 0 || stat("/dev/null", &null) != 0 || given.st_rdev != null.st_rdev)
        return;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        dup2(fd, STDIN_FILENO);
}

static pid_t command_start(const char *cwd, char **argv)
{
    static sigset_t none;
    static const unsigned long default_action[4]; /* the kernel's struct sigaction */
    sigemptyset(&none);
    if (cage_plan[RECORD] >= 0 && cage_copy_open(&supervisor.signals) != 0) {
        start_errno = errno;
        start_step = "pipe";
        return -1;
    }
    pid_t pid = vfork();
    if (pid != 0) {
        if (pid < 0) {
            start_errno = errno;
            start_step = "fork";
        }
        cage_copy_started();
        return pid;
    }
    cage_copy_take();
    if (cage_subreaper)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpriority(PRIO_PROCESS, 0, supervisor.nice);
    setpgid(0, 0); /* `kill 0` in the command must not reach us */
    start_step = "box";
    if (cage_is_boxed())
        null_reopen();
    if (cage_is_boxed() && cage_lock(rules_fd, &box, (enum cage_mode)cage_plan[MODE]) != 0) {
        start_errno = errno;
        _exit(127);
    }
    if (cage_plan[MODE] == CAGE_FILTERED &&
        (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || (cage_filter(false, true, true) != 0 && errno != EINVAL))) {
        start_errno = errno;
        _exit(127);
    }
    start_step = "chdir";
    if (*cwd == '\0' || chdir(cwd) == 0) {
        start_step = "exec";
        limits_set();
        for (int signal = 32; signal <= 33; signal++) /* glibc's own signals, which its posix_spawn leaves ignored */
            syscall(SYS_rt_sigaction, signal, default_action, NULL, 8);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(argv[0], argv);
    }
    start_errno = errno;
    _exit(127);
}

/* ---- the init ---- */

static const char *box_step; /* the step of making the box that failed */

static void report_write(int fd, int stopped, int lost, int status, long long ended_ns)
{
    struct rusage used;
    char line[512];
    getrusage(RUSAGE_CHILDREN, &used);
    const char *how = WIFEXITED(status) ? "exit" : "signal";
    int number = WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL;
    if (start_errno != 0) {
        how = start_step;
        number = start_errno;
    }
    int count = snprintf(line, sizeof line, "%s %d %d %d %lld %lld %lld %ld %.200s\n", how, number, stopped, lost,
        ended_ns, used.ru_utime.tv_sec * 1000000LL + used.ru_utime.tv_usec,
        used.ru_stime.tv_sec * 1000000LL + used.ru_stime.tv_usec, used.ru_maxrss, box_step != NULL ? box_step : "-");
    while (write(fd, line, (size_t)count) < 0 && errno == EINTR)
        ;
}

static int file_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t count = write(fd, text, strlen(text));
    close(fd);
    return count == (ssize_t)strlen(text) ? 0 : -1;
}

static int user_map(void)
{
    char text[64];
    snprintf(text, sizeof text, "%u %u 1", supervisor.uid, supervisor.uid);
    if (file_put("/proc/self/uid_map", text) != 0)
        return -1;
    file_put("/proc/self/setgroups", "deny"); /* absent before Linux 3.19 */
    snprintf(text, sizeof text, "%u %u 1", supervisor.gid, supervisor.gid);
    return file_put("/proc/self/gid_map", text);
}

/* Sets up what the command sees and may do. 0, or -1 with start_errno. */
static int box_make(int namespaces)
{
    bool own_network = (namespaces & CLONE_NEWNS) && !box.network;
    file_put("/proc/self/oom_score_adj", "1000"); /* when memory runs out, the kernel kills a command, not apsis */
    if ((own_network && cage_network_begin(&box_step) != 0) ||
        ((namespaces & CLONE_NEWNS) && cage_view(&box, supervisor.uid == 0, &box_step) != 0) ||
        cage_rules(&rules_fd, &box, (enum cage_mode)cage_plan[MODE], &box_step) != 0 ||
        (own_network && cage_network_join(&box_step) != 0)) {
        start_errno = errno;
        start_step = "box";
        return -1;
    }
    box_step = "what it may do";
    return 0;
}

static int init_run(int namespaces, char **argv)
{
    /* SIGTERM: it still writes down what has ended before it ends the rest. */
    prctl(PR_SET_PDEATHSIG, cage_subreaper || cage_plan[RECORD] >= 0 ? SIGTERM : SIGKILL);
    struct pollfd gone = {.fd = supervisor.fd, .events = POLLIN};
    if ((cage_subreaper && getppid() != supervisor.pid) || poll(&gone, 1, 0) > 0)
        return 1;
    if ((namespaces & CLONE_NEWUSER) && user_map() != 0)
        return EXIT_UNUSABLE;
    if ((namespaces & CLONE_NEWNS) && !cage_is_boxed()) {
        /* A /proc of this namespace, if permitted: its pids then agree with getpid(). */
        mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL);
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    }
    if (cage_subreaper)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    bool ready = !cage_is_boxed() || box_make(namespaces) == 0;
    siginfo_t info;
    sigset_t named;
    sigemptyset(&named);
    sigaddset(&named, SIGUSR1);
    sigaddset(&named, SIGTERM); /* the supervisor died */
    if (cage_signal_await(&named, &info, CAGE_NEVER) != SIGUSR1)
        return 1;
    int status = 0, stopped = STOP_NONE;
    /* The kernel does not limit root's processes: run first, to kill thousands in time. */
    setpriority(PRIO_PROCESS, 0, -20);
    pid_t command = ready ? command_start(argv[2], argv + 3 + box.count) : -1;
    if (command > 0)
        stopped = cage_watch(command, argv[2], supervisor.pid, &supervisor.signals, &status);
    long long ended_ns = cage_now_ns();
    all_kill();
    int lost = cage_plan[RECORD] >= 0 ? cage_copy_finish() : 0;
    if (cage_plan[RECORD] >= 0 && start_errno == 0)
        report_write(RECORD_FD, stopped, lost, status, ended_ns);
    report_write(REPORT_FD, stopped, lost, status, ended_ns);
    return 0;
}

/* ---- the supervisor ---- */

/* Before the init starts the command: apsis waits for the init if the supervisor is killed. */
static void init_name(pid_t init)
{
    char line[32];
    int count = snprintf(line, sizeof line, "init %d\n", init);
    while (write(REPORT_FD, line, (size_t)count) < 0 && errno == EINTR)
        ;
    kill(init, SIGUSR1);
}

static int init_await(pid_t init)
{
    for (;;) {
        siginfo_t info;
        int status, signal = cage_signal_await(&supervisor.signals, &info, CAGE_NEVER);
        if (signal == SIGTERM) {
            union sigval grace = {.sival_int = cage_grace_of(&info, (pid_t)cage_plan[PARENT])};
            sigqueue(init, SIGTERM, grace);
        } else if (waitpid(init, &status, WNOHANG) == init) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
    }
}

/* The namespaces to try in turn, ended by -1; 0 means none. */
static void modes_of(int modes[4], bool root)
{
    int count = 0, base = CLONE_NEWPID | CLONE_NEWNS | (cage_is_boxed() ? CLONE_NEWIPC : 0);
    if (cage_plan[MODE] == CAGE_WATCHED || cage_plan[MODE] == CAGE_NAMESPACES) {
        if (root)
            modes[count++] = base;
        modes[count++] = base | CLONE_NEWUSER;
    }
    if (cage_plan[MODE] != CAGE_NAMESPACES)
        modes[count++] = 0;
    modes[count] = -1;
}

static void become_subreaper(void)
{
    cage_subreaper = true;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* SIGKILL would leave the descendants running */
}

static void supervisor_prepare(void)
{
    supervisor.pid = getpid();
    supervisor.uid = geteuid();
    supervisor.gid = getegid();
    supervisor.nice = getpriority(PRIO_PROCESS, 0);
    supervisor.fd = (int)syscall(SYS_pidfd_open, supervisor.pid, 0);
    sigemptyset(&supervisor.signals);
    sigaddset(&supervisor.signals, SIGTERM);
    sigaddset(&supervisor.signals, SIGCHLD);
}

static int supervise(char **argv)
{
    int modes[4], refused = EPERM;
    supervisor_prepare();
    modes_of(modes, supervisor.uid == 0);
    for (int i = 0; modes[i] >= 0; i++) {
        if (modes[i] == 0) {
            become_subreaper();
            if (getppid() != cage_plan[PARENT])
                return 1;
        }
        pid_t init = (pid_t)syscall(SYS_clone, modes[i] | SIGCHLD, NULL, NULL, NULL, NULL);
        if (init == 0)
            _exit(init_run(modes[i], argv));
        refused = init < 0 ? errno : EPERM;
        if (init < 0)
            continue;
        init_name(init);
        int code = init_await(init);
        if (code == EXIT_UNUSABLE && modes[i] != 0)
            continue;
        if (cage_subreaper)
            all_kill(); /* the descendants of an init that the command killed */
        return code;
    }
    start_errno = refused; /* not before: the init of the next try would inherit it */
    start_step = "box";
    box_step = "namespaces";
    report_write(REPORT_FD, STOP_NONE, 0, 0, cage_now_ns());
    return 1;
}

/* Leaves the terminal: apsis handles Ctrl-C, and a command must not ask for passwords. Uses a process group without the
 * terminal, not a session: each session is its own scheduling group, which delays each command by 10-20 ms on a busy
 * machine (measured) and would give 64 commands 64 shares of it. */
static void terminal_leave(void)
{
    setpgid(0, 0);
    int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (tty < 0 ? errno != ENXIO : ioctl(tty, TIOCNOTTY) != 0) {
        setpgid(0, getpgid(getppid())); /* a group leader may not start a session */
        setsid();
    }
    if (tty >= 0)
        close(tty);
}

int main(int argc, char **argv)
{
    char *text = argc > 3 ? argv[1] : NULL;
    for (int i = 0; i < PLAN_COUNT; i++) {
        char *end = text;
        if (text != NULL)
            cage_plan[i] = strtoll(text, &end, 10);
        if (end == text) {
            fputs("cage: a part of apsis, not for use by hand\n", stderr);
            return 2;
        }
        text = end;
    }
    if (cage_plan[BOX_COUNT] < 0 || cage_plan[BOX_COUNT] > argc - 4)
        return 2;
    box = (struct cage_box){argv + 3, (int)cage_plan[BOX_COUNT], cage_plan[NETWORK] != 0, cage_plan[PRIVATE_BYTES]};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != cage_plan[PARENT])
        return 1;
    terminal_leave();
    int last = cage_plan[RECORD] >= 0 ? RECORD_FD : REPORT_FD;
    for (int fd = REPORT_FD; fd <= last; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    syscall(SYS_close_range, last + 1, ~0U, 0);
    return supervise(argv);
}
