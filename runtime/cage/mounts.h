/* SPDX-License-Identifier: MIT */
/* mounts: what a command sees of the file system and the network. */
#ifndef AP_CAGE_MOUNTS_H
#define AP_CAGE_MOUNTS_H

#include <stdbool.h>

#include "cage/plan.h"

/* In our own mount namespace: makes everything read-only except what the box names. */
int cage_view(const struct cage_box *box, bool root, const char **step);
/* Starts to make a network namespace with a loopback device, in parallel to this process, which then enters it. */
int cage_network_begin(const char **step);
int cage_network_join(const char **step);

#endif
