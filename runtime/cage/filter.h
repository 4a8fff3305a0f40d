/* SPDX-License-Identifier: MIT */
/* filter: the system calls that no command in a cage may make. Part of the cage program. */
#ifndef AP_CAGE_FILTER_H
#define AP_CAGE_FILTER_H

#include <stdbool.h>

/* Applies the filter to this thread and what it executes; needs no_new_privs. alone: other processes are in reach;
 * network: sockets are allowed; users: so are user namespaces. 0, or -1 with errno: EINVAL on a kernel without
 * filters. */
int cage_filter(bool alone, bool network, bool users);

#endif
