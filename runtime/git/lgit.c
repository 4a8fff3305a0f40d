/* SPDX-License-Identifier: MIT */
/* lgit: apsis.git for Lua: a repository as a handle, its objects as plain strings and tables. Checks arguments, calls
 * git or gitobj, pushes. Raises on: wrong types, unknown option keys, a closed handle, NUL bytes in names. Returns nil,
 * err on: whatever the repository refuses. lua/meta/git.lua documents each function. */
#include "git/lgitrepo.h"

#include <string.h>

#include "base/bindings.h"
#include "git/gitcheckout.h"
#include "git/gitobj.h"
#include "git/lgit.h"

static const char *const plain_fields[] = {"", NULL};
static const char *const commit_fields[] = {
    "id", "tree", "*parents", "author_name", "author_email", "+time", "message", NULL};

/* Gives the commits on top of the stack their subject: the first line of the message. */
static void add_subjects(lua_State *L)
{
    for (lua_Integer i = 1, count = luaL_len(L, -1); i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_getfield(L, -1, "message");
        const char *message = lua_tostring(L, -1);
        lua_pushlstring(L, message, strcspn(message, "\n"));
        lua_setfield(L, -3, "subject");
        lua_pop(L, 2);
    }
}

/* ---- the repository ---- */

static void repo_close(void *self)
{
    ap_git_close(((struct lgit_repo *)self)->git);
}

static int l_git_open(lua_State *L)
{
    struct ap_err err;
    const char *path = lgit_check_text(L, 1);
    struct lgit_repo *repo = ap_own_new(L, sizeof *repo, LGIT_REPO, repo_close);
    if (ap_git_open(&repo->git, path, &err) != 0)
        return ap_own_fail(L, &err);
    repo->own.open = true;
    return 1;
}

