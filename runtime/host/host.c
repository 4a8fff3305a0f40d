/* SPDX-License-Identifier: MIT */
/* host: one lua_State: the primitives (opened at first require), the embedded Lua (or the tree that APSIS_HOME names),
 * and the call of apsis.cli with a traceback. The only C that calls Lua. Called by main.c. */
#define _GNU_SOURCE
#include "host/host.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bindings.h"
#include "base/embedded.h"
#include "host/guard.h"

#define AP_ENTRY(name) {"apsis." #name, luaopen_apsis_##name},
static const luaL_Reg primitives[] = {{"apsis.guard", luaopen_apsis_guard}, AP_PRIMITIVES(AP_ENTRY){NULL, NULL}};
#undef AP_ENTRY

static const struct ap_embedded *embedded_find(const char *name)
{
    for (const struct ap_embedded *file = ap_embedded; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

/* Whether APSIS_HOME names a tree of apsis's files, which goes before those in the program. */
static bool has_home(void)
{
    const char *home = getenv("APSIS_HOME");
    return home != NULL && *home != '\0';
}

/* read(name) -> bytes, where | nil: one of apsis's files ("strategies/hillclimb.lua"), from APSIS_HOME or embedded. */
static int l_host_read(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    if (has_home()) {
        const char *path = lua_pushfstring(L, "%s/%s", getenv("APSIS_HOME"), name);
        FILE *file = fopen(path, "rb");
        if (file != NULL) {
            luaL_Buffer buffer;
            luaL_buffinit(L, &buffer);
            size_t count;
            do {
                char *room = luaL_prepbuffer(&buffer);
                count = fread(room, 1, LUAL_BUFFERSIZE, file);
                luaL_addsize(&buffer, count);
            } while (count > 0);
            fclose(file);
            luaL_pushresult(&buffer);
            lua_pushstring(L, path);
            return 2;
        }
    }
    const struct ap_embedded *file = embedded_find(name);
    if (file == NULL)
        return 0;
    lua_pushlstring(L, file->bytes, (size_t)(file->end - file->bytes));
    lua_pushstring(L, name);
    return 2;
}

/* list(prefix) -> the names of the embedded files that begin with prefix, in order. */
static int l_host_list(lua_State *L)
{
    const char *prefix = luaL_checkstring(L, 1);
    lua_newtable(L);
    for (const struct ap_embedded *file = ap_embedded; file->name != NULL; file++) {
        if (strncmp(file->name, prefix, strlen(prefix)) != 0)
            continue;
        lua_pushstring(L, file->name);
        lua_rawseti(L, -2, luaL_len(L, -2) + 1);
    }
    return 1;
}

/* setenv(name, value|nil): for commands started later. */
static int l_host_setenv(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1), *value = luaL_optstring(L, 2, NULL);
    int failed = value != NULL ? setenv(name, value, 1) : unsetenv(name);
    if (failed)
        return luaL_error(L, "setenv %s: %s", name, strerror(errno));
    return 0;
}

static int l_host_isatty(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
    return 1;
}

/* columns(fd) -> the width and the height of the terminal there | nil if there is none, or if its width is unknown. */
static int l_host_columns(lua_State *L)
{
    struct winsize size;
    if (ioctl((int)luaL_checkinteger(L, 1), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 0;
    lua_pushinteger(L, size.ws_col);
    lua_pushinteger(L, size.ws_row);
    return 2;
}

/* The path of the program that runs, "" if it is unknown. Without /proc it is the one that it was started by. */
static void program_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *started = length > 0 ? NULL : (const char *)getauxval(AT_EXECFN);
    char *real = started != NULL ? realpath(started, NULL) : NULL;
    if (real != NULL)
        snprintf(path, size, "%s", real);
    free(real);
}

/* Sets `executable` to the program's path. In a bundle the loader beside the libraries runs the program: then it is the
 * launcher above them (launcher.c), and `libraries` is their folder. */
static void set_executable(lua_State *L)
{
    char path[4096];
    program_path(path, sizeof path);
    char *name = strrchr(path, '/');
    if (name != NULL && strncmp(name, "/ld-", 4) == 0) {
        *name = '\0';
        lua_pushstring(L, path);
        lua_setfield(L, -2, "libraries");
        name = strrchr(path, '/');
        *(name != NULL ? name : path) = '\0';
        lua_pushfstring(L, "%s/apsis", path);
    } else {
        lua_pushstring(L, path);
    }
    lua_setfield(L, -2, "executable");
}

static int luaopen_apsis_host(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"read", l_host_read},
        {"list", l_host_list},
        {"setenv", l_host_setenv},
        {"isatty", l_host_isatty},
        {"columns", l_host_columns},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    lua_pushliteral(L, AP_VERSION);
    lua_setfield(L, -2, "version");
    lua_pushinteger(L, getpid());
    lua_setfield(L, -2, "pid");
    lua_pushinteger(L, geteuid());
    lua_setfield(L, -2, "uid");
    set_executable(L);
    return 1;
}

/* The searcher of require: apsis.core.loop is lua/apsis/core/loop.lua below APSIS_HOME, or compiled in the program, or
 * there as text if this Lua does not take that bytecode. */
static int search_embedded(lua_State *L)
{
    const char *module = luaL_checkstring(L, 1);
    const char *path = luaL_gsub(L, module, ".", "/"), *name = lua_pushfstring(L, "lua/%s.lua", path);
    const struct ap_embedded *compiled = has_home() ? NULL : embedded_find(lua_pushfstring(L, "compiled/%s", module));
    if (compiled != NULL &&
        luaL_loadbufferx(L, compiled->bytes, (size_t)(compiled->end - compiled->bytes), name, "b") == LUA_OK) {
        lua_pushstring(L, name);
        return 2;
    }
    lua_pushcfunction(L, l_host_read);
    lua_pushstring(L, name);
    lua_call(L, 1, 2);
    if (lua_isnil(L, -2)) {
        lua_pushfstring(L, "no file '%s' in apsis", name);
        return 1;
    }
    size_t size;
    const char *bytes = lua_tolstring(L, -2, &size);
    const char *where = lua_pushfstring(L, "@%s", lua_tostring(L, -1));
    if (luaL_loadbufferx(L, bytes, size, where, "t") != LUA_OK)
        return lua_error(L);
    lua_pushstring(L, where + 1);
    return 2;
}

/* os.setlocale knows only C: a script must not change how the whole process reads and writes numbers. */
static int l_setlocale(lua_State *L)
{
    const char *name = luaL_optstring(L, 1, "C");
    lua_pushstring(L, strcmp(name, "C") == 0 ? name : NULL);
    return 1;
}

void ap_host_open(lua_State *L)
{
    luaL_openlibs(L);
    lua_getglobal(L, "os");
    lua_pushcfunction(L, l_setlocale);
    lua_setfield(L, -2, "setlocale");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    luaL_setfuncs(L, primitives, 0);
    lua_pushcfunction(L, luaopen_apsis_host);
    lua_setfield(L, -2, "apsis.host");
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "searchers");
    for (lua_Integer i = luaL_len(L, -1); i >= 2; i--) { /* after preload, before the user's path */
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushcfunction(L, search_embedded);
    lua_rawseti(L, -2, 2);
    lua_settop(L, 0);
}

/* An error that ends the program is a table { message =, code = } and is passed on; anything else is a bug of apsis. */
static int traceback(lua_State *L)
{
    if (lua_istable(L, 1) && lua_getfield(L, 1, "fatal") != LUA_TNIL) {
        lua_settop(L, 1);
        return 1;
    }
    const char *message = luaL_tolstring(L, 1, NULL);
    luaL_traceback(L, L, message, 1);
    return 1;
}

/* On the stack: argc, argv. Returns the exit code. */
static int call_cli(lua_State *L)
{
    int argc = (int)lua_tointeger(L, 1);
    char **argv = lua_touserdata(L, 2);
    ap_host_open(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "apsis.cli.main");
    lua_call(L, 1, 1);
    lua_createtable(L, argc, 0);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_call(L, 1, 1);
    return 1;
}

/* Prints the error on the stack; returns its exit code. */
static int report(lua_State *L)
{
    int code = 1;
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "code");
        code = (int)lua_tointeger(L, -1);
        lua_getfield(L, -2, "message");
    }
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "apsis: %s\n", message != NULL ? message : "stopped, without a message");
    return code;
}

int ap_host_run(int argc, char **argv)
{
    lua_State *L = lua_newstate(ap_guard_alloc, NULL);
    if (L == NULL) {
        fputs("apsis: out of memory\n", stderr);
        return 1;
    }
    ap_guard_start();
    lua_pushcfunction(L, traceback);
    lua_pushcfunction(L, call_cli);
    lua_pushinteger(L, argc);
    lua_pushlightuserdata(L, argv);
    int code = 1;
    if (lua_pcall(L, 2, 1, 1) == LUA_OK)
        code = (int)lua_tointeger(L, -1);
    else
        code = report(L);
    lua_close(L);
    return code;
}
