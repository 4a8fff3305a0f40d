/* SPDX-License-Identifier: MIT */
/* lyaml: what a YAML scalar means, and why a text is none. Included only by lyaml*.c. */
#ifndef AP_LYAML_H
#define AP_LYAML_H

#include <lua.h>
#include <stddef.h>
#include <yaml.h>

#include "base/err.h"

/* Pushes null, the same userdata as apsis.json's. */
void ap_yaml_push_null(lua_State *L);

/* Pushes the value of a plain scalar in the 1.2 core schema. */
void ap_yaml_push_plain(lua_State *L, const char *text, size_t length);

/* Pushes the value of a scalar with a core tag ("int" for !!int). Returns 1; 0, pushing nothing, if the text does not
 * fit the tag; -1 if the tag is not one of a scalar. */
int ap_yaml_push_tagged(lua_State *L, const char *tag, const char *text, size_t length);

/* Puts NAME:LINE:COLUMN: and the reason why the parser refused the text into err. Returns -1. */
int ap_yaml_fail(struct ap_err *err, const char *name, const char *text, size_t length, const yaml_parser_t *parser);

#endif
