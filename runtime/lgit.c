/* SPDX-License-Identifier: MIT */
/* lgit: apsis.git for Lua: a repository as a handle, its objects as plain strings and tables. Checks arguments, calls
 * git or gitobj, pushes. Raises on: wrong types, unknown option keys, a closed handle, NUL bytes in names.
 * Returns nil, err on: whatever the repository refuses. lua/meta/git.lua says what each function does. */
#include "lgit.h"

#include <string.h>

#include "base/bindings.h"
#include "gitobj.h"

/* ---- passing values ---- */

struct lgit_repo *lgit_check(lua_State *L, int index)
{
    return ap_own_check(L, index, LGIT_REPO);
}

const char *lgit_table_text(lua_State *L, int index, const char *what)
{
    size_t length;
    if (lua_type(L, index) != LUA_TSTRING)
        luaL_error(L, "%s must be a string, not %s", what, luaL_typename(L, index));
    const char *text = lua_tolstring(L, index, &length);
    if (strlen(text) != length)
        luaL_error(L, "%s has a NUL byte", what);
    return text;
}

const char *lgit_check_text(lua_State *L, int index)
{
    size_t length;
    const char *text = luaL_checklstring(L, index, &length);
    luaL_argcheck(L, strlen(text) == length, index, "has a NUL byte");
    return text;
}

void lgit_check_keys(lua_State *L, int index, const char *const *allowed)
{
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1);
        int known = 0;
        for (const char *const *name = allowed; *name != NULL && !known; name++)
            known = lua_type(L, -1) == LUA_TSTRING && strcmp(*name, key) == 0;
        if (known)
            continue;
        luaL_Buffer list;
        luaL_buffinit(L, &list);
        for (const char *const *name = allowed; *name != NULL; name++) {
            luaL_addstring(&list, name == allowed ? "" : ", ");
            luaL_addstring(&list, *name);
        }
        luaL_pushresult(&list);
        luaL_error(L, "unknown option \"%s\" (allowed: %s)", key, lua_tostring(L, -1));
    }
}

void lgit_check_options(lua_State *L, int index, const char *const *allowed)
{
    if (lua_isnoneornil(L, index)) {
        lua_settop(L, index - 1);
        lua_newtable(L);
        return;
    }
    luaL_checktype(L, index, LUA_TTABLE);
    lgit_check_keys(L, index, allowed);
}

const char *lgit_option_text(lua_State *L, int index, const char *key)
{
    const char *text = NULL;
    if (lua_getfield(L, index, key) != LUA_TNIL)
        text = lgit_table_text(L, -1, key);
    lua_pop(L, 1);
    return text;
}

lua_Integer lgit_option_integer(lua_State *L, int index, const char *key, lua_Integer otherwise)
{
    int given = lua_getfield(L, index, key) != LUA_TNIL, is_integer = 1;
    lua_Integer value = given ? lua_tointegerx(L, -1, &is_integer) : otherwise;
    if (!is_integer)
        luaL_error(L, "%s must be an integer", key);
    lua_pop(L, 1);
    return value;
}

void lgit_push_id(lua_State *L, const git_oid *id)
{
    char hex[GIT_OID_HEXSZ + 1];
    ap_gitlib.oid_tostr(hex, sizeof hex, id);
    lua_pushstring(L, hex);
}

static void push_words(lua_State *L, const char *text)
{
    lua_newtable(L);
    for (int i = 1; *text != '\0'; i++) {
        size_t size = strcspn(text, " ");
        lua_pushlstring(L, text, size);
        lua_rawseti(L, -2, i);
        text += size + (text[size] == ' ');
    }
}

static void set_field(lua_State *L, const char *name, const char *text)
{
    switch (*name) {
    case '+':
        if (lua_stringtonumber(L, text) == 0)
            lua_pushinteger(L, 0);
        break;
    case '?':
    case '=':
        if (*text == '\0')
            return;
        if (*name == '?')
            lua_pushstring(L, text);
        else
            lua_pushboolean(L, 1);
        break;
    case '*':
        push_words(L, text);
        break;
    default:
        lua_pushstring(L, text);
        lua_setfield(L, -2, name);
        return;
    }
    lua_setfield(L, -2, name + 1);
}

void lgit_push_records(lua_State *L, const struct ap_buf *buf, const char *const *names)
{
    lua_newtable(L);
    lua_Integer count = 0;
    const char *at = buf->bytes, *end = buf->used > 0 ? at + buf->used : at;
    while (at < end) {
        if (**names == '\0') {
            lua_pushstring(L, at);
            at += strlen(at) + 1;
        } else {
            lua_newtable(L);
            for (const char *const *name = names; *name != NULL; name++) {
                set_field(L, *name, at);
                at += strlen(at) + 1;
            }
        }
        lua_rawseti(L, -2, ++count);
    }
}

static const char *const plain_fields[] = {"", NULL};
static const char *const commit_fields[] = {
    "id", "tree", "*parents", "author_name", "author_email", "+time", "message", NULL};

/* Commits on top of the stack get their subject: the first line of their message. */
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
    struct lgit_repo *repo = lgit_check(L, 1);
    lgit_check_options(L, 2, allowed);
    lua_getfield(L, 2, "untracked");
    bool untracked = lua_toboolean(L, -1);
    struct ap_buf *buf = ap_own_buf(L);
    if (ap_git_dirty(buf, &count, repo->git, untracked, 100, &err) != 0)
        return ap_own_fail(L, &err);
    lgit_push_records(L, buf, plain_fields);
    lua_pushinteger(L, (lua_Integer)count);
    return 2;
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

/* ---- the module ---- */

void lgit_add_methods(lua_State *L, const luaL_Reg *methods)
{
    luaL_getmetatable(L, LGIT_REPO);
    lua_getfield(L, -1, "__index");
    luaL_setfuncs(L, methods, 0);
    lua_pop(L, 2);
}

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
        {"renew", l_repo_renew},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"open", l_git_open}, {NULL, NULL}};
    ap_own_class(L, LGIT_REPO, methods);
    lgitref_register(L);
    lgitobj_register(L);
    luaL_newlib(L, functions);
    lworktree_register(L);
    return 1;
}
