/* SPDX-License-Identifier: MIT */
/* lprocspec: reads the option table of apsis.process. Raises on: wrong types, unknown keys, zero bytes in strings,
 * numbers out of range; returns no errors. Allocates only Lua memory, so that raising leaks nothing. Called only by
 * lproc.c. */
#define _GNU_SOURCE
#include "proc/lprocspec.h"

#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { SPEC = 1, ANCHOR = 2 }; /* the anchor keeps strings and arrays while C holds them */

/* Raises on a key that is not among `allowed`: suggests one that begins with it, or lists all. */
static void check_keys(lua_State *L, int table, const char *what, const char *const *allowed)
{
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        int i = 0;
        luaL_Buffer names;
        lua_pop(L, 1);
        while (allowed[i] != NULL && strcmp(key, allowed[i]) != 0)
            i++;
        if (allowed[i] != NULL)
            continue;
        for (i = 0; allowed[i] != NULL; i++)
            if (strncmp(key, allowed[i], strlen(key)) == 0)
                luaL_error(L, "unknown %s '%s'; did you mean '%s'?", what, key, allowed[i]);
        luaL_buffinit(L, &names);
        for (i = 0; allowed[i] != NULL; i++) {
            luaL_addstring(&names, i > 0 ? ", " : "");
            luaL_addstring(&names, allowed[i]);
        }
        luaL_pushresult(&names);
        luaL_error(L, "unknown %s '%s'; allowed: %s", what, key, lua_tostring(L, -1));
    }
}

/* Pops a string (or number), keeps it in the anchor table, and returns its bytes; raises on a zero byte. */
static char *keep_string(lua_State *L, const char *what)
{
    size_t size;
    if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER)
        luaL_error(L, "%s must be a string, not a %s", what, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &size);
    if (strlen(text) != size)
        luaL_error(L, "%s contains a zero byte", what);
    lua_rawseti(L, ANCHOR, (lua_Integer)lua_rawlen(L, ANCHOR) + 1);
    return (char *)text;
}

static const char *opt_string(lua_State *L, const char *key)
{
    if (lua_getfield(L, SPEC, key) == LUA_TNIL) {
        lua_pop(L, 1);
        return NULL;
    }
    return keep_string(L, key);
}

static double opt_number(lua_State *L, int table, const char *key, double missing, double least)
{
    double number = missing;
    if (lua_getfield(L, table, key) != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TNUMBER)
            luaL_error(L, "%s must be a number, not a %s", key, luaL_typename(L, -1));
        number = lua_tonumber(L, -1);
        if (!(number >= least)) /* NaN too */
            luaL_error(L, "%s must be at least %f", key, least);
    }
    lua_pop(L, 1);
    return number;
}

static char **keep_array(lua_State *L, size_t count)
{
    char **array = lua_newuserdatauv(L, (count + 1) * sizeof *array, 0);
    array[count] = NULL;
    lua_rawseti(L, ANCHOR, (lua_Integer)lua_rawlen(L, ANCHOR) + 1);
    return array;
}

static char *const *check_argv(lua_State *L)
{
    const char *shell = opt_string(L, "shell");
    int type = lua_getfield(L, SPEC, "argv");
    if ((shell != NULL) == (type != LUA_TNIL))
        luaL_error(L, "give exactly one of argv and shell");
    if (shell != NULL) {
        char **argv = keep_array(L, 3);
        argv[0] = "/bin/sh";
        argv[1] = "-c";
        argv[2] = (char *)shell;
        lua_pop(L, 1);
        return argv;
    }
    if (type != LUA_TTABLE)
        luaL_error(L, "argv must be a list of strings, not a %s", luaL_typename(L, -1));
    int list = lua_gettop(L);
    size_t count = lua_rawlen(L, list);
    if (count == 0)
        luaL_error(L, "argv is empty");
    char **argv = keep_array(L, count);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        argv[i] = keep_string(L, "argv");
    }
    lua_pop(L, 1);
    return argv;
}

