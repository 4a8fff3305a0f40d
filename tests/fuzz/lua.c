/* SPDX-License-Identifier: MIT */
/* lua: a fuzz target written in Lua: FUZZ_TARGET is a file that returns function(bytes), which is called with each input in one
 * state with all of apsis; whatever it raises is a finding. libFuzzer sees which C runs, and by a hook here which lines of Lua
 * follow one another. */
#include <lauxlib.h>
#include <lualib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static lua_State *L;

/* libFuzzer takes what is in this section for counters of code. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t steps[1 << 16];

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash;
}

/* The file of a call's function, by the call: asking for it at every line would take most of the time. */
static struct {
    const struct CallInfo *call;
    uint32_t file; /* 0: a target's own, whose lines do not count */
} calls[1024];

static uint32_t file_of(lua_State *state, lua_Debug *at)
{
    size_t slot = (uintptr_t)at->i_ci / 64 % 1024;
    if (calls[slot].call != at->i_ci) {
        lua_getinfo(state, "S", at);
        calls[slot].call = at->i_ci;
        calls[slot].file = strncmp(at->source, "@tests/", 7) == 0 ? 0 : hash_of(at->source) | 1;
    }
    return calls[slot].file;
}

/* Counts a step from one line of apsis to the next. */
static void count_step(lua_State *state, lua_Debug *at)
{
    static uint32_t before;
    if (at->event != LUA_HOOKLINE) { /* a call: what was in its place is over */
        calls[(uintptr_t)at->i_ci / 64 % 1024].call = NULL;
        return;
    }
    uint32_t file = file_of(state, at);
    if (file == 0)
        return;
    uint32_t line = (file + (uint32_t)at->currentline) * 2654435761u >> 16;
    uint8_t *counter = &steps[(line ^ before) % sizeof steps];
    if (*counter < 255)
        (*counter)++;
    before = line >> 1;
}

static int traceback(lua_State *state)
{
    luaL_traceback(state, state, luaL_tolstring(state, 1, NULL), 1);
    return 1;
}

static void need(int status)
{
    if (status == LUA_OK)
        return;
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_close(L); /* which removes what the target made */
    abort();
}

static void close_state(void)
{
    lua_close(L);
}

/* Leaves on the stack: the message handler, the target's function. */
static void open_state(void)
{
    L = luaL_newstate();
    if (L == NULL)
        abort();
    ap_host_open(L);
    lua_pushcfunction(L, traceback);
    need(luaL_dostring(L, "package.path = 'tests/fuzz/?.lua;' .. package.path"));
    need(luaL_loadfile(L, FUZZ_TARGET));
    lua_sethook(
        L, count_step, LUA_MASKCALL | LUA_MASKLINE, 0); /* which a target takes away where it calls nothing but C */
    need(lua_pcall(L, 0, 1, 1));
    atexit(close_state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (L == NULL)
        open_state();
    lua_pushvalue(L, 2);
    lua_pushlstring(L, (const char *)data, size);
    need(lua_pcall(L, 1, 0, 1));
    return 0;
}
