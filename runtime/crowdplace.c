/* SPDX-License-Identifier: MIT */
/* crowdplace: the places where slots stand, found by island and key, each an ordered list, and kept in lists by how many stand
 * there, so that the most crowded is at hand. A place that holds nobody but its best is in no such list: nobody can be taken
 * from it. Judges nobody. A part of crowd.c's room. */
#include "crowdplace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ap_place **find_entry(struct ap_place **table, size_t room, uint32_t island, uint64_t key)
{
    uint64_t hash = (key ^ (uint64_t)island << 56) * 0x9e3779b97f4a7c15;
    for (size_t at = (hash >> 32) & (room - 1);; at = (at + 1) & (room - 1))
        if (table[at] == NULL || (table[at]->island == island && table[at]->key == key))
            return &table[at];
}

struct ap_place *ap_places_find(const struct ap_places *places, uint32_t island, uint64_t key)
{
    return places->room == 0 ? NULL : *find_entry(places->table, places->room, island, key);
}

int ap_places_grow(struct ap_places *places, uint32_t islands)
{
    struct ap_place_list *filled = realloc(places->filled, (islands + 1) * sizeof *filled);
    if (filled == NULL)
        return -1;
    places->filled = filled;
    for (; places->islands <= islands; places->islands++)
        filled[places->islands] = (struct ap_place_list){0};
    return 0;
}

static int grow_table(struct ap_places *places)
{
    if (2 * (places->count + 1) <= places->room)
        return 0;
    size_t room = places->room == 0 ? 16 : 2 * places->room;
    struct ap_place **table = calloc(room, sizeof *table);
    if (table == NULL)
        return -1;
    for (size_t i = 0; i < places->room; i++)
        if (places->table[i] != NULL)
            *find_entry(table, room, places->table[i]->island, places->table[i]->key) = places->table[i];
    free(places->table);
    places->table = table;
    places->room = room;
    return 0;
}

/* Room in the list of filled places, so that filling one cannot fail. */
static int grow_filled(struct ap_place_list *list)
{
    if (list->count < list->room)
        return 0;
    size_t room = list->room == 0 ? 8 : 2 * list->room;
    struct ap_place **more = realloc(list->places, room * sizeof *more);
    if (more == NULL)
        return -1;
    list->places = more;
    list->room = room;
    return 0;
}

static int grow_levels(struct ap_places *places, size_t level)
{
    if (level < places->levels)
        return 0;
    size_t levels = places->levels == 0 ? 64 : 2 * places->levels;
    struct ap_place **first = realloc(places->first, levels * sizeof *first);
    if (first == NULL)
        return -1;
    places->first = first;
    struct ap_place **last = realloc(places->last, levels * sizeof *last);
    if (last == NULL)
        return -1;
    places->last = last;
    for (; places->levels < levels; places->levels++)
        first[places->levels] = last[places->levels] = NULL;
    return 0;
}

static struct ap_place *demand(struct ap_places *places, uint32_t island, uint64_t key)
{
    struct ap_place *place = ap_places_find(places, island, key);
    if (place != NULL)
        return place;
    if (grow_table(places) != 0 || (place = calloc(1, sizeof *place)) == NULL)
        return NULL;
    place->island = island;
    place->key = key;
    *find_entry(places->table, places->room, island, key) = place;
    places->count++;
    return place;
}

/* Moves a place to the end of its list: the first is the one that has been so crowded for longest. */
static void settle(struct ap_places *places, struct ap_place *place)
{
    if (place->level > 0) {
        *(place->before != NULL ? &place->before->after : &places->first[place->level]) = place->after;
        *(place->after != NULL ? &place->after->before : &places->last[place->level]) = place->before;
    }
    size_t level = place->rank.count == 1 && place->filled ? 0 : place->rank.count;
    place->level = (uint32_t)level;
    place->before = place->after = NULL;
    if (level > 0) {
        place->before = places->last[level];
        places->last[level] = place;
        *(place->before != NULL ? &place->before->after : &places->first[level]) = place;
        if (level > places->most)
            places->most = level;
    }
    while (places->most > 0 && places->first[places->most] == NULL)
        places->most--;
}

int ap_places_insert(
    struct ap_places *places, const struct ap_rank_keys *keys, uint32_t island, uint64_t key, uint32_t slot)
{
    struct ap_place *place = demand(places, island, key);
    struct ap_place_list *filled = &places->filled[island];
    if (place == NULL || grow_levels(places, place->rank.count + 1) != 0 || grow_filled(filled) != 0 ||
        ap_rank_insert(&place->rank, keys, slot) != 0)
        return -1;
    if (!place->filled && keys->score[slot] != -INFINITY) {
        place->filled = true;
        filled->places[filled->count++] = place;
    }
    settle(places, place);
    return 0;
}

void ap_places_remove(
    struct ap_places *places, const struct ap_rank_keys *keys, uint32_t island, uint64_t key, uint32_t slot)
{
    struct ap_place *place = ap_places_find(places, island, key);
    if (place == NULL)
        return;
    ap_rank_remove(&place->rank, keys, slot);
    if (place->filled && (place->rank.count == 0 || keys->score[ap_rank_at(&place->rank, 0)] == -INFINITY)) {
        struct ap_place_list *filled = &places->filled[island];
        size_t at = 0;
        while (filled->places[at] != place)
            at++;
        memmove(filled->places + at, filled->places + at + 1, (--filled->count - at) * sizeof *filled->places);
        place->filled = false;
    }
    settle(places, place);
}

void ap_places_dispose(struct ap_places *places)
{
    for (size_t i = 0; i < places->room; i++)
        if (places->table[i] != NULL) {
            ap_rank_dispose(&places->table[i]->rank);
            free(places->table[i]);
        }
    for (uint32_t i = 0; i < places->islands; i++)
        free(places->filled[i].places);
    free(places->table);
    free(places->first);
    free(places->last);
    free(places->filled);
    *places = (struct ap_places){0};
}
