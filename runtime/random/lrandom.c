/* SPDX-License-Identifier: MIT */
/* lrandom: apsis.random. A stream is a userdata of four words that owns nothing. Opened by host.c. */
#include <lauxlib.h>
#include <stdbool.h>

#include "base/bindings.h"
#include "random/random.h"

#define STREAM "apsis.random.stream"

/* Methods are called millions of times: compares the metatable with the one they were registered with instead of
 * looking up its name. */
static struct ap_random *check_stream(lua_State *L)
{
    struct ap_random *stream = lua_touserdata(L, 1);
    if (stream == NULL || !lua_getmetatable(L, 1))
        return luaL_checkudata(L, 1, STREAM); /* which raises */
    bool ours = lua_topointer(L, -1) == lua_topointer(L, lua_upvalueindex(1));
    lua_pop(L, 1);
    return ours ? stream : luaL_checkudata(L, 1, STREAM);
}

/* (parts of the key, up to the first nil). Raises on: a __tostring that returns no string. */
static int l_random_stream(lua_State *L)
{
    uint64_t key = AP_RANDOM_KEY;
    int parts = lua_gettop(L);
    for (int i = 1; i <= parts && !lua_isnil(L, i); i++) {
        size_t count;
        const char *part = luaL_tolstring(L, i, &count);
        key = ap_random_key(key, part, count);
        lua_pop(L, 1);
    }
    ap_random_seed(lua_newuserdatauv(L, sizeof(struct ap_random), 0), key);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_setmetatable(L, -2);
    return 1;
}

static int l_random_random(lua_State *L)
{
    lua_pushnumber(L, ap_random_double(check_stream(L)));
    return 1;
}

/* (low, high). Raises on: not two integers, low > high. */
static int l_random_integer(lua_State *L)
{
    struct ap_random *stream = check_stream(L);
    lua_Integer low = lua_tointeger(L, 2), high = lua_tointeger(L, 3);
    if (!lua_isinteger(L, 2) || !lua_isinteger(L, 3) || low > high) {
        lua_settop(L, 3); /* so that a missing one reads as nil */
        return luaL_error(L, "integer(low, high) needs two integers, low <= high; got %s, %s",
            luaL_tolstring(L, 2, NULL), luaL_tolstring(L, 3, NULL));
    }
    lua_pushinteger(L, ap_random_integer(stream, low, high));
    return 1;
}

static int l_random_normal(lua_State *L)
{
    lua_pushnumber(L, ap_random_normal(check_stream(L)));
    return 1;
}

static double weight_at(lua_State *L, lua_Integer index)
{
    lua_geti(L, 3, index);
    if (!lua_isnumber(L, -1))
        luaL_error(L, "choice: weight %I is not a number but %s", index, luaL_typename(L, -1));
    double weight = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return weight;
}

/* The index drawn by the weights at 3. */
static lua_Integer draw_weighted(lua_State *L, struct ap_random *stream, lua_Integer count)
{
    double sum = 0;
    for (lua_Integer i = 1; i <= count; i++)
        sum += weight_at(L, i);
    if (!(sum > 0))
        luaL_error(L, "choice: the weights must not all be zero");
    double left = ap_random_double(stream) * sum;
    lua_Integer last = 1;
    for (lua_Integer i = 1; i <= count; i++) {
        double weight = weight_at(L, i);
        left -= weight;
        if (left < 0)
            return i;
        last = weight > 0 ? i : last;
    }
    return last; /* rounding, or an infinite weight, left a remainder */
}

/* (list, weights | nil). Raises on: an empty list, a weight that is not a number, weights that are all zero. */
static int l_random_choice(lua_State *L)
{
    struct ap_random *stream = check_stream(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer count = luaL_len(L, 2);
    if (count <= 0)
        return luaL_error(L, "choice of an empty list");
    if (!lua_toboolean(L, 3)) {
        lua_geti(L, 2, ap_random_integer(stream, 1, count));
        return 1;
    }
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_geti(L, 2, draw_weighted(L, stream, count));
    return 1;
}

/* (list) -> the list. Uses list[i], list[j] = list[j], list[i] as Lua does, so that a list that refuses writes refuses
 * this too. */
static int l_random_shuffle(lua_State *L)
{
    struct ap_random *stream = check_stream(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    for (lua_Integer i = luaL_len(L, 2); i >= 2; i--) {
        lua_Integer other = ap_random_integer(stream, 1, i);
        lua_geti(L, 2, other);
        lua_geti(L, 2, i);
        lua_seti(L, 2, other);
        lua_seti(L, 2, i);
    }
    return 1;
}

int luaopen_apsis_random(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"random", l_random_random},
        {"integer", l_random_integer},
        {"normal", l_random_normal},
        {"choice", l_random_choice},
        {"shuffle", l_random_shuffle},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"stream", l_random_stream}, {NULL, NULL}};
    luaL_newlibtable(L, functions);
    luaL_newmetatable(L, STREAM);
    luaL_newlibtable(L, methods);
    lua_pushvalue(L, -2);
    luaL_setfuncs(L, methods, 1);
    lua_setfield(L, -2, "__index");
    luaL_setfuncs(L, functions, 1);
    return 1;
}
