/* SPDX-License-Identifier: MIT */
/* lhttp: apsis.http. Turns a table into a request, a handle into something to wait for, and its end into a table.
 * Raises on: wrong types, unknown options and methods, invalid headers, zero bytes in strings, closed handles. Returns
 * nil, err, code on: everything that the network refuses (EURL, ERESOLVE, ECONNECT, ETIMEDOUT, ETLS, ETOOBIG, ESEND,
 * ERECV), a missing libcurl (ENOLIB), a wait that a signal interrupted (EINTR). */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/bindings.h"
#include "http/http.h"
#include "wait/lwait.h"

#define HTTP "apsis.http"
#define TOKEN "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" /* RFC 9110, 5.6.2 */

enum { SPEC = 1, URL, METHOD, BODY, HEADERS, HEADER_ARRAY, HANDLE }; /* the stack of a request */
_Static_assert((int)AP_HTTP_FDS <= (int)AP_WAITABLE_FDS, "a transfer's descriptors fit into a poll");

struct request {
    struct ap_waitable base;
    struct ap_http *http;
};

/* ---- the handle as a waitable ---- */

static int request_fds(void *self, struct pollfd *fds, int room)
{
    return ap_http_fds(((struct request *)self)->http, fds, room);
}

static void request_step(void *self, const struct pollfd *fds, int count)
{
    ap_http_step(((struct request *)self)->http, fds, count);
}

static int request_done(void *self)
{
    struct request *request = self;
    return request->http == NULL || ap_http_done(request->http);
}

static long long request_deadline_ns(void *self)
{
    return ap_http_deadline_ns(((struct request *)self)->http);
}

static const struct ap_waitable_ops request_ops = {request_fds, request_step, request_done, request_deadline_ns};

static void request_close(void *self)
{
    struct request *request = self;
    ap_http_close(request->http);
    request->http = NULL;
}

/* ---- the spec ---- */

static void check_keys(lua_State *L)
{
    static const char *const keys[] = {
        "url", "method", "headers", "body", "timeout_s", "connect_timeout_s", "max_bytes", NULL};
    lua_pushnil(L);
    for (; lua_next(L, SPEC) != 0; lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        int i = 0;
        while (keys[i] != NULL && strcmp(key, keys[i]) != 0)
            i++;
        if (keys[i] == NULL)
            luaL_error(L,
                "unknown option '%s'; allowed: url, method, headers, body, timeout_s, connect_timeout_s, max_bytes",
                key);
    }
}

/* Pushes the option, which stays on the stack while C holds its bytes; NULL if it is missing. */
static const char *opt_string(lua_State *L, const char *key, size_t *size)
{
    int type = lua_getfield(L, SPEC, key);
    if (type == LUA_TNIL)
        return NULL;
    if (type != LUA_TSTRING)
        luaL_error(L, "%s must be a string, not a %s", key, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, size);
    return text;
}

static double opt_number(lua_State *L, const char *key, double missing, double least)
{
    int type = lua_getfield(L, SPEC, key);
    if (type != LUA_TNIL && type != LUA_TNUMBER)
        luaL_error(L, "%s must be a number, not a %s", key, luaL_typename(L, -1));
    double number = type == LUA_TNIL ? missing : lua_tonumber(L, -1);
    if (!(number >= least)) /* NaN too */
        luaL_error(L, "%s must be at least %f", key, least);
    lua_pop(L, 1);
    return number;
}

static const char *check_url(lua_State *L)
{
    size_t size;
    const char *url = opt_string(L, "url", &size);
    if (url == NULL)
        luaL_error(L, "url is missing");
    else if (strlen(url) != size)
        luaL_error(L, "url contains a zero byte");
    return url;
}

static const char *check_method(lua_State *L)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", NULL};
    size_t size;
    const char *method = opt_string(L, "method", &size);
    for (int i = 0; methods[i] != NULL && method != NULL; i++)
        if (strcmp(methods[i], method) == 0)
            return methods[i];
    if (method != NULL)
        luaL_error(L, "method '%s' is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", method);
    return methods[0];
}

/* A line end would let a value forge other headers. The value is never shown: it may be a key. */
static void check_header(lua_State *L, struct ap_http_header *out)
{
    size_t name_size, size;
    if (lua_type(L, -2) != LUA_TSTRING)
        luaL_error(L, "headers: names must be strings");
    const char *name = lua_tolstring(L, -2, &name_size);
    size_t good = strspn(name, TOKEN);
    if (good == 0 || good != name_size) /* shortened: a secret may be in the wrong place */
        luaL_error(L, "headers: a name consists of letters, digits and -, not '%s...'", lua_pushlstring(L, name, good));
    if (strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0)
        luaL_error(L, "headers: %s cannot be set: it follows from the body", name);
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "headers: %s must be a string, not a %s", name, luaL_typename(L, -1));
    const char *value = lua_tolstring(L, -1, &size);
    if (strlen(value) != size || strpbrk(value, "\r\n") != NULL)
        luaL_error(L, "headers: the value of %s has a line end or a zero byte in it", name);
    *out = (struct ap_http_header){name, value};
}

static void check_headers(lua_State *L, struct ap_http_spec *spec)
{
    int type = lua_getfield(L, SPEC, "headers");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        luaL_error(L, "headers must be a table of names and values, not a %s", luaL_typename(L, HEADERS));
    size_t count = 0;
    for (lua_pushnil(L); type == LUA_TTABLE && lua_next(L, HEADERS) != 0; lua_pop(L, 1))
        count++;
    lua_settop(L, HEADERS);
    struct ap_http_header *array = lua_newuserdatauv(L, (count + 1) * sizeof *array, 0);
    for (lua_pushnil(L); type == LUA_TTABLE && lua_next(L, HEADERS) != 0; lua_pop(L, 1))
        check_header(L, &array[spec->header_count++]);
    lua_settop(L, HEADER_ARRAY);
    spec->headers = array;
}

