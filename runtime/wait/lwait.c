/* SPDX-License-Identifier: MIT */
/* lwait: apsis.wait: the scheduler's only blocking call (any), timers, standard input, clocks and trapped signals.
 * ap_lwait_await decides for every primitive that waits whether it blocks or yields to the scheduler. Raises on: wrong
 * types, handles that are not waitable. Returns nil, err, code on: a wait that a signal interrupted. */
#define _GNU_SOURCE
#include "wait/lwait.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bindings.h"
#include "base/sys.h"

#define TIMER "apsis.timer"
#define INPUT "apsis.input"
#define INPUT_MOST (1 << 20)

static const char task_key;     /* its address is the registry key of the scheduler's current task */
static int interrupts_reported; /* the count last reported to Lua; a higher one ends a wait at once */

static bool interrupted(void)
{
    return ap_wait_interrupts(NULL) != interrupts_reported;
}

static int interrupts_report(void)
{
    return interrupts_reported = ap_wait_interrupts(NULL);
}

static void signal_name_push(lua_State *L, int number)
{
    const char *name = sigabbrev_np(number);
    if (name != NULL)
        lua_pushfstring(L, "SIG%s", name);
    else
        lua_pushnil(L);
}

/* Seconds from Lua to a deadline; a century or more is forever. */
static long long deadline_of(double seconds)
{
    return seconds > 3e9 ? -1 : ap_sys_now_ns() + (long long)ceil(seconds * 1e9);
}

static double check_seconds(lua_State *L, int index)
{
    double seconds = luaL_checknumber(L, index);
    luaL_argcheck(L, seconds >= 0, index, "seconds must not be negative"); /* NaN is refused as well */
    return seconds;
}

static long long sooner(long long a, long long b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* ---- waitable handles ---- */

void ap_lwait_class(lua_State *L, const char *name)
{
    luaL_getmetatable(L, name);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, "__waitable");
    lua_pop(L, 1);
}

static struct ap_waitable *waitable_at(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TUSERDATA || luaL_getmetafield(L, index, "__waitable") == LUA_TNIL)
        return NULL;
    int yes = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return yes ? lua_touserdata(L, index) : NULL;
}

/* Polls these handles once and lets each handle what is ready. counts and fds are the caller's scratch. */
static int wait_once(
    struct ap_waitable **handles, int count, struct pollfd *fds, int *counts, long long deadline_ns, struct ap_err *err)
{
    int used = 0;
    for (int i = 0; i < count; i++) {
        struct ap_waitable *handle = handles[i];
        counts[i] = 0;
        if (handle->ops->done(handle)) {
            deadline_ns = 0; /* a timer may have expired since the caller looked: nothing would end the wait for it */
            continue;
        }
        counts[i] = handle->ops->fds(handle, fds + used, AP_WAITABLE_FDS);
        used += counts[i];
        deadline_ns = sooner(deadline_ns, handle->ops->deadline_ns(handle));
    }
    if (ap_wait(fds, used, deadline_ns, err) < 0)
        return -1;
    for (int i = 0, at = 0; i < count; at += counts[i++])
        if (!handles[i]->ops->done(handles[i]))
            handles[i]->ops->step(handles[i], fds + at, counts[i]);
    return 0;
}

static bool is_current_task(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &task_key);
    lua_pushthread(L);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same && lua_isyieldable(L);
}

int ap_lwait_await(lua_State *L, int index, lua_KFunction k, lua_KContext ctx)
{
    struct ap_waitable *handle = lua_touserdata(L, index);
    struct pollfd fds[AP_WAITABLE_FDS + 1];
    struct ap_err err;
    int counts[1];
    if (!handle->ops->done(handle) && is_current_task(L)) {
        lua_pushvalue(L, index);
        return lua_yieldk(L, 1, ctx, k);
    }
    while (!handle->ops->done(handle)) {
        if (interrupted()) {
            interrupts_report();
            return k(L, AP_LWAIT_INTERRUPTED, ctx);
        }
        if (wait_once(&handle, 1, fds, counts, -1, &err) != 0)
            return luaL_error(L, "%s: %s", err.code, err.message);
    }
    return k(L, LUA_OK, ctx);
}

