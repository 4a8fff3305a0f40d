/* SPDX-License-Identifier: MIT */
/* sys: two system calls that every room needs, in the form it needs them. Leaf. */
#ifndef AP_SYS_H
#define AP_SYS_H

#include <stddef.h>

/* Writes everything, despite interruptions; 0, or -1 and errno. */
int ap_sys_write(int fd, const char *bytes, size_t count);

/* CLOCK_MONOTONIC in ns. */
long long ap_sys_now_ns(void);

#endif
