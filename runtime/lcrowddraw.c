/* SPDX-License-Identifier: MIT */
/* lcrowddraw: the methods of apsis.crowd that choose many at once: the best of every cell, some of them at random, and what is
 * shown beside a parent. A part of lcrowd.c's binding, which registers them. */
#include "lcrowd.h"
#include "random/lrandom.h"

enum { FEW = 32 }; /* so many fit on the stack */

/* (island) -> slots of the best of every cell, and the keys of the cells, in the order of the keys */
static int l_crowd_bests(lua_State *L)
{
    const struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    struct ap_crowd_best *list = lua_newuserdatauv(L, (ap_crowd_bests_room(crowd, island) + 1) * sizeof *list, 0);
    size_t count = ap_crowd_bests(list, crowd, island);
    lua_createtable(L, (int)count, 0);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, (lua_Integer)list[i].slot + 1);
        lua_rawseti(L, -3, (lua_Integer)i + 1);
        lua_pushinteger(L, (lua_Integer)list[i].key);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 2;
}

/* Draws bests of different cells into slots: up to `count`, and none of the cell `avoid` where there is one. Leaves what it needs
 * on the stack. Returns how many. */
static size_t draw_diverse(uint32_t *slots, lua_State *L, const struct ap_crowd *crowd, uint32_t island,
    struct ap_random *stream, size_t count, const uint64_t *avoid)
{
    struct ap_crowd_best *everywhere = NULL;
    size_t total = island > 0 ? ap_crowd_filled(crowd, island) : 0, found = 0;
    if (island == 0) {
        everywhere = lua_newuserdatauv(L, (ap_crowd_bests_room(crowd, 0) + 1) * sizeof *everywhere, 0);
        total = ap_crowd_bests(everywhere, crowd, 0);
    }
    if (total == 0 || count == 0)
        return 0;
    size_t draws = count < total ? count + 1 : total;
    int64_t few[3 * FEW], *places = few;
    if (draws > FEW)
        places = lua_newuserdatauv(L, 3 * draws * sizeof *places, 0);
    ap_random_sample(places, places + draws, stream, (int64_t)total, (int64_t)draws);
    for (size_t i = 0; i < draws && found < count; i++) {
        struct ap_crowd_best best;
        size_t at = (size_t)places[i] - 1;
        if (everywhere != NULL)
            best = everywhere[at];
        else
            ap_crowd_best_at(&best.slot, &best.key, crowd, island, at);
        if (avoid == NULL || best.key != *avoid)
            slots[found++] = best.slot;
    }
    return found;
}

static size_t check_count(lua_State *L, int index)
{
    lua_Integer count = luaL_checkinteger(L, index);
    luaL_argcheck(L, count <= 1000000, index, "1,000,000 at most");
    return count < 0 ? 0 : (size_t)count;
}

/* (island, stream, how many, key that is avoided | nil, members by slot) -> members that are the bests of different cells */
static int l_crowd_diverse(lua_State *L)
{
    const struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    struct ap_random *stream = ap_random_check(L, 3);
    size_t count = check_count(L, 4);
    uint64_t avoid = (uint64_t)luaL_optinteger(L, 5, 0);
    luaL_checktype(L, 6, LUA_TTABLE);
    uint32_t *slots = lua_newuserdatauv(L, (count + 1) * sizeof *slots, 0);
    count = draw_diverse(slots, L, crowd, island, stream, count, lua_isnoneornil(L, 5) ? NULL : &avoid);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 6, (lua_Integer)slots[i] + 1);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* Slots, none twice; the first `parents` of them are there to be left out. */
struct shown {
    uint32_t *slots;
    size_t count, parents;
};

static void show(struct shown *shown, uint32_t slot)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->slots[i] == slot)
            return;
    shown->slots[shown->count++] = slot;
}

/* A slot that may be nil. */
static void leave_out(struct shown *shown, lua_State *L, int index, const struct ap_crowd *crowd)
{
    if (lua_isnoneornil(L, index))
        return;
    lua_Integer slot = luaL_checkinteger(L, index);
    luaL_argcheck(L,
        slot >= 1 && slot <= (lua_Integer)ap_crowd_slots(crowd) && ap_crowd_alive(crowd, (uint32_t)slot - 1), index,
        "nobody has this slot");
    show(shown, (uint32_t)slot - 1);
    shown->parents = shown->count;
}

/* Pushes the ids of those shown, or nil where there are none. */
static int push_ids(lua_State *L, const struct shown *shown, int members)
{
    if (shown->count == shown->parents)
        return 0;
    lua_createtable(L, (int)(shown->count - shown->parents), 0);
    for (size_t i = shown->parents; i < shown->count; i++) {
        lua_rawgeti(L, members, (lua_Integer)shown->slots[i] + 1);
        lua_getfield(L, -1, "id");
        lua_rawseti(L, -3, (lua_Integer)(i - shown->parents) + 1);
        lua_pop(L, 1);
    }
    return 1;
}

/* (island of the top, island of the others, stream, how many of the top, how many diverse, how many in all at least tried,
 * slots of two parents | nil, members by slot) -> ids | nil: of the best; of bests of other cells than the first parent's; of
 * random ones for as many as are missing */
static int l_crowd_shown(lua_State *L)
{
    const struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t best = ap_crowd_check_island(L, 2, crowd, 0), island = ap_crowd_check_island(L, 3, crowd, 0);
    struct ap_random *stream = ap_random_check(L, 4);
    size_t top = check_count(L, 5), diverse = check_count(L, 6), total = check_count(L, 7);
    luaL_checktype(L, 10, LUA_TTABLE);
    size_t scored = ap_crowd_scored(crowd, best);
    top = top < scored ? top : scored;
    /* those shown, and after them room for the diverse */
    size_t most = 2 + top + diverse + total;
    uint32_t few[4 * FEW], *slots = few;
    if (most + diverse > 4 * FEW)
        slots = lua_newuserdatauv(L, (most + diverse) * sizeof *slots, 0);
    struct shown shown = {.slots = slots};
    leave_out(&shown, L, 8, crowd);
    leave_out(&shown, L, 9, crowd);
    for (size_t at = 0; at < top; at++)
        show(&shown, ap_crowd_at(crowd, best, at));
    uint64_t avoid = lua_isnoneornil(L, 8) ? 0 : ap_crowd_key(crowd, slots[0]);
    uint32_t *drawn = slots + most;
    diverse = draw_diverse(drawn, L, crowd, island, stream, diverse, lua_isnoneornil(L, 8) ? NULL : &avoid);
    for (size_t i = 0; i < diverse; i++)
        show(&shown, drawn[i]);
    size_t here = ap_crowd_scored(crowd, island) > 0 ? ap_crowd_scored(crowd, island) : ap_crowd_count(crowd, island);
    size_t draws = total + shown.parents > shown.count ? total + shown.parents - shown.count : 0;
    while (draws-- > 0) {
        double u = ap_random_double(stream);
        if (here > 0)
            show(&shown, ap_crowd_at_share(crowd, island, here, u));
    }
    return push_ids(L, &shown, 10);
}

const luaL_Reg ap_crowd_draws[] = {
    {"bests", l_crowd_bests},
    {"diverse", l_crowd_diverse},
    {"shown", l_crowd_shown},
    {NULL, NULL},
};
