/* SPDX-License-Identifier: MIT */
/* fuzz_json: whatever the bytes, decode answers or refuses; what it answers is written as JSON that reads back as the
 * same text. */
#include <lauxlib.h>
#include <lualib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bindings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script[] =
    "local json, text = require 'apsis.json', ...\n"
    "local value, message, code = json.decode(text)\n"
    "if value == nil then assert(code == 'EJSON' and message:find '^EJSON: %d+:%d+: ') return end\n"
    "local once = json.encode(value)\n"
    "assert(json.encode(json.decode(once)) == once)\n"
    "assert(json.encode(json.decode(json.encode(value, {pretty = true}))) == once)\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    if (L == NULL) {
        L = luaL_newstate();
        luaL_openlibs(L);
        luaL_requiref(L, "apsis.json", luaopen_apsis_json, 0);
        if (luaL_loadstring(L, script) != LUA_OK)
            abort();
        lua_replace(L, 1);
    }
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    lua_pushlstring(L, (const char *)data, size);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        abort();
    return 0;
}
