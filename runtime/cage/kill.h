/* SPDX-License-Identifier: MIT */
/* kill: signals, kills and counts the descendants of this process. */
#ifndef AP_CAGE_KILL_H
#define AP_CAGE_KILL_H

/* Signals every descendant of this process. Misses what is forked meanwhile: to be repeated by whoever needs all. */
void cage_tree_signal(int signal);
/* Kills and reaps until no descendant is left, or `give_up_s` are over. */
void cage_tree_kill(int give_up_s);
/* Processes that /proc shows, but for kernel threads' sake no more than asked: stops counting at `most` + 1. */
int cage_process_count(int most);
/* Descendants of this process, where there are more than `most`; else a number that is not above it. */
int cage_tree_count(int most);

#endif
