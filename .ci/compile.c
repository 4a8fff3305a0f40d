/* SPDX-License-Identifier: MIT */
/* compile DIR NAME=PATH...: writes Lua's bytecode of each file at PATH to DIR/NAME, with line numbers. To parse a command's
 * modules takes longer than what most commands then do. */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

static int write_some(lua_State *L, const void *bytes, size_t count, void *file)
{
    (void)L;
    return fwrite(bytes, 1, count, file) != count;
}

/* Returns 0, or 1 after a message. */
static int compile(lua_State *L, const char *path, const char *to)
{
    if (luaL_loadfilex(L, path, "t") != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        return 1;
    }
    FILE *file = fopen(to, "wb");
    int failed = file == NULL || lua_dump(L, write_some, file, 0) != 0;
    if (file == NULL || fclose(file) != 0 || failed) {
        perror(to);
        return 1;
    }
    lua_settop(L, 0);
    return 0;
}

int main(int argc, char **argv)
{
    lua_State *L = luaL_newstate();
    char to[4096];
    int failed = L == NULL || argc < 2;
    for (int i = 2; i < argc && !failed; i++) {
        const char *equals = strchr(argv[i], '=');
        if (equals == NULL) {
            failed = 1;
        } else {
            snprintf(to, sizeof to, "%s/%.*s", argv[1], (int)(equals - argv[i]), argv[i]);
            failed = compile(L, equals + 1, to);
        }
    }
    if (L != NULL)
        lua_close(L);
    return failed;
}
