/* SPDX-License-Identifier: MIT */
/* standby: copies of this process that sleep until one of them is woken and goes on in its place. */
#ifndef AP_STANDBY_H
#define AP_STANDBY_H

#include <stddef.h>
#include <sys/types.h>

struct ap_err;

enum { AP_STANDBY_WORDS = 1 << 18 }; /* the longest text that a copy is woken with */

/* From here on a copy of this process runs, in which this returns 0; the process itself only waits, and ends as the one
 * that runs then ends. -1: no copy could be made, and nothing has changed. Once in a process. */
int ap_standby_keep(struct ap_err *err);

/* Leaves a sleeping copy of this process here: 0 and its pid. In the process that goes on from there once the copy is
 * woken: 0, and pid is 0; the copy still sleeps, for the next time. -1: no copy could be made. Only after keep. */
int ap_standby_leave(pid_t *pid, struct ap_err *err);

/* Ends this process; the copy goes on with the text. Returns (-1) only if there is no such copy. */
int ap_standby_wake(pid_t pid, const char *text, size_t length, struct ap_err *err);

/* The text that this process was woken with. */
const char *ap_standby_words(size_t *length);

/* Ends a sleeping copy. */
void ap_standby_drop(pid_t pid);

#endif
