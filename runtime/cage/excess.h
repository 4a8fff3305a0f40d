/* SPDX-License-Identifier: MIT */
/* excess: what a command takes too much of: disk space, processes. */
#ifndef AP_CAGE_EXCESS_H
#define AP_CAGE_EXCESS_H

/* Free bytes; 0 if less than a fiftieth of the disk's inodes is left. */
unsigned long long cage_disk_free(const char *path);
/* What the command exceeds (STOP_...), or STOP_NONE. free_before: on its disk, when it began. */
int cage_excess(const char *cwd, unsigned long long free_before);

#endif
