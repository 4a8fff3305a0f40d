/* SPDX-License-Identifier: MIT */
/* guard: bounds on a strategy's hook: CPU seconds and memory, while it runs. */
#ifndef AP_GUARD_H
#define AP_GUARD_H

#include <lua.h>

/* The allocator to create the state with; it refuses memory beyond the running hook's limit. */
void *ap_guard_alloc(void *ud, void *block, size_t old_size, size_t new_size);

/* Starts the clock that looks for overdue hooks. */
void ap_guard_start(void);

/* require "apsis.guard": resume, enter, leave, limits. */
int luaopen_apsis_guard(lua_State *L);

#endif
