/* SPDX-License-Identifier: MIT */
/* crowdplace: the places where slots stand, and which is the most crowded. See crowdplace.c. */
#ifndef AP_CROWDPLACE_H
#define AP_CROWDPLACE_H

#include "crowdrank.h"

/* One cell of one island. `level` is the list of equally crowded places that it stands in; 0 is none. */
struct ap_place {
    struct ap_rank rank;
    uint64_t key;
    uint32_t island, level;
    struct ap_place *before, *after;
    bool filled; /* somebody here has a score */
};

struct ap_place_list {
    struct ap_place **places;
    size_t count, room;
};

struct ap_places {
    struct ap_place **table; /* open addressing; room is a power of two, at most half of it used */
    size_t count, room;
    struct ap_place **first, **last; /* by level */
    size_t levels, most;
    struct ap_place_list *filled; /* by island */
    uint32_t islands;
};

/* The place, or NULL where nobody has stood there. */
struct ap_place *ap_places_find(const struct ap_places *places, uint32_t island, uint64_t key);

/* Room for islands 1 to `islands`. 0, or -1 when memory is out (all then stays as it was); the same below. */
int ap_places_grow(struct ap_places *places, uint32_t islands);

int ap_places_insert(
    struct ap_places *places, const struct ap_rank_keys *keys, uint32_t island, uint64_t key, uint32_t slot);
void ap_places_remove(
    struct ap_places *places, const struct ap_rank_keys *keys, uint32_t island, uint64_t key, uint32_t slot);

void ap_places_dispose(struct ap_places *places);

#endif
