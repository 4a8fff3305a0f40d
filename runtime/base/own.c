/* SPDX-License-Identifier: MIT */
/* own: stack-owned C resources, and the one function that pushes an error. Used by every binding. */
#include "base/own.h"

#include <string.h>

static int own_close(lua_State *L)
{
    struct ap_own *own = lua_touserdata(L, 1);
    if (own != NULL && own->open) {
        own->open = false;
        own->close(own);
    }
    return 0;
}

void ap_own_class(lua_State *L, const char *name, const luaL_Reg *methods)
{
    int known = luaL_getmetatable(L, name);
    lua_pop(L, 1);
    if (known != LUA_TNIL)
        return;
    lua_createtable(L, 0, 4);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushcfunction(L, own_close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, own_close);
    lua_setfield(L, -2, "__close");
    lua_newtable(L);
    if (methods != NULL)
        luaL_setfuncs(L, methods, 0);
    lua_pushcfunction(L, own_close);
    lua_setfield(L, -2, "close");
    lua_setfield(L, -2, "__index");
    lua_setfield(
        L, LUA_REGISTRYINDEX, name); /* only when complete: a half-built class would look valid and free nothing */
}

void *ap_own_new(lua_State *L, size_t size, const char *name, void (*close)(void *self))
{
    struct ap_own *own = lua_newuserdatauv(L, size, 1);
    memset(own, 0, size);
    own->close = close;
    luaL_setmetatable(L, name);
    return own;
}

void *ap_own_check(lua_State *L, int index, const char *name)
{
    struct ap_own *own = luaL_checkudata(L, index, name);
    if (!own->open)
        luaL_argerror(L, index, lua_pushfstring(L, "this %s is closed", name));
    return own;
}

struct own_buf {
    struct ap_own own;
    struct ap_buf buf;
};

static void own_buf_close(void *self)
{
    ap_buf_dispose(&((struct own_buf *)self)->buf);
}

struct ap_buf *ap_own_buf(lua_State *L)
{
    ap_own_class(L, "apsis.buf", NULL);
    struct own_buf *box = ap_own_new(L, sizeof *box, "apsis.buf", own_buf_close);
    box->own.open = true;
    lua_toclose(L, -1);
    return &box->buf;
}

int ap_own_fail(lua_State *L, const struct ap_err *err)
{
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", err->code, err->message);
    lua_pushstring(L, err->code);
    return 3;
}

int ap_own_done(lua_State *L, int result, const struct ap_err *err)
{
    if (result != 0)
        return ap_own_fail(L, err);
    lua_pushboolean(L, 1);
    return 1;
}

const char *ap_own_path(lua_State *L, int index)
{
    size_t length;
    const char *path = luaL_checklstring(L, index, &length);
    luaL_argcheck(L, strlen(path) == length, index, "a path cannot contain a NUL byte");
    return path;
}