int ap_lwait_fail_interrupted(lua_State *L)
{
    struct ap_err err;
    int last;
    ap_wait_interrupts(&last);
    const char *name = sigabbrev_np(last);
    ap_err_set(&err, "EINTR", "interrupted by SIG%s", name != NULL ? name : "NAL");
    return ap_own_fail(L, &err);
}

/* any(handles, timeout_s|nil) -> indexes of those done, interrupts */
static int l_wait_any(lua_State *L)
{
    struct ap_err err;
    luaL_checktype(L, 1, LUA_TTABLE);
    long long deadline_ns = lua_isnoneornil(L, 2) ? -1 : deadline_of(check_seconds(L, 2));
    int count = (int)luaL_len(L, 1);
    luaL_argcheck(L, count > 0 || deadline_ns >= 0, 1, "no handle and no timeout: nothing would end this wait");
    lua_settop(L, 1);
    size_t room = (size_t)count;
    struct ap_waitable **handles = lua_newuserdatauv(L, room * sizeof *handles + 1, 0);
    int *counts = lua_newuserdatauv(L, room * sizeof *counts + 1, 0);
    struct pollfd *fds = lua_newuserdatauv(L, (room * AP_WAITABLE_FDS + 1) * sizeof *fds, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1); /* the table keeps it alive */
        handles[i] = waitable_at(L, -1);
        if (handles[i] == NULL)
            return luaL_argerror(
                L, 1, lua_pushfstring(L, "handle %d is not waitable (a %s)", i + 1, luaL_typename(L, -1)));
        lua_pop(L, 1);
    }
    int found = 0;
    lua_newtable(L);
    for (bool first = true, over = false; !over; first = false) {
        for (int i = 0; i < count; i++)
            found += handles[i]->ops->done(handles[i]) != 0;
        if (!first && found > 0)
            break;
        over = found > 0 || interrupted() || (deadline_ns >= 0 && ap_sys_now_ns() >= deadline_ns);
        /* If over, step each handle once more: none may starve. */
        if (wait_once(handles, count, fds, counts, over ? 0 : deadline_ns, &err) != 0)
            return ap_own_fail(L, &err);
        found = 0;
    }
    for (int i = 0, at = 0; i < count; i++)
        if (handles[i]->ops->done(handles[i])) {
            lua_pushinteger(L, i + 1);
            lua_rawseti(L, -2, ++at);
        }
    lua_pushinteger(L, interrupts_report());
    return 2;
}

static void nothing_to_close(void *self)
{
    (void)self;
}

/* ---- timers ---- */

struct timer {
    struct ap_waitable base;
    long long deadline_ns;
};

static int timer_fds(void *self, struct pollfd *fds, int room)
{
    (void)self;
    (void)fds;
    (void)room;
    return 0;
}

static void timer_step(void *self, const struct pollfd *fds, int count)
{
    (void)self;
    (void)fds;
    (void)count;
}

static int timer_done(void *self)
{
    struct timer *timer = self;
    return !timer->base.own.open || (timer->deadline_ns >= 0 && ap_sys_now_ns() >= timer->deadline_ns);
}

static long long timer_deadline_ns(void *self)
{
    return ((struct timer *)self)->deadline_ns;
}

static const struct ap_waitable_ops timer_ops = {timer_fds, timer_step, timer_done, timer_deadline_ns};

/* timer(seconds) -> handle */
static int l_wait_timer(lua_State *L)
{
    double seconds = check_seconds(L, 1);
    struct timer *timer = ap_own_new(L, sizeof *timer, TIMER, nothing_to_close);
    timer->base.ops = &timer_ops;
    timer->deadline_ns = deadline_of(seconds);
    timer->base.own.open = true;
    return 1;
}

static int sleep_k(lua_State *L, int status, lua_KContext ctx)
{
    struct timer *timer = lua_touserdata(L, 2);
    if (!timer_done(timer))
        return status == AP_LWAIT_INTERRUPTED ? ap_lwait_fail_interrupted(L) : ap_lwait_await(L, 2, sleep_k, ctx);
    lua_pushboolean(L, 1);
    return 1;
}

