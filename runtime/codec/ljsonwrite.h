/* SPDX-License-Identifier: MIT */
/* ljsonwrite: the module's encode(value, options). */
#ifndef AP_LJSONWRITE_H
#define AP_LJSONWRITE_H

#include <lua.h>

int ap_json_encode(lua_State *L);

#endif
