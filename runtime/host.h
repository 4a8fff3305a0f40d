/* SPDX-License-Identifier: MIT */
/* host: one lua_State with the libraries, the embedded Lua and the guard. */
#ifndef AP_HOST_H
#define AP_HOST_H

#include <stddef.h>

/* Files carried inside the program; written by .ci/embed, closed by a null name. */
struct ap_embedded {
    const char *name, *bytes, *end;
};
extern const struct ap_embedded ap_embedded[];

/* Runs the command line in a fresh state and returns the exit code. */
int ap_host_run(int argc, char **argv);

#endif
