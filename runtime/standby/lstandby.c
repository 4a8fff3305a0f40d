/* SPDX-License-Identifier: MIT */
/* lstandby: apsis.standby, machinery of `apsis debug`. Opened by host.c. Whoever goes on in a copy starts the guard's
 * timer (guard.start) and opens files again that it reads by their place. */
#include "base/bindings.h"
#include "base/own.h"
#include "standby/standby.h"

/* keep() -> true, in the copy that goes on | nil, message, code */
static int l_standby_keep(lua_State *L)
{
    struct ap_err err;
    if (ap_standby_keep(&err) != 0)
        return ap_own_fail(L, &err);
    lua_pushboolean(L, 1);
    return 1;
}

/* leave() -> pid of the copy that sleeps; or false, text in the process that goes on from it | nil, message, code */
static int l_standby_leave(lua_State *L)
{
    struct ap_err err;
    pid_t pid;
    if (ap_standby_leave(&pid, &err) != 0)
        return ap_own_fail(L, &err);
    if (pid > 0) {
        lua_pushinteger(L, pid);
        return 1;
    }
    size_t length;
    const char *words = ap_standby_words(&length);
    lua_pushboolean(L, 0);
    lua_pushlstring(L, words, length);
    return 2;
}

/* wake(pid, text): ends this process | nil, message, code if there is no such copy */
static int l_standby_wake(lua_State *L)
{
    struct ap_err err;
    size_t length;
    lua_Integer pid = luaL_checkinteger(L, 1);
    const char *text = luaL_checklstring(L, 2, &length);
    ap_standby_wake((pid_t)pid, text, length, &err);
    return ap_own_fail(L, &err);
}

/* drop(pid): ends a copy that sleeps */
static int l_standby_drop(lua_State *L)
{
    ap_standby_drop((pid_t)luaL_checkinteger(L, 1));
    return 0;
}

int luaopen_apsis_standby(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"keep", l_standby_keep},
        {"leave", l_standby_leave},
        {"wake", l_standby_wake},
        {"drop", l_standby_drop},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    return 1;
}
