/* SPDX-License-Identifier: MIT */
/* watch: supervises a command until its main process exits: enforces the timeout, forwards stop requests, watches disk
 * and process limits. Part of the cage program, in its init. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cage/kill.h"
#include "cage/plan.h"
#include "cage/watch.h"

enum {
    RETRY_NS = 100000000,
    LOOK_NS = 100000000,
    REAPED_MAX = 256,
    TAKEN = 64 << 20 /* bytes: a smaller loss of free space may be due to other programs */
};

long long cage_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void all_signal(int signal)
{
    if (cage_subreaper)
        cage_tree_signal(signal);
    else
        kill(-1, signal); /* in a pid namespace: every process of it except its init, at once */
}

/* Waits for a signal of `set` until `until_ns` (-1: forever); 0 on timeout. */
int cage_signal_await(const sigset_t *set, siginfo_t *info, long long until_ns)
{
    struct timespec left = {0, 0};
    int signal;
    do {
        long long left_ns = until_ns < 0 ? 0 : until_ns - cage_now_ns();
        if (left_ns > 0)
            left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
        signal = sigtimedwait(set, info, until_ns < 0 ? NULL : &left);
    } while (signal < 0 && errno == EINTR);
    return signal < 0 ? 0 : signal;
}

int cage_grace_of(const siginfo_t *info, pid_t expected_parent)
{
    if (expected_parent != 0 && getppid() != expected_parent)
        return 0; /* the signal reports that the parent died */
    return info->si_code == SI_QUEUE ? info->si_value.sival_int : (int)cage_plan[GRACE_MS];
}

/* Free bytes; 0 if less than a fiftieth of the disk's inodes is left. */
static unsigned long long disk_free(const char *path)
{
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return ~0ULL;
    bool full = disk.f_files > 0 && disk.f_favail < disk.f_files / 50;
    return full ? 0 : (unsigned long long)disk.f_bavail * disk.f_frsize;
}

/* What the command exceeds, or STOP_NONE. free_before: on its disk, when it began. */
static int excess(const char *cwd, unsigned long long free_before)
{
    unsigned long long reserve = (unsigned long long)cage_plan[DISK_RESERVE], left = disk_free(cwd);
    if (cage_plan[DISK_RESERVE] > 0 && left < reserve && left < free_before && free_before - left > TAKEN)
        return STOP_DISK;
    /* the kernel does not limit root's processes; count the init (or bwrap's processes) too */
    int most = (int)cage_plan[PROCESSES] + (cage_subreaper ? 2 : 1);
    if (cage_plan[PROCESSES] > 0 && (cage_subreaper ? cage_tree_count(most) : cage_process_count(most)) > most)
        return STOP_PROCESSES;
    return STOP_NONE;
}

/* When a command is stopped, and why so far; when to look next, and what was free on its disk when it began. */
struct watch {
    int stopped;
    long long next_ns, look_ns; /* -1: never */
    const char *cwd;
    unsigned long long free_before;
};

/* Asks every process to end; a repeated call may only shorten the grace. */
static void stop(struct watch *watch, int why, int grace_ms)
{
    all_signal(grace_ms > 0 ? SIGTERM : SIGKILL);
    long long end_ns = cage_now_ns() + (grace_ms > 0 ? grace_ms * 1000000LL : RETRY_NS);
    if (watch->stopped == STOP_NONE || watch->next_ns < 0 || grace_ms == 0 || end_ns < watch->next_ns)
        watch->next_ns = end_ns;
    if (watch->stopped == STOP_NONE)
        watch->stopped = why;
    watch->look_ns = -1;
}

/* Does what is due by the clock, however many signals arrive: a command whose children keep ending sends a stream of
 * them. */
static void look(struct watch *watch)
{
    long long now_ns = cage_now_ns();
    if (watch->next_ns >= 0 && now_ns >= watch->next_ns) {
        stop(watch, STOP_TIMEOUT, watch->stopped == STOP_NONE ? (int)cage_plan[GRACE_MS] : 0);
    } else if (watch->look_ns >= 0 && now_ns >= watch->look_ns) {
        int why = excess(watch->cwd, watch->free_before);
        watch->look_ns = cage_now_ns() + LOOK_NS;
        if (why != STOP_NONE)
            stop(watch, why, 0);
    }
}

/* Returns when the command's main process has ended: why it was stopped; fills its status. */
int cage_watch(pid_t command, const char *cwd, pid_t supervisor, const sigset_t *set, int *status)
{
    bool guards = cage_is_boxed() || cage_plan[DISK_RESERVE] > 0; /* or another program's box */
    struct watch watch = {STOP_NONE, cage_plan[DEADLINE_NS], guards ? cage_now_ns() + LOOK_NS : -1, cwd,
        cage_plan[DISK_RESERVE] > 0 ? disk_free(cwd) : 0};
    for (;;) {
        pid_t pid;
        int ended, reaped = 0;
        while (reaped++ < REAPED_MAX && (pid = waitpid(-1, &ended, WNOHANG)) > 0)
            if (pid == command) {
                *status = ended;
                return watch.stopped;
            }
        look(&watch);
        bool looks = watch.look_ns >= 0 && (watch.next_ns < 0 || watch.look_ns < watch.next_ns);
        siginfo_t info;
        int signal = cage_signal_await(set, &info, reaped > REAPED_MAX ? 0 : looks ? watch.look_ns : watch.next_ns);
        if (signal == SIGTERM &&
            (info.si_pid == 0 || info.si_pid == supervisor)) /* otherwise the command signalled its own init */
            stop(&watch, STOP_ASKED, cage_grace_of(&info, cage_subreaper ? supervisor : 0));
    }
}
