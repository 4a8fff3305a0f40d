/* SPDX-License-Identifier: MIT */
/* lyaml: what a YAML scalar means. Included only by lyaml.c and lyamlscalar.c. */
#ifndef AP_LYAML_H
#define AP_LYAML_H

#include <lua.h>
#include <stddef.h>

/* Pushes null, the same userdata as apsis.json's. */
void ap_yaml_push_null(lua_State *L);

/* Pushes the value of a plain scalar in the 1.2 core schema. */
void ap_yaml_push_plain(lua_State *L, const char *text, size_t length);

/* Pushes the value of a scalar with a core tag ("int" for !!int). Returns 1; 0, pushing nothing, if the text does not
 * fit the tag; -1 if the tag is not one of a scalar. */
int ap_yaml_push_tagged(lua_State *L, const char *tag, const char *text, size_t length);

#endif
