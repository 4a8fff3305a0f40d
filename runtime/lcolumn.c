/* SPDX-License-Identifier: MIT */
/* lcolumn: column for Lua: a handle that is indexed like a list. Opened by host.c as apsis.column; the engine's history
 * keeps in columns what it must know of every line. lua/meta/column.lua says what each function does. */
#include <string.h>

#include "base/bindings.h"
#include "column.h"
#include "base/own.h"

#define COLUMN "apsis.column"

struct column {
    struct ap_own own;
    struct ap_column column;
};

static void column_close(void *self)
{
    ap_column_dispose(&((struct column *)self)->column);
}

static int l_column_new(lua_State *L)
{
    struct column *column = ap_own_new(L, sizeof *column, COLUMN, column_close);
    column->own.open = true;
    return 1;
}

static uint32_t check_value(lua_State *L, int index)
{
    lua_Integer value = luaL_checkinteger(L, index);
    luaL_argcheck(L, value >= 0 && value <= UINT32_MAX, index, "a number of 32 bits is wanted");
    return (uint32_t)value;
}

static int l_column_set(lua_State *L)
{
    struct ap_err err;
    struct column *column = ap_own_check(L, 1, COLUMN);
    lua_Integer index = luaL_checkinteger(L, 2);
    luaL_argcheck(L, index >= 1, 2, "an index from 1 is wanted");
    uint32_t value = check_value(L, 3);
    if (ap_column_set(&column->column, (size_t)index - 1, value, &err) != 0)
        return luaL_error(L, "%s", err.message);
    return 0;
}

static int l_column_get(lua_State *L)
{
    struct column *column = ap_own_check(L, 1, COLUMN);
    lua_Integer index = luaL_checkinteger(L, 2);
    uint32_t value = index >= 1 ? ap_column_get(&column->column, (size_t)index - 1) : 0;
    if (value == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, value);
    return 1;
}

static int l_column_find(lua_State *L)
{
    struct column *column = ap_own_check(L, 1, COLUMN);
    uint32_t value = check_value(L, 2);
    lua_Integer after = luaL_optinteger(L, 3, 0);
    luaL_argcheck(L, value != 0, 2, "0 is what was never set");
    luaL_argcheck(L, after >= 0, 3, "an index is wanted");
    size_t index = ap_column_find(&column->column, value, (size_t)after);
    if (index == column->column.used)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)index + 1);
    return 1;
}

static int l_column_count(lua_State *L)
{
    struct column *column = ap_own_check(L, 1, COLUMN);
    lua_pushinteger(L, (lua_Integer)column->column.used);
    return 1;
}

static int l_column_hash(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    lua_pushinteger(L, ap_column_hash(text, length));
    return 1;
}

int luaopen_apsis_column(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"set", l_column_set}, {"get", l_column_get}, {"find", l_column_find}, {"count", l_column_count}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"new", l_column_new}, {"hash", l_column_hash}, {NULL, NULL}};
    ap_own_class(L, COLUMN, methods);
    luaL_newlib(L, functions);
    return 1;
}
