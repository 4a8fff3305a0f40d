/* SPDX-License-Identifier: MIT */
/* lgit: the parts of the repository's class that are files of their own. */
#ifndef AP_LGIT_H
#define AP_LGIT_H

#include <lua.h>

/* Adds to the repository's class what reads and moves refs (lgitref.c). */
void lgitref_register(lua_State *L);

/* Adds to the repository's class what reads and makes objects (lgitobj.c). */
void lgitobj_register(lua_State *L);

#endif
