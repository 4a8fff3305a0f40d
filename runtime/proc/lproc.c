/* SPDX-License-Identifier: MIT */
/* lproc: apsis.process. Turns a table into a command, a handle into something to wait for, and its end into a table.
 * Raises on: wrong types, unknown options, zero bytes in strings, closed handles. Returns nil, err, code on: a command
 * that cannot be started (ENOENT, E2BIG, EMFILE...), a log that cannot be opened, a wait that a signal interrupted. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "base/bindings.h"
#include "base/embedded.h"
#include "proc/lprocspec.h"
#include "proc/proccage.h"
#include "wait/lwait.h"

#define PROCESS "apsis.process"

enum { HANDLE = AP_LPROCSPEC_TOP + 1 };

/* A sink handle (a scanner of apsis.metric): its metatable has __sink = true. */
struct sink_handle {
    struct ap_own own;
    struct ap_sink sink;
};

struct process {
    struct ap_waitable base;
    struct ap_proc *proc;
    struct sink_handle *sink; /* kept alive by the user value */
};

/* ---- the handle as a waitable ---- */

static int process_fds(void *self, struct pollfd *fds, int room)
{
    return ap_proc_fds(((struct process *)self)->proc, fds, room);
}

static void process_step(void *self, const struct pollfd *fds, int count)
{
    ap_proc_step(((struct process *)self)->proc, fds, count);
}

static int process_done(void *self)
{
    struct process *process = self;
    return process->proc == NULL || ap_proc_done(process->proc);
}

static long long process_deadline_ns(void *self)
{
    return ap_proc_deadline_ns(((struct process *)self)->proc);
}

static const struct ap_waitable_ops process_ops = {process_fds, process_step, process_done, process_deadline_ns};

static void process_close(void *self)
{
    struct process *process = self;
    ap_proc_close(process->proc);
    process->proc = NULL;
}

/* A scanner may be closed before the command ends: then the bytes are dropped. */
static void sink_feed(void *self, const char *bytes, size_t count)
{
    struct sink_handle *handle = self;
    if (handle->own.open)
        handle->sink.feed(handle->sink.self, bytes, count);
}

static struct sink_handle *check_sink(lua_State *L)
{
    if (lua_getfield(L, 1, "scanner") == LUA_TNIL) {
        lua_pop(L, 1);
        return NULL;
    }
    bool is_sink = lua_type(L, -1) == LUA_TUSERDATA && luaL_getmetafield(L, -1, "__sink") != LUA_TNIL;
    if (is_sink)
        lua_pop(L, 1);
    struct sink_handle *handle = is_sink ? lua_touserdata(L, -1) : NULL;
    if (handle == NULL || !handle->own.open)
        luaL_error(L, "scanner must be an open scanner of apsis.metric");
    lua_setiuservalue(L, HANDLE, 1);
    return handle;
}

/* ---- the result ---- */

static void push_stream(lua_State *L, const struct ap_proc_stream *stream, const char *field)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)stream->bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushlstring(L, stream->head_count > 0 ? stream->head : "", stream->head_count);
    lua_setfield(L, -2, "head");
    if (stream->bytes > stream->head_count) {
        luaL_Buffer tail;
        luaL_buffinit(L, &tail);
        luaL_addlstring(&tail, stream->tail[0], stream->tail_count[0]);
        luaL_addlstring(&tail, stream->tail[1], stream->tail_count[1]);
        luaL_pushresult(&tail);
        lua_setfield(L, -2, "tail");
    }
    lua_setfield(L, -2, field);
}

static void push_signal(lua_State *L, int number)
{
    const char *name = sigabbrev_np(number);
    lua_pushinteger(L, number);
    lua_setfield(L, -2, "signal");
    if (name != NULL)
        lua_pushfstring(L, "SIG%s", name);
    else
        lua_pushfstring(L, "SIG%d", number);
    lua_setfield(L, -2, "signal_name");
}

static void set_number(lua_State *L, const char *field, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, field);
}

/* Pushes the result table, or nil, err, code if the command could not be started. */
static int push_result(lua_State *L, int handle)
{
    static const char *const outcomes[] = {"exit", "signal", "timeout", "killed"};
    const struct process *process = lua_touserdata(L, handle);
    struct ap_proc_result result;
    struct ap_err err;
    if (ap_proc_result(&result, process->proc, &err) != 0)
        return ap_own_fail(L, &err);
    lua_createtable(L, 0, 12);
    lua_pushstring(L, outcomes[result.outcome]);
    lua_setfield(L, -2, "outcome");
    if (result.outcome == AP_PROC_EXIT) { /* a timeout's exit code 0 must not look like success */
        lua_pushinteger(L, result.code);
        lua_setfield(L, -2, "code");
    }
    if (!result.exited)
        push_signal(L, result.signal);
    if (result.excess != AP_PROC_NO_EXCESS) {
        lua_pushstring(L, result.excess == AP_PROC_DISK ? "disk" : "processes");
        lua_setfield(L, -2, "excess");
    }
    set_number(L, "wall_s", result.wall_s);
    set_number(L, "user_s", result.user_s);
    set_number(L, "sys_s", result.sys_s);
    lua_pushinteger(L, result.max_rss_bytes);
    lua_setfield(L, -2, "max_rss_bytes");
    push_stream(L, &result.streams[0], "stdout");
    push_stream(L, &result.streams[1], "stderr");
    if (result.log_path != NULL) {
        lua_pushstring(L, result.log_path);
        lua_setfield(L, -2, "log");
    }
    if (result.log_error.code[0] != '\0') {
        lua_pushfstring(L, "%s: %s", result.log_error.code, result.log_error.message);
        lua_setfield(L, -2, "log_error");
    }
    return 1;
}