static void set_optional(lua_State *L, const char *key, const char *text)
{
    if (*text == '\0')
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

static void set_flag(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

static int l_repo_info(lua_State *L)
{
    struct ap_err err;
    struct ap_git_info info;
    if (ap_git_info(&info, lgit_check(L, 1)->git, &err) != 0)
        return ap_own_fail(L, &err);
    lua_newtable(L);
    set_optional(L, "gitdir", info.gitdir);
    set_optional(L, "workdir", info.workdir);
    set_optional(L, "branch", info.branch);
    set_flag(L, "bare", info.bare);
    set_flag(L, "detached", info.detached);
    set_flag(L, "shallow", info.shallow);
    set_flag(L, "partial", info.partial);
    lua_pushliteral(L, "sha1");
    lua_setfield(L, -2, "sha");
    if (info.born) {
        lgit_push_id(L, &info.head);
        lua_setfield(L, -2, "head");
    }
    return 1;
}

static int l_repo_resolve(lua_State *L)
{
    struct ap_err err;
    git_oid id;
    struct lgit_repo *repo = lgit_check(L, 1);
    if (ap_git_find(&id, repo->git, lgit_check_text(L, 2), GIT_OBJECT_ANY, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_id(L, &id);
    return 1;
}

static int l_repo_commit_info(lua_State *L)
{
    struct ap_err err;
    git_oid id;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lgit_check_text(L, 2);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_git_find(&id, repo->git, rev, GIT_OBJECT_COMMIT, &err) != 0 ||
        ap_gitobj_commit(buf, ap_git_objects(repo->git), &id, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, commit_fields);
    add_subjects(L);
    lua_rawgeti(L, -1, 1);
    return 1;
}

static int l_repo_log(lua_State *L)
{
    static const char *const allowed[] = {"max", "path", "since_rev", NULL};
    struct ap_err err;
    git_oid id, hide;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lgit_check_text(L, 2);
    lgit_check_options(L, 3, allowed);
    lua_Integer max = lgit_option_integer(L, 3, "max", 0);
    luaL_argcheck(L, max >= 0, 3, "max is negative");
    const char *path = lgit_option_text(L, 3, "path"), *since = lgit_option_text(L, 3, "since_rev");
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_git_find(&id, repo->git, rev, GIT_OBJECT_COMMIT, &err) != 0 ||
        (since != NULL && ap_git_find(&hide, repo->git, since, GIT_OBJECT_COMMIT, &err) != 0) ||
        ap_gitobj_log(buf, ap_git_objects(repo->git), &id, since != NULL ? &hide : NULL, path, (size_t)max, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, commit_fields);
    add_subjects(L);
    return 1;
}

static int l_repo_is_ignored(lua_State *L)
{
    struct ap_err err;
    bool ignored;
    struct lgit_repo *repo = lgit_check(L, 1);
    if (ap_git_is_ignored(&ignored, repo->git, lgit_check_text(L, 2), &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushboolean(L, ignored);
    return 1;
}

static int l_repo_is_tracked(lua_State *L)
{
    struct ap_err err;
    struct ap_git_info info;
    git_oid tree;
    bool has = false;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *path = lgit_check_text(L, 2);
    if (ap_git_info(&info, repo->git, &err) != 0)
        return ap_own_fail(L, &err);
    if (info.born && (ap_git_find(&tree, repo->git, "HEAD", GIT_OBJECT_TREE, &err) != 0 ||
                         ap_gitobj_has(&has, ap_git_objects(repo->git), &tree, path, &err) != 0))
        return ap_own_fail(L, &err);
    lua_pushboolean(L, has);
    return 1;
}

static int l_repo_dirty(lua_State *L)
{
    static const char *const allowed[] = {"untracked", NULL};
    struct ap_err err;
    size_t count;
    bool encoded;
    struct lgit_repo *repo = lgit_check(L, 1);
    lgit_check_options(L, 2, allowed);
    lua_getfield(L, 2, "untracked");
    bool untracked = lua_toboolean(L, -1);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_gitcheckout_dirty(buf, &count, &encoded, ap_git_repository(repo->git), untracked, 100, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, plain_fields);
    lua_pushinteger(L, (lua_Integer)count);
    if (encoded)
        lua_pushboolean(L, true);
    return encoded ? 3 : 2;
}

static int l_repo_checkout(lua_State *L)
{
    static const char *const allowed[] = {"dry_run", NULL};
    struct ap_err err;
    git_oid from, to;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev_from = lgit_check_text(L, 2), *rev_to = lgit_check_text(L, 3);
    lgit_check_options(L, 4, allowed);
    lua_getfield(L, 4, "dry_run");
    bool dry_run = lua_toboolean(L, -1);
    struct ap_buf *conflicts = ap_own_buf(L);
    int result = ap_git_find(&from, repo->git, rev_from, GIT_OBJECT_TREE, &err);
    if (result == 0)
        result = ap_git_find(&to, repo->git, rev_to, GIT_OBJECT_TREE, &err);
    if (result == 0)
        result = ap_gitcheckout(conflicts, ap_git_repository(repo->git), &from, &to, dry_run, &err);
    int count = ap_own_done(L, result, &err);
    if (result == 0 || (strcmp(err.code, "ECONFLICT") != 0 && strcmp(err.code, "EFILTER") != 0))
        return count;
    lgit_push_records(L, conflicts, plain_fields);
    return count + 1;
}

static int l_repo_renew(lua_State *L)
{
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    return ap_own_done(L, ap_git_renew(repo->git, &err), &err);
}

/* ---- the module ---- */

int luaopen_apsis_git(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"info", l_repo_info},
        {"resolve", l_repo_resolve},
        {"commit_info", l_repo_commit_info},
        {"log", l_repo_log},
        {"is_ignored", l_repo_is_ignored},
        {"is_tracked", l_repo_is_tracked},
        {"dirty", l_repo_dirty},
        {"checkout", l_repo_checkout},
        {"renew", l_repo_renew},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"open", l_git_open}, {NULL, NULL}};
    ap_own_class(L, LGIT_REPO, methods);
    lgitref_register(L);
    lgitobj_register(L);
    luaL_newlib(L, functions);
    return 1;
}
