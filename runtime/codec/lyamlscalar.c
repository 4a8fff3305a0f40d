/* SPDX-License-Identifier: MIT */
/* lyamlscalar: the 1.2 core schema (yaml.org/spec/1.2.2, chapter 10.3): which text is a null, a boolean, a number.
 * Knows nothing of documents or lines. Called only by lyaml.c. */
#include "codec/lyaml.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bindings.h"

static bool among(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool is_null(const char *text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};
    return among(text, words);
}

/* 1 true, 0 false, -1 neither. */
static int to_boolean(const char *text)
{
    static const char *const yes[] = {"true", "True", "TRUE", NULL}, *const no[] = {"false", "False", "FALSE", NULL};
    return among(text, yes) ? 1 : among(text, no) ? 0 : -1;
}

/* Pushes the integer in text; one beyond 64 bits becomes a float. False, pushing nothing, for other text. */
static bool push_integer(lua_State *L, const char *text)
{
    int base = strncmp(text, "0o", 2) == 0 ? 8 : strncmp(text, "0x", 2) == 0 ? 16 : 10;
    const char *digits = base != 10 ? text + 2 : text + (*text == '-' || *text == '+');
    const char *allowed = base == 8 ? "01234567" : base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
    if (*digits == '\0' || digits[strspn(digits, allowed)] != '\0')
        return false;
    errno = 0;
    long long value = strtoll(base == 10 ? text : digits, NULL, base);
    if (errno == 0) {
        lua_pushinteger(L, value);
        return true;
    }
    double number = 0;
    for (const char *at = digits; base != 10 && *at != '\0'; at++)
        number = number * base + (double)(strchr(allowed, *at) - allowed - (*at >= 'A' && *at <= 'F' ? 6 : 0));
    lua_pushnumber(L, base == 10 ? strtod(text, NULL) : number);
    return true;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?, and .inf and .nan. Pushes as push_integer
 * does. */
static bool push_float(lua_State *L, const char *text)
{
    static const char digits[] = "0123456789";
    static const char *const inf[] = {".inf", ".Inf", ".INF", NULL}, *const nan[] = {".nan", ".NaN", ".NAN", NULL};
    const char *at = text + (*text == '-' || *text == '+');
    if (among(at, inf) || among(text, nan)) {
        lua_pushnumber(L, among(text, nan) ? (double)NAN : *text == '-' ? -HUGE_VAL : HUGE_VAL);
        return true;
    }
    at += strspn(at, digits);
    if (*at == '.')
        at += 1 + strspn(at + 1, digits);
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        at += strspn(at, digits);
    }
    if (*at != '\0')
        return false;
    if (lua_stringtonumber(L, text) == 0) /* digits are missing */
        return false;
    lua_pushnumber(L, lua_tonumber(L, -1));
    lua_remove(L, -2);
    return true;
}

void ap_yaml_push_null(lua_State *L)
{
    luaL_requiref(L, "apsis.json", luaopen_apsis_json, 0);
    lua_getfield(L, -1, "null");
    lua_remove(L, -2);
}

void ap_yaml_push_plain(lua_State *L, const char *text, size_t length)
{
    int boolean = to_boolean(text);
    if (strlen(text) != length)
        lua_pushlstring(L, text, length);
    else if (is_null(text))
        ap_yaml_push_null(L);
    else if (boolean >= 0)
        lua_pushboolean(L, boolean);
    else if (!push_integer(L, text) && !push_float(L, text))
        lua_pushlstring(L, text, length);
}

int ap_yaml_push_tagged(lua_State *L, const char *tag, const char *text, size_t length)
{
    static const char *const known[] = {"null", "bool", "int", "float", NULL};
    int boolean = to_boolean(text);
    if (strcmp(tag, "str") == 0) {
        lua_pushlstring(L, text, length);
        return 1;
    }
    if (!among(tag, known))
        return -1;
    if (strlen(text) != length)
        return 0;
    switch (*tag) {
    case 'n':
        if (is_null(text))
            ap_yaml_push_null(L);
        return is_null(text);
    case 'b':
        if (boolean >= 0)
            lua_pushboolean(L, boolean);
        return boolean >= 0;
    case 'i':
        return push_integer(L, text);
    default:
        if (!push_float(L, text) && !push_integer(L, text))
            return 0;
        lua_pushnumber(L, lua_tonumber(L, -1));
        lua_remove(L, -2);
        return 1;
    }
}
