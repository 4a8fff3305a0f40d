/* SPDX-License-Identifier: MIT */
/* lterminal: apsis.terminal. Opened by host.c. */
#include <limits.h>

#include "base/bindings.h"
#include "base/own.h"
#include "terminal/terminal.h"

#define TERMINAL "apsis.terminal"

struct terminal {
    struct ap_own own;
    struct ap_terminal terminal;
};

static void terminal_close(void *self)
{
    ap_terminal_restore(&((struct terminal *)self)->terminal);
}

/* raw(fd) -> handle | nil, err, code. Raises on: not the number of a descriptor. */
static int l_terminal_raw(lua_State *L)
{
    lua_Integer fd = luaL_checkinteger(L, 1);
    luaL_argcheck(L, fd >= 0 && fd <= INT_MAX, 1, "not a file descriptor");
    struct terminal *box = ap_own_new(L, sizeof *box, TERMINAL, terminal_close);
    struct ap_err err;
    if (ap_terminal_raw(&box->terminal, (int)fd, &err) != 0)
        return ap_own_fail(L, &err);
    box->own.open = true;
    return 1;
}

int luaopen_apsis_terminal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"raw", l_terminal_raw},
        {NULL, NULL},
    };
    ap_own_class(L, TERMINAL, NULL);
    luaL_newlib(L, functions);
    return 1;
}
