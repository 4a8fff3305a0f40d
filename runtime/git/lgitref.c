/* SPDX-License-Identifier: MIT */
/* lgitref: refs for Lua: methods of the repository's class. Checks arguments, calls gitref, pushes. Raises on wrong
 * types; returns nil, err on whatever the repository refuses. lua/meta/git.lua documents each method. */
#include "git/gitref.h"
#include "git/lgit.h"
#include "git/lgitrepo.h"

static int l_repo_ref(lua_State *L)
{
    struct ap_err err;
    git_oid id;
    struct lgit_repo *repo = lgit_check(L, 1);
    if (ap_gitref_read(&id, ap_git_repository(repo->git), lgit_check_text(L, 2), &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_id(L, &id);
    return 1;
}

static int l_repo_symbolic_ref(lua_State *L)
{
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *name = lgit_check_text(L, 2);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_gitref_symbolic(buf, ap_git_repository(repo->git), name, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushstring(L, buf->bytes); /* pushes nil if NULL */
    return 1;
}

static int l_repo_refs(lua_State *L)
{
    static const char *const fields[] = {"name", "id", NULL};
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *prefix = lgit_check_text(L, 2);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_gitref_list(buf, ap_git_repository(repo->git), prefix, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, fields);
    return 1;
}

static int l_repo_set_ref(lua_State *L)
{
    struct ap_err err;
    git_oid id, expected;
    enum ap_gitref_expect expect = AP_GITREF_ANYTHING;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *name = lgit_check_text(L, 2), *rev = lgit_check_text(L, 3), *old = NULL;
    if (lua_isboolean(L, 4) && !lua_toboolean(L, 4))
        expect = AP_GITREF_ABSENT;
    else if (!lua_isnoneornil(L, 4)) {
        old = lgit_check_text(L, 4);
        expect = AP_GITREF_EXACTLY;
    }
    const char *message = lua_isnoneornil(L, 5) ? "apsis" : lgit_check_text(L, 5);
    return ap_own_done(L,
        ap_git_find(&id, repo->git, rev, GIT_OBJECT_ANY, &err) != 0 ||
            (old != NULL && ap_git_find(&expected, repo->git, old, GIT_OBJECT_ANY, &err) != 0) ||
            ap_gitref_set(ap_git_repository(repo->git), name, &id, expect, &expected, message, &err),
        &err);
}

static int l_repo_delete_ref(lua_State *L)
{
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    return ap_own_done(L, ap_gitref_delete(ap_git_repository(repo->git), lgit_check_text(L, 2), &err), &err);
}

static int l_repo_clear_locks(lua_State *L)
{
    struct ap_err err;
    struct ap_gitref_locks locks;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *prefix = lgit_check_text(L, 2);
    lua_Integer age_s = luaL_optinteger(L, 3, 10);
    luaL_argcheck(L, age_s >= 0 && age_s <= 1000000, 3, "an age in seconds, from 0 to 1000000");
    if (ap_gitref_clear_locks(&locks, ap_git_repository(repo->git), prefix, (int)age_s, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushinteger(L, locks.removed);
    lua_pushinteger(L, locks.left);
    return 2;
}

static int l_repo_checked_out(lua_State *L)
{
    struct ap_err err;
    bool found;
    char path[4096];
    struct lgit_repo *repo = lgit_check(L, 1);
    if (ap_gitref_checked_out(&found, path, ap_git_repository(repo->git), lgit_check_text(L, 2), &err) != 0)
        return ap_own_fail(L, &err);
    if (found)
        lua_pushstring(L, path);
    else
        lua_pushnil(L);
    return 1;
}

void lgitref_register(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"ref", l_repo_ref},
        {"symbolic_ref", l_repo_symbolic_ref},
        {"refs", l_repo_refs},
        {"set_ref", l_repo_set_ref},
        {"delete_ref", l_repo_delete_ref},
        {"clear_locks", l_repo_clear_locks},
        {"checked_out", l_repo_checked_out},
        {NULL, NULL},
    };
    lgit_add_methods(L, methods);
}
