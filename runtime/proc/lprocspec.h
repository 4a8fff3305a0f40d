/* SPDX-License-Identifier: MIT */
/* lprocspec: checks the table that describes a command and turns it into a struct. Used only by lproc. */
#ifndef AP_LPROCSPEC_H
#define AP_LPROCSPEC_H

#include <lua.h>

#include "proc/proc.h"

enum { AP_LPROCSPEC_TOP = 2 }; /* what it leaves on the stack: the table, and the anchor of its strings */

/* Fills spec (zeroed), except the sink, from the table at index 1; raises on anything malformed. Owns nothing: Lua owns
 * the strings and arrays, which live as long as both stay on the stack. */
void ap_lprocspec_check(lua_State *L, struct ap_proc_spec *spec);

#endif
