/* SPDX-License-Identifier: MIT */
/* guard: limits the CPU seconds and the memory of a strategy's hook. */
#ifndef AP_GUARD_H
#define AP_GUARD_H

#include <lua.h>

/* The allocator for the Lua state; it refuses memory beyond the running hook's limit. */
void *ap_guard_alloc(void *ud, void *block, size_t old_size, size_t new_size);

/* Starts the timer that looks for overdue hooks. */
void ap_guard_start(void);

/* require "apsis.guard": resume, enter, leave, limits, start. */
int luaopen_apsis_guard(lua_State *L);

#endif
