/* SPDX-License-Identifier: MIT */
/* lyaml: what a YAML scalar means, between the two files of the YAML binding. Included by lyaml.c and lyamlscalar.c
 * only. */
#ifndef AP_LYAML_H
#define AP_LYAML_H

#include <lua.h>
#include <stddef.h>

/* Pushes the one value of null, apsis.json's. */
void ap_yaml_push_null(lua_State *L);

/* Pushes what a plain scalar means in the 1.2 core schema. */
void ap_yaml_push_plain(lua_State *L, const char *text, size_t length);

/* Pushes what a scalar means under a core tag ("int" for !!int). 1; or 0, pushing nothing, where the text is none of
 * that kind; or -1 where the tag is not one of a scalar. */
int ap_yaml_push_tagged(lua_State *L, const char *tag, const char *text, size_t length);

#endif
