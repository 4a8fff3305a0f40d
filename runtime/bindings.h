/* SPDX-License-Identifier: MIT */
/* bindings: what each l*.c gives to Lua, and cage's embedded program. Included by host.c and the bindings. */
#ifndef AP_BINDINGS_H
#define AP_BINDINGS_H

#include <lua.h>

int luaopen_apsis_wait(lua_State *L);
int luaopen_apsis_process(lua_State *L);
int luaopen_apsis_git(lua_State *L);
int luaopen_apsis_metric(lua_State *L);
int luaopen_apsis_state(lua_State *L);
int luaopen_apsis_fs(lua_State *L);
int luaopen_apsis_json(lua_State *L);
int luaopen_apsis_yaml(lua_State *L);
int luaopen_apsis_regex(lua_State *L);
int luaopen_apsis_text(lua_State *L);
int luaopen_apsis_random(lua_State *L);
int luaopen_apsis_column(lua_State *L);
int luaopen_apsis_http(lua_State *L);

#endif
