/* SPDX-License-Identifier: MIT */
/* timeout: supervises a command until its main process exits. */
#ifndef AP_CAGE_TIMEOUT_H
#define AP_CAGE_TIMEOUT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#define CAGE_NEVER LLONG_MAX

long long cage_now_ns(void); /* CLOCK_MONOTONIC */
/* How long it is until then; 0 if that has passed. */
struct timespec cage_left(long long until_ns);
/* Waits for a signal of `set` until `until_ns`; 0 on timeout. */
int cage_signal_await(const sigset_t *set, siginfo_t *info, long long until_ns);
/* The grace of a SIGTERM in ms; 0 if it reports that the parent (unless 0) died. */
int cage_grace_of(const siginfo_t *info, pid_t expected_parent);
/* Returns when the command's main process has ended: why it was stopped (STOP_...); fills its status. */
int cage_watch(pid_t command, const char *cwd, pid_t supervisor, const sigset_t *set, int *status);

#endif
