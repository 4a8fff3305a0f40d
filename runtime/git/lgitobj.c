/* SPDX-License-Identifier: MIT */
/* lgitobj: the methods of apsis.git's repository that read and make objects: files, trees, commits, differences,
 * merges. Raises and returns nil, err as lgit.c does. lua/meta/git.lua documents each function. */
#include "git/lgit.h"
#include "git/lgitrepo.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "git/gitmerge.h"
#include "git/gitobj.h"
#include "git/gitref.h"

static int find_two(git_oid *a, git_oid *b, struct lgit_repo *repo, const char *rev_a, const char *rev_b,
    git_object_t type, struct ap_err *err)
{
    if (ap_git_find(a, repo->git, rev_a, type, err) != 0)
        return -1;
    return ap_git_find(b, repo->git, rev_b, type, err);
}

/* A caller that names a commit by its id has it from a journal or a ref. If it is not found, the repository lacks it or
 * cannot read it, which must not look like a missing path. */
static int find_to_read(git_oid *tree, struct lgit_repo *repo, const char *rev, struct ap_err *err)
{
    int result = ap_git_find(tree, repo->git, rev, GIT_OBJECT_TREE, err);
    if (result != 0 && strcmp(err->code, "ENOENT") == 0 && strspn(rev, "0123456789abcdef") == GIT_OID_HEXSZ &&
        rev[GIT_OID_HEXSZ] == '\0')
        snprintf(err->code, sizeof err->code, "EGIT");
    return result;
}

