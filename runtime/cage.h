/* SPDX-License-Identifier: MIT */
/* cage: what the parts of the cage program share. It is a program of its own: nothing of this is in apsis. */
#ifndef AP_CAGE_H
#define AP_CAGE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* How a command is kept in. */
enum cage_mode {
    CAGE_WATCHED,   /* a pid namespace where there are any, else a subreaper; it may do what the user may */
    CAGE_SUBREAPER, /* the same without a namespace */
    CAGE_NAMESPACES, /* a box: namespaces of its own, and Landlock where the kernel has it; refused where there are none */
    CAGE_LANDLOCK    /* a box without namespaces: Landlock and seccomp under a subreaper; refused without Landlock */
};

enum { STOP_NONE, STOP_TIMEOUT, STOP_ASKED, STOP_DISK, STOP_PROCESSES };

/* The numbers of PLAN, in this order; -1 is none. */
enum {
    PARENT,
    MODE,
    DEADLINE_NS,
    GRACE_MS,
    CPU_S,
    MEMORY,
    FILE_SIZE,
    PROCESSES,
    OPEN_FILES,
    NETWORK,
    PRIVATE_BYTES,
    DISK_RESERVE,
    BOX_COUNT,
    PLAN_COUNT
};
extern long long cage_plan[PLAN_COUNT];

/* No namespace: descendants are found through /proc. */
extern bool cage_subreaper;

bool cage_is_boxed(void);

/* One path of the box: what its first letter says, then the absolute path. In the order of their lengths, so that what lies in
 * another one comes after it. A link's is followed by a slash and its absolute target. */
enum { BOX_PRIVATE = 'p', BOX_HIDDEN = 'h', BOX_SHOWN = 'r', BOX_WRITABLE = 'w', BOX_LINK = 'l' };

struct cage_box {
    char *const *entries; /* p/tmp, h/home/me, r/home/me/.cargo, w/srv/workspace */
    int count;
    bool network;
    long long private_bytes; /* of what is written to private folders, in all */
};

/* ---- cagewatch.c ---- */

long long cage_now_ns(void); /* CLOCK_MONOTONIC */
/* Waits for a signal of `set` until `until_ns` (-1: for ever); 0 when the time is over. */
int cage_signal_await(const sigset_t *set, siginfo_t *info, long long until_ns);
/* In ms, of a SIGTERM; 0 where it says that the parent (unless 0) died. */
int cage_grace_of(const siginfo_t *info, pid_t expected_parent);
/* Until the command's main process has ended. Returns why it was stopped (STOP_...); fills its status. */
int cage_watch(pid_t command, const char *cwd, pid_t supervisor, const sigset_t *set, int *status);

/* ---- cagekill.c ---- */

/* Signals every descendant of this process. Misses what is forked meanwhile: to be repeated by whoever needs all. */
void cage_tree_signal(int signal);
/* Kills and reaps until no descendant is left, or `give_up_s` are over. */
void cage_tree_kill(int give_up_s);
/* Processes that /proc shows, but for kernel threads' sake no more than asked: stops counting at `most` + 1. */
int cage_process_count(int most);
/* Descendants of this process, where there are more than `most`; else a number that is not above it. */
int cage_tree_count(int most);

/* ---- cageview.c: 0, or -1 and errno, *step says of what ---- */

/* In a mount namespace of our own: everything read-only, but for what the box names. */
int cage_view(const struct cage_box *box, bool root, const char **step);
/* A network namespace of our own with a loopback device, made while this process goes on; then it is entered. */
int cage_network_begin(const char **step);
int cage_network_join(const char **step);

/* ---- cagelock.c ---- */

/* Prepares what cage_lock puts on: a Landlock ruleset for the box. *fd -1 where the kernel has none. */
int cage_rules(int *fd, const struct cage_box *box, enum cage_mode mode, const char **step);
/* No new privileges, no capabilities, the ruleset, and without namespaces a filter against the network. For the command itself,
 * right before it is executed. */
int cage_lock(int rules_fd, const struct cage_box *box, enum cage_mode mode);

#endif
