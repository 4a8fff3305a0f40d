/* SPDX-License-Identifier: MIT */
/* ljson: what the three files of the JSON binding share. Included by ljson.c, ljsonread.c and ljsonwrite.c only. */
#ifndef AP_LJSON_H
#define AP_LJSON_H

#include <lua.h>
#include <stddef.h>

#include "base/buf.h"

#define AP_JSON_ARRAY "apsis.array"        /* the metatable that marks a table as an array; apsis.yaml uses it too */
#define AP_JSON_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

enum { AP_JSON_DEPTH = 1000 };

extern const char ap_json_null_key; /* its address is where the registry keeps null */

/* The length of the valid UTF-8 sequence at `at`, or 0: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t ap_json_utf8_length(const unsigned char *at, const unsigned char *end);

/* A number's text to a double, and back in so many digits: with a point, whatever os.setlocale was told. */
double ap_json_to_double(const char *text);
int ap_json_print_double(char *text, size_t room, int digits, double value);

/* Adds to the buffer, or raises. */
void ap_json_add(lua_State *L, struct ap_buf *buf, const char *bytes, size_t count);

/* The module's functions decode and encode. */
int ap_json_decode(lua_State *L);
int ap_json_encode(lua_State *L);

#endif
