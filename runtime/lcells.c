/* SPDX-License-Identifier: MIT */
/* lcells: apsis.cells, straight to Lua: which cell of a grid features belong to. Numbers into bins is what it does, millions of
 * times; ranges, names and what a cell is called are those of archive/grid.lua, which calls it. Opened by host.c. */
#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>

#include "base/bindings.h"

struct axis {
    double low, high, scale;
    lua_Integer bins, stride;
    bool named, ranged;
};

static lua_Integer integer_field(lua_State *L, const char *name)
{
    lua_getfield(L, -1, name);
    lua_Integer value = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return value;
}

static double number_field(lua_State *L, const char *name, bool *is_number)
{
    lua_getfield(L, -1, name);
    double value = lua_tonumber(L, -1);
    *is_number = lua_type(L, -1) == LUA_TNUMBER;
    lua_pop(L, 1);
    return value;
}

/* The bin of a value on top of the stack; -1 where it is none of the axis's. index: where the indices of names are. */
static lua_Integer bin_of(lua_State *L, const struct axis *axis, lua_Integer number, int index)
{
    if (axis->named) {
        lua_rawgeti(L, index, number);
        lua_insert(L, -2);
        lua_rawget(L, -2);
        lua_Integer bin = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;
        lua_pop(L, 1);
        return bin;
    }
    if (lua_type(L, -1) != LUA_TNUMBER)
        return -1;
    double value = lua_tonumber(L, -1);
    if (!isfinite(value))
        return 0;
    if (!axis->ranged || value < axis->low || value > axis->high)
        return -1;
    if (!(axis->scale > 0))
        return 1;
    lua_Integer bin = (lua_Integer)((value - axis->low) * axis->scale) + 1;
    return bin < axis->bins ? bin : axis->bins;
}

/* (features | nil) -> key | nil. Upvalues: the axes, their names, the indices of their values' names. */
static int find(lua_State *L)
{
    const struct axis *axes = lua_touserdata(L, lua_upvalueindex(1));
    lua_Integer count = (lua_Integer)lua_rawlen(L, lua_upvalueindex(2)), key = 0;
    if (lua_isnoneornil(L, 1))
        count = 0;
    lua_settop(L, 1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, lua_upvalueindex(2), i);
        lua_gettable(L, 1);
        if (!lua_isnil(L, -1)) {
            lua_Integer bin = bin_of(L, &axes[i - 1], i, lua_upvalueindex(3));
            if (bin < 0)
                return 0;
            key += bin * axes[i - 1].stride;
        }
        lua_settop(L, 1);
    }
    lua_pushinteger(L, key);
    return 1;
}

/* (list of { name, bins, stride, index | nil, low, high, scale | nil }) -> function. Raises on: a list of anything else. */
static int l_cells_finder(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    struct axis *axes = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *axes, 0);
    lua_createtable(L, (int)count, 0);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        luaL_checktype(L, -1, LUA_TTABLE);
        struct axis *axis = &axes[i - 1];
        bool low, high, scale;
        *axis = (struct axis){.bins = integer_field(L, "bins"), .stride = integer_field(L, "stride")};
        axis->low = number_field(L, "low", &low);
        axis->high = number_field(L, "high", &high);
        axis->scale = number_field(L, "scale", &scale);
        axis->ranged = low && high && scale;
        axis->named = lua_getfield(L, -1, "index") == LUA_TTABLE;
        lua_rawseti(L, -3, i);
        lua_getfield(L, -1, "name");
        lua_rawseti(L, -4, i);
        lua_pop(L, 1);
    }
    lua_pushcclosure(L, find, 3);
    return 1;
}

int luaopen_apsis_cells(lua_State *L)
{
    static const luaL_Reg functions[] = {{"finder", l_cells_finder}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