/* Adds NAME=value for every change that is not false; the names are already checked. */
static size_t env_add(lua_State *L, int changes, char **env, size_t used)
{
    lua_pushnil(L);
    while (lua_next(L, changes) != 0) {
        if (lua_toboolean(L, -1)) {
            lua_pushfstring(L, "%s=%s", lua_tostring(L, -2), lua_tostring(L, -1));
            env[used++] = keep_string(L, "env");
        }
        lua_pop(L, 1);
    }
    return used;
}

static size_t check_env_names(lua_State *L, int changes)
{
    size_t count = 0;
    lua_pushnil(L);
    for (; lua_next(L, changes) != 0; count++) {
        size_t size;
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "env: names must be strings");
        const char *name = lua_tolstring(L, -2, &size);
        if (size == 0 || strlen(name) != size || strchr(name, '=') != NULL)
            luaL_error(L, "env: '%s' cannot be a name", name);
        if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
            lua_pop(L, 1);
            continue;
        }
        keep_string(L, "env: a value (false unsets)");
    }
    return count;
}

static char *const *check_env(lua_State *L)
{
    lua_getfield(L, SPEC, "clean_env");
    bool clean = lua_toboolean(L, -1);
    if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
        luaL_error(L, "clean_env must be a boolean");
    int type = lua_getfield(L, SPEC, "env"), changes = lua_gettop(L);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        luaL_error(L, "env must be a table of names and values, not a %s", luaL_typename(L, changes));
    if (type == LUA_TNIL && !clean) {
        lua_pop(L, 2);
        return NULL;
    }
    size_t inherited = 0, used = 0, changed = type == LUA_TTABLE ? check_env_names(L, changes) : 0;
    while (!clean && environ[inherited] != NULL)
        inherited++;
    char **env = keep_array(L, inherited + changed);
    for (size_t i = 0; i < inherited; i++) {
        const char *equals = strchr(environ[i], '=');
        if (equals != NULL && type == LUA_TTABLE) {
            lua_pushlstring(L, environ[i], (size_t)(equals - environ[i]));
            lua_rawget(L, changes);
            bool replaced = !lua_isnil(L, -1);
            lua_pop(L, 1);
            if (replaced)
                continue;
        }
        env[used++] = environ[i];
    }
    if (type == LUA_TTABLE)
        used = env_add(L, changes, env, used);
    env[used] = NULL;
    lua_pop(L, 2);
    return env;
}

static void check_limits(lua_State *L, struct ap_proc_spec *spec)
{
    static const char *const keys[] = {"cpu_s", "memory_mb", "file_mb", "processes", "open_files", NULL};
    const double unit[] = {1, 1 << 20, 1 << 20, 1, 1};
    long long *const fields[] = {
        &spec->cpu_s, &spec->memory_bytes, &spec->file_bytes, &spec->processes, &spec->open_files};
    int type = lua_getfield(L, SPEC, "limits"), table = lua_gettop(L);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        luaL_error(L, "limits must be a table, not a %s", luaL_typename(L, table));
    if (type == LUA_TTABLE)
        check_keys(L, table, "limit", keys);
    for (int i = 0; i < 5; i++) {
        double value = type == LUA_TTABLE ? opt_number(L, table, keys[i], -1, 0) : -1;
        *fields[i] = value < 0 ? -1 : (long long)fmin(ceil(value * unit[i]), 1e18);
    }
    lua_pop(L, 1);
}

static void check_mode(lua_State *L, struct ap_proc_spec *spec, int table)
{
    static const char *const modes[] = {"watched", "subreaper", "namespaces", "landlock", "filtered", NULL};
    int mode = 0;
    lua_getfield(L, table, "mode");
    const char *name = lua_isstring(L, -1) ? lua_tostring(L, -1) : "?";
    while (modes[mode] != NULL && strcmp(modes[mode], name) != 0)
        mode++;
    if (modes[mode] == NULL)
        luaL_error(L, "cage.mode must be watched, subreaper, namespaces, landlock or filtered, not %s", name);
    spec->mode = (enum ap_proc_mode)mode;
    lua_pop(L, 1);
}

