/* SPDX-License-Identifier: MIT */
/* lrandom: a stream as the other bindings take it. See lrandom.c. */
#ifndef AP_LRANDOM_H
#define AP_LRANDOM_H

#include <lua.h>

#include "random/random.h"

/* The stream at an index; raises where there is none. */
struct ap_random *ap_random_check(lua_State *L, int index);

#endif
