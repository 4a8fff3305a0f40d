/* SPDX-License-Identifier: MIT */
/* lcrowd: apsis.crowd, the population under apsis.archive. Slots and indices count from 1 in Lua; island 0 is everyone. Raises
 * where memory is out: a population that is half changed is no use to anyone, and the mechanism never leaves one. Opened by
 * host.c. */
#include <lauxlib.h>
#include <math.h>

#include "base/bindings.h"
#include "lcrowd.h"
#include "base/own.h"

#define CROWD "apsis.crowd"

struct crowd {
    struct ap_own own;
    struct ap_crowd *crowd;
};

static void crowd_close(void *self)
{
    struct crowd *box = self;
    ap_crowd_close(box->crowd);
    box->crowd = NULL;
}

/* Every method is called millions of times, so the class is compared with the one that the method was registered under,
 * not looked up by name. */
struct ap_crowd *ap_crowd_check(lua_State *L)
{
    const struct crowd *box = lua_touserdata(L, 1);
    if (box == NULL || !lua_getmetatable(L, 1))
        return ((struct crowd *)ap_own_check(L, 1, CROWD))->crowd; /* which raises */
    bool ours = lua_topointer(L, -1) == lua_topointer(L, lua_upvalueindex(1));
    lua_pop(L, 1);
    return ours && box->own.open ? box->crowd : ((struct crowd *)ap_own_check(L, 1, CROWD))->crowd;
}

uint32_t ap_crowd_check_island(lua_State *L, int index, const struct ap_crowd *crowd, lua_Integer least)
{
    lua_Integer island = luaL_checkinteger(L, index);
    luaL_argcheck(L, island >= least && island <= (lua_Integer)ap_crowd_island_count(crowd), index, "no such island");
    return (uint32_t)island;
}

static uint32_t check_slot(lua_State *L, int index, const struct ap_crowd *crowd)
{
    lua_Integer slot = luaL_checkinteger(L, index);
    luaL_argcheck(L,
        slot >= 1 && slot <= (lua_Integer)ap_crowd_slots(crowd) && ap_crowd_alive(crowd, (uint32_t)slot - 1), index,
        "nobody has this slot");
    return (uint32_t)slot - 1;
}

static int raise(lua_State *L, const struct ap_err *err)
{
    return luaL_error(L, "%s: %s", err->code, err->message);
}

static int l_crowd_new(lua_State *L)
{
    struct ap_err err;
    lua_Integer population = luaL_checkinteger(L, 1), elites = luaL_checkinteger(L, 2);
    luaL_argcheck(L, population >= 1, 1, "at least 1");
    luaL_argcheck(L, elites >= 1, 2, "at least 1");
    struct crowd *box = ap_own_new(L, sizeof *box, CROWD, crowd_close);
    if (ap_crowd_open(&box->crowd, (size_t)population, (size_t)elites, &err) != 0)
        return raise(L, &err);
    box->own.open = true;
    return 1;
}

