/* SPDX-License-Identifier: MIT */
/* landlock: what a command may do. */
#ifndef AP_CAGE_LANDLOCK_H
#define AP_CAGE_LANDLOCK_H

#include "cage/plan.h"

/* Prepares the Landlock ruleset for cage_lock. *fd is -1 if the kernel has no Landlock. */
int cage_rules(int *fd, const struct cage_box *box, enum cage_mode mode, const char **step);
/* Applies no new privileges, no capabilities, the ruleset, and without namespaces a filter against the network. The
 * command calls it right before exec. */
int cage_lock(int rules_fd, const struct cage_box *box, enum cage_mode mode);

#endif