/* cage = { mode, paths = { "w/a/path", ... }, network, private_mb, disk_reserve_mb } */
static void check_cage(lua_State *L, struct ap_proc_spec *spec)
{
    static const char *const keys[] = {"mode", "paths", "network", "private_mb", "disk_reserve_mb", NULL};
    int type = lua_getfield(L, SPEC, "cage"), table = lua_gettop(L);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (type != LUA_TTABLE)
        luaL_error(L, "cage must be a table, not a %s", luaL_typename(L, table));
    check_keys(L, table, "key of cage", keys);
    check_mode(L, spec, table);
    lua_getfield(L, table, "network");
    spec->network = lua_toboolean(L, -1);
    spec->private_bytes = (long long)fmin(opt_number(L, table, "private_mb", 64, 0.1) * (1 << 20), 1e18);
    spec->disk_reserve_bytes = (long long)fmin(opt_number(L, table, "disk_reserve_mb", 0, 0) * (1 << 20), 1e18);
    if (lua_getfield(L, table, "paths") == LUA_TTABLE) {
        int list = lua_gettop(L);
        size_t count = lua_rawlen(L, list);
        char **paths = keep_array(L, count);
        for (size_t i = 0; i < count; i++) {
            lua_rawgeti(L, list, (lua_Integer)i + 1);
            paths[i] = keep_string(L, "cage.paths");
            if (strchr("phrwl", paths[i][0]) == NULL || paths[i][0] == '\0' || paths[i][1] != '/')
                luaL_error(L, "cage.paths: '%s' is not p, h, r, w or l and an absolute path", paths[i]);
        }
        paths[count] = NULL;
        spec->box = paths;
    }
    lua_settop(L, table - 1);
}

void ap_lprocspec_check(lua_State *L, struct ap_proc_spec *spec)
{
    static const char *const keys[] = {"argv", "shell", "cwd", "env", "clean_env", "stdin", "stdin_text", "timeout_s",
        "grace_s", "limits", "log", "stdout_file", "stderr_file", "log_limit_bytes", "head_bytes", "tail_bytes",
        "scanner", "cage", "record", NULL};
    luaL_checktype(L, SPEC, LUA_TTABLE);
    lua_settop(L, SPEC);
    lua_newtable(L);
    check_keys(L, SPEC, "option", keys);
    spec->argv = check_argv(L);
    spec->env = check_env(L);
    spec->cwd = opt_string(L, "cwd");
    spec->stdin_path = opt_string(L, "stdin");
    if (lua_getfield(L, SPEC, "stdin_text") != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TSTRING || spec->stdin_path != NULL)
            luaL_error(L, "stdin_text must be a string, and not be given with stdin");
        spec->stdin_bytes = lua_tolstring(L, -1, &spec->stdin_count);
    }
    lua_rawseti(L, ANCHOR, (lua_Integer)lua_rawlen(L, ANCHOR) + 1);
    spec->log = opt_string(L, "log");
    spec->stdout_file = opt_string(L, "stdout_file");
    spec->stderr_file = opt_string(L, "stderr_file");
    spec->record = opt_string(L, "record");
    if (spec->record != NULL && (spec->stdout_file == NULL || spec->stderr_file == NULL))
        luaL_error(L, "record needs stdout_file and stderr_file");
    spec->timeout_ms = (long long)ceil(fmin(opt_number(L, SPEC, "timeout_s", 0, 0.001), 1e9) * 1000);
    spec->grace_ms = (long long)ceil(fmin(opt_number(L, SPEC, "grace_s", 2, 0), 1e6) * 1000);
    spec->log_limit_bytes = (unsigned long long)fmin(opt_number(L, SPEC, "log_limit_bytes", 256 << 20, 0), 1e18);
    spec->head_bytes = (size_t)fmin(opt_number(L, SPEC, "head_bytes", 16 << 10, 0), 1 << 30);
    spec->tail_bytes = (size_t)fmin(opt_number(L, SPEC, "tail_bytes", 64 << 10, 0), 1 << 30);
    check_limits(L, spec);
    check_cage(L, spec);
}
