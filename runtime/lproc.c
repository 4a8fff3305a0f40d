/* SPDX-License-Identifier: MIT */
/* lproc: apsis.process. Turns a table into a command, a handle into something to wait for, and its end into a table.
 * Raises on: wrong types, unknown options, zero bytes in strings, closed handles. Returns nil, err, code on: a command that
 * cannot be started (ENOENT, E2BIG, EMFILE...), a log that cannot be opened, a wait that a signal interrupted. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bindings.h"
#include "host.h"
#include "lwait.h"
#include "proc.h"

#define PROCESS "apsis.process"

/* Where the strings of a spec are kept while C holds them. */
enum { SPEC = 1, ANCHOR = 2, HANDLE = 3 };

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

/* A scanner may be closed before the command ends: then nobody is told. */
static void sink_feed(void *self, const char *bytes, size_t count)
{
    struct sink_handle *handle = self;
    if (handle->own.open)
        handle->sink.feed(handle->sink.self, bytes, count);
}

/* ---- the spec ---- */

/* How many edits turn a into b; short names only. */
static int distance(const char *a, const char *b)
{
    int row[64], length = (int)strlen(b);
    if (length >= 64)
        return 99;
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; *a != '\0'; a++, i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int kept = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = kept < other ? kept : other;
        }
    }
    return row[length];
}

/* Refuses keys that are not among `allowed`, naming the nearest, or all where none is near. */
static void check_keys(lua_State *L, int table, const char *what, const char *const *allowed)
{
    lua_pushnil(L);
    while (lua_next(L, table) != 0) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?", *nearest = allowed[0];
        int i = 0, best = 99;
        luaL_Buffer names;
        lua_pop(L, 1);
        for (; allowed[i] != NULL && strcmp(key, allowed[i]) != 0; i++) {
            int near = strncmp(key, allowed[i], strlen(key)) == 0 ? 0 : distance(key, allowed[i]);
            if (near < best) {
                best = near;
                nearest = allowed[i];
            }
        }
        if (allowed[i] != NULL)
            continue;
        if (best <= 3)
            luaL_error(L, "unknown %s '%s'; did you mean '%s'?", what, key, nearest);
        luaL_buffinit(L, &names);
        for (i = 0; allowed[i] != NULL; i++) {
            luaL_addstring(&names, i > 0 ? ", " : "");
            luaL_addstring(&names, allowed[i]);
        }
        luaL_pushresult(&names);
        luaL_error(L, "unknown %s '%s'; allowed: %s", what, key, lua_tostring(L, -1));
    }
}

/* Pops a string (or number), keeps it in the anchor table, and returns its bytes; a zero byte is refused. */
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

/* Adds NAME=value of every change that is not false; the names were checked. */
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
    long long *const fields[] = {&spec->cpu_s, &spec->memory_bytes, &spec->file_bytes, &spec->processes, &spec->open_files};
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

static struct sink_handle *check_sink(lua_State *L)
{
    if (lua_getfield(L, SPEC, "scanner") == LUA_TNIL) {
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

static void check_spec(lua_State *L, struct ap_proc_spec *spec)
{
    static const char *const keys[] = {"argv", "shell", "cwd", "env", "clean_env", "stdin", "stdin_text", "timeout_s", "grace_s",
                                       "limits", "log", "stdout_file", "stderr_file", "log_limit_bytes", "head_bytes",
                                       "tail_bytes", "scanner", NULL};
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
    spec->timeout_ms = (long long)ceil(fmin(opt_number(L, SPEC, "timeout_s", 0, 0.001), 1e9) * 1000);
    spec->grace_ms = (long long)ceil(fmin(opt_number(L, SPEC, "grace_s", 2, 0), 1e6) * 1000);
    spec->log_limit_bytes = (unsigned long long)fmin(opt_number(L, SPEC, "log_limit_bytes", 256 << 20, 0), 1e18);
    spec->head_bytes = (size_t)fmin(opt_number(L, SPEC, "head_bytes", 16 << 10, 0), 1 << 30);
    spec->tail_bytes = (size_t)fmin(opt_number(L, SPEC, "tail_bytes", 64 << 10, 0), 1 << 30);
    check_limits(L, spec);
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
        for (int i = 0; i < 2; i++)
            if (stream->tail_count[i] > 0)
                luaL_addlstring(&tail, stream->tail[i], stream->tail_count[i]);
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

/* Pushes the result table, or nil, err, code where the command could not be started. */
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
    if (result.outcome == AP_PROC_EXIT) { /* a timeout's exit code 0 must not read as success */
        lua_pushinteger(L, result.code);
        lua_setfield(L, -2, "code");
    }
    if (!result.exited)
        push_signal(L, result.signal);
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
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    struct process *process = ap_own_new(L, sizeof *process, PROCESS, process_close);
    process->base.ops = &process_ops;
    check_spec(L, &spec);
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

/* ctx: whether it was interrupted; then the command is asked to end, and a second signal ends it at once. */
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

/* run(spec) -> result | nil, err, code. To be closed: when it returns or raises, or its coroutine is closed, nothing runs. */
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
    struct process *process = ap_own_check(L, 1, PROCESS); /* somebody may have closed it meanwhile */
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

int luaopen_apsis_process(lua_State *L)
{
    static const luaL_Reg functions[] = {{"start", l_process_start}, {"run", l_process_run}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"wait", l_process_wait}, {"kill", l_process_kill}, {"result", l_process_result}, {"pid", l_process_pid}, {NULL, NULL},
    };
    ap_own_class(L, PROCESS, methods);
    ap_lwait_class(L, PROCESS);
    luaL_newlib(L, functions);
    return 1;
}
