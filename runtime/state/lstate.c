/* SPDX-License-Identifier: MIT */
/* lstate: state for Lua: lock, journal and lines are handles that close themselves. Opened by host.c as apsis.state. */
#include <string.h>

#include "base/bindings.h"
#include "base/own.h"
#include "state/state.h"

#define LOCK "apsis.state.lock"
#define JOURNAL "apsis.state.journal"
#define LINES "apsis.state.lines"

struct lock {
    struct ap_own own;
    int fd;
};

struct journal {
    struct ap_own own;
    struct ap_state_journal journal;
};

struct lines {
    struct ap_own own;
    struct ap_state_lines lines;
};

static void lock_close(void *self)
{
    ap_state_lock_close(((struct lock *)self)->fd);
}

static void journal_close(void *self)
{
    ap_state_journal_close(&((struct journal *)self)->journal);
}

static void lines_close(void *self)
{
    ap_state_lines_close(&((struct lines *)self)->lines);
}

static int l_state_lock(lua_State *L)
{
    struct ap_err err;
    const char *path = ap_own_path(L, 1);
    struct lock *lock = ap_own_new(L, sizeof *lock, LOCK, lock_close);
    if (ap_state_lock_open(&lock->fd, path, &err) != 0)
        return ap_own_fail(L, &err);
    lock->own.open = true;
    return 1;
}

static int l_state_journal(lua_State *L)
{
    struct ap_err err;
    struct ap_state_torn torn;
    const char *path = ap_own_path(L, 1);
    struct journal *journal = ap_own_new(L, sizeof *journal, JOURNAL, journal_close);
    if (ap_state_journal_open(&journal->journal, &torn, path, &err) != 0)
        return ap_own_fail(L, &err);
    journal->own.open = true;
    if (torn.cut_bytes == 0)
        return 1;
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, torn.cut_bytes);
    lua_setfield(L, -2, "cut_bytes");
    lua_pushlstring(L, torn.text, torn.text_length);
    lua_setfield(L, -2, "text");
    return 2;
}

static int l_journal_append(lua_State *L)
{
    struct ap_err err;
    size_t length;
    struct journal *journal = ap_own_check(L, 1, JOURNAL);
    const char *line = luaL_checklstring(L, 2, &length);
    luaL_argcheck(L, memchr(line, '\n', length) == NULL, 2, "a line cannot contain a newline");
    return ap_own_done(L, ap_state_journal_append(&journal->journal, line, length, &err), &err);
}

static int l_journal_check(lua_State *L)
{
    struct ap_err err;
    struct journal *journal = ap_own_check(L, 1, JOURNAL);
    return ap_own_done(L, ap_state_journal_check(&journal->journal, &err), &err);
}

static int l_journal_size(lua_State *L)
{
    struct ap_err err;
    long long size;
    struct journal *journal = ap_own_check(L, 1, JOURNAL);
    if (ap_state_journal_size(&size, &journal->journal, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushinteger(L, size);
    return 1;
}

/* The iterator: its upvalue is the handle. Raises if reading fails, because nil would end the loop silently. */
static int lines_next(lua_State *L)
{
    struct ap_err err;
    struct ap_state_line line;
    struct lines *lines = lua_touserdata(L, lua_upvalueindex(1));
    if (!lines->own.open)
        return 0;
    int result = ap_state_lines_next(&line, &lines->lines, &err);
    if (result < 0)
        return luaL_error(L, "%s: %s", err.code, err.message);
    if (result == 0) {
        lines->own.open = false;
        lines_close(lines);
        return 0;
    }
    lua_pushlstring(L, line.bytes, line.length);
    lua_pushinteger(L, line.number);
    lua_pushinteger(L, line.offset);
    return 3;
}

/* Four values for `for`: it closes the last when the loop is left early. */
static int l_state_lines(lua_State *L)
{
    struct ap_err err;
    const char *path = ap_own_path(L, 1);
    lua_Integer offset = luaL_optinteger(L, 2, 0), number = luaL_optinteger(L, 3, 1);
    luaL_argcheck(L, offset >= 0, 2, "an offset is not negative");
    struct lines *lines = ap_own_new(L, sizeof *lines, LINES, lines_close);
    if (ap_state_lines_open(&lines->lines, path, offset, number, &err) != 0)
        return ap_own_fail(L, &err);
    lines->own.open = true;
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, lines_next, 1);
    lua_pushnil(L);
    lua_pushnil(L);
    lua_pushvalue(L, -4);
    return 4;
}

/* Reads {sync =} at index 3. */
static bool check_sync(lua_State *L)
{
    if (lua_isnoneornil(L, 3))
        return false;
    luaL_checktype(L, 3, LUA_TTABLE);
    bool sync = false;
    for (lua_pushnil(L); lua_next(L, 3) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "sync") != 0)
            luaL_error(L, "unknown option '%s' (known: sync)", luaL_tolstring(L, -2, NULL));
        if (!lua_isboolean(L, -1))
            luaL_error(L, "option 'sync' must be a boolean");
        sync = lua_toboolean(L, -1);
    }
    return sync;
}

static int l_state_replace(lua_State *L)
{
    struct ap_err err;
    size_t count;
    const char *path = ap_own_path(L, 1), *bytes = luaL_checklstring(L, 2, &count);
    bool sync = check_sync(L);
    return ap_own_done(L, ap_state_replace(path, bytes, count, sync, &err), &err);
}

static int l_state_publish(lua_State *L)
{
    struct ap_err err;
    size_t count;
    const char *path = ap_own_path(L, 1), *bytes = luaL_checklstring(L, 2, &count);
    return ap_own_done(L, ap_state_publish(path, bytes, count, &err), &err);
}

static int l_state_digest(lua_State *L)
{
    size_t count;
    char digits[17];
    const char *text = luaL_checklstring(L, 1, &count);
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)ap_state_digest(text, count));
    lua_pushstring(L, digits);
    return 1;
}

int luaopen_apsis_state(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"lock", l_state_lock},
        {"journal", l_state_journal},
        {"lines", l_state_lines},
        {"replace", l_state_replace},
        {"publish", l_state_publish},
        {"digest", l_state_digest},
        {NULL, NULL},
    };
    static const luaL_Reg methods[] = {
        {"append", l_journal_append}, {"check", l_journal_check}, {"size", l_journal_size}, {NULL, NULL}};
    ap_own_class(L, LOCK, NULL);
    ap_own_class(L, JOURNAL, methods);
    ap_own_class(L, LINES, NULL);
    luaL_newlib(L, functions);
    return 1;
}
