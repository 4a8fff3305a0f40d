/* SPDX-License-Identifier: MIT */
/* ltext: apsis.text. Sketches are strings of hexadecimal digits, so that a journal can contain them. A strategy decides
 * what is similar enough. Opened by host.c. */
#include <lauxlib.h>

#include "base/bindings.h"
#include "codec/text.h"

/* Raises on: not a string. */
static int l_text_sketch(lua_State *L)
{
    size_t count;
    const char *bytes = luaL_checklstring(L, 1, &count);
    char digits[AP_TEXT_DIGITS];
    ap_text_sketch(digits, bytes, count);
    lua_pushlstring(L, digits, sizeof digits);
    return 1;
}

static const char *check_sketch(lua_State *L, int index)
{
    size_t count;
    const char *bytes = luaL_checklstring(L, index, &count);
    luaL_argcheck(L, ap_text_is_sketch(bytes, count), index, "not a sketch (64 hexadecimal digits of text.sketch)");
    return bytes;
}

/* Raises on: not a sketch. */
static int l_text_similarity(lua_State *L)
{
    const char *a = check_sketch(L, 1), *b = check_sketch(L, 2);
    lua_pushnumber(L, ap_text_similarity(a, b));
    return 1;
}

/* Raises on: not a sketch, not a list of texts as long as sketches. nil for an empty list. */
static int l_text_mean_similarity(lua_State *L)
{
    const char *sketch = check_sketch(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer count = (lua_Integer)lua_rawlen(L, 2);
    double sum = 0;
    for (lua_Integer i = 1; i <= count; i++) {
        size_t length = 0;
        const char *other = lua_rawgeti(L, 2, i) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
        if (other == NULL || length != AP_TEXT_DIGITS)
            return luaL_error(L, "element %I is not a sketch (64 hexadecimal digits of text.sketch)", i);
        sum += ap_text_similarity(sketch, other); /* the list keeps the string alive */
        lua_pop(L, 1);
    }
    if (count == 0)
        return 0;
    lua_pushnumber(L, sum / (double)count);
    return 1;
}

int luaopen_apsis_text(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"sketch", l_text_sketch},
        {"similarity", l_text_similarity},
        {"mean_similarity", l_text_mean_similarity},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    return 1;
}
