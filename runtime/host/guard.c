/* SPDX-License-Identifier: MIT */
/* guard: stops a runaway hook. A hook runs through guard.call, in a task that guard.resume resumes; meanwhile the ticks
 * of the process's CPU clock count against it, and the allocator counts its memory. Past the limit, installs a
 * per-instruction debug hook on the running coroutine (so that pcall cannot swallow the error) and, when that coroutine
 * returns, on its resumer. No debug hook can stop a C function that never returns: at twice the limit the process ends,
 * resumable. A hook within its limits costs only a few assignments. Called only by host.c. */
#define _GNU_SOURCE
#include "host/guard.h"

#include <lauxlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICKS_PER_SECOND = 10 };

static struct {
    lua_State *volatile running; /* the innermost coroutine under guard, or NULL */
    volatile sig_atomic_t ticks, limit_ticks, overdue;
    size_t used_bytes, limit_bytes, ceiling_bytes; /* ceiling: 0 while no hook runs */
    int memory_hit;
} guard = {.limit_ticks = 10 * TICKS_PER_SECOND, .limit_bytes = (size_t)512 << 20};

void *ap_guard_alloc(void *ud, void *block, size_t old_size, size_t new_size)
{
    (void)ud;
    if (block == NULL)
        old_size = 0; /* Lua passes a type tag there */
    if (new_size == 0) {
        free(block);
        guard.used_bytes -= old_size;
        return NULL;
    }
    if (new_size > old_size && guard.ceiling_bytes > 0 &&
        guard.used_bytes + (new_size - old_size) > guard.ceiling_bytes) {
        guard.memory_hit = 1;
        return NULL;
    }
    void *moved = realloc(block, new_size);
    if (moved != NULL)
        guard.used_bytes += new_size - old_size;
    return moved;
}

static void stop(lua_State *L, lua_Debug *where)
{
    (void)where;
    luaL_where(L, 0); /* level 0: a debug hook is no level of its own, as luaL_error's caller would be */
    lua_pushfstring(L, "stopped: over its limit of %f s of CPU", (double)guard.limit_ticks / TICKS_PER_SECOND);
    lua_concat(L, 2);
    lua_error(L);
}

/* As lua.c does: lua_sethook is the only function of Lua's API that a signal handler may call. */
static void tick(int signal_number)
{
    (void)signal_number;
    lua_State *L = guard.running;
    if (L == NULL)
        return;
    guard.ticks++;
    if (guard.ticks >= guard.limit_ticks && !guard.overdue) {
        guard.overdue = 1;
        lua_sethook(L, stop, LUA_MASKCOUNT, 1);
    }
    if (guard.ticks >= 2 * guard.limit_ticks + TICKS_PER_SECOND) {
        static const char message[] = "apsis: a strategy's hook is inside a C function that does not return; stopping. "
                                      "Everything journalled is safe: run again to resume.\n";
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
        _exit(2);
    }
}

void ap_guard_start(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    timer_t timer;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0)
        return;
    struct itimerspec every = {.it_interval = {0, 1000000000 / TICKS_PER_SECOND}};
    every.it_value = every.it_interval;
    timer_settime(timer, 0, &every, NULL);
}

/* limits{cpu_s=, memory_mb=}: for the hooks that follow. */
static int l_guard_limits(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, 1, "cpu_s");
    lua_Number cpu_s = luaL_optnumber(L, -1, 10);
    lua_getfield(L, 1, "memory_mb");
    lua_Number memory_mb = luaL_optnumber(L, -1, 512);
    luaL_argcheck(L, cpu_s >= 0.1 && cpu_s < 1e6 && memory_mb >= 1 && memory_mb < 1e6, 1, "limits out of range");
    guard.limit_ticks = (int)(cpu_s * TICKS_PER_SECOND);
    guard.limit_bytes = (size_t)(memory_mb * 1048576);
    return 0;
}

/* start(): the timer, once more: a copy of the process has none. */
static int l_guard_start(lua_State *L)
{
    (void)L;
    ap_guard_start();
    return 0;
}

/* What the hook of a suspended task has used so far, in the extra space that Lua gives every coroutine. */
struct suspended {
    int32_t ticks;
    int16_t inside, overdue;
};
_Static_assert(sizeof(struct suspended) <= LUA_EXTRASPACE, "a coroutine's extra space holds what its hook has used");

