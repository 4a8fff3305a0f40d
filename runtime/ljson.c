/* SPDX-License-Identifier: MIT */
/* ljson: JSON for Lua, in one pass each way: the reader (ljsonread.c) pushes Lua values as it checks the text, the
 * writer (ljsonwrite.c) prints into a buffer. No tree in between, and no library: a tree of doubles loses 64-bit
 * integers and NUL, and what such a parser lets pass (duplicate keys, trailing text, "01") would have to be found by a
 * full reading beforehand anyway. Numbers go both ways exactly; invalid UTF-8 becomes U+FFFD; null is one userdata,
 * shared with apsis.yaml. Opened by host.c as apsis.json. */
#define _GNU_SOURCE
#include "ljson.h"

#include <lauxlib.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bindings.h"

const char ap_json_null_key;
static locale_t c_locale;

double ap_json_to_double(const char *text)
{
    locale_t before = uselocale(c_locale);
    double value = strtod(text, NULL);
    uselocale(before);
    return value;
}

int ap_json_print_double(char *text, size_t room, int digits, double value)
{
    locale_t before = uselocale(c_locale);
    int length = snprintf(text, room, "%.*g", digits, value);
    uselocale(before);
    return length;
}

size_t ap_json_utf8_length(const unsigned char *at, const unsigned char *end)
{
    static const unsigned char lowest[] = {[0] = 0, [2] = 0x80, [3] = 0x80, [4] = 0x80};
    size_t length = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
    if (length < 2)
        return length;
    if ((size_t)(end - at) < length)
        return 0;
    unsigned char low = *at == 0xE0 ? 0xA0 : *at == 0xF0 ? 0x90 : lowest[length];
    unsigned char high = *at == 0xED ? 0x9F : *at == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xBF)
            return 0;
    return length;
}

void ap_json_add(lua_State *L, struct ap_buf *buf, const char *bytes, size_t count)
{
    if (ap_buf_add(buf, bytes, count) != 0)
        luaL_error(L, "out of memory");
}

/* Whether the value at the top is one that JSON surely holds. */
static int is_plain(lua_State *L, int depth)
{
    int type = lua_type(L, -1);
    if (type == LUA_TNUMBER) {
        lua_Number number = lua_tonumber(L, -1);
        return number - number == 0;
    }
    if (type != LUA_TTABLE)
        return type == LUA_TSTRING || type == LUA_TBOOLEAN;
    if (depth == 0 || !lua_checkstack(L, 4))
        return 0;
    if (lua_getmetatable(L, -1)) {
        lua_pop(L, 1);
        return 0;
    }
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !is_plain(L, depth - 1)) {
            lua_pop(L, 2);
            return 0;
        }
    }
    return 1;
}

/* (value) -> whether it is a text, a boolean, a finite number, or a map of such, not deep: much cheaper to ask than encode. */
static int l_json_plain(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    lua_pushboolean(L, is_plain(L, 8));
    return 1;
}

static int l_json_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_getmetatable(L, AP_JSON_ARRAY);
    if (lua_getmetatable(L, 1)) {
        luaL_argcheck(L, lua_rawequal(L, -1, -2), 1, "the table has a metatable of its own");
        lua_pop(L, 1);
    }
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

static int null_tostring(lua_State *L)
{
    lua_pushliteral(L, "null");
    return 1;
}

int luaopen_apsis_json(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"decode", ap_json_decode},
        {"encode", ap_json_encode},
        {"array", l_json_array},
        {"plain", l_json_plain},
        {NULL, NULL},
    };
    if (c_locale == (locale_t)0) /* made once and kept: it lives as long as the program */
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return luaL_error(L, "out of memory");
    luaL_newlib(L, functions);
    luaL_newmetatable(L, AP_JSON_ARRAY);
    lua_pop(L, 1);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &ap_json_null_key) == LUA_TNIL) {
        lua_newuserdatauv(L, 0, 0);
        lua_createtable(L, 0, 2);
        lua_pushcfunction(L, null_tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushliteral(L, "null");
        lua_setfield(L, -2, "__name");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &ap_json_null_key);
        lua_remove(L, -2);
    }
    lua_setfield(L, -2, "null");
    return 1;
}
