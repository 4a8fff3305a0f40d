/* SPDX-License-Identifier: MIT */
/* kill: signals, kills and counts the descendants of this process. */
#ifndef AP_CAGE_KILL_H
#define AP_CAGE_KILL_H

/* Signals every descendant of this process and returns how many there are. Misses those forked meanwhile: call it again
 * to reach all. */
int cage_tree_signal(int signal);
/* Kills and reaps until no descendant is left, or until `give_up_s` have passed. */
void cage_tree_kill(int give_up_s);
/* Processes in /proc without kernel threads; stops counting at `most` + 1. */
int cage_process_count(int most);
/* Descendants of this process if there are more than `most`; else any number up to it. */
int cage_tree_count(int most);

#endif
