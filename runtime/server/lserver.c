/* SPDX-License-Identifier: MIT */
/* lserver: apsis.server. A server as something to wait for, its requests as tables. Raises on: wrong types, ports and
 * statuses out of range, header names and values that could forge others, a closed server. Returns nil, err, code on: a
 * port that is taken (EADDRINUSE), a missing libmicrohttpd (ENOLIB), a client that has gone (ENOENT) or does not read
 * (EFULL), ENOMEM. */
#include <string.h>

#include "base/bindings.h"
#include "server/server.h"
#include "wait/lwait.h"

#define SERVER "apsis.server"
#define TOKEN "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" /* RFC 9110, 5.6.2 */

enum { SELF = 1, ID, STATUS, HEADERS, BODY, HEADER_ARRAY };

struct box {
    struct ap_waitable base;
    struct ap_server *server;
};

/* ---- the handle as a waitable ---- */

static int box_fds(void *self, struct pollfd *fds, int room)
{
    (void)room;
    fds[0] = (struct pollfd){.fd = ap_server_fd(((struct box *)self)->server), .events = POLLIN};
    return 1;
}

static void box_step(void *self, const struct pollfd *fds, int count)
{
    (void)fds;
    (void)count;
    ap_server_step(((struct box *)self)->server);
}

static int box_done(void *self)
{
    struct box *box = self;
    return !box->base.own.open || ap_server_waiting(box->server);
}

static long long box_deadline_ns(void *self)
{
    return ap_server_deadline_ns(((struct box *)self)->server);
}

static const struct ap_waitable_ops box_ops = {box_fds, box_step, box_done, box_deadline_ns};

static void box_close(void *self)
{
    struct box *box = self;
    ap_server_close(box->server);
    box->server = NULL;
}

/* ---- arguments ---- */

static struct ap_server *check_server(lua_State *L)
{
    return ((struct box *)ap_own_check(L, SELF, SERVER))->server;
}

/* The name is at -2, the value at -1. */
static struct ap_server_header check_header(lua_State *L)
{
    luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING, HEADERS,
        "names and values must be strings");
    size_t name_size, size;
    const char *name = lua_tolstring(L, -2, &name_size), *value = lua_tolstring(L, -1, &size);
    luaL_argcheck(L, name_size > 0 && strspn(name, TOKEN) == name_size, HEADERS, "not a header's name");
    luaL_argcheck(L, strlen(value) == size && strpbrk(value, "\r\n") == NULL, HEADERS,
        "a value has a line end or a zero byte in it");
    return (struct ap_server_header){name, value};
}

/* Pushes an array of the headers at HEADERS; how many. The table keeps their texts. */
static size_t check_headers(lua_State *L, struct ap_server_header **out)
{
    size_t count = 0, at = 0;
    luaL_checktype(L, HEADERS, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, HEADERS) != 0; lua_pop(L, 1))
        count++;
    struct ap_server_header *array = lua_newuserdatauv(L, (count + 1) * sizeof *array, 0);
    for (lua_pushnil(L); lua_next(L, HEADERS) != 0; lua_pop(L, 1))
        array[at++] = check_header(L);
    *out = array;
    return count;
}

/* ---- functions and methods ---- */

/* open(port) -> server | nil, err, code */
static int l_server_open(lua_State *L)
{
    lua_Integer port = luaL_checkinteger(L, 1);
    luaL_argcheck(L, port >= 0 && port <= 65535, 1, "a port is from 0 to 65535");
    struct box *box = ap_own_new(L, sizeof *box, SERVER, box_close);
    struct ap_err err;
    box->base.ops = &box_ops;
    if (ap_server_open(&box->server, (int)port, &err) != 0)
        return ap_own_fail(L, &err);
    box->base.own.open = true;
    return 1;
}

/* server:port() -> integer */
static int l_server_port(lua_State *L)
{
    lua_pushinteger(L, ap_server_port(check_server(L)));
    return 1;
}

/* server:take() -> request | nil */
static int l_server_take(lua_State *L)
{
    struct ap_server_request request;
    if (!ap_server_take(&request, check_server(L)))
        return 0;
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, request.id);
    lua_setfield(L, -2, "id");
    lua_pushstring(L, request.method);
    lua_setfield(L, -2, "method");
    lua_pushstring(L, request.path);
    lua_setfield(L, -2, "path");
    if (request.too_large)
        lua_pushnil(L);
    else
        lua_pushlstring(L, request.body_count > 0 ? request.body : "", request.body_count);
    lua_setfield(L, -2, "body");
    lua_newtable(L);
    for (size_t at = 0; at < request.headers_count;) { /* of a repeated one the last */
        const char *name = request.headers + at, *value = name + strlen(name) + 1;
        lua_pushstring(L, value);
        lua_setfield(L, -2, name);
        at += strlen(name) + strlen(value) + 2;
    }
    lua_setfield(L, -2, "headers");
    return 1;
}

/* server:answer(id, status, headers[, body]) -> true | nil, err, code */
static int l_server_answer(lua_State *L)
{
    struct ap_server *server = check_server(L);
    lua_Integer id = luaL_checkinteger(L, ID), status = luaL_checkinteger(L, STATUS);
    luaL_argcheck(L, status >= 200 && status <= 599, STATUS, "a status is from 200 to 599");
    size_t body_count = 0;
    const char *body = lua_isnoneornil(L, BODY) ? NULL : luaL_checklstring(L, BODY, &body_count);
    lua_settop(L, BODY);
    struct ap_server_header *headers;
    size_t count = check_headers(L, &headers);
    struct ap_err err;
    return ap_own_done(L, ap_server_answer(server, id, (int)status, headers, count, body, body_count, &err), &err);
}

/* server:send(id, text) -> true | nil, err, code */
static int l_server_send(lua_State *L)
{
    struct ap_server *server = check_server(L);
    lua_Integer id = luaL_checkinteger(L, 2);
    size_t count;
    const char *bytes = luaL_checklstring(L, 3, &count);
    struct ap_err err;
    return ap_own_done(L, ap_server_send(server, id, bytes, count, &err), &err);
}

/* server:finish(id) -> true | nil, err, code */
static int l_server_finish(lua_State *L)
{
    struct ap_server *server = check_server(L);
    struct ap_err err;
    return ap_own_done(L, ap_server_finish(server, luaL_checkinteger(L, 2), &err), &err);
}

int luaopen_apsis_server(lua_State *L)
{
    static const luaL_Reg functions[] = {{"open", l_server_open}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"port", l_server_port}, {"take", l_server_take}, {"answer", l_server_answer},
        {"send", l_server_send}, {"finish", l_server_finish}, {NULL, NULL}};
    ap_own_class(L, SERVER, methods);
    ap_lwait_class(L, SERVER);
    luaL_newlib(L, functions);
    return 1;
}
