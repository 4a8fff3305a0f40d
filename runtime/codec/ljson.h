/* SPDX-License-Identifier: MIT */
/* ljson: what the reader and the writer of JSON share. Included by ljson.c and ljsonwrite.c only. */
#ifndef AP_LJSON_H
#define AP_LJSON_H

#include <cjson/cJSON.h>

#include "base/own.h"

#define AP_JSON_ARRAY "apsis.array" /* the metatable that marks a table as an array; apsis.yaml uses it too */

extern const char ap_json_null_key; /* its address is where the registry keeps null */

/* What one call owns, freed when it returns or raises. */
struct ap_json_box {
    struct ap_own own;
    cJSON *tree;
    char *printed; /* cJSON's */
    struct ap_buf text;
};

struct ap_json_box *ap_json_own(lua_State *L);

/* Raises "out of memory" where the answer is not 0. */
void ap_json_need(lua_State *L, int answer);

/* encode(value, options), of the module. */
int ap_json_encode(lua_State *L);

#endif
