/* SPDX-License-Identifier: MIT */
/* lgitrepo: what the bindings of repositories and worktrees share: the repository's box, and how values pass to Lua and back. */
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

/* A string at `index` that came from a table, under a name for the message; must hold no NUL byte. */
const char *lgit_table_text(lua_State *L, int index, const char *what);

/* Raises when the table at index has a key not among these. */
void lgit_check_keys(lua_State *L, int index, const char *const *allowed);

void lgit_push_id(lua_State *L, const git_oid *id);

/* Pushes a list of tables from NUL-terminated fields. A name says how its field is shown: "+n" an integer, "?s" nothing
 * when empty, "=b" true or nothing, "*l" a list of words; a lone "" name gives a list of the strings themselves. */
void lgit_push_records(lua_State *L, const struct ap_buf *buf, const char *const *names);

/* The options table at index, or nothing (an empty one is put there); raises on unknown keys. Their strings stay
 * anchored. */
void lgit_check_options(lua_State *L, int index, const char *const *allowed);
const char *lgit_option_text(lua_State *L, int index, const char *key);
lua_Integer lgit_option_integer(lua_State *L, int index, const char *key, lua_Integer otherwise);

/* Adds to the repository's class. */
void lgit_add_methods(lua_State *L, const luaL_Reg *methods);

#endif
