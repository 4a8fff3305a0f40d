/* SPDX-License-Identifier: MIT */
/* clock: the time that nobody sets (CLOCK_MONOTONIC), and waiting until then. */
#ifndef AP_CAGE_CLOCK_H
#define AP_CAGE_CLOCK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <signal.h>
#include <time.h>

#define CAGE_NEVER LLONG_MAX

long long cage_now_ns(void);
/* How long it is until then; 0 if that has passed. */
struct timespec cage_left(long long until_ns);
/* Waits for a signal of `set` until `until_ns`; 0 on timeout. */
int cage_signal_await(const sigset_t *set, siginfo_t *info, long long until_ns);

#endif
