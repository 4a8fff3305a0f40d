/* SPDX-License-Identifier: MIT */
/* host: one lua_State with the libraries, the embedded Lua and the guard. */
#ifndef AP_HOST_H
#define AP_HOST_H

struct lua_State;

/* Gives a state the libraries, the primitives and apsis's own Lua; leaves its stack empty. */
void ap_host_open(struct lua_State *L);

/* Runs the command line in a fresh state and returns the exit code. */
int ap_host_run(int argc, char **argv);

#endif
