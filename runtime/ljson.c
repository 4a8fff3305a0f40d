/* SPDX-License-Identifier: MIT */
/* ljson: JSON for Lua, in one pass each way: the reader pushes Lua values as it checks the text, the writer prints into a buffer.
 * No tree in between, and no library: a tree of doubles loses 64-bit integers and NUL, and what such a parser lets pass (duplicate
 * keys, trailing text, "01") would have to be found by a full reading beforehand anyway; measured, this is also several times
 * faster. Numbers go both ways exactly; invalid UTF-8 becomes U+FFFD; null is one userdata, shared with apsis.yaml. Opened by
 * host.c as apsis.json. */
#define _GNU_SOURCE
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings.h"
#include "own.h"

#define ARRAY "apsis.array"

enum { DEPTH = 1000 };

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
static locale_t c_locale;                         /* numbers have a point, whatever os.setlocale was told */
static const char null_key;                       /* its address is where the registry keeps null */

/* The length of the valid UTF-8 sequence at `at`, or 0: no overlong forms, no surrogates, nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *at, const unsigned char *end)
{
    static const unsigned char lowest[] = {[0] = 0, [2] = 0x80, [3] = 0x80, [4] = 0x80};
    size_t length = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
    if (length < 2)
        return length;
    if ((size_t)(end - at) < length)
        return 0;
    unsigned char low = *at == 0xE0 ? 0xA0 : *at == 0xF0 ? 0x90 : lowest[length];
    unsigned char high = *at == 0xED ? 0x9F : *at == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xBF)
            return 0;
    return length;
}

static void add(lua_State *L, struct ap_buf *buf, const char *bytes, size_t count)
{
    if (ap_buf_add(buf, bytes, count) != 0)
        luaL_error(L, "out of memory");
}

/* ---- reading ---- */

struct reader {
    lua_State *L;
    const char *start, *at, *end; /* end points to the NUL that every Lua string has */
    struct ap_buf *scratch;
    const void *dropped; /* null, where members that are null are left out; else NULL */
    struct ap_err err;
};

/* Notes what is wrong at `where`; -1. */
static int refuse(struct reader *in, const char *where, const char *message, const char *detail)
{
    int line = 1;
    const char *begin = in->start;
    for (const char *at = in->start; at < where; at++)
        if (*at == '\n') {
            line++;
            begin = at + 1;
        }
    return ap_err_set(&in->err, "EJSON", "%d:%d: %s%.200s", line, (int)(where - begin) + 1, message, detail);
}

static void skip_blanks(struct reader *in)
{
    while (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t')
        in->at++;
}

static int hex4(const char *at)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static void add_code_point(struct reader *in, unsigned code)
{
    char out[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[length] | code);
    add(in->L, in->scratch, out, length);
}

/* After a backslash. */
static int read_escape(struct reader *in)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *found = *in->at != '\0' ? strchr(names, *in->at) : NULL;
    if (found != NULL) {
        in->at++;
        add(in->L, in->scratch, values + (found - names), 1);
        return 0;
    }
    int code = *in->at == 'u' ? hex4(in->at + 1) : -1;
    if (code < 0)
        return refuse(in, in->at - 1, "malformed escape", "");
    in->at += 5;
    if (code >= 0xD800 && code <= 0xDFFF) {
        int low = code < 0xDC00 && in->at[0] == '\\' && in->at[1] == 'u' ? hex4(in->at + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            code = 0xFFFD; /* half of a pair; what follows is read for itself */
        } else {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            in->at += 6;
        }
    }
    add_code_point(in, (unsigned)code);
    return 0;
}

/* Pushes the string whose opening quote is at `at`. Text without escapes goes straight to Lua. */
static int read_string(struct reader *in)
{
    const char *opening = in->at++, *run = in->at;
    in->scratch->used = 0;
    bool copied = false;
    for (;;) {
        unsigned char c = (unsigned char)*in->at;
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            in->at++;
            continue;
        }
        size_t length = c >= 0x80 ? utf8_length((const unsigned char *)in->at, (const unsigned char *)in->end) : 0;
        if (length > 0) {
            in->at += length;
            continue;
        }
        if (c == '"' && !copied) {
            lua_pushlstring(in->L, run, (size_t)(in->at++ - run));
            return 0;
        }
        if (in->at == in->end)
            return refuse(in, opening, "string without a closing quote", "");
        if (c < 0x20)
            return refuse(in, in->at, "control character in a string", "");
        add(in->L, in->scratch, run, (size_t)(in->at++ - run));
        copied = true;
        if (c == '"') {
            lua_pushlstring(in->L, in->scratch->used > 0 ? in->scratch->bytes : "", in->scratch->used);
            return 0;
        }
        if (c >= 0x80)
            add(in->L, in->scratch, replacement, 3);
        else if (read_escape(in) != 0)
            return -1;
        run = in->at;
    }
}

