/* SPDX-License-Identifier: MIT */
/* lprocspec: the table that says what to run, checked and turned into a struct. A part of lproc; used only by it. */
#ifndef AP_LPROCSPEC_H
#define AP_LPROCSPEC_H

#include <lua.h>

#include "proc/proc.h"

enum { AP_LPROCSPEC_TOP = 2 }; /* how much it leaves on the stack: the table, and what keeps the strings alive */

/* Fills spec (zeroed) from the table at index 1, all but the sink; raises on anything malformed. Owns nothing: the
 * strings and arrays are Lua's, and live as long as both stay on the stack. */
void ap_lprocspec_check(lua_State *L, struct ap_proc_spec *spec);

#endif
