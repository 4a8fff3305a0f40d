/* SPDX-License-Identifier: MIT */
/* fuzz_yaml: whatever the bytes, decode answers or refuses with a line; every table of the answer has its lines. */
#include <lauxlib.h>
#include <lualib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bindings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script[] =
    "local yaml, text = require 'apsis.yaml', ...\n"
    "local value, lines, code = yaml.decode(text, {name = 'm'})\n"
    "if code then assert(value == nil and code == 'EYAML' and lines:find '^EYAML: m:%d+: ') return end\n"
    "local function check(node)\n"
    "  if type(node) ~= 'table' then return end\n"
    "  local record = lines[node]\n"
    "  assert(record.at >= 1)\n"
    "  for key, item in pairs(node) do assert(record.keys[key] >= 1) check(item) end\n"
    "end\n"
    "check(value)\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    if (L == NULL) {
        L = luaL_newstate();
        luaL_openlibs(L);
        luaL_requiref(L, "apsis.yaml", luaopen_apsis_yaml, 0);
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
