/* SPDX-License-Identifier: MIT */
/* lworktree: apsis.worktree for Lua. The handle refers to its repository in a user value, to resolve revisions; it owns
 * its objects, so the two may be closed in any order. Raises on wrong types and unknown keys; nil, err on what the disk
 * or the repository refuses. lua/meta/worktree.lua documents each function. */
#include "base/bindings.h"
#include "git/lgitrepo.h"

#include <stdlib.h>
#include <string.h>

#include "worktree/worktree.h"

#define LWORKTREE "apsis.worktree"

struct lworktree {
    struct ap_own own;
    unsigned generation; /* of the repository */
    struct ap_worktree *worktree;
};

static void worktree_close(void *self)
{
    ap_worktree_close(((struct lworktree *)self)->worktree);
}

static struct ap_worktree *check_worktree(lua_State *L)
{
    return ((struct lworktree *)ap_own_check(L, 1, LWORKTREE))->worktree;
}

static int l_worktree_open(lua_State *L)
{
    struct ap_err err;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *dir = lgit_check_text(L, 2);
    struct lworktree *box = ap_own_new(L, sizeof *box, LWORKTREE, worktree_close);
    if (ap_worktree_open(&box->worktree, ap_git_objects(repo->git), dir, &err) != 0)
        return ap_own_fail(L, &err);
    box->own.open = true;
    box->generation = ap_git_generation(repo->git);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* Renews the worktree's objects if the repository has renewed its own. */
static int follow(struct lworktree *box, struct lgit_repo *repo, struct ap_err *err)
{
    unsigned generation = ap_git_generation(repo->git);
    if (box->generation == generation)
        return 0;
    box->generation = generation;
    return ap_worktree_renew(box->worktree, ap_git_objects(repo->git), err);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted pointers to the strings of options.hide, which stay anchored there. */
static void check_hide(lua_State *L, int options, struct ap_buf *hide)
{
    int type = lua_getfield(L, options, "hide");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        luaL_error(L, "hide must be a list of paths");
    for (lua_Integer i = 1, count = type == LUA_TTABLE ? luaL_len(L, -1) : 0; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        const char *path = lgit_table_text(L, -1, "a path to hide");
        if (ap_buf_add(hide, &path, sizeof path) != 0)
            luaL_error(L, "out of memory");
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (hide->used > sizeof(char *))
        qsort(hide->bytes, hide->used / sizeof(char *), sizeof(char *), by_text);
}

static int l_worktree_checkout(lua_State *L)
{
    static const char *const allowed[] = {"hide", "keep", NULL};
    struct ap_err err;
    git_oid tree;
    struct ap_worktree_done done = {0};
    struct ap_worktree *worktree = check_worktree(L);
    const char *rev = lgit_check_text(L, 2);
    lgit_check_options(L, 3, allowed);
    lua_getiuservalue(L, 1, 1);
    struct lgit_repo *repo = lgit_check(L, -1);
    struct ap_buf *hide = ap_own_buf(L);
    check_hide(L, 3, hide);
    bool keep = lua_istable(L, 3) && lua_getfield(L, 3, "keep") != LUA_TNIL && lua_toboolean(L, -1);
    const char **paths = (const char **)(void *)hide->bytes;
    size_t count = hide->used / sizeof *paths;
    if (follow(lua_touserdata(L, 1), repo, &err) != 0 ||
        ap_git_find(&tree, repo->git, rev, GIT_OBJECT_TREE, &err) != 0 ||
        (keep ? ap_worktree_assume(worktree, &tree, paths, count, &err)
              : ap_worktree_checkout(&done, worktree, &tree, paths, count, &err)) != 0)
        return ap_own_fail(L, &err);
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, (lua_Integer)done.written);
    lua_setfield(L, -2, "written");
    lua_pushinteger(L, (lua_Integer)done.removed);
    lua_setfield(L, -2, "removed");
    return 1;
}

static int l_worktree_watch(lua_State *L)
{
    struct ap_err err;
    return ap_own_done(L, ap_worktree_watch(check_worktree(L), &err), &err);
}

static int l_worktree_changes(lua_State *L)
{
    static const char *const fields[] = {"path", "kind", "?mode", "+size", "?target", "?old_mode", "=hidden", NULL};
    struct ap_err err;
    struct ap_worktree *worktree = check_worktree(L);
    static const char *const allowed[] = {"touched", NULL};
    lgit_check_options(L, 2, allowed);
    bool touched = lua_istable(L, 2) && lua_getfield(L, 2, "touched") != LUA_TNIL && lua_toboolean(L, -1);
    struct ap_buf *out = ap_own_buf(L);
    if (ap_worktree_changes(out, worktree, touched, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, out, fields);
    return 1;
}

/* The list of changes at 2 as picks; their paths stay anchored in it. */
static void check_picks(lua_State *L, struct ap_buf *picks)
{
    for (lua_Integer i = 1, count = luaL_len(L, 2); i <= count; i++) {
        struct ap_worktree_pick pick;
        if (lua_rawgeti(L, 2, i) != LUA_TTABLE)
            luaL_error(L, "change %d is not a table", (int)i);
        pick.path = lgit_option_text(L, -1, "path");
        const char *kind = lgit_option_text(L, -1, "kind");
        if (pick.path == NULL || kind == NULL)
            luaL_error(L, "change %d has no path or no kind", (int)i);
        pick.deleted = strcmp(kind, "deleted") == 0;
        if (ap_buf_add(picks, &pick, sizeof pick) != 0)
            luaL_error(L, "out of memory");
        lua_pop(L, 1);
    }
}

static int l_worktree_write_tree(lua_State *L)
{
    struct ap_err err;
    git_oid tree;
    int result;
    struct ap_worktree *worktree = check_worktree(L);
    if (lua_isnoneornil(L, 2)) {
        result = ap_worktree_write_all(&tree, worktree, &err);
    } else {
        luaL_checktype(L, 2, LUA_TTABLE);
        struct ap_buf *picks = ap_own_buf(L);
        check_picks(L, picks);
        result = ap_worktree_write_tree(
            &tree, worktree, (const void *)picks->bytes, picks->used / sizeof(struct ap_worktree_pick), &err);
    }
    if (result != 0)
        return ap_own_fail(L, &err);
    lgit_push_id(L, &tree);
    return 1;
}

static int l_worktree_tree(lua_State *L)
{
    git_oid tree;
    if (ap_worktree_tree(&tree, check_worktree(L)))
        lgit_push_id(L, &tree);
    else
        lua_pushnil(L);
    return 1;
}

int luaopen_apsis_worktree(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"checkout", l_worktree_checkout},
        {"watch", l_worktree_watch},
        {"changes", l_worktree_changes},
        {"write_tree", l_worktree_write_tree},
        {"tree", l_worktree_tree},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"open", l_worktree_open}, {NULL, NULL}};
    ap_own_class(L, LWORKTREE, methods);
    luaL_newlib(L, functions);
    return 1;
}
