/* SPDX-License-Identifier: MIT */
/* lgit: registers the repository's methods that are in other files. */
#ifndef AP_LGIT_H
#define AP_LGIT_H

#include <lua.h>

/* Adds the methods that read and move refs (lgitref.c). */
void lgitref_register(lua_State *L);

/* Adds the methods that read and make objects (lgitobj.c). */
void lgitobj_register(lua_State *L);

#endif
