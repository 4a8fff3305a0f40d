/* SPDX-License-Identifier: MIT */
/* crowd: a population on islands: who stands where, who is best, who must go. Owns the orders, of everyone, of each island and
 * of each place (a cell of an island), from open to close. Knows no members, values or features: a score is a number that
 * somebody has already turned so that higher is better, a key stands for a cell. Draws nothing and reads no clock, so that
 * the same calls give the same answers. Called only by lcrowd.c. */
#include "crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crowdplace.h"

struct group {
    struct ap_rank rank;
    size_t scored;
};

struct ap_crowd {
    struct ap_rank_keys keys;
    uint64_t *key, *mask, added; /* mask: the islands of a slot, 0 where it is free */
    uint8_t *home;
    uint32_t *free_slots;
    uint32_t slots, room, free_count, islands;
    size_t population, elites;
    struct group groups[AP_CROWD_ISLANDS + 1];
    struct ap_places places;
};

static int no_memory(struct ap_err *err)
{
    return ap_err_set(err, "ENOMEM", "a population: out of memory");
}

int ap_crowd_open(struct ap_crowd **out, size_t population, size_t elites, struct ap_err *err)
{
    struct ap_crowd *crowd = calloc(1, sizeof *crowd);
    if (crowd == NULL)
        return no_memory(err);
    crowd->population = population;
    crowd->elites = elites;
    *out = crowd;
    return 0;
}

void ap_crowd_close(struct ap_crowd *crowd)
{
    if (crowd == NULL)
        return;
    for (int i = 0; i <= AP_CROWD_ISLANDS; i++)
        ap_rank_dispose(&crowd->groups[i].rank);
    ap_places_dispose(&crowd->places);
    free(crowd->keys.score);
    free(crowd->keys.order);
    free(crowd->key);
    free(crowd->mask);
    free(crowd->home);
    free(crowd->free_slots);
    free(crowd);
}

int ap_crowd_island(uint32_t *out, struct ap_crowd *crowd, struct ap_err *err)
{
    if (crowd->islands == AP_CROWD_ISLANDS)
        return ap_err_set(err, "EISLAND", "there are %d islands already", AP_CROWD_ISLANDS);
    if (ap_places_grow(&crowd->places, crowd->islands + 1) != 0)
        return no_memory(err);
    *out = ++crowd->islands;
    return 0;
}

static int grow(void *list, size_t room, size_t size)
{
    void **at = list, *more = realloc(*at, room * size);
    if (more == NULL)
        return -1;
    *at = more;
    return 0;
}

static int grow_slots(struct ap_crowd *crowd)
{
    if (crowd->slots < crowd->room)
        return 0;
    uint32_t room = crowd->room == 0 ? 64 : 2 * crowd->room;
    if (grow(&crowd->keys.score, room, sizeof(double)) != 0 || grow(&crowd->keys.order, room, sizeof(uint64_t)) != 0 ||
        grow(&crowd->key, room, sizeof(uint64_t)) != 0 || grow(&crowd->mask, room, sizeof(uint64_t)) != 0 ||
        grow(&crowd->home, room, sizeof(uint8_t)) != 0 || grow(&crowd->free_slots, room, sizeof(uint32_t)) != 0)
        return -1;
    crowd->room = room;
    return 0;
}

static int join(struct ap_crowd *crowd, uint32_t group, uint32_t slot)
{
    if (ap_rank_insert(&crowd->groups[group].rank, &crowd->keys, slot) != 0)
        return -1;
    crowd->groups[group].scored += crowd->keys.score[slot] != -INFINITY;
    return 0;
}

static void leave(struct ap_crowd *crowd, uint32_t group, uint32_t slot)
{
    ap_rank_remove(&crowd->groups[group].rank, &crowd->keys, slot);
    crowd->groups[group].scored -= crowd->keys.score[slot] != -INFINITY;
}

/* Onto an island and into its place, or neither. */
static int land(struct ap_crowd *crowd, uint32_t island, uint32_t slot)
{
    if (join(crowd, island, slot) != 0)
        return -1;
    if (ap_places_insert(&crowd->places, &crowd->keys, island, crowd->key[slot], slot) != 0) {
        leave(crowd, island, slot);
        return -1;
    }
    crowd->mask[slot] |= (uint64_t)1 << island;
    return 0;
}