static void enter(lua_State *L, int ticks)
{
    guard.ticks = ticks;
    guard.memory_hit = 0;
    guard.ceiling_bytes = guard.used_bytes + guard.limit_bytes;
    guard.running = L;
}

static void leave(lua_State *L)
{
    guard.running = NULL;
    guard.ceiling_bytes = 0;
    if (guard.overdue) {
        guard.overdue = 0;
        lua_sethook(L, NULL, 0, 0);
    }
}

/* The message handler of a hook: adds a traceback while the failed frames still exist. */
static int explain(lua_State *L)
{
    guard.ceiling_bytes = 0;
    if (lua_type(L, 1) != LUA_TSTRING)
        lua_pushfstring(L, "error object: %s", luaL_tolstring(L, 1, NULL));
    luaL_traceback(L, L, lua_tostring(L, -1), 1);
    return 1;
}

static int finish(lua_State *L, int status, lua_KContext nested)
{
    int starved = guard.memory_hit;
    if (!nested)
        leave(L);
    if (status == LUA_OK || status == LUA_YIELD) {
        lua_pushboolean(L, 1);
        lua_replace(L, 1);
        return lua_gettop(L);
    }
    lua_pushboolean(L, 0);
    if (starved && (status == LUA_ERRMEM || status == LUA_ERRERR))
        lua_pushfstring(L, "stopped: over its limit of %d MB of memory", (int)(guard.limit_bytes >> 20));
    else
        lua_pushvalue(L, -2);
    return 2;
}

/* call(body, ...) -> true, values... | false, message with traceback. A nested call counts against the outer one. */
static int l_guard_call(lua_State *L)
{
    luaL_checkany(L, 1);
    int nested = guard.running == L;
    lua_pushcfunction(L, explain);
    lua_insert(L, 1);
    if (!nested)
        enter(L, 0);
    return finish(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 1, nested, finish), nested);
}

/* resume(task, ...): coroutine.resume for a task that may be inside a hook: while the task waits, nothing counts. */
static int l_guard_resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argcheck(L, co != NULL, 1, "a coroutine expected");
    int arguments = lua_gettop(L) - 1, results = 0;
    luaL_argcheck(L, lua_checkstack(co, arguments), 2, "too many arguments");
    lua_xmove(L, co, arguments);
    struct suspended *suspended = lua_getextraspace(co);
    if (suspended->inside) {
        enter(co, suspended->ticks);
        guard.overdue = suspended->overdue;
    }
    int status = lua_resume(co, L, arguments, &results);
    *suspended = (struct suspended){0};
    if (guard.running == co && status == LUA_YIELD) {
        *suspended = (struct suspended){guard.ticks, 1, (int16_t)guard.overdue};
        guard.running = NULL; /* its debug hook stays where it is */
        guard.overdue = 0;
        guard.ceiling_bytes = 0;
    }
    int ok = status == LUA_OK || status == LUA_YIELD;
    luaL_checkstack(L, results + 2, "too many results");
    lua_pushboolean(L, ok);
    lua_xmove(co, L, ok ? results : 1);
    return ok ? results + 1 : 2;
}

/* enter(co) -> outer; leave(outer): wrap coroutine.resume of a strategy's own coroutines (lua/apsis/core). */
static int l_guard_enter(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1), *outer = guard.running;
    if (outer == NULL || co == NULL)
        return 0;
    lua_pushlightuserdata(L, outer);
    guard.running = co;
    return 1;
}

static int l_guard_leave(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TLIGHTUSERDATA) {
        guard.running = lua_touserdata(L, 1);
        if (guard.overdue)
            lua_sethook(guard.running, stop, LUA_MASKCOUNT, 1);
    }
    return 0;
}

int luaopen_apsis_guard(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"limits", l_guard_limits},
        {"start", l_guard_start},
        {"call", l_guard_call},
        {"resume", l_guard_resume},
        {"enter", l_guard_enter},
        {"leave", l_guard_leave},
        {NULL, NULL},
    };
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD); /* Lua copies its extra space into each new coroutine */
    memset(lua_getextraspace(lua_tothread(L, -1)), 0, LUA_EXTRASPACE);
    luaL_newlib(L, functions);
    return 1;
}