/* sleep(seconds) -> true | nil, err, code */
static int l_wait_sleep(lua_State *L)
{
    lua_settop(L, 1);
    l_wait_timer(L);
    return ap_lwait_await(L, 2, sleep_k, 0);
}

/* ---- standard input ---- */

struct input {
    struct ap_waitable base;
    bool ready;
};

static int input_fds(void *self, struct pollfd *fds, int room)
{
    (void)self;
    (void)room;
    fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    return 1;
}

static void input_step(void *self, const struct pollfd *fds, int count)
{
    ((struct input *)self)->ready = count > 0 && fds[0].revents != 0;
}

static int input_done(void *self)
{
    struct input *input = self;
    return !input->base.own.open || input->ready;
}

static long long input_deadline_ns(void *self)
{
    (void)self;
    return -1;
}

static const struct ap_waitable_ops input_ops = {input_fds, input_step, input_done, input_deadline_ns};

static int input_k(lua_State *L, int status, lua_KContext most)
{
    if (!input_done(lua_touserdata(L, 1)))
        return status == AP_LWAIT_INTERRUPTED ? ap_lwait_fail_interrupted(L) : ap_lwait_await(L, 1, input_k, most);
    if (most == 0) {
        lua_pushboolean(L, 1);
        return 1;
    }
    luaL_Buffer buffer;
    char *bytes = luaL_buffinitsize(L, &buffer, (size_t)most);
    ssize_t count;
    do
        count = read(STDIN_FILENO, bytes, (size_t)most);
    while (count < 0 && errno == EINTR);
    luaL_pushresultsize(&buffer, count > 0 ? (size_t)count : 0); /* an error is the end */
    return 1;
}

/* input([most]) -> true or bytes | nil, err, code */
static int l_wait_input(lua_State *L)
{
    lua_Integer most = luaL_optinteger(L, 1, 0);
    luaL_argcheck(L, most >= 0 && most <= INPUT_MOST, 1, "from 0 to 1048576 bytes");
    lua_settop(L, 0);
    struct input *input = ap_own_new(L, sizeof *input, INPUT, nothing_to_close);
    input->base.ops = &input_ops;
    input->base.own.open = true;
    return ap_lwait_await(L, 1, input_k, (lua_KContext)most);
}

/* ---- clocks, signals, the task ---- */

static int l_wait_now(lua_State *L)
{
    lua_pushnumber(L, (double)ap_sys_now_ns() / 1e9);
    return 1;
}

static int l_wait_time(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    lua_pushnumber(L, (double)now.tv_sec + (double)now.tv_nsec / 1e9);
    return 1;
}

/* interrupts() -> count, name of the newest */
static int l_wait_interrupts(lua_State *L)
{
    int last;
    lua_pushinteger(L, interrupts_report());
    ap_wait_interrupts(&last);
    signal_name_push(L, last);
    return 2;
}

/* trap() -> true | nil, err, code */
static int l_wait_trap(lua_State *L)
{
    struct ap_err err;
    return ap_own_done(L, ap_wait_signals(&err), &err);
}

/* task([co|nil]) -> the current task or nil */
static int l_wait_task(lua_State *L)
{
    if (lua_gettop(L) > 0) {
        if (!lua_isnil(L, 1))
            luaL_checktype(L, 1, LUA_TTHREAD);
        lua_settop(L, 1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &task_key);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &task_key);
    return 1;
}

int luaopen_apsis_wait(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"any", l_wait_any},
        {"timer", l_wait_timer},
        {"sleep", l_wait_sleep},
        {"input", l_wait_input},
        {"now", l_wait_now},
        {"time", l_wait_time},
        {"interrupts", l_wait_interrupts},
        {"trap", l_wait_trap},
        {"task", l_wait_task},
        {NULL, NULL},
    };
    ap_own_class(L, TIMER, NULL);
    ap_lwait_class(L, TIMER);
    ap_own_class(L, INPUT, NULL);
    ap_lwait_class(L, INPUT);
    luaL_newlib(L, functions);
    return 1;
}
