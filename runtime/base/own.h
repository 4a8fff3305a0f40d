/* SPDX-License-Identifier: MIT */
/* own: C resources owned by Lua's stack. A handle is a userdata whose struct begins with struct ap_own. It is created
 * closed, then opened, so that an error in between leaks nothing. close, __gc and __close are one function. */
#ifndef AP_OWN_H
#define AP_OWN_H

#include <lauxlib.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct ap_own {
    bool open;
    void (*close)(void *self); /* called once, only while open; must not raise */
};

/* Registers the metatable `name` with these methods and close, __gc, __close, __name. Leaves the stack unchanged. */
void ap_own_class(lua_State *L, const char *name, const luaL_Reg *methods);

/* Pushes a zeroed, closed userdata of this class; set own.open = true once it owns the resource. */
void *ap_own_new(lua_State *L, size_t size, const char *name, void (*close)(void *self));

/* The open handle at index; raises if it is closed or something else. */
void *ap_own_check(lua_State *L, int index, const char *name);

/* Pushes a scratch buffer and marks it to-be-closed: freed when the C function returns or raises. */
struct ap_buf *ap_own_buf(lua_State *L);

/* The one function that pushes an error: nil, "CODE: message", "CODE". Returns 3. */
int ap_own_fail(lua_State *L, const struct ap_err *err);

/* Pushes true, and returns 1, if result is 0; else ap_own_fail. */
int ap_own_done(lua_State *L, int result, const struct ap_err *err);

/* The path at index; raises if it is no string or has a NUL. */
const char *ap_own_path(lua_State *L, int index);

#endif
