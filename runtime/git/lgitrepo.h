/* SPDX-License-Identifier: MIT */
/* lgitrepo: what the bindings of repositories and worktrees share: the repository's userdata, and conversions between
 * Lua's values and C's. */
#ifndef AP_LGITREPO_H
#define AP_LGITREPO_H

#include "git/git.h"
#include "base/own.h"

#define LGIT_REPO "apsis.repo"

struct lgit_repo {
    struct ap_own own;
    struct ap_git *git;
};

struct lgit_repo *lgit_check(lua_State *L, int index);

/* A string without NUL bytes; raises otherwise. */
const char *lgit_check_text(lua_State *L, int index);

/* A string at `index` that came from a table, named `what` in messages; must not contain NUL. */
const char *lgit_table_text(lua_State *L, int index, const char *what);

/* Raises if the table at index has a key not among these. */
void lgit_check_keys(lua_State *L, int index, const char *const *allowed);

void lgit_push_id(lua_State *L, const git_oid *id);

/* Pushes a list of tables from NUL-terminated fields. A name's prefix sets how its field is pushed: "+n" an integer,
 * "?s" nothing when empty, "=b" true or nothing, "*l" a list of words; a lone "" name gives a list of the strings. */
void lgit_push_records(lua_State *L, const struct ap_buf *buf, const char *const *names);

/* The options table at index (creates an empty one if there is none); raises on unknown keys. Its strings stay
 * anchored. */
void lgit_check_options(lua_State *L, int index, const char *const *allowed);
const char *lgit_option_text(lua_State *L, int index, const char *key);
lua_Integer lgit_option_integer(lua_State *L, int index, const char *key, lua_Integer otherwise);

/* Adds methods to the repository's class. */
void lgit_add_methods(lua_State *L, const luaL_Reg *methods);

#endif