int ap_crowd_add(uint32_t *out, struct ap_crowd *crowd, uint32_t island, double score, uint64_t key, struct ap_err *err)
{
    if (crowd->free_count == 0 && grow_slots(crowd) != 0)
        return no_memory(err);
    uint32_t slot = crowd->free_count > 0 ? crowd->free_slots[crowd->free_count - 1] : crowd->slots;
    crowd->keys.score[slot] = score;
    crowd->keys.order[slot] = crowd->added + 1;
    crowd->key[slot] = key;
    crowd->home[slot] = (uint8_t)island;
    crowd->mask[slot] = 0;
    if (join(crowd, 0, slot) != 0)
        return no_memory(err);
    if (land(crowd, island, slot) != 0) {
        leave(crowd, 0, slot);
        return no_memory(err);
    }
    crowd->added++;
    if (crowd->free_count > 0)
        crowd->free_count--;
    else
        crowd->slots++;
    *out = slot;
    return 0;
}

int ap_crowd_copy(bool *out, struct ap_crowd *crowd, uint32_t slot, uint32_t island, struct ap_err *err)
{
    *out = (crowd->mask[slot] >> island & 1) == 0;
    if (*out && land(crowd, island, slot) != 0)
        return no_memory(err);
    return 0;
}

static bool is_elite(const struct ap_crowd *crowd, uint32_t slot)
{
    const struct group *everyone = &crowd->groups[0];
    if (crowd->keys.score[slot] == -INFINITY)
        return false;
    if (everyone->scored <= crowd->elites)
        return true;
    return ap_rank_before(&crowd->keys, slot, ap_rank_at(&everyone->rank, crowd->elites));
}

/* Whether it is the best of its place on any island. */
static bool is_best(const struct ap_crowd *crowd, uint32_t slot)
{
    if (crowd->keys.score[slot] == -INFINITY)
        return false;
    for (uint64_t left = crowd->mask[slot]; left != 0; left &= left - 1) {
        uint32_t island = (uint32_t)__builtin_ctzll(left);
        const struct ap_place *place = ap_places_find(&crowd->places, island, crowd->key[slot]);
        if (place != NULL && ap_rank_at(&place->rank, 0) == slot)
            return true;
    }
    return false;
}

/* The worst of a place who may go: nobody above an elite may, and only one slot an island is a best. */
static bool find_in(uint32_t *out, const struct ap_crowd *crowd, const struct ap_place *place)
{
    for (size_t index = place->rank.count; index-- > 0;) {
        uint32_t slot = ap_rank_at(&place->rank, index);
        if (is_elite(crowd, slot))
            return false;
        if (!is_best(crowd, slot)) {
            *out = slot;
            return true;
        }
    }
    return false;
}

static bool find_victim(uint32_t *out, const struct ap_crowd *crowd)
{
    for (size_t level = crowd->places.most; level > 0; level--)
        for (const struct ap_place *place = crowd->places.first[level]; place != NULL; place = place->after)
            if (find_in(out, crowd, place))
                return true;
    return false;
}

size_t ap_crowd_excess(const struct ap_crowd *crowd)
{
    size_t count = crowd->groups[0].rank.count;
    return count > crowd->population ? count - crowd->population : 0;
}

bool ap_crowd_evict(struct ap_crowd_gone *out, struct ap_crowd *crowd)
{
    uint32_t slot;
    if (ap_crowd_excess(crowd) == 0 || !find_victim(&slot, crowd))
        return false;
    *out = (struct ap_crowd_gone){.slot = slot, .island = crowd->home[slot], .key = crowd->key[slot]};
    for (uint64_t left = crowd->mask[slot]; left != 0; left &= left - 1) {
        uint32_t island = (uint32_t)__builtin_ctzll(left);
        ap_places_remove(&crowd->places, &crowd->keys, island, crowd->key[slot], slot);
        leave(crowd, island, slot);
    }
    leave(crowd, 0, slot);
    crowd->mask[slot] = 0;
    crowd->free_slots[crowd->free_count++] = slot;
    return true;
}

