/* SPDX-License-Identifier: MIT */
/* bindings: the primitives, one line each: luaopen_apsis_NAME of an l*.c opens apsis.NAME. */
#ifndef AP_BINDINGS_H
#define AP_BINDINGS_H

#include <lua.h>

/* clang-format off */
#define AP_PRIMITIVES(X) \
    X(wait) \
    X(terminal) \
    X(standby) \
    X(process) \
    X(git) \
    X(worktree) \
    X(metric) \
    X(state) \
    X(fs) \
    X(json) \
    X(yaml) \
    X(regex) \
    X(text) \
    X(random) \
    X(http) \
    X(server)
/* clang-format on */

#define AP_DECLARE(name) int luaopen_apsis_##name(lua_State *L);
AP_PRIMITIVES(AP_DECLARE)
#undef AP_DECLARE

#endif
