/* SPDX-License-Identifier: MIT */
/* lwait: what the bindings of waitable handles share. A waitable handle is a userdata whose struct begins with struct
 * ap_waitable and whose metatable has __waitable = true. */
#ifndef AP_LWAIT_H
#define AP_LWAIT_H

#include <lua.h>

#include "base/own.h"
#include "wait/wait.h"

struct ap_waitable {
    struct ap_own own;
    const struct ap_waitable_ops *ops; /* `done` must work on a closed handle too; the others are not called on one */
};

/* The continuation's status after a trapped signal ended a blocking wait. */
enum { AP_LWAIT_INTERRUPTED = -1 };

/* Marks the metatable `name` (already registered) as waitable. */
void ap_lwait_class(lua_State *L, const char *name);

/* Waits until the waitable at the absolute index is done, then returns k(L, LUA_OK, ctx). If the running coroutine
 * is the scheduler's current task, yields the handle instead of blocking, and calls k with LUA_YIELD when resumed: k
 * must call this again if the handle is not done. If a signal interrupts a blocking wait, calls k with
 * AP_LWAIT_INTERRUPTED. */
int ap_lwait_await(lua_State *L, int index, lua_KFunction k, lua_KContext ctx);

/* Pushes nil, "EINTR: interrupted by SIGINT", "EINTR"; returns 3. */
int ap_lwait_fail_interrupted(lua_State *L);

#endif
