/* SPDX-License-Identifier: MIT */
/* crowd: a population on islands: who stands where, who is best, who must go. See crowd.c. */
#ifndef AP_CROWD_H
#define AP_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { AP_CROWD_ISLANDS = 62 }; /* the islands of a slot are bits of a word; island 0 is everyone */

struct ap_crowd;

struct ap_crowd_gone {
    uint32_t slot, island; /* the island that it was added to */
    uint64_t key;
};

/* `population` is the bound, `elites` how many of the best over all are never evicted. 0, or -1 when memory is out. */
int ap_crowd_open(struct ap_crowd **out, size_t population, size_t elites, struct ap_err *err);
void ap_crowd_close(struct ap_crowd *crowd);

/* Adds an island and gives its number, from 1 on. */
int ap_crowd_island(uint32_t *out, struct ap_crowd *crowd, struct ap_err *err);

/* Takes one in: a higher score is better, minus infinity is none. A slot is a small number, given away again after eviction. */
int ap_crowd_add(
    uint32_t *out, struct ap_crowd *crowd, uint32_t island, double score, uint64_t key, struct ap_err *err);

/* Puts it on one more island; *out says whether it was not there. */
int ap_crowd_copy(bool *out, struct ap_crowd *crowd, uint32_t slot, uint32_t island, struct ap_err *err);

/* While there are more than the bound: the worst of the most crowded place goes, never the best of a place, never an elite.
 * false where nobody may go. */
bool ap_crowd_evict(struct ap_crowd_gone *out, struct ap_crowd *crowd);

/* How many there are above the bound. */
size_t ap_crowd_excess(const struct ap_crowd *crowd);

/* Everybody is filed anew, slot s under keys[s]. On failure all stays as it was. */
int ap_crowd_refile(struct ap_crowd *crowd, const uint64_t *keys, struct ap_err *err);

/* Slots are numbered below this. */
uint32_t ap_crowd_slots(const struct ap_crowd *crowd);
bool ap_crowd_alive(const struct ap_crowd *crowd, uint32_t slot);
uint64_t ap_crowd_key(const struct ap_crowd *crowd, uint32_t slot);

/* One bit an island that it stands on. */
uint64_t ap_crowd_islands(const struct ap_crowd *crowd, uint32_t slot);
uint32_t ap_crowd_island_count(const struct ap_crowd *crowd);

/* Of an island, or of everyone (0): how many; how many with a score; how many elites. */
size_t ap_crowd_count(const struct ap_crowd *crowd, uint32_t island);
size_t ap_crowd_scored(const struct ap_crowd *crowd, uint32_t island);
size_t ap_crowd_elites(const struct ap_crowd *crowd, uint32_t island);

/* The one with `index` others before it, best first; index < count. */
uint32_t ap_crowd_at(const struct ap_crowd *crowd, uint32_t island, size_t index);

/* The one at a share u, in [0, 1), of the first `count` there; count > 0. */
uint32_t ap_crowd_at_share(const struct ap_crowd *crowd, uint32_t island, size_t count, double u);

/* The places of an island whose best has a score, in no order but one that depends on the past alone. */
size_t ap_crowd_filled(const struct ap_crowd *crowd, uint32_t island);
void ap_crowd_best_at(uint32_t *slot, uint64_t *key, const struct ap_crowd *crowd, uint32_t island, size_t index);

struct ap_crowd_best {
    uint32_t slot, island;
    uint64_t key;
};

/* The best of every key in the order of the keys, of an island, or of everyone (0): of equal scores that of the first island. `out`
 * has room for ap_crowd_bests_room; returns how many there are. */
size_t ap_crowd_bests(struct ap_crowd_best *out, const struct ap_crowd *crowd, uint32_t island);
size_t ap_crowd_bests_room(const struct ap_crowd *crowd, uint32_t island);

#endif
