/* SPDX-License-Identifier: MIT */
/* timeout: the timeout of a command. Supervises it until its main process exits: when its time is up, somebody asks for
 * its end or it exceeds a limit, sends SIGTERM and, after the grace, SIGKILL. Part of the cage program, in its init. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cage/clock.h"
#include "cage/copy.h"
#include "cage/excess.h"
#include "cage/kill.h"
#include "cage/plan.h"
#include "cage/timeout.h"

enum { RETRY_NS = 100000000, LOOK_NS = 100000000, LAST_NS = 1000000000, REAPED_MAX = 256 };

static void all_signal(pid_t command, int signal)
{
    if (cage_subreaper && signal == SIGKILL)
        kill(-command, SIGKILL); /* its process group at once: what forks all the time outruns a walk through /proc */
    if (cage_subreaper)
        cage_tree_signal(signal);
    else
        kill(-1, signal); /* in a pid namespace: every process of it except its init, at once */
}

int cage_grace_of(const siginfo_t *info, pid_t expected_parent)
{
    bool orphaned = expected_parent != 0 ? getppid() != expected_parent : info->si_code != SI_QUEUE;
    if (orphaned)
        return 0; /* the signal reports that the parent died */
    return info->si_code == SI_QUEUE ? info->si_value.sival_int : (int)cage_plan[GRACE_MS];
}

/* When a command is stopped, and why so far; when to look next, and what was free on its disk when it began. */
struct watch {
    pid_t command;
    int stopped;
    long long next_ns, look_ns;
    const char *cwd;
    unsigned long long free_before;
};

/* Asks every process to end; a repeated call may only shorten the grace. */
static void stop(struct watch *watch, int why, int grace_ms)
{
    all_signal(watch->command, grace_ms > 0 ? SIGTERM : SIGKILL);
    long long end_ns = cage_now_ns() + (grace_ms > 0 ? grace_ms * 1000000LL : RETRY_NS);
    if (watch->stopped == STOP_NONE || grace_ms == 0 || end_ns < watch->next_ns)
        watch->next_ns = end_ns;
    if (watch->stopped == STOP_NONE)
        watch->stopped = why;
}

/* Does what is due by the clock, however many signals arrive: a command whose children keep ending sends a stream of
 * them. */
static void look(struct watch *watch)
{
    long long now_ns = cage_now_ns();
    if (now_ns >= watch->next_ns) {
        stop(watch, STOP_TIMEOUT, watch->stopped == STOP_NONE ? (int)cage_plan[GRACE_MS] : 0);
    } else if (now_ns >= watch->look_ns) {
        int why = cage_excess(watch->cwd, watch->free_before);
        watch->look_ns = cage_now_ns() + LOOK_NS;
        if (why != STOP_NONE)
            stop(watch, why, 0);
    }
}

/* apsis is gone: a command that is about to end by itself, with an answer that it has given, is left the time. */
static void last_await(pid_t command, const sigset_t *set)
{
    long long until_ns = cage_now_ns() + LAST_NS;
    siginfo_t ended = {0}, info;
    while (waitid(P_PID, (id_t)command, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0 &&
           cage_now_ns() < until_ns)
        cage_copy_await(set, &info, until_ns);
}

/* Returns when the command's main process has ended: why it was stopped; fills its status. */
int cage_watch(pid_t command, const char *cwd, pid_t supervisor, const sigset_t *set, int *status)
{
    bool guards = cage_is_boxed() || cage_plan[DISK_RESERVE] > 0; /* or another program's box */
    struct watch watch = {command, STOP_NONE, cage_plan[DEADLINE_NS] >= 0 ? cage_plan[DEADLINE_NS] : CAGE_NEVER,
        guards ? cage_now_ns() + LOOK_NS : CAGE_NEVER, cwd, cage_plan[DISK_RESERVE] > 0 ? cage_disk_free(cwd) : 0};
    int grace_ms = -1; /* somebody has asked for its end */
    for (;;) {
        pid_t pid;
        int ended, reaped = 0;
        while (reaped++ < REAPED_MAX && (pid = waitpid(-1, &ended, WNOHANG)) > 0)
            if (pid == command) {
                *status = ended;
                return watch.stopped;
            }
        if (grace_ms >= 0)
            stop(&watch, STOP_ASKED, grace_ms);
        grace_ms = -1;
        look(&watch);
        long long until_ns = watch.look_ns < watch.next_ns ? watch.look_ns : watch.next_ns;
        siginfo_t info;
        int signal = cage_copy_await(set, &info, reaped > REAPED_MAX ? 0 : until_ns);
        if (signal == SIGTERM &&
            (info.si_pid == 0 || info.si_pid == supervisor)) /* otherwise the command signalled its own init */
            grace_ms = cage_grace_of(&info, cage_subreaper ? supervisor : 0);
        if (grace_ms == 0 && cage_plan[RECORD] >= 0 && watch.stopped == STOP_NONE)
            last_await(command, set);
    }
}