/* Each island from its best to its worst: what comes of it depends on who is there alone. */
int ap_crowd_refile(struct ap_crowd *crowd, const uint64_t *keys, struct ap_err *err)
{
    struct ap_places places = {0};
    if (ap_places_grow(&places, crowd->islands) != 0)
        return no_memory(err);
    for (uint32_t island = 1; island <= crowd->islands; island++) {
        const struct ap_rank *rank = &crowd->groups[island].rank;
        for (size_t block = 0; block < rank->blocks_count; block++)
            for (uint32_t i = 0; i < rank->blocks[block].count; i++) {
                uint32_t slot = rank->blocks[block].slots[i];
                if (ap_places_insert(&places, &crowd->keys, island, keys[slot], slot) != 0) {
                    ap_places_dispose(&places);
                    return no_memory(err);
                }
            }
    }
    ap_places_dispose(&crowd->places);
    crowd->places = places;
    if (crowd->slots > 0)
        memcpy(crowd->key, keys, crowd->slots * sizeof *keys);
    return 0;
}

uint32_t ap_crowd_slots(const struct ap_crowd *crowd)
{
    return crowd->slots;
}

bool ap_crowd_alive(const struct ap_crowd *crowd, uint32_t slot)
{
    return slot < crowd->slots && crowd->mask[slot] != 0;
}

uint64_t ap_crowd_key(const struct ap_crowd *crowd, uint32_t slot)
{
    return crowd->key[slot];
}

uint64_t ap_crowd_islands(const struct ap_crowd *crowd, uint32_t slot)
{
    return crowd->mask[slot];
}

uint32_t ap_crowd_island_count(const struct ap_crowd *crowd)
{
    return crowd->islands;
}

size_t ap_crowd_count(const struct ap_crowd *crowd, uint32_t island)
{
    return crowd->groups[island].rank.count;
}

size_t ap_crowd_scored(const struct ap_crowd *crowd, uint32_t island)
{
    return crowd->groups[island].scored;
}

/* On an island the elites stand before all others. */
size_t ap_crowd_elites(const struct ap_crowd *crowd, uint32_t island)
{
    const struct group *everyone = &crowd->groups[0], *group = &crowd->groups[island];
    if (everyone->scored <= crowd->elites)
        return group->scored;
    return ap_rank_find(&group->rank, &crowd->keys, ap_rank_at(&everyone->rank, crowd->elites));
}

uint32_t ap_crowd_at(const struct ap_crowd *crowd, uint32_t island, size_t index)
{
    return ap_rank_at(&crowd->groups[island].rank, index);
}

uint32_t ap_crowd_at_share(const struct ap_crowd *crowd, uint32_t island, size_t count, double u)
{
    size_t index = (size_t)(u * (double)count);
    return ap_crowd_at(crowd, island, index < count ? index : count - 1);
}

size_t ap_crowd_filled(const struct ap_crowd *crowd, uint32_t island)
{
    return crowd->places.filled[island].count;
}

void ap_crowd_best_at(uint32_t *slot, uint64_t *key, const struct ap_crowd *crowd, uint32_t island, size_t index)
{
    const struct ap_place *place = crowd->places.filled[island].places[index];
    *slot = ap_rank_at(&place->rank, 0);
    *key = place->key;
}

size_t ap_crowd_bests_room(const struct ap_crowd *crowd, uint32_t island)
{
    size_t room = 0;
    for (uint32_t one = island > 0 ? island : 1; one <= (island > 0 ? island : crowd->islands); one++)
        room += crowd->places.filled[one].count;
    return room;
}

static int by_key(const void *a, const void *b)
{
    const struct ap_crowd_best *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return one->island < other->island ? -1 : one->island > other->island;
}

size_t ap_crowd_bests(struct ap_crowd_best *out, const struct ap_crowd *crowd, uint32_t island)
{
    size_t found = 0, count = 0;
    for (uint32_t one = island > 0 ? island : 1; one <= (island > 0 ? island : crowd->islands); one++)
        for (size_t i = 0; i < crowd->places.filled[one].count; i++, found++) {
            out[found].island = one;
            ap_crowd_best_at(&out[found].slot, &out[found].key, crowd, one, i);
        }
    qsort(out, found, sizeof *out, by_key);
    for (size_t i = 0; i < found; i++)
        if (count == 0 || out[count - 1].key != out[i].key)
            out[count++] = out[i];
        else if (crowd->keys.score[out[i].slot] > crowd->keys.score[out[count - 1].slot])
            out[count - 1] = out[i];
    return count;
}
