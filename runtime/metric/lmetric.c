/* SPDX-License-Identifier: MIT */
/* lmetric: apsis.metric. Makes scanners, feeds them from Lua, and pushes their reports as tables. A scanner is also a
 * sink: its struct is an ap_own followed by an ap_sink, and its metatable has __sink = true, so that a binding that
 * reads bytes can feed it without knowing this file. Opened by host.c. */
#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "base/bindings.h"
#include "metric/metric.h"
#include "base/own.h"

#define SCANNER "apsis.metric.scanner"

struct scanner {
    struct ap_own own;
    struct ap_sink sink; /* must follow own: see above */
    struct ap_metric *metric;
};

static void scanner_close(void *self)
{
    struct scanner *scanner = self;
    ap_metric_close(scanner->metric);
    scanner->sink.self = NULL; /* feeding a closed scanner has no effect */
}

/* Pushes a scanner, or raises. */
static struct scanner *push_scanner(lua_State *L)
{
    struct ap_err err;
    struct scanner *scanner = ap_own_new(L, sizeof *scanner, SCANNER, scanner_close);
    scanner->sink.feed = ap_metric_feed;
    if (ap_metric_open(&scanner->metric, &err) != 0)
        luaL_error(L, "%s: %s", err.code, err.message);
    scanner->sink.self = scanner->metric;
    scanner->own.open = true;
    return scanner;
}

/* Integral values become integers while every integer is a double: 1 then prints as 1. */
static void push_value(lua_State *L, double value)
{
    if (fabs(value) < 0x1p53 && value == floor(value))
        lua_pushinteger(L, (lua_Integer)value);
    else
        lua_pushnumber(L, value);
}

static void push_names(lua_State *L, const struct ap_metric_report *report)
{
    int count = (int)report->name_count;
    lua_createtable(L, 0, count);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        const struct ap_metric_name *name = &report->names[i];
        lua_pushlstring(L, report->name_bytes + name->at, name->size);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, i + 1);
        push_value(L, name->last);
        lua_rawset(L, -4);
    }
    lua_setfield(L, -3, "names");
    lua_setfield(L, -2, "metrics");
}

static void push_samples(lua_State *L, const struct ap_metric_report *report)
{
    int count = (int)report->name_count;
    lua_createtable(L, 0, count);
    lua_createtable(L, count, 0); /* the same lists, by the name's index */
    for (int i = 0; i < count; i++) {
        const struct ap_metric_name *name = &report->names[i];
        lua_pushlstring(L, report->name_bytes + name->at, name->size);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -4, i + 1);
        lua_rawset(L, -4);
    }
    for (size_t i = 0; i < report->sample_count; i++) {
        const struct ap_metric_sample *sample = &report->samples[i];
        lua_rawgeti(L, -1, (lua_Integer)sample->name + 1);
        push_value(L, sample->value);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_setfield(L, -2, "samples");
}

static void push_misses(lua_State *L, const struct ap_metric_report *report)
{
    lua_createtable(L, (int)report->miss_count, 0);
    for (size_t i = 0; i < report->miss_count; i++) {
        const struct ap_metric_miss *miss = &report->misses[i];
        lua_createtable(L, 0, 3);
        lua_pushinteger(L, (lua_Integer)miss->line);
        lua_setfield(L, -2, "line");
        lua_pushlstring(L, miss->text, miss->size);
        lua_setfield(L, -2, "text");
        lua_pushstring(L, miss->reason);
        lua_setfield(L, -2, "reason");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "near_misses");
    lua_pushinteger(L, (lua_Integer)report->near_misses);
    lua_setfield(L, -2, "near_miss_count");
}

static void push_not_finite(lua_State *L, const struct ap_metric_report *report)
{
    lua_newtable(L);
    for (size_t i = 0; i < report->name_count; i++) {
        const struct ap_metric_name *name = &report->names[i];
        if (name->not_finite == 0)
            continue;
        lua_pushlstring(L, report->name_bytes + name->at, name->size);
        lua_pushinteger(L, (lua_Integer)name->not_finite);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "not_finite");
}

static void push_dropped(lua_State *L, const struct ap_metric_report *report)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)report->dropped_names);
    lua_setfield(L, -2, "names");
    lua_pushinteger(L, (lua_Integer)report->dropped_samples);
    lua_setfield(L, -2, "samples");
    lua_pushinteger(L, (lua_Integer)(report->near_misses - report->miss_count));
    lua_setfield(L, -2, "near_misses");
    lua_setfield(L, -2, "dropped");
}

/* Ends the scanner's last line and pushes the report; raises when out of memory. */
static int push_report(lua_State *L, struct scanner *scanner)
{
    struct ap_err err;
    struct ap_metric_report report;
    if (ap_metric_finish(&report, scanner->metric, &err) != 0)
        return luaL_error(L, "%s: %s", err.code, err.message);
    luaL_checkstack(L, 10, NULL);
    lua_createtable(L, 0, 8);
    push_names(L, &report);
    push_samples(L, &report);
    push_misses(L, &report);
    push_not_finite(L, &report);
    push_dropped(L, &report);
    lua_pushinteger(L, (lua_Integer)report.lines);
    lua_setfield(L, -2, "lines");
    return 1;
}

static int l_metric_scanner(lua_State *L)
{
    push_scanner(L);
    return 1;
}

static int l_scanner_feed(lua_State *L)
{
    struct scanner *scanner = ap_own_check(L, 1, SCANNER);
    size_t count;
    const char *bytes = luaL_checklstring(L, 2, &count);
    ap_metric_feed(scanner->metric, bytes, count);
    return 0;
}

static int l_scanner_finish(lua_State *L)
{
    return push_report(L, ap_own_check(L, 1, SCANNER));
}

static int l_metric_scan(lua_State *L)
{
    size_t count;
    const char *bytes = luaL_checklstring(L, 1, &count);
    struct scanner *scanner = push_scanner(L);
    lua_toclose(L, -1);
    ap_metric_feed(scanner->metric, bytes, count);
    return push_report(L, scanner);
}

static int l_metric_scan_file(lua_State *L)
{
    struct ap_err err;
    size_t length;
    const char *path = luaL_checklstring(L, 1, &length);
    luaL_argcheck(L, strlen(path) == length, 1, "path has a NUL");
    struct scanner *scanner = push_scanner(L);
    lua_toclose(L, -1);
    if (ap_metric_file(scanner->metric, path, &err) != 0)
        return ap_own_fail(L, &err);
    return push_report(L, scanner);
}

int luaopen_apsis_metric(lua_State *L)
{
    static const luaL_Reg methods[] = {{"feed", l_scanner_feed}, {"finish", l_scanner_finish}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"scanner", l_metric_scanner},
        {"scan", l_metric_scan},
        {"scan_file", l_metric_scan_file},
        {NULL, NULL},
    };
    ap_own_class(L, SCANNER, methods);
    luaL_getmetatable(L, SCANNER);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, "__sink");
    luaL_newlib(L, functions);
    return 1;
}