static int l_repo_read(lua_State *L)
{
    struct ap_err err;
    git_oid tree;
    unsigned mode;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lgit_check_text(L, 2), *path = lgit_check_text(L, 3);
    struct ap_buf *buf = ap_own_buf(L);
    if (find_to_read(&tree, repo, rev, &err) != 0 ||
        ap_gitobj_read(buf, &mode, ap_git_objects(repo->git), &tree, path, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushlstring(L, buf->bytes, buf->used);
    lua_pushstring(L, mode == GIT_FILEMODE_LINK              ? "120000"
                      : mode == GIT_FILEMODE_BLOB_EXECUTABLE ? "100755"
                                                             : "100644");
    return 2;
}

static int l_repo_entries(lua_State *L)
{
    static const char *const fields[] = {"path", "mode", "id", NULL};
    struct ap_err err;
    git_oid tree;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lgit_check_text(L, 2), *prefix = lua_isnoneornil(L, 3) ? NULL : lgit_check_text(L, 3);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_git_find(&tree, repo->git, rev, GIT_OBJECT_TREE, &err) != 0 ||
        ap_gitobj_entries(buf, ap_git_objects(repo->git), &tree, prefix, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, fields);
    return 1;
}

/* ---- making a commit ---- */

struct commit_request {
    const char *tree, *message, *ref;
    size_t message_length;
    int parents; /* stack index of a list, checked to be strings */
    size_t parent_count;
    struct ap_git_commit spec;
};

static void check_author(lua_State *L, int index, struct ap_git_commit *spec)
{
    static const char *const allowed[] = {"name", "email", "time", NULL};
    if (lua_getfield(L, index, "author") != LUA_TNIL) {
        if (!lua_istable(L, -1))
            luaL_error(L, "author must be a table {name, email, time}");
        int author = lua_gettop(L);
        lgit_check_keys(L, author, allowed);
        spec->name = lgit_option_text(L, author, "name");
        spec->email = lgit_option_text(L, author, "email");
        spec->author_time = lgit_option_integer(L, author, "time", spec->time);
    }
}

static struct commit_request check_commit(lua_State *L)
{
    static const char *const allowed[] = {"tree", "parents", "message", "ref", "author", "time", NULL};
    struct commit_request request = {0};
    luaL_checktype(L, 2, LUA_TTABLE);
    lgit_check_keys(L, 2, allowed);
    request.tree = lgit_option_text(L, 2, "tree");
    if (request.tree == NULL)
        luaL_error(L, "tree is missing");
    if (lua_getfield(L, 2, "message") != LUA_TSTRING)
        luaL_error(L, "message must be a string");
    request.message = lua_tolstring(L, -1, &request.message_length);
    request.ref = lgit_option_text(L, 2, "ref");
    request.spec.time = request.spec.author_time = lgit_option_integer(L, 2, "time", (lua_Integer)time(NULL));
    check_author(L, 2, &request.spec);
    int type = lua_getfield(L, 2, "parents");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        luaL_error(L, "parents must be a list of revisions");
    request.parents = lua_gettop(L);
    request.parent_count = type == LUA_TTABLE ? (size_t)luaL_len(L, request.parents) : 0;
    for (size_t i = 1; i <= request.parent_count; i++) {
        lua_rawgeti(L, request.parents, (lua_Integer)i);
        lgit_table_text(L, -1, "a parent");
        lua_pop(L, 1);
    }
    return request;
}

static int find_parents(
    lua_State *L, struct ap_buf *ids, struct lgit_repo *repo, const struct commit_request *request, struct ap_err *err)
{
    for (size_t i = 1; i <= request->parent_count; i++) {
        git_oid id;
        lua_rawgeti(L, request->parents, (lua_Integer)i);
        int result = ap_git_find(&id, repo->git, lua_tostring(L, -1), GIT_OBJECT_COMMIT, err);
        lua_pop(L, 1);
        if (result != 0)
            return -1;
        if (ap_buf_add(ids, &id, sizeof id) != 0)
            return ap_err_memory(err);
    }
    return 0;
}

static int l_repo_commit(lua_State *L)
{
    struct ap_err err;
    git_oid id;
    struct lgit_repo *repo = lgit_check(L, 1);
    struct commit_request request = check_commit(L);
    struct ap_buf *parents = ap_own_buf(L);
    if (strlen(request.message) != request.message_length) {
        ap_err_set(&err, "EINVAL", "a commit message cannot have a NUL byte");
        return ap_own_fail(L, &err);
    }
    request.spec.message = request.message;
    if (ap_git_find(&request.spec.tree, repo->git, request.tree, GIT_OBJECT_TREE, &err) != 0 ||
        find_parents(L, parents, repo, &request, &err) != 0)
        return ap_own_fail(L, &err);
    request.spec.parents = (const git_oid *)(const void *)parents->bytes;
    request.spec.parent_count = request.parent_count;
    if (ap_git_commit(&id, repo->git, &request.spec, &err) != 0 ||
        (request.ref != NULL && ap_gitref_set(ap_git_repository(repo->git), request.ref, &id, AP_GITREF_ANYTHING, NULL,
                                    "apsis: commit", &err) != 0))
        return ap_own_fail(L, &err);
    lgit_push_id(L, &id);
    return 1;
}

/* ---- editing a tree ---- */

/* One edit as given by Lua; its strings stay anchored in the table of edits. */
struct edit_request {
    const char *path, *bytes, *id;
    size_t path_length, length;
    unsigned mode; /* 0: keep 100755, else use 100644 */
    bool delete;
};

static unsigned check_mode(lua_State *L, int table)
{
    const char *text = lgit_option_text(L, table, "mode");
    if (text == NULL)
        return 0;
    unsigned mode = (unsigned)strtoul(text, NULL, 8);
    if (strlen(text) != 6 || (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE &&
                                 mode != GIT_FILEMODE_LINK && mode != GIT_FILEMODE_COMMIT))
        luaL_error(L, "mode must be \"100644\", \"100755\", \"120000\" or \"160000\", not \"%s\"", text);
    return mode;
}

/* Reads the key at -2 and the edit at -1. */
static struct edit_request check_edit(lua_State *L)
{
    static const char *const allowed[] = {"bytes", "mode", "id", NULL};
    struct edit_request edit = {0};
    if (lua_type(L, -2) != LUA_TSTRING)
        luaL_error(L, "the keys of edits must be paths, not %s", luaL_typename(L, -2));
    edit.path = lua_tolstring(L, -2, &edit.path_length);
    if (lua_type(L, -1) == LUA_TSTRING) {
        edit.bytes = lua_tolstring(L, -1, &edit.length);
    } else if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
        edit.delete = true;
    } else if (lua_istable(L, -1)) {
        int table = lua_gettop(L);
        lgit_check_keys(L, table, allowed);
        edit.mode = check_mode(L, table);
        edit.id = lgit_option_text(L, table, "id");
        if (lua_getfield(L, table, "bytes") == LUA_TSTRING)
            edit.bytes = lua_tolstring(L, -1, &edit.length);
        lua_pop(L, 1);
        if ((edit.bytes == NULL) == (edit.id == NULL))
            luaL_error(L, "the edit of %s must have bytes (a string) or id", edit.path);
        if (edit.id != NULL &&
            (strlen(edit.id) != GIT_OID_HEXSZ || strspn(edit.id, "0123456789abcdef") != GIT_OID_HEXSZ))
            luaL_error(L, "the edit of %s: id must be 40 hex digits", edit.path);
        if (edit.bytes != NULL && edit.mode == GIT_FILEMODE_COMMIT)
            luaL_error(L, "the edit of %s: a submodule has an id, not bytes", edit.path);
    } else {
        luaL_error(L, "the edit of %s must be a string, false or a table", edit.path);
    }
    return edit;
}

static int make_edits(struct ap_buf *edits, struct ap_buf *requests, git_repository *repo, struct ap_err *err)
{
    const struct edit_request *request = (const void *)requests->bytes;
    size_t count = requests->used / sizeof *request;
    for (size_t i = 0; i < count; i++)
        if (ap_gitlib_check_path(request[i].path, request[i].path_length, err) != 0)
            return -1;
    for (size_t i = 0; i < count; i++, request++) {
        unsigned mode = request->mode != 0 ? request->mode : GIT_FILEMODE_BLOB;
        struct ap_gitlib_edit edit = {.path = request->path, .mode = request->delete ? 0 : mode};
        edit.keep_mode = request->mode == 0;
        int result = 0;
        if (request->bytes != NULL)
            result = ap_gitlib_write(&edit.id, repo, request->bytes, request->length, GIT_OBJECT_BLOB);
        else if (request->id != NULL)
            result = ap_gitlib.oid_fromstr(&edit.id, request->id);
        if (result < 0)
            return ap_gitlib_fail(err, result, "%s", request->path);
        if (ap_buf_add(edits, &edit, sizeof edit) != 0)
            return ap_err_memory(err);
    }
    return 0;
}

static int l_repo_edit_tree(lua_State *L)
{
    struct ap_err err;
    git_oid base, tree;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lua_isnil(L, 2) ? NULL : lgit_check_text(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_settop(L, 3);
    struct ap_buf *requests = ap_own_buf(L), *edits = ap_own_buf(L);
    lua_pushnil(L);
    while (lua_next(L, 3) != 0) {
        struct edit_request edit = check_edit(L);
        if (ap_buf_add(requests, &edit, sizeof edit) != 0)
            return luaL_error(L, "out of memory");
        lua_pop(L, 1);
    }
    git_repository *objects = ap_git_objects(repo->git);
    if ((rev != NULL && ap_git_find(&base, repo->git, rev, GIT_OBJECT_TREE, &err) != 0) ||
        make_edits(edits, requests, objects, &err) != 0 ||
        ap_gitlib_edit_tree(&tree, objects, rev != NULL ? &base : NULL, (struct ap_gitlib_edit *)(void *)edits->bytes,
            edits->used / sizeof(struct ap_gitlib_edit), &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_id(L, &tree);
    return 1;
}

/* ---- differences ---- */

/* The strings of the list at index as an array of pointers; they stay anchored there. */
static void check_strings(lua_State *L, int index, struct ap_buf *pointers, const char *what)
{
    for (lua_Integer i = 1, count = luaL_len(L, index); i <= count; i++) {
        lua_rawgeti(L, index, i);
        const char *text = lgit_table_text(L, -1, what);
        if (ap_buf_add(pointers, &text, sizeof text) != 0)
            luaL_error(L, "out of memory");
        lua_pop(L, 1);
    }
}

static int l_repo_diff(lua_State *L)
{
    static const char *const allowed[] = {"context", "paths", NULL};
    struct ap_err err;
    git_oid a, b;
    struct ap_gitobj_diff diff = {.context = 3};
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev_a = lgit_check_text(L, 2), *rev_b = lgit_check_text(L, 3);
    lgit_check_options(L, 4, allowed);
    lua_Integer context = lgit_option_integer(L, 4, "context", 3);
    luaL_argcheck(L, context >= 0 && context <= 1000000, 4, "context must be between 0 and 1000000");
    struct ap_buf *out = ap_own_buf(L), *paths = ap_own_buf(L);
    int type = lua_getfield(L, 4, "paths");
    if (type == LUA_TTABLE)
        check_strings(L, lua_gettop(L), paths, "a path");
    else if (type != LUA_TNIL)
        return luaL_error(L, "paths must be a list of strings");
    diff.context = (unsigned)context;
    diff.paths = (char **)(void *)paths->bytes;
    diff.path_count = paths->used / sizeof(char *);
    if (type == LUA_TTABLE && diff.path_count == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (find_two(&a, &b, repo, rev_a, rev_b, GIT_OBJECT_TREE, &err) != 0 ||
        ap_gitobj_patch(out, ap_git_objects(repo->git), &a, &b, &diff, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushlstring(L, out->bytes, out->used);
    return 1;
}

static int l_repo_changes(lua_State *L)
{
    static const char *const fields[] = {
        "path", "?old_path", "status", "mode", "old_mode", "id", "+added", "+deleted", NULL};
    struct ap_err err;
    git_oid a, b;
    size_t changed_lines;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev_a = lgit_check_text(L, 2), *rev_b = lgit_check_text(L, 3);
    struct ap_buf *out = ap_own_buf(L);
    if (find_two(&a, &b, repo, rev_a, rev_b, GIT_OBJECT_TREE, &err) != 0 ||
        ap_gitobj_changes(out, &changed_lines, ap_git_objects(repo->git), &a, &b, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, out, fields);
    lua_pushinteger(L, (lua_Integer)changed_lines);
    return 2;
}

/* ---- joining ---- */

static int l_repo_merge_base(lua_State *L)
{
    struct ap_err err;
    git_oid a, b, base;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev_a = lgit_check_text(L, 2), *rev_b = lgit_check_text(L, 3);
    if (find_two(&a, &b, repo, rev_a, rev_b, GIT_OBJECT_COMMIT, &err) != 0 ||
        ap_gitmerge_base(&base, ap_git_objects(repo->git), &a, &b, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_id(L, &base);
    return 1;
}

static int l_repo_descendant_of(lua_State *L)
{
    struct ap_err err;
    git_oid commit, ancestor;
    bool yes;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lgit_check_text(L, 2), *rev_ancestor = lgit_check_text(L, 3);
    if (find_two(&commit, &ancestor, repo, rev, rev_ancestor, GIT_OBJECT_COMMIT, &err) != 0 ||
        ap_gitmerge_descendant_of(&yes, ap_git_objects(repo->git), &commit, &ancestor, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushboolean(L, yes);
    return 1;
}

static int l_repo_ahead_behind(lua_State *L)
{
    struct ap_err err;
    git_oid a, b;
    size_t ahead, behind;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev_a = lgit_check_text(L, 2), *rev_b = lgit_check_text(L, 3);
    if (find_two(&a, &b, repo, rev_a, rev_b, GIT_OBJECT_COMMIT, &err) != 0 ||
        ap_gitmerge_ahead_behind(&ahead, &behind, ap_git_objects(repo->git), &a, &b, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushinteger(L, (lua_Integer)ahead);
    lua_pushinteger(L, (lua_Integer)behind);
    return 2;
}

static int push_merge(
    lua_State *L, int result, const git_oid *tree, const struct ap_buf *conflicts, const struct ap_err *err)
{
    static const char *const plain[] = {"", NULL};
    if (result == 0) {
        lgit_push_id(L, tree);
        return 1;
    }
    int count = ap_own_fail(L, err);
    if (strcmp(err->code, "ECONFLICT") != 0)
        return count;
    lgit_push_records(L, conflicts, plain);
    return count + 1;
}

static int l_repo_merge(lua_State *L)
{
    struct ap_err err;
    git_oid ours, theirs, tree;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev_ours = lgit_check_text(L, 2), *rev_theirs = lgit_check_text(L, 3);
    struct ap_buf *conflicts = ap_own_buf(L);
    int result = find_two(&ours, &theirs, repo, rev_ours, rev_theirs, GIT_OBJECT_COMMIT, &err);
    if (result == 0)
        result = ap_gitmerge_commits(&tree, conflicts, ap_git_objects(repo->git), &ours, &theirs, &err);
    return push_merge(L, result, &tree, conflicts, &err);
}

static int l_repo_revert(lua_State *L)
{
    struct ap_err err;
    git_oid commit, onto, tree;
    struct lgit_repo *repo = lgit_check(L, 1);
    const char *rev = lgit_check_text(L, 2), *rev_onto = lgit_check_text(L, 3);
    struct ap_buf *conflicts = ap_own_buf(L);
    int result = ap_git_find(&commit, repo->git, rev, GIT_OBJECT_COMMIT, &err);
    if (result == 0)
        result = ap_git_find(&onto, repo->git, rev_onto, GIT_OBJECT_TREE, &err);
    if (result == 0)
        result = ap_gitmerge_revert(&tree, conflicts, ap_git_objects(repo->git), &commit, &onto, &err);
    return push_merge(L, result, &tree, conflicts, &err);
}

void lgitobj_register(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"read", l_repo_read},
        {"entries", l_repo_entries},
        {"commit", l_repo_commit},
        {"edit_tree", l_repo_edit_tree},
        {"diff", l_repo_diff},
        {"changes", l_repo_changes},
        {"merge_base", l_repo_merge_base},
        {"descendant_of", l_repo_descendant_of},
        {"ahead_behind", l_repo_ahead_behind},
        {"merge", l_repo_merge},
        {"revert", l_repo_revert},
        {NULL, NULL},
    };
    lgit_add_methods(L, methods);
}
