/* SPDX-License-Identifier: MIT */
/* timeout: supervises a command until its main process exits. */
#ifndef AP_CAGE_TIMEOUT_H
#define AP_CAGE_TIMEOUT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <sys/types.h>

/* The grace of a SIGTERM in ms; 0 if it reports that the parent (unless 0) died. */
int cage_grace_of(const siginfo_t *info, pid_t expected_parent);
/* Returns when the command's main process has ended: why it was stopped (STOP_...); fills its status. */
int cage_watch(pid_t command, const char *cwd, pid_t supervisor, const sigset_t *set, int *status);

#endif
