/* SPDX-License-Identifier: MIT */
/* crowdrank: slots in order while they come and go. See crowdrank.c. */
#ifndef AP_CROWDRANK_H
#define AP_CROWDRANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a slot is ordered by: the higher score first, of equal ones the higher order. Both lists are the caller's. */
struct ap_rank_keys {
    double *score;
    uint64_t *order;
};

struct ap_rank_block {
    uint32_t *slots;
    uint32_t count, room;
};

struct ap_rank {
    struct ap_rank_block *blocks;
    size_t count, blocks_count, blocks_room;
};

/* Whether slot a stands before slot b. */
bool ap_rank_before(const struct ap_rank_keys *keys, uint32_t a, uint32_t b);

/* 0, or -1 when memory is out (the rank then stays as it was). The slot must not be in; its keys must not change while it is. */
int ap_rank_insert(struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot);
void ap_rank_remove(struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot);

/* The slot with `index` others before it; index < rank->count. */
uint32_t ap_rank_at(const struct ap_rank *rank, size_t index);

/* How many in the rank stand before a slot, which need not be in it. */
size_t ap_rank_find(const struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot);

void ap_rank_dispose(struct ap_rank *rank);

#endif
