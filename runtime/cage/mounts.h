/* SPDX-License-Identifier: MIT */
/* mounts: what a command sees of the file system and the network. */
#ifndef AP_CAGE_MOUNTS_H
#define AP_CAGE_MOUNTS_H

#include <stdbool.h>

#include "cage/plan.h"

/* In a mount namespace of our own: everything read-only, but for what the box names. */
int cage_view(const struct cage_box *box, bool root, const char **step);
/* A network namespace of our own with a loopback device, made while this process goes on; then it is entered. */
int cage_network_begin(const char **step);
int cage_network_join(const char **step);

#endif
