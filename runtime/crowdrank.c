/* SPDX-License-Identifier: MIT */
/* crowdrank: slots in order while they come and go: blocks of at most LIMIT, found by halving, and within a block by moving
 * bytes. Putting in and taking out cost O(log n) and a short memmove, the n-th a walk over the blocks from the nearer end.
 * Knows nothing of what a slot stands for. A part of crowd.c's room. */
#include "crowdrank.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 128 };

bool ap_rank_before(const struct ap_rank_keys *keys, uint32_t a, uint32_t b)
{
    double x = keys->score[a], y = keys->score[b];
    return x > y || (x == y && keys->order[a] > keys->order[b]);
}

/* The last block whose first slot does not stand after this one, or the first block. */
static size_t find_block(const struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot)
{
    size_t low = 0, high = rank->blocks_count - 1;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (ap_rank_before(keys, slot, rank->blocks[middle].slots[0]))
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

static uint32_t find_place(const struct ap_rank_block *block, const struct ap_rank_keys *keys, uint32_t slot)
{
    uint32_t low = 0, high = block->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ap_rank_before(keys, block->slots[middle], slot))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add_block(struct ap_rank *rank, size_t at, uint32_t room)
{
    if (rank->blocks_count == rank->blocks_room) {
        size_t more = rank->blocks_room == 0 ? 1 : 2 * rank->blocks_room;
        struct ap_rank_block *blocks = realloc(rank->blocks, more * sizeof *blocks);
        if (blocks == NULL)
            return -1;
        rank->blocks = blocks;
        rank->blocks_room = more;
    }
    uint32_t *slots = malloc(room * sizeof *slots);
    if (slots == NULL)
        return -1;
    struct ap_rank_block *block = rank->blocks + at;
    memmove(block + 1, block, (rank->blocks_count - at) * sizeof *block);
    *block = (struct ap_rank_block){.slots = slots, .room = room};
    rank->blocks_count++;
    return 0;
}

/* Room for one more in a block; a full one gives its second half to a new one. */
static int make_room(struct ap_rank *rank, size_t at)
{
    struct ap_rank_block *block = &rank->blocks[at];
    if (block->count < block->room)
        return 0;
    if (block->room < LIMIT) {
        uint32_t *slots = realloc(block->slots, 2 * block->room * sizeof *slots);
        if (slots == NULL)
            return -1;
        block->slots = slots;
        block->room *= 2;
        return 0;
    }
    if (add_block(rank, at + 1, LIMIT) != 0)
        return -1;
    block = &rank->blocks[at];
    memcpy(block[1].slots, block->slots + LIMIT / 2, LIMIT / 2 * sizeof *block->slots);
    block[0].count = block[1].count = LIMIT / 2;
    return 0;
}

int ap_rank_insert(struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot)
{
    if (rank->blocks_count == 0 && add_block(rank, 0, 4) != 0)
        return -1;
    size_t at = find_block(rank, keys, slot);
    if (make_room(rank, at) != 0)
        return -1;
    struct ap_rank_block *block = &rank->blocks[at];
    if (at + 1 < rank->blocks_count && !ap_rank_before(keys, slot, block[1].slots[0]))
        block++; /* it was split */
    uint32_t place = find_place(block, keys, slot);
    memmove(block->slots + place + 1, block->slots + place, (block->count - place) * sizeof *block->slots);
    block->slots[place] = slot;
    block->count++;
    rank->count++;
    return 0;
}

static void drop_block(struct ap_rank *rank, size_t at)
{
    free(rank->blocks[at].slots);
    rank->blocks_count--;
    memmove(rank->blocks + at, rank->blocks + at + 1, (rank->blocks_count - at) * sizeof *rank->blocks);
}

/* A block with few joins the one before it, so that there are never many blocks with few. */
static void join(struct ap_rank *rank, size_t at)
{
    struct ap_rank_block *into = &rank->blocks[at], *from = into + 1;
    if (at + 1 >= rank->blocks_count || into->count + from->count > LIMIT / 2)
        return;
    if (into->room < into->count + from->count)
        return;
    memcpy(into->slots + into->count, from->slots, from->count * sizeof *into->slots);
    into->count += from->count;
    drop_block(rank, at + 1);
}

void ap_rank_remove(struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot)
{
    if (rank->count == 0)
        return;
    size_t at = find_block(rank, keys, slot);
    struct ap_rank_block *block = &rank->blocks[at];
    uint32_t place = find_place(block, keys, slot);
    if (place >= block->count || block->slots[place] != slot)
        return;
    block->count--;
    rank->count--;
    memmove(block->slots + place, block->slots + place + 1, (block->count - place) * sizeof *block->slots);
    if (block->count == 0 && rank->blocks_count > 1)
        drop_block(rank, at);
    else if (block->count < LIMIT / 4) {
        join(rank, at);
        if (at > 0)
            join(rank, at - 1);
    }
}

uint32_t ap_rank_at(const struct ap_rank *rank, size_t index)
{
    const struct ap_rank_block *block = rank->blocks;
    if (index < rank->count / 2) {
        for (; index >= block->count; block++)
            index -= block->count;
        return block->slots[index];
    }
    size_t left = rank->count - index; /* counted from the end, from 1 */
    for (block += rank->blocks_count - 1; left > block->count; block--)
        left -= block->count;
    return block->slots[block->count - left];
}

size_t ap_rank_find(const struct ap_rank *rank, const struct ap_rank_keys *keys, uint32_t slot)
{
    if (rank->count == 0)
        return 0;
    size_t at = find_block(rank, keys, slot), before = find_place(&rank->blocks[at], keys, slot);
    while (at-- > 0)
        before += rank->blocks[at].count;
    return before;
}

void ap_rank_dispose(struct ap_rank *rank)
{
    for (size_t i = 0; i < rank->blocks_count; i++)
        free(rank->blocks[i].slots);
    free(rank->blocks);
    *rank = (struct ap_rank){0};
}