static int read_number(struct reader *in)
{
    const char *start = in->at, *at = start + (*start == '-'), *digits = at;
    bool is_integer = true;
    while (*at >= '0' && *at <= '9')
        at++;
    if (at == digits || (*digits == '0' && at - digits > 1))
        return refuse(in, start, "malformed number", "");
    int count = (int)(at - digits > 100 ? 100 : at - digits);
    if (*at == '.') {
        const char *point = at++;
        while (*at >= '0' && *at <= '9')
            at++;
        if (at == point + 1)
            return refuse(in, start, "malformed number", "");
        is_integer = false;
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        const char *exponent = at;
        while (*at >= '0' && *at <= '9')
            at++;
        if (at == exponent)
            return refuse(in, start, "malformed number", "");
        is_integer = false;
    }
    in->at = at;
    if (is_integer && count <= 19 && !(*start == '-' && *digits == '0')) { /* -0 is a float, or its sign would be lost */
        uint64_t value = 0, limit = (uint64_t)INT64_MAX + (*start == '-');
        for (int i = 0; i < count; i++)
            value = value * 10 + (uint64_t)(digits[i] - '0');
        if (value <= limit) {
            lua_pushinteger(in->L, *start == '-' ? (lua_Integer)(0 - value) : (lua_Integer)value);
            return 0;
        }
    }
    locale_t before = uselocale(c_locale);
    double value = strtod(start, NULL);
    uselocale(before);
    if (!isfinite(value))
        return refuse(in, start, "number is not finite", "");
    lua_pushnumber(in->L, value);
    return 0;
}

static int read_value(struct reader *in, int depth);

/* What stands after an element: 1 goes on, 0 ends, -1 is wrong. */
static int read_separator(struct reader *in, char closing, const char *message)
{
    skip_blanks(in);
    if (*in->at != ',' && *in->at != closing)
        return refuse(in, in->at, message, "");
    return *in->at++ == ',';
}

static int read_array(struct reader *in, int depth)
{
    lua_State *L = in->L;
    lua_newtable(L);
    luaL_setmetatable(L, ARRAY);
    in->at++;
    skip_blanks(in);
    if (*in->at == ']') {
        in->at++;
        return 0;
    }
    for (lua_Integer i = 1;; i++) {
        if (read_value(in, depth) != 0)
            return -1;
        lua_rawseti(L, -2, i);
        int more = read_separator(in, ']', "expected ',' or ']'");
        if (more <= 0)
            return more;
    }
}

/* Moves the members gathered above `base` (offset, key, value each) into the table there, which is made in its size when the first
 * come: growing a table member by member costs as much as all the rest. */
static int move_members(struct reader *in, int base)
{
    lua_State *L = in->L;
    int top = lua_gettop(L);
    if (lua_isnil(L, base)) {
        lua_createtable(L, 0, (top - base) / 3);
        lua_replace(L, base);
    }
    for (int at = base + 1; at < top; at += 3) {
        lua_pushvalue(L, at + 1);
        if (lua_rawget(L, base) != LUA_TNIL)
            return refuse(in, in->start + lua_tointeger(L, at), "duplicate key ", lua_tostring(L, at + 1));
        lua_pushvalue(L, at + 1);
        lua_pushvalue(L, at + 2);
        lua_rawset(L, base);
        lua_settop(L, top);
    }
    lua_settop(L, base);
    return 0;
}

static int read_member(struct reader *in, int depth)
{
    skip_blanks(in);
    if (*in->at != '"')
        return refuse(in, in->at, "expected a key in quotes", "");
    lua_pushinteger(in->L, in->at - in->start);
    if (read_string(in) != 0)
        return -1;
    skip_blanks(in);
    if (*in->at != ':')
        return refuse(in, in->at, "expected ':'", "");
    in->at++;
    return read_value(in, depth);
}

static int read_object(struct reader *in, int depth)
{
    lua_State *L = in->L;
    lua_pushnil(L);
    int base = lua_gettop(L), more = 1;
    in->at++;
    skip_blanks(in);
    if (*in->at == '}') {
        in->at++;
        return move_members(in, base);
    }
    for (int count = 1; more; count++) {
        luaL_checkstack(L, 12, "JSON");
        if (read_member(in, depth) != 0 || (more = read_separator(in, '}', "expected ',' or '}'")) < 0)
            return -1;
        if (in->dropped != NULL && lua_touserdata(L, -1) == in->dropped)
            lua_pop(L, 3);
        if ((count % 64 == 0 || !more) && move_members(in, base) != 0)
            return -1;
    }
    return 0;
}

