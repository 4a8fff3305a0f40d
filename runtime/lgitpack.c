/* SPDX-License-Identifier: MIT */
/* lgitpack: packing for Lua: methods of the repository's class. Checks arguments, calls gitpack or gitpackrefs, pushes.
 * Raises on wrong types; returns nil, err on whatever the repository refuses. lua/meta/git.lua says what each does. */
#include <string.h>

#include "gitpack.h"
#include "gitpackrefs.h"
#include "lgit.h"

static int l_repo_loose_refs(lua_State *L)
{
    static const char *const fields[] = {"name", "id", NULL};
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *prefix = lgit_check_text(L, 2);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_gitpackrefs_loose(buf, ap_git_repository(repo->git), prefix, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, fields);
    return 1;
}

/* The strings of the list at an index, which keeps them: as an array in a userdata, left on the stack. */
static const char **check_list(lua_State *L, int index, size_t *count)
{
    luaL_checktype(L, index, LUA_TTABLE);
    *count = (size_t)luaL_len(L, index);
    const char **list = lua_newuserdatauv(L, (*count + 1) * sizeof *list, 0);
    for (size_t i = 0; i < *count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        list[i] = lgit_table_text(L, -1, "an entry of the list");
        lua_pop(L, 1);
    }
    return list;
}

static int l_repo_pack_refs(lua_State *L)
{
    struct ap_err err;
    size_t count, packed;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char **names = check_list(L, 2, &count);
    if (ap_gitpackrefs_pack(&packed, ap_git_repository(repo->git), names, count, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushinteger(L, (lua_Integer)packed);
    return 1;
}

static int push_pack(lua_State *L, const struct ap_gitpack *done)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)done->objects);
    lua_setfield(L, -2, "objects");
    lua_pushinteger(L, (lua_Integer)done->removed);
    lua_setfield(L, -2, "removed");
    if (done->name[0] != '\0') {
        lua_pushstring(L, done->name);
        lua_setfield(L, -2, "name");
    }
    return 1;
}

static int l_repo_pack_objects(lua_State *L)
{
    struct ap_err err;
    struct ap_gitpack done;
    size_t count, spared;
    struct lgit_repo *repo = lgit_check(L, 1);
    lua_settop(L, 3);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    const char **list = check_list(L, 2, &count), **spare = check_list(L, 3, &spared);
    git_oid *ids = lua_newuserdatauv(L, (spared + count + 1) * sizeof *ids, 0);
    for (size_t i = 0; i < spared + count; i++)
        if (ap_git_find(&ids[i], repo->git, i < spared ? spare[i] : list[i - spared], GIT_OBJECT_COMMIT, &err) != 0)
            return ap_own_fail(L, &err);
    if (ap_gitpack_commits(&done, ap_git_repository(repo->git), ids, spared + count, spared, &err) != 0)
        return ap_own_fail(L, &err);
    return push_pack(L, &done);
}

static int l_repo_join_packs(lua_State *L)
{
    struct ap_err err;
    struct ap_gitpack done;
    size_t count;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char **names = check_list(L, 2, &count);
    if (ap_gitpack_merge(&done, ap_git_repository(repo->git), names, count, &err) != 0)
        return ap_own_fail(L, &err);
    return push_pack(L, &done);
}

static int l_repo_renew(lua_State *L)
{
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    if (ap_git_renew(repo->git, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushboolean(L, 1);
    return 1;
}

void lgitpack_register(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"loose_refs", l_repo_loose_refs},
        {"pack_refs", l_repo_pack_refs},
        {"pack_objects", l_repo_pack_objects},
        {"join_packs", l_repo_join_packs},
        {"renew", l_repo_renew},
        {NULL, NULL},
    };
    lgit_add_methods(L, methods);
}
