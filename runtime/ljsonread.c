/* SPDX-License-Identifier: MIT */
/* ljsonread: from JSON's text to Lua's values, in one pass that checks what it reads. A text that is no JSON is a
 * result with its line and column, never a raised error. Called by Lua as apsis.json.decode. */
#define _GNU_SOURCE
#include "ljson.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/own.h"

struct reader {
    lua_State *L;
    const char *start, *at, *end; /* end points to the NUL that every Lua string has */
    struct ap_buf *scratch;
    const void *dropped; /* null, where members that are null are left out; else NULL */
    int wanted;          /* where on the stack the names of the outer object's members to read are; 0: all */
    bool muted;          /* inside a member that is not wanted: what is read is checked and pushed nowhere */
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
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
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
    ap_json_add(in->L, in->scratch, out, length);
}

/* After a backslash. */
static int read_escape(struct reader *in)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *found = *in->at != '\0' ? strchr(names, *in->at) : NULL;
    if (found != NULL) {
        in->at++;
        ap_json_add(in->L, in->scratch, values + (found - names), 1);
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

/* Whether the eight bytes at `at` are all ASCII without control characters, quotes or backslashes. */
static bool eight_plain(const char *at)
{
    static const uint64_t ones = UINT64_MAX / 255, tops = UINT64_MAX / 255 * 0x80;
    uint64_t bytes, quotes, slashes;
    memcpy(&bytes, at, sizeof bytes);
    quotes = bytes ^ ones * '"';
    slashes = bytes ^ ones * '\\';
    return ((bytes | (bytes - ones * 0x20) | (quotes - ones) | (slashes - ones)) & tops) == 0;
}

/* Past the plain bytes at `at`; a string's text without what needs a closer look. */
static const char *skip_plain(const struct reader *in, const char *at)
{
    while (in->end - at >= 8 && eight_plain(at))
        at += 8;
    while ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* Pushes the string whose opening quote is at `at`. Text without escapes goes straight to Lua. */
static int read_string(struct reader *in)
{
    const char *opening = in->at++, *run = in->at;
    in->scratch->used = 0;
    bool copied = false;
    for (;;) {
        in->at = skip_plain(in, in->at);
        unsigned char c = (unsigned char)*in->at;
        size_t length =
            c >= 0x80 ? ap_json_utf8_length((const unsigned char *)in->at, (const unsigned char *)in->end) : 0;
        if (length > 0) {
            in->at += length;
            continue;
        }
        if (c == '"' && !copied) {
            if (!in->muted)
                lua_pushlstring(in->L, run, (size_t)(in->at - run));
            in->at++;
            return 0;
        }
        if (in->at == in->end)
            return refuse(in, opening, "string without a closing quote", "");
        if (c < 0x20)
            return refuse(in, in->at, "control character in a string", "");
        ap_json_add(in->L, in->scratch, run, (size_t)(in->at++ - run));
        copied = true;
        if (c == '"') {
            if (!in->muted)
                lua_pushlstring(in->L, in->scratch->used > 0 ? in->scratch->bytes : "", in->scratch->used);
            return 0;
        }
        if (c >= 0x80)
            ap_json_add(in->L, in->scratch, AP_JSON_REPLACEMENT, 3);
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
    if (is_integer && count <= 19 &&
        !(*start == '-' && *digits == '0')) { /* -0 is a float, or its sign would be lost */
        uint64_t value = 0, limit = (uint64_t)INT64_MAX + (*start == '-');
        for (int i = 0; i < count; i++)
            value = value * 10 + (uint64_t)(digits[i] - '0');
        if (value <= limit) {
            if (!in->muted)
                lua_pushinteger(in->L, *start == '-' ? (lua_Integer)(0 - value) : (lua_Integer)value);
            return 0;
        }
    }
    double value;
    if (ap_decimal_read(&value, start, at) != at) /* the long way, for what is not common */
        value = ap_json_to_double(start);
    if (!isfinite(value))
        return refuse(in, start, "number is not finite", "");
    if (!in->muted)
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
    if (!in->muted) {
        lua_newtable(L);
        luaL_setmetatable(L, AP_JSON_ARRAY);
    }
    in->at++;
    skip_blanks(in);
    if (*in->at == ']') {
        in->at++;
        return 0;
    }
    for (lua_Integer i = 1;; i++) {
        if (read_value(in, depth) != 0)
            return -1;
        if (!in->muted)
            lua_rawseti(L, -2, i);
        int more = read_separator(in, ']', "expected ',' or ']'");
        if (more <= 0)
            return more;
    }
}

/* Moves the members gathered above `base` (offset, key, value each) into the table there, which is made in its size
 * when the first come: growing a table member by member costs as much as all the rest. */
static int move_members(struct reader *in, int base)
{
    lua_State *L = in->L;
    int top = lua_gettop(L);
    const char *greatest = NULL;
    if (lua_isnil(L, base)) {
        lua_createtable(L, 0, (top - base) / 3);
        lua_replace(L, base);
        greatest = "";
    }
    for (int at = base + 1; at < top; at += 3) {
        const char *key = lua_tostring(L, at + 1);
        if (greatest != NULL && strcmp(key, greatest) > 0) {
            greatest = key; /* sorted keys, as apsis writes them, need no search */
        } else {
            lua_pushvalue(L, at + 1);
            if (lua_rawget(L, base) != LUA_TNIL)
                return refuse(in, in->start + lua_tointeger(L, at), "duplicate key ", key);
            lua_pop(L, 1);
        }
        lua_pushvalue(L, at + 1);
        lua_pushvalue(L, at + 2);
        lua_rawset(L, base);
    }
    lua_settop(L, base);
    return 0;
}

static int read_after_key(struct reader *in, int depth)
{
    skip_blanks(in);
    if (*in->at != ':')
        return refuse(in, in->at, "expected ':'", "");
    in->at++;
    return read_value(in, depth);
}

/* Reads one member: its offset, key and value are pushed; 1 where it was not wanted and nothing is. */
static int read_member(struct reader *in, int depth)
{
    skip_blanks(in);
    if (*in->at != '"')
        return refuse(in, in->at, "expected a key in quotes", "");
    if (!in->muted)
        lua_pushinteger(in->L, in->at - in->start);
    if (read_string(in) != 0)
        return -1;
    if (in->wanted != 0 && depth == 1 && !in->muted) {
        lua_pushvalue(in->L, -1);
        in->muted = lua_rawget(in->L, in->wanted) == LUA_TNIL;
        lua_pop(in->L, in->muted ? 3 : 1);
        if (in->muted) {
            int result = read_after_key(in, depth);
            in->muted = false;
            return result != 0 ? -1 : 1;
        }
    }
    return read_after_key(in, depth);
}

/* Where null members are left out: whether one stood here, written tightly, and is behind us now. */
static bool skip_null_member(struct reader *in)
{
    skip_blanks(in);
    if (in->dropped == NULL || *in->at != '"')
        return false;
    const char *at = skip_plain(in, in->at + 1);
    if (strncmp(at, "\":null", 6) != 0)
        return false;
    in->at = at + 6;
    return true;
}

/* An object inside a member that is not wanted. */
static int pass_object(struct reader *in, int depth)
{
    in->at++;
    skip_blanks(in);
    if (*in->at == '}') {
        in->at++;
        return 0;
    }
    for (;;) {
        if (read_member(in, depth) != 0)
            return -1;
        int more = read_separator(in, '}', "expected ',' or '}'");
        if (more <= 0)
            return more;
    }
}

static int read_object(struct reader *in, int depth)
{
    if (in->muted)
        return pass_object(in, depth);
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
        int skipped = skip_null_member(in) ? 1 : read_member(in, depth);
        if (skipped < 0 || (more = read_separator(in, '}', "expected ',' or '}'")) < 0)
            return -1;
        if (!skipped && in->dropped != NULL && lua_touserdata(L, -1) == in->dropped)
            lua_pop(L, 3);
        if ((count % 64 == 0 || !more) && move_members(in, base) != 0)
            return -1;
    }
    return 0;
}

static int read_word(struct reader *in)
{
    if (strncmp(in->at, "true", 4) == 0 || strncmp(in->at, "null", 4) == 0) {
        if (in->muted)
            ;
        else if (*in->at == 't')
            lua_pushboolean(in->L, 1);
        else
            lua_rawgetp(in->L, LUA_REGISTRYINDEX, &ap_json_null_key);
        in->at += 4;
        return 0;
    }
    if (strncmp(in->at, "false", 5) == 0) {
        if (!in->muted)
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
    if (depth >= AP_JSON_DEPTH)
        return refuse(in, in->at, "nested too deeply (more than 1000 levels)", "");
    luaL_checkstack(in->L, 6, "JSON");
    return c == '{' ? read_object(in, depth + 1) : read_array(in, depth + 1);
}

/* decode(text, drop): drop true leaves out members that are null; a table of names also all others of the outer object. */
int ap_json_decode(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    struct reader in = {.L = L, .start = text, .at = text, .end = text + length};
    in.wanted = lua_istable(L, 2) ? 2 : 0;
    if (lua_toboolean(L, 2)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &ap_json_null_key);
        in.dropped = lua_touserdata(L, -1);
    }
    static struct ap_buf scratch; /* kept from call to call: reading calls nothing that could come back here */
    in.scratch = &scratch;
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
