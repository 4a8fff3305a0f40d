/* SPDX-License-Identifier: MIT */
/* ljsonwrite: from Lua's values to JSON's text, printed into one buffer. What JSON cannot say raises, naming its place.
 * Called by Lua as apsis.json.encode, for every line of the journal. */
#define _GNU_SOURCE
#include "ljson.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/* One table being written, on the C stack; the chain of them names the place of an error and finds cycles. */
struct frame {
    const struct frame *up;
    const void *table;
    const char *key; /* NULL in an array */
    size_t key_length;
    lua_Integer index;
};

struct writer {
    lua_State *L;
    struct ap_buf *out, *keys; /* keys: a stack of struct key, one span per object being written */
    const void *null, *array;
    bool pretty, sorted;
};

struct key {
    const char *bytes; /* held by the table */
    size_t length;
};

static void add_place(lua_State *L, struct ap_buf *buf, const struct frame *frame)
{
    char index[32];
    if (frame == NULL) {
        ap_json_add(L, buf, "$", 1);
        return;
    }
    add_place(L, buf, frame->up);
    if (frame->key != NULL) {
        ap_json_add(L, buf, ".", 1);
        ap_json_add(L, buf, frame->key, frame->key_length);
    } else if (frame->index > 0) {
        ap_json_add(L, buf, index, (size_t)snprintf(index, sizeof index, "[%lld]", (long long)frame->index));
    }
}

/* Raises, naming the place. */
static int refuse_value(struct writer *out, const struct frame *frame, const char *message)
{
    struct ap_buf *place = out->keys;
    place->used = 0;
    add_place(out->L, place, frame);
    if (place->used > 300) /* a thousand levels: their beginning is enough */
        place->used = 300;
    lua_pushlstring(out->L, place->bytes, place->used);
    return luaL_error(out->L, "cannot encode as JSON: %s: %s", lua_tostring(out->L, -1), message);
}

static void write_bytes(struct writer *out, const char *bytes, size_t count)
{
    ap_json_add(out->L, out->out, bytes, count);
}

