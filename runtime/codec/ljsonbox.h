/* SPDX-License-Identifier: MIT */
/* ljsonbox: what the reader and the writer of JSON share. */
#ifndef AP_LJSONBOX_H
#define AP_LJSONBOX_H

#include <cjson/cJSON.h>

#include "base/own.h"

#define AP_JSON_ARRAY "apsis.array" /* the metatable that marks a table as an array; also used by apsis.yaml */

extern const char ap_json_null_key; /* its address is the registry key of null */

/* What one call owns; freed when it returns or raises. */
struct ap_json_box {
    struct ap_own own;
    cJSON *tree;
    char *printed; /* allocated by cJSON */
    struct ap_buf text;
};

struct ap_json_box *ap_json_own(lua_State *L);

/* Raises "out of memory" unless the answer is 0. */
void ap_json_need(lua_State *L, int answer);

#endif