static int read_word(struct reader *in)
{
    if (strncmp(in->at, "true", 4) == 0 || strncmp(in->at, "null", 4) == 0) {
        if (*in->at == 't')
            lua_pushboolean(in->L, 1);
        else
            lua_rawgetp(in->L, LUA_REGISTRYINDEX, &null_key);
        in->at += 4;
        return 0;
    }
    if (strncmp(in->at, "false", 5) == 0) {
        lua_pushboolean(in->L, 0);
        in->at += 5;
        return 0;
    }
    if (in->at == in->end)
        return refuse(in, in->at, "the text ends where a value is expected", "");
    return refuse(in, in->at, "expected a value", "");
}

/* Pushes one value; -1 and in->err otherwise (what is on the stack then is the caller's to drop). */
static int read_value(struct reader *in, int depth)
{
    skip_blanks(in);
    char c = *in->at;
    if (c == '"')
        return read_string(in);
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(in);
    if (c != '{' && c != '[')
        return read_word(in);
    if (depth >= DEPTH)
        return refuse(in, in->at, "nested too deeply (more than 1000 levels)", "");
    luaL_checkstack(in->L, 6, "JSON");
    return c == '{' ? read_object(in, depth + 1) : read_array(in, depth + 1);
}

/* decode(text, drop_nulls) */
static int l_json_decode(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    struct reader in = {.L = L, .start = text, .at = text, .end = text + length};
    if (lua_toboolean(L, 2)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key);
        in.dropped = lua_touserdata(L, -1);
    }
    in.scratch = ap_own_buf(L);
    int result;
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        result = refuse(&in, text, "the text begins with a byte order mark", "");
    else
        result = read_value(&in, 0);
    skip_blanks(&in);
    if (result == 0 && in.at != in.end)
        result = refuse(&in, in.at, "text after the value", "");
    return result == 0 ? 1 : ap_own_fail(L, &in.err);
}

/* ---- writing ---- */

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
        add(L, buf, "$", 1);
        return;
    }
    add_place(L, buf, frame->up);
    if (frame->key != NULL) {
        add(L, buf, ".", 1);
        add(L, buf, frame->key, frame->key_length);
    } else if (frame->index > 0) {
        add(L, buf, index, (size_t)snprintf(index, sizeof index, "[%lld]", (long long)frame->index));
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
    add(out->L, out->out, bytes, count);
}

static void write_string(struct writer *out, const char *text, size_t length)
{
    static const char names[] = {['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    const unsigned char *at = (const unsigned char *)text, *end = at + length, *run = at;
    write_bytes(out, "\"", 1);
    while (at < end) {
        if (*at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') {
            at++;
            continue;
        }
        size_t valid = *at >= 0x80 ? utf8_length(at, end) : 0;
        if (valid > 0) {
            at += valid;
            continue;
        }
        char escape[8] = {'\\', *at < sizeof names ? names[*at] : '\0'};
        size_t count = 2;
        if (*at >= 0x80) {
            memcpy(escape, replacement, count = 3);
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
    locale_t before = uselocale(c_locale);
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, sizeof text, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value)
            break;
    }
    uselocale(before);
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
            add(L, out->keys, (const char *)&key, sizeof key);
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
    if (depth > DEPTH)
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

static int l_json_encode(lua_State *L)
{
    struct writer out = {.L = L, .sorted = true};
    luaL_checkany(L, 1);
    if (!lua_isnoneornil(L, 2))
        check_options(L, &out);
    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key);
    out.null = lua_touserdata(L, -1);
    luaL_getmetatable(L, ARRAY);
    out.array = lua_topointer(L, -1);
    out.out = ap_own_buf(L);
    out.keys = ap_own_buf(L);
    lua_pushvalue(L, 1);
    write_value(&out, NULL, 0);
    lua_pushlstring(L, out.out->bytes, out.out->used);
    return 1;
}

/* ---- the module ---- */

static int l_json_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_getmetatable(L, ARRAY);
    if (lua_getmetatable(L, 1)) {
        luaL_argcheck(L, lua_rawequal(L, -1, -2), 1, "the table has a metatable of its own");
        lua_pop(L, 1);
    }
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

static int null_tostring(lua_State *L)
{
    lua_pushliteral(L, "null");
    return 1;
}

int luaopen_apsis_json(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"decode", l_json_decode}, {"encode", l_json_encode}, {"array", l_json_array}, {NULL, NULL},
    };
    if (c_locale == (locale_t)0) /* made once and kept: it lives as long as the program */
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return luaL_error(L, "out of memory");
    luaL_newlib(L, functions);
    luaL_newmetatable(L, ARRAY);
    lua_pop(L, 1);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &null_key) == LUA_TNIL) {
        lua_newuserdatauv(L, 0, 0);
        lua_createtable(L, 0, 2);
        lua_pushcfunction(L, null_tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushliteral(L, "null");
        lua_setfield(L, -2, "__name");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &null_key);
        lua_remove(L, -2);
    }
    lua_setfield(L, -2, "null");
    return 1;
}
