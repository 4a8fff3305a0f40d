/* SPDX-License-Identifier: MIT */
/* cage: what the parts of the cage program share. It is a program of its own: nothing of this is in apsis. */
#ifndef AP_CAGE_H
#define AP_CAGE_H

#include <stdbool.h>
#include <sys/types.h>

/* How a command is kept in. */
enum cage_mode {
    CAGE_WATCHED,   /* a pid namespace where there are any, else a subreaper; it may do what the user may */
    CAGE_SUBREAPER, /* the same without a namespace */
    CAGE_NAMESPACES, /* a box: namespaces of its own, and Landlock where the kernel has it; refused where there are none */
    CAGE_LANDLOCK    /* a box without namespaces: Landlock and seccomp under a subreaper; refused without Landlock */
};

/* One path of the box: what its first letter says, then the absolute path. In the order of their lengths, so that what lies in
 * another one comes after it. */
enum { BOX_PRIVATE = 'p', BOX_HIDDEN = 'h', BOX_SHOWN = 'r', BOX_WRITABLE = 'w' };

struct cage_box {
    char *const *entries; /* p/tmp, h/home/me, r/home/me/.cargo, w/srv/workspace */
    int count;
    bool network;
    long long private_bytes; /* of what is written to private folders, in all */
};

/* ---- cagekill.c ---- */

/* Signals every descendant of this process. Misses what is forked meanwhile: to be repeated by whoever needs all. */
void cage_tree_signal(int signal);
/* Kills and reaps until no descendant is left, or `give_up_s` are over. */
void cage_tree_kill(int give_up_s);
/* Processes that /proc shows, but for kernel threads' sake no more than asked: stops counting at `most` + 1. */
int cage_process_count(int most);

/* ---- cageview.c: 0, or -1 and errno, *step says of what ---- */

/* In a mount namespace of our own: everything read-only, but for what the box names. */
int cage_view(const struct cage_box *box, bool root, const char **step);
/* Brings up the loopback device of a network namespace. */
void cage_loopback(void);

/* ---- cagelock.c ---- */

/* Prepares what cage_lock puts on: a Landlock ruleset for the box. *fd -1 where the kernel has none. */
int cage_rules(int *fd, const struct cage_box *box, enum cage_mode mode, const char **step);
/* No new privileges, no capabilities, the ruleset, and without namespaces a filter against the network. For the command itself,
 * right before it is executed. */
int cage_lock(int rules_fd, const struct cage_box *box, enum cage_mode mode);

#endif