/* -> number | nil, message, code where there are as many as can be */
static int l_crowd_island(lua_State *L)
{
    struct ap_err err;
    uint32_t island;
    if (ap_crowd_island(&island, ap_crowd_check(L), &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushinteger(L, island);
    return 1;
}

/* (island, score | nil, key) -> slot, how many there are above the bound */
static int l_crowd_add(lua_State *L)
{
    struct ap_err err;
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t slot, island = ap_crowd_check_island(L, 2, crowd, 1);
    lua_Number score = luaL_optnumber(L, 3, -INFINITY);
    lua_Integer key = luaL_checkinteger(L, 4);
    luaL_argcheck(L, lua_isnoneornil(L, 3) || isfinite(score), 3, "a score is finite");
    if (ap_crowd_add(&slot, crowd, island, score, (uint64_t)key, &err) != 0)
        return raise(L, &err);
    lua_pushinteger(L, (lua_Integer)slot + 1);
    lua_pushinteger(L, (lua_Integer)ap_crowd_excess(crowd));
    return 2;
}

/* -> slot, island, key | nil */
static int l_crowd_evict(lua_State *L)
{
    struct ap_crowd_gone gone;
    if (!ap_crowd_evict(&gone, ap_crowd_check(L)))
        return 0;
    lua_pushinteger(L, (lua_Integer)gone.slot + 1);
    lua_pushinteger(L, gone.island);
    lua_pushinteger(L, (lua_Integer)gone.key);
    return 3;
}

/* (slot, island) -> whether it was not there */
static int l_crowd_copy(lua_State *L)
{
    bool copied;
    struct ap_err err;
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t slot = check_slot(L, 2, crowd), island = ap_crowd_check_island(L, 3, crowd, 1);
    if (ap_crowd_copy(&copied, crowd, slot, island, &err) != 0)
        return raise(L, &err);
    lua_pushboolean(L, copied);
    return 1;
}

/* (keys by slot; of a free slot it does not matter) */
static int l_crowd_refile(lua_State *L)
{
    struct ap_err err;
    struct ap_crowd *crowd = ap_crowd_check(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    uint32_t slots = ap_crowd_slots(crowd);
    uint64_t *keys = lua_newuserdatauv(L, (slots + 1) * sizeof *keys, 0);
    for (uint32_t slot = 0; slot < slots; slot++) {
        lua_rawgeti(L, 2, (lua_Integer)slot + 1);
        keys[slot] = (uint64_t)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    if (ap_crowd_refile(crowd, keys, &err) != 0)
        return raise(L, &err);
    return 0;
}

static int l_crowd_key(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    lua_pushinteger(L, (lua_Integer)ap_crowd_key(crowd, check_slot(L, 2, crowd)));
    return 1;
}

/* (slot) -> a list of islands */
static int l_crowd_islands(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint64_t islands = ap_crowd_islands(crowd, check_slot(L, 2, crowd));
    lua_newtable(L);
    for (lua_Integer at = 1; islands != 0; islands &= islands - 1) {
        lua_pushinteger(L, __builtin_ctzll(islands));
        lua_rawseti(L, -2, at++);
    }
    return 1;
}

/* (island) -> how many, how many with a score */
static int l_crowd_count(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    lua_pushinteger(L, (lua_Integer)ap_crowd_count(crowd, island));
    lua_pushinteger(L, (lua_Integer)ap_crowd_scored(crowd, island));
    return 2;
}

/* (island) -> slot of the best with a score | nil */
static int l_crowd_best(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    if (ap_crowd_scored(crowd, island) == 0)
        return 0;
    lua_pushinteger(L, (lua_Integer)ap_crowd_at(crowd, island, 0) + 1);
    return 1;
}

/* -> the island where fewest are, of equals the first | nil */
static int l_crowd_smallest(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t smallest = 1, islands = ap_crowd_island_count(crowd);
    for (uint32_t island = 2; island <= islands; island++)
        if (ap_crowd_count(crowd, island) < ap_crowd_count(crowd, smallest))
            smallest = island;
    if (islands == 0)
        return 0;
    lua_pushinteger(L, smallest);
    return 1;
}

/* -> a list of the islands where somebody is */
static int l_crowd_settled(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t islands = ap_crowd_island_count(crowd);
    lua_createtable(L, (int)islands, 0);
    lua_Integer at = 0;
    for (uint32_t island = 1; island <= islands; island++)
        if (ap_crowd_count(crowd, island) > 0) {
            lua_pushinteger(L, island);
            lua_rawseti(L, -2, ++at);
        }
    return 1;
}

/* Pushes the slot at a share u of the first `count` there: all as likely where u is drawn from [0, 1). */
static int push_share(lua_State *L, const struct ap_crowd *crowd, uint32_t island, size_t count)
{
    lua_Number u = luaL_checknumber(L, 3);
    luaL_argcheck(L, u >= 0 && u < 1, 3, "a share is in [0, 1)");
    if (count == 0)
        return 0;
    lua_pushinteger(L, (lua_Integer)ap_crowd_at_share(crowd, island, count, u) + 1);
    return 1;
}

/* (island, u) -> slot of one with a score, or, where nobody has one, without | nil */
static int l_crowd_any(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    size_t scored = ap_crowd_scored(crowd, island);
    return push_share(L, crowd, island, scored > 0 ? scored : ap_crowd_count(crowd, island));
}

/* (island, u) -> slot of an elite | nil */
static int l_crowd_elite(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    return push_share(L, crowd, island, ap_crowd_elites(crowd, island));
}

/* (island, place in the order, best first) -> slot | nil */
static int l_crowd_at(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    lua_Integer at = luaL_checkinteger(L, 3);
    if (at < 1 || (lua_Unsigned)at > ap_crowd_count(crowd, island))
        return 0;
    lua_pushinteger(L, (lua_Integer)ap_crowd_at(crowd, island, (size_t)at - 1) + 1);
    return 1;
}

static int l_crowd_filled(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    lua_pushinteger(L, (lua_Integer)ap_crowd_filled(crowd, ap_crowd_check_island(L, 2, crowd, 1)));
    return 1;
}

/* (island, how many, members by slot) -> the members of the best with a score, best first */
static int l_crowd_top(lua_State *L)
{
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 0);
    lua_Integer count = luaL_checkinteger(L, 3), scored = (lua_Integer)ap_crowd_scored(crowd, island);
    luaL_checktype(L, 4, LUA_TTABLE);
    count = count < scored ? count : scored;
    lua_createtable(L, count > 0 ? (int)count : 0, 0);
    for (lua_Integer at = 1; at <= count; at++) {
        lua_rawgeti(L, 4, (lua_Integer)ap_crowd_at(crowd, island, (size_t)at - 1) + 1);
        lua_rawseti(L, -2, at);
    }
    return 1;
}

/* (island, which of its filled places) -> slot, key | nil */
static int l_crowd_best_at(lua_State *L)
{
    uint32_t slot;
    uint64_t key;
    struct ap_crowd *crowd = ap_crowd_check(L);
    uint32_t island = ap_crowd_check_island(L, 2, crowd, 1);
    lua_Integer at = luaL_checkinteger(L, 3);
    if (at < 1 || (lua_Unsigned)at > ap_crowd_filled(crowd, island))
        return 0;
    ap_crowd_best_at(&slot, &key, crowd, island, (size_t)at - 1);
    lua_pushinteger(L, (lua_Integer)slot + 1);
    lua_pushinteger(L, (lua_Integer)key);
    return 2;
}

int luaopen_apsis_crowd(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"island", l_crowd_island},
        {"add", l_crowd_add},
        {"evict", l_crowd_evict},
        {"copy", l_crowd_copy},
        {"refile", l_crowd_refile},
        {"key", l_crowd_key},
        {"islands", l_crowd_islands},
        {"count", l_crowd_count},
        {"best", l_crowd_best},
        {"smallest", l_crowd_smallest},
        {"settled", l_crowd_settled},
        {"any", l_crowd_any},
        {"elite", l_crowd_elite},
        {"at", l_crowd_at},
        {"top", l_crowd_top},
        {"filled", l_crowd_filled},
        {"best_at", l_crowd_best_at},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"new", l_crowd_new}, {NULL, NULL}};
    ap_own_class(L, CROWD, NULL);
    luaL_getmetatable(L, CROWD);
    lua_getfield(L, -1, "__index");
    lua_pushvalue(L, -2);
    luaL_setfuncs(L, methods, 1);
    luaL_getmetatable(L, CROWD);
    luaL_setfuncs(L, ap_crowd_draws, 1);
    luaL_newlib(L, functions);
    return 1;
}
