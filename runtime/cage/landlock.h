/* SPDX-License-Identifier: MIT */
/* landlock: what a command may do. */
#ifndef AP_CAGE_LANDLOCK_H
#define AP_CAGE_LANDLOCK_H

#include "cage/plan.h"

/* Prepares what cage_lock puts on: a Landlock ruleset for the box. *fd -1 where the kernel has none. */
int cage_rules(int *fd, const struct cage_box *box, enum cage_mode mode, const char **step);
/* No new privileges, no capabilities, the ruleset, and without namespaces a filter against the network. For the command itself,
 * right before it is executed. */
int cage_lock(int rules_fd, const struct cage_box *box, enum cage_mode mode);

#endif
