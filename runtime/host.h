/* SPDX-License-Identifier: MIT */
/* host: one lua_State with the libraries, the embedded Lua and the guard. */
#ifndef AP_HOST_H
#define AP_HOST_H

/* Runs the command line in a fresh state and returns the exit code. */
int ap_host_run(int argc, char **argv);

#endif
