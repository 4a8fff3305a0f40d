/* SPDX-License-Identifier: MIT */
/* copy: brings a command's output into files. */
#ifndef AP_CAGE_COPY_H
#define AP_CAGE_COPY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>

/* Before the command starts: makes its pipes. Our own descriptors 1 and 2 are the files. 0, or -1 with errno. */
int cage_copy_open(const sigset_t *set);
/* In the command's process: the pipes, if there are any, become its descriptors 1 and 2. */
void cage_copy_take(void);
/* Once it has started: only the command still writes to them. */
void cage_copy_started(void);
/* As cage_signal_await; copies meanwhile. */
int cage_copy_await(const sigset_t *set, siginfo_t *info, long long until_ns);
/* When every writer is gone: copies the rest. 0, or the errno of what could not be written. */
int cage_copy_finish(void);

#endif