/* ---- functions and methods ---- */

static int cage_hand_over(struct ap_err *err)
{
    static bool handed;
    if (handed)
        return 0;
    for (const struct ap_embedded *file = ap_embedded; file->name != NULL; file++)
        if (strcmp(file->name, "cage") == 0) {
            handed = ap_proc_cage(file->bytes, (size_t)(file->end - file->bytes), err) == 0;
            return handed ? 0 : -1;
        }
    return ap_err_set(err, "ENOEXEC", "this program carries no cage");
}

/* Leaves spec, anchor, handle on the stack; 0, or -1 with err. */
static int start(lua_State *L, struct ap_err *err)
{
    struct ap_proc_spec spec = {0};
    ap_lprocspec_check(L, &spec);
    struct process *process = ap_own_new(L, sizeof *process, PROCESS, process_close);
    process->base.ops = &process_ops;
    process->sink = check_sink(L);
    if (process->sink != NULL)
        spec.sink = (struct ap_sink){sink_feed, process->sink};
    if (cage_hand_over(err) != 0 || ap_proc_start(&process->proc, &spec, err) != 0)
        return -1;
    process->base.own.open = true;
    return 0;
}

/* start(spec) -> handle | nil, err, code */
static int l_process_start(lua_State *L)
{
    struct ap_err err;
    return start(L, &err) == 0 ? 1 : ap_own_fail(L, &err);
}

/* ctx: whether it was interrupted; a first signal asks the command to end, a second one kills it at once. */
static int run_k(lua_State *L, int status, lua_KContext ctx)
{
    struct process *process = lua_touserdata(L, HANDLE);
    if (process_done(process))
        return ctx != 0 ? ap_lwait_fail_interrupted(L) : push_result(L, HANDLE);
    if (status == AP_LWAIT_INTERRUPTED) {
        if (ctx != 0)
            return ap_lwait_fail_interrupted(L);
        ap_proc_stop(process->proc, -1);
        ctx = 1;
    }
    return ap_lwait_await(L, HANDLE, run_k, ctx);
}

/* run(spec) -> result | nil, err, code. The handle is to-be-closed: when this returns or raises, or its coroutine is
 * closed, nothing is left running. */
static int l_process_run(lua_State *L)
{
    struct ap_err err;
    if (start(L, &err) != 0)
        return ap_own_fail(L, &err);
    lua_toclose(L, HANDLE);
    return ap_lwait_await(L, HANDLE, run_k, 0);
}

static int wait_k(lua_State *L, int status, lua_KContext ctx)
{
    struct process *process = ap_own_check(L, 1, PROCESS); /* it may have been closed meanwhile */
    if (process_done(process))
        return push_result(L, 1);
    return status == AP_LWAIT_INTERRUPTED ? ap_lwait_fail_interrupted(L) : ap_lwait_await(L, 1, wait_k, ctx);
}

/* handle:wait() -> result | nil, err, code */
static int l_process_wait(lua_State *L)
{
    ap_own_check(L, 1, PROCESS);
    return ap_lwait_await(L, 1, wait_k, 0);
}

/* handle:kill([grace_s]) */
static int l_process_kill(lua_State *L)
{
    struct process *process = ap_own_check(L, 1, PROCESS);
    double grace_s = luaL_optnumber(L, 2, -1);
    luaL_argcheck(L, lua_isnoneornil(L, 2) || grace_s >= 0, 2, "seconds must not be negative");
    ap_proc_stop(process->proc, grace_s < 0 ? -1 : (long long)ceil(fmin(grace_s, 1e6) * 1000));
    return 0;
}

/* handle:result() -> result | nil while it runs | nil, err, code */
static int l_process_result(lua_State *L)
{
    struct process *process = ap_own_check(L, 1, PROCESS);
    return process_done(process) ? push_result(L, 1) : 0;
}

/* handle:pid() -> the supervisor's process id */
static int l_process_pid(lua_State *L)
{
    struct process *process = ap_own_check(L, 1, PROCESS);
    lua_pushinteger(L, ap_proc_pid(process->proc));
    return 1;
}

/* sweep(dir) -> count | nil, err, code */
static int l_process_sweep(lua_State *L)
{
    struct ap_err err;
    int ended;
    if (ap_proc_sweep(&ended, luaL_checkstring(L, 1), &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushinteger(L, ended);
    return 1;
}

int luaopen_apsis_process(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"start", l_process_start}, {"run", l_process_run}, {"sweep", l_process_sweep}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"wait", l_process_wait},
        {"kill", l_process_kill},
        {"result", l_process_result},
        {"pid", l_process_pid},
        {NULL, NULL},
    };
    ap_own_class(L, PROCESS, methods);
    ap_lwait_class(L, PROCESS);
    luaL_newlib(L, functions);
    return 1;
}
