/* SPDX-License-Identifier: MIT */
/* ljson: JSON for Lua: the module, its arrays and its null, which is one userdata, shared with apsis.yaml. Opened by
 * host.c as apsis.json. */
#include "base/bindings.h"
#include "codec/ljsonbox.h"
#include "codec/ljsonread.h"
#include "codec/ljsonwrite.h"

static int l_json_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_getmetatable(L, AP_JSON_ARRAY);
    if (lua_getmetatable(L, 1)) {
        luaL_argcheck(L, lua_rawequal(L, -1, -2), 1, "the table already has a metatable");
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
        {NULL, NULL},
    };
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
