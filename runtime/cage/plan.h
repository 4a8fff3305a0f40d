/* SPDX-License-Identifier: MIT */
/* plan: what the parts of the cage program share: its numbers (argv's PLAN), its modes and its box. The cage is a
 * separate program; apsis links nothing of it. */
#ifndef AP_CAGE_PLAN_H
#define AP_CAGE_PLAN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Confinement modes. */
enum cage_mode {
    CAGE_WATCHED,    /* a pid namespace if possible, else a subreaper; may do what the user may */
    CAGE_SUBREAPER,  /* same, without a namespace */
    CAGE_NAMESPACES, /* a box: its own namespaces, and Landlock if the kernel has it; refused without namespaces */
    CAGE_LANDLOCK,   /* a box without namespaces: Landlock and the filter under a subreaper; refused without Landlock */
    CAGE_FILTERED    /* a subreaper with the filter: for bwrap, which makes the box */
};

enum { STOP_NONE, STOP_TIMEOUT, STOP_ASKED, STOP_DISK, STOP_PROCESSES };

/* The numbers of PLAN, in this order; -1 means none. */
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
    RECORD, /* the first bytes that each output file keeps; the end is written to descriptor 4, too. -1: no record */
    BOX_COUNT,
    PLAN_COUNT
};
extern long long cage_plan[PLAN_COUNT];

/* No namespace: descendants are found through /proc. */
extern bool cage_subreaper;

bool cage_is_boxed(void);

/* One path of the box: a letter for its kind, then the absolute path. Sorted by length, so that a path comes after
 * those that contain it. A link's path is followed by a slash and its absolute target. */
enum { BOX_PRIVATE = 'p', BOX_HIDDEN = 'h', BOX_SHOWN = 'r', BOX_WRITABLE = 'w', BOX_LINK = 'l' };

struct cage_box {
    char *const *entries; /* p/tmp, h/home/me, r/home/me/.cargo, w/srv/workspace */
    int count;
    bool network;
    long long private_bytes; /* limit for all bytes written to private folders */
};

#endif
