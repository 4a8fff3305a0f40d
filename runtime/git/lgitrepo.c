/* SPDX-License-Identifier: MIT */
/* lgitrepo: the repository's userdata and class, and conversions between Lua's values and C's. */
#include "git/lgitrepo.h"

#include <string.h>

struct lgit_repo *lgit_check(lua_State *L, int index)
{
    return ap_own_check(L, index, LGIT_REPO);
}

const char *lgit_table_text(lua_State *L, int index, const char *what)
{
    size_t length;
    if (lua_type(L, index) != LUA_TSTRING)
        luaL_error(L, "%s must be a string, not %s", what, luaL_typename(L, index));
    const char *text = lua_tolstring(L, index, &length);
    if (strlen(text) != length)
        luaL_error(L, "%s has a NUL byte", what);
    return text;
}

const char *lgit_check_text(lua_State *L, int index)
{
    size_t length;
    const char *text = luaL_checklstring(L, index, &length);
    luaL_argcheck(L, strlen(text) == length, index, "has a NUL byte");
    return text;
}

void lgit_check_keys(lua_State *L, int index, const char *const *allowed)
{
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1);
        int known = 0;
        for (const char *const *name = allowed; *name != NULL && !known; name++)
            known = lua_type(L, -1) == LUA_TSTRING && strcmp(*name, key) == 0;
        if (known)
            continue;
        luaL_Buffer list;
        luaL_buffinit(L, &list);
        for (const char *const *name = allowed; *name != NULL; name++) {
            luaL_addstring(&list, name == allowed ? "" : ", ");
            luaL_addstring(&list, *name);
        }
        luaL_pushresult(&list);
        luaL_error(L, "unknown option \"%s\" (allowed: %s)", key, lua_tostring(L, -1));
    }
}

void lgit_check_options(lua_State *L, int index, const char *const *allowed)
{
    if (lua_isnoneornil(L, index)) {
        lua_settop(L, index - 1);
        lua_newtable(L);
        return;
    }
    luaL_checktype(L, index, LUA_TTABLE);
    lgit_check_keys(L, index, allowed);
}

const char *lgit_option_text(lua_State *L, int index, const char *key)
{
    const char *text = NULL;
    if (lua_getfield(L, index, key) != LUA_TNIL)
        text = lgit_table_text(L, -1, key);
    lua_pop(L, 1);
    return text;
}

lua_Integer lgit_option_integer(lua_State *L, int index, const char *key, lua_Integer otherwise)
{
    int given = lua_getfield(L, index, key) != LUA_TNIL, is_integer = 1;
    lua_Integer value = given ? lua_tointegerx(L, -1, &is_integer) : otherwise;
    if (!is_integer)
        luaL_error(L, "%s must be an integer", key);
    lua_pop(L, 1);
    return value;
}

void lgit_push_id(lua_State *L, const git_oid *id)
{
    char hex[GIT_OID_HEXSZ + 1];
    ap_gitlib.oid_tostr(hex, sizeof hex, id);
    lua_pushstring(L, hex);
}

static void push_words(lua_State *L, const char *text)
{
    lua_newtable(L);
    for (int i = 1; *text != '\0'; i++) {
        size_t size = strcspn(text, " ");
        lua_pushlstring(L, text, size);
        lua_rawseti(L, -2, i);
        text += size + (text[size] == ' ');
    }
}

static void set_field(lua_State *L, const char *name, const char *text)
{
    switch (*name) {
    case '+':
        if (lua_stringtonumber(L, text) == 0)
            lua_pushinteger(L, 0);
        break;
    case '?':
    case '=':
        if (*text == '\0')
            return;
        if (*name == '?')
            lua_pushstring(L, text);
        else
            lua_pushboolean(L, 1);
        break;
    case '*':
        push_words(L, text);
        break;
    default:
        lua_pushstring(L, text);
        lua_setfield(L, -2, name);
        return;
    }
    lua_setfield(L, -2, name + 1);
}

void lgit_push_records(lua_State *L, const struct ap_buf *buf, const char *const *names)
{
    lua_newtable(L);
    lua_Integer count = 0;
    const char *at = buf->bytes, *end = buf->used > 0 ? at + buf->used : at;
    while (at < end) {
        if (**names == '\0') {
            lua_pushstring(L, at);
            at += strlen(at) + 1;
        } else {
            lua_newtable(L);
            for (const char *const *name = names; *name != NULL; name++) {
                set_field(L, *name, at);
                at += strlen(at) + 1;
            }
        }
        lua_rawseti(L, -2, ++count);
    }
}

void lgit_add_methods(lua_State *L, const luaL_Reg *methods)
{
    luaL_getmetatable(L, LGIT_REPO);
    lua_getfield(L, -1, "__index");
    luaL_setfuncs(L, methods, 0);
    lua_pop(L, 2);
}
