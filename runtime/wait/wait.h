/* SPDX-License-Identifier: MIT */
/* wait: one poll over descriptors, a deadline and the user's signals; and the interface through which handles of any
 * kind are waited for together. Called by lwait.c. */
#ifndef AP_WAIT_H
#define AP_WAIT_H

#include <poll.h>

#include "base/err.h"

/* The operations of a waitable handle. `self` is the handle. */
struct ap_waitable_ops {
    int (*fds)(void *self, struct pollfd *fds, int room); /* fills what to poll; returns how many, at most room */
    void (*step)(void *self, const struct pollfd *fds, int count); /* the same fds after the poll */
    int (*done)(void *self);
    long long (*deadline_ns)(void *self); /* when to step even if nothing is ready (CLOCK_MONOTONIC); -1 never */
};

enum { AP_WAITABLE_FDS = 16 }; /* the most that one handle may fill */

/* Polls until something is ready (returns how many), or until the deadline (ns of CLOCK_MONOTONIC, -1 never) or a
 * trapped signal (returns 0). fds must have room for count + 1. -1 with err on a real failure. */
int ap_wait(struct pollfd *fds, int count, long long deadline_ns, struct ap_err *err);

/* Traps SIGINT, SIGTERM and SIGHUP: they are counted and end a wait early. Ignores SIGPIPE. One call is enough. */
int ap_wait_signals(struct ap_err *err);

/* How many signals were trapped so far; *last (may be NULL) is the newest, 0 before any. */
int ap_wait_interrupts(int *last);

#endif