/* Control characters are escaped that JSON would let be, too: a line is also read on terminals. */
static void write_string(struct writer *out, const char *text, size_t length)
{
    static const char names[] = {
        ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    const unsigned char *at = (const unsigned char *)text, *end = at + length, *run = at;
    write_bytes(out, "\"", 1);
    while (at < end) {
        if (*at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') {
            at++;
            continue;
        }
        size_t valid = *at >= 0x80 ? ap_json_utf8_length(at, end) : 0;
        bool control = valid == 2 && at[0] == 0xc2 && at[1] < 0xa0; /* C1: U+009B begins a sequence */
        if (valid > 0 && !control) {
            at += valid;
            continue;
        }
        char escape[8] = {'\\', *at < sizeof names ? names[*at] : '\0'};
        size_t count = 2;
        if (control) {
            write_bytes(out, (const char *)run, (size_t)(at - run));
            run = ++at;
            count = (size_t)snprintf(escape, sizeof escape, "\\u%04x", *at);
        } else if (*at >= 0x80) {
            memcpy(escape, AP_JSON_REPLACEMENT, count = 3);
        } else if (escape[1] == '\0') {
            count = (size_t)snprintf(escape, sizeof escape, "\\u%04x", *at);
        }
        write_bytes(out, (const char *)run, (size_t)(at - run));
        write_bytes(out, escape, count);
        run = ++at;
    }
    write_bytes(out, (const char *)run, (size_t)(at - run));
    write_bytes(out, "\"", 1);
}

static void write_integer(struct writer *out, lua_Integer value)
{
    char text[24], *at = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        *--at = '-';
    write_bytes(out, at, (size_t)(text + sizeof text - at));
}

static void write_float(struct writer *out, const struct frame *frame, double value)
{
    char text[40];
    int length = 0;
    if (!isfinite(value))
        refuse_value(out, frame, isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf");
    if (fabs(value) < 1e15 && value == floor(value) && !(value == 0 && signbit(value))) {
        write_integer(out, (lua_Integer)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        length = ap_json_print_double(text, sizeof text, digits, value);
        if (digits == 17 || ap_json_to_double(text) == value)
            break;
    }
    write_bytes(out, text, (size_t)length);
}

static void write_value(struct writer *out, const struct frame *frame, int depth);

static void write_line(struct writer *out, int depth)
{
    if (!out->pretty)
        return;
    write_bytes(out, "\n", 1);
    for (int i = 0; i < depth; i++)
        write_bytes(out, "  ", 2);
}

/* The table is on top of the stack, as for the others below. */
static void write_array(struct writer *out, struct frame *frame, int depth, lua_Integer count)
{
    write_bytes(out, "[", 1);
    for (lua_Integer i = 1; i <= count; i++) {
        if (i > 1)
            write_bytes(out, ",", 1);
        write_line(out, depth);
        frame->index = i;
        if (lua_rawgeti(out->L, -1, i) == LUA_TNIL)
            write_bytes(out, "null", 4);
        else
            write_value(out, frame, depth);
        lua_pop(out->L, 1);
    }
    if (count > 0)
        write_line(out, depth - 1);
    write_bytes(out, "]", 1);
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static void write_member(struct writer *out, struct frame *frame, int depth, struct key key, bool first)
{
    if (!first)
        write_bytes(out, ",", 1);
    write_line(out, depth);
    write_string(out, key.bytes, key.length);
    write_bytes(out, ": ", out->pretty ? 2 : 1);
    frame->key = key.bytes;
    frame->key_length = key.length;
    write_value(out, frame, depth);
}

static void write_object(struct writer *out, struct frame *frame, int depth, size_t keys_before)
{
    lua_State *L = out->L;
    size_t count = (out->keys->used - keys_before) / sizeof(struct key);
    write_bytes(out, "{", 1);
    if (count > 1 && out->sorted)
        qsort(out->keys->bytes + keys_before, count, sizeof(struct key), compare_keys);
    for (size_t i = 0; i < count; i++) {
        /* copied each time: writing a member may move the buffer */
        struct key key;
        memcpy(&key, out->keys->bytes + keys_before + i * sizeof key, sizeof key);
        lua_pushlstring(L, key.bytes, key.length);
        lua_rawget(L, -2);
        write_member(out, frame, depth, key, i == 0);
        lua_pop(L, 1);
    }
    if (count > 0)
        write_line(out, depth - 1);
    write_bytes(out, "}", 1);
    out->keys->used = keys_before;
}

/* Looks at all keys once: string keys go to out->keys, *most is the largest index, *count how many indices. */
static void scan_keys(struct writer *out, const struct frame *frame, lua_Integer *most, lua_Integer *count)
{
    lua_State *L = out->L;
    size_t before = out->keys->used;
    *most = *count = 0;
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        struct key key;
        if (lua_type(L, -2) == LUA_TSTRING) {
            key.bytes = lua_tolstring(L, -2, &key.length);
            ap_json_add(L, out->keys, (const char *)&key, sizeof key);
        } else if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1) {
            lua_Integer index = lua_tointeger(L, -2);
            *most = index > *most ? index : *most;
            ++*count;
        } else {
            lua_pushfstring(L, "a key is %s, not a string or an index", luaL_tolstring(L, -2, NULL));
            refuse_value(out, frame, lua_tostring(L, -1));
        }
        if (*count > 0 && out->keys->used > before)
            refuse_value(out, frame, "string keys and indices are mixed");
    }
}

static void write_table(struct writer *out, const struct frame *up, int depth)
{
    lua_State *L = out->L;
    struct frame frame = {.up = up, .table = lua_topointer(L, -1)};
    if (depth > AP_JSON_DEPTH)
        refuse_value(out, up, "nested too deeply (more than 1000 levels)");
    for (const struct frame *above = up; above != NULL; above = above->up)
        if (above->table == frame.table)
            refuse_value(out, up, "the table contains itself");
    luaL_checkstack(L, 8, "JSON");
    bool marked = lua_getmetatable(L, -1) != 0;
    if (marked) {
        marked = lua_topointer(L, -1) == out->array;
        lua_pop(L, 1);
    }
    size_t keys_before = out->keys->used;
    lua_Integer most, count;
    scan_keys(out, up, &most, &count);
    if (marked && out->keys->used > keys_before)
        refuse_value(out, up, "an array has string keys");
    if (!marked && most != count)
        refuse_value(out, up, "indices have gaps (json.array fills them with null)");
    if (most > count && most / 16 > count + 4096)
        refuse_value(out, up, "an array is almost empty");
    if (marked || most > 0)
        write_array(out, &frame, depth, most);
    else
        write_object(out, &frame, depth, keys_before);
}

/* Writes the value on top of the stack and leaves it there. */
static void write_value(struct writer *out, const struct frame *frame, int depth)
{
    lua_State *L = out->L;
    size_t length;
    const char *text;
    switch (lua_type(L, -1)) {
    case LUA_TSTRING:
        text = lua_tolstring(L, -1, &length);
        write_string(out, text, length);
        return;
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1))
            write_integer(out, lua_tointeger(L, -1));
        else
            write_float(out, frame, lua_tonumber(L, -1));
        return;
    case LUA_TBOOLEAN:
        text = lua_toboolean(L, -1) ? "true" : "false";
        write_bytes(out, text, strlen(text));
        return;
    case LUA_TTABLE:
        write_table(out, frame, depth + 1);
        return;
    default:
        if (lua_touserdata(L, -1) != out->null)
            refuse_value(out, frame, lua_pushfstring(L, "a %s", luaL_typename(L, -1)));
        write_bytes(out, "null", 4);
    }
}

/* Reads {pretty =, sorted =} at index 2. */
static void check_options(lua_State *L, struct writer *out)
{
    luaL_checktype(L, 2, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        bool *option = strcmp(name, "pretty") == 0 ? &out->pretty : strcmp(name, "sorted") == 0 ? &out->sorted : NULL;
        if (option == NULL)
            luaL_error(L, "unknown option '%s' (known: pretty sorted)", luaL_tolstring(L, -2, NULL));
        if (!lua_isboolean(L, -1))
            luaL_error(L, "option '%s' must be a boolean", name);
        *option = lua_toboolean(L, -1);
    }
}

int ap_json_encode(lua_State *L)
{
    struct writer out = {.L = L, .sorted = true};
    luaL_checkany(L, 1);
    if (!lua_isnoneornil(L, 2))
        check_options(L, &out);
    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &ap_json_null_key);
    out.null = lua_touserdata(L, -1);
    luaL_getmetatable(L, AP_JSON_ARRAY);
    out.array = lua_topointer(L, -1);
    out.out = ap_own_buf(L);
    out.keys = ap_own_buf(L);
    lua_pushvalue(L, 1);
    write_value(&out, NULL, 0);
    lua_pushlstring(L, out.out->bytes, out.out->used);
    return 1;
}