static void check_spec(lua_State *L, struct ap_http_spec *spec)
{
    luaL_checktype(L, SPEC, LUA_TTABLE);
    lua_settop(L, SPEC);
    check_keys(L);
    spec->url = check_url(L);
    spec->method = check_method(L);
    spec->body = opt_string(L, "body", &spec->body_count);
    if (spec->body != NULL && strcmp(spec->method, "HEAD") == 0)
        luaL_error(L, "body: a HEAD request has none");
    check_headers(L, spec);
    spec->timeout_ms = (long)ceil(fmin(opt_number(L, "timeout_s", 600, 0.001), 2e6) * 1000);
    spec->connect_timeout_ms = (long)ceil(fmin(opt_number(L, "connect_timeout_s", 30, 0.001), 2e6) * 1000);
    spec->max_bytes = (size_t)fmin(opt_number(L, "max_bytes", 64 << 20, 0), 1LL << 40);
}

/* ---- the result ---- */

/* The table is on top; a repeated header is appended after ", " (RFC 9110, 5.2). */
static void add_header(lua_State *L, const char *name, const char *value)
{
    if (lua_getfield(L, -1, name) == LUA_TNIL)
        lua_pushstring(L, value);
    else
        lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), value);
    lua_setfield(L, -3, name);
    lua_pop(L, 1);
}

/* Pushes nil, err, code and the bytes transferred, for callers who are billed by the byte. */
static int push_failure(lua_State *L, const struct ap_http *http, const struct ap_err *err)
{
    struct ap_http_moved moved = ap_http_moved(http);
    int count = ap_own_fail(L, err);
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, (lua_Integer)moved.sent);
    lua_setfield(L, -2, "sent");
    lua_pushinteger(L, (lua_Integer)moved.received);
    lua_setfield(L, -2, "received");
    return count + 1;
}

/* Pushes the response, or nil, err, code, moved. */
static int push_result(lua_State *L, int handle)
{
    const struct request *request = lua_touserdata(L, handle);
    struct ap_http_result result;
    struct ap_err err;
    if (ap_http_result(&result, request->http, &err) != 0)
        return push_failure(L, request->http, &err);
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, result.status);
    lua_setfield(L, -2, "status");
    lua_pushlstring(L, result.body_count > 0 ? result.body : "", result.body_count);
    lua_setfield(L, -2, "body");
    lua_pushnumber(L, result.seconds);
    lua_setfield(L, -2, "seconds");
    lua_newtable(L);
    for (size_t at = 0; at < result.headers_count;) {
        const char *name = result.headers + at, *value = name + strlen(name) + 1;
        add_header(L, name, value);
        at += strlen(name) + strlen(value) + 2;
    }
    lua_setfield(L, -2, "headers");
    return 1;
}

/* ---- functions and methods ---- */

/* Leaves the stack of a request; 0, or -1 with err. */
static int start(lua_State *L, struct ap_err *err)
{
    struct ap_http_spec spec = {0};
    check_spec(L, &spec);
    struct request *request = ap_own_new(L, sizeof *request, HTTP, request_close);
    request->base.ops = &request_ops;
    if (ap_http_start(&request->http, &spec, err) != 0)
        return -1;
    request->base.own.open = true;
    return 0;
}

/* start(spec) -> handle | nil, err, code */
static int l_http_start(lua_State *L)
{
    struct ap_err err;
    return start(L, &err) == 0 ? 1 : ap_own_fail(L, &err);
}

static int request_k(lua_State *L, int status, lua_KContext ctx)
{
    struct request *request = lua_touserdata(L, HANDLE);
    if (request_done(request))
        return push_result(L, HANDLE);
    return status == AP_LWAIT_INTERRUPTED ? ap_lwait_fail_interrupted(L) : ap_lwait_await(L, HANDLE, request_k, ctx);
}

/* request(spec) -> response | nil, err, code, moved. The handle is to-be-closed: the request ends when this returns or
 * raises, or its coroutine is closed. */
static int l_http_request(lua_State *L)
{
    struct ap_err err;
    if (start(L, &err) != 0)
        return ap_own_fail(L, &err);
    lua_toclose(L, HANDLE);
    return ap_lwait_await(L, HANDLE, request_k, 0);
}

static int wait_k(lua_State *L, int status, lua_KContext ctx)
{
    struct request *request = ap_own_check(L, 1, HTTP); /* it may have been closed meanwhile */
    if (request_done(request))
        return push_result(L, 1);
    return status == AP_LWAIT_INTERRUPTED ? ap_lwait_fail_interrupted(L) : ap_lwait_await(L, 1, wait_k, ctx);
}

/* handle:wait() -> response | nil, err, code, moved */
static int l_http_wait(lua_State *L)
{
    ap_own_check(L, 1, HTTP);
    return ap_lwait_await(L, 1, wait_k, 0);
}

/* handle:result() -> response | nil while it runs | nil, err, code, moved */
static int l_http_result(lua_State *L)
{
    struct request *request = ap_own_check(L, 1, HTTP);
    return request_done(request) ? push_result(L, 1) : 0;
}

int luaopen_apsis_http(lua_State *L)
{
    static const luaL_Reg functions[] = {{"start", l_http_start}, {"request", l_http_request}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"wait", l_http_wait}, {"result", l_http_result}, {NULL, NULL}};
    ap_own_class(L, HTTP, methods);
    ap_lwait_class(L, HTTP);
    luaL_newlib(L, functions);
    return 1;
}
