/* SPDX-License-Identifier: MIT */
/* ljsonread: the module's decode(text, drop). */
#ifndef AP_LJSONREAD_H
#define AP_LJSONREAD_H

#include <lua.h>

int ap_json_decode(lua_State *L);

#endif
