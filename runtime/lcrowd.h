/* SPDX-License-Identifier: MIT */
/* lcrowd: a population as its two bindings take it. See lcrowd.c. */
#ifndef AP_LCROWD_H
#define AP_LCROWD_H

#include <lauxlib.h>

#include "crowd.h"

/* The population at 1, of the class that the method was registered under; raises where there is none. */
struct ap_crowd *ap_crowd_check(lua_State *L);

/* The number of an island at an index, from `least` on: 0 is everyone. Raises where there is no such island. */
uint32_t ap_crowd_check_island(lua_State *L, int index, const struct ap_crowd *crowd, lua_Integer least);

/* The methods that draw or choose many, ended by NULL: lcrowddraw.c. */
extern const luaL_Reg ap_crowd_draws[];

#endif
