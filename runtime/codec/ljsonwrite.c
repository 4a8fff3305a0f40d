/* SPDX-License-Identifier: MIT */
/* ljsonwrite: turns Lua values into a tree, which cJSON prints. Prints numbers itself, because cJSON's text of a double
 * often reads back as a different one. Raises on what JSON cannot represent, with its place. Called by Lua as
 * apsis.json.encode. */
#include "codec/ljsonwrite.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/jsontext.h"
#include "codec/ljsonbox.h"

enum { OUTERMOST = 3 }; /* stack index of the value; the tables inside it are above it, each with a key */

struct writer {
    lua_State *L;
    struct ap_json_box *box;
    const void *null, *array; /* the metatable */
    bool pretty, sorted;
    bool escapes; /* a text needs an escape that cJSON does not write */
};

/* Adds to the box's text, or raises. */
static void add(struct writer *out, const char *bytes, size_t count)
{
    ap_json_need(out->L, ap_buf_add(&out->box->text, bytes, count));
}

/* Raises, naming the item's place: the last item at each level of the tree leads to it. */
static void refuse(struct writer *out, const cJSON *item, const char *message)
{
    char index[32];
    struct ap_buf *place = &out->box->text;
    place->used = 0;
    add(out, "$", 1);
    for (const cJSON *at = out->box->tree; at != item && place->used < 300;) {
        const cJSON *last = at->child->prev;
        if (last->string != NULL) {
            add(out, ".", 1);
            add(out, last->string, strlen(last->string));
        } else {
            add(out, index, (size_t)snprintf(index, sizeof index, "[%d]", cJSON_GetArraySize(at)));
        }
        at = last;
    }
    lua_pushlstring(out->L, place->bytes, place->used < 300 ? place->used : 300);
    luaL_error(out->L, "cannot encode as JSON: %s: %s", lua_tostring(out->L, -1), message);
}

/* The code of a character of valid UTF-8 that cJSON leaves as it is, though a terminal takes it for a command or shows
 * what follows in another order: DEL, C1 controls and the marks of direction. 0: any other. */
static unsigned hidden(const unsigned char *at)
{
    if (*at == 0x7F)
        return 0x7F;
    if (*at == 0xC2 && at[1] < 0xA0)
        return at[1];
    if (*at == 0xD8 && at[1] == 0x9C)
        return 0x61C;
    if (*at != 0xE2 || (at[1] != 0x80 && at[1] != 0x81))
        return 0;
    unsigned code = 0x2000U + ((at[1] & 0x3FU) << 6) + (at[2] & 0x3FU);
    bool reorders =
        code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return reorders ? code : 0;
}

/* The bytes as cJSON needs them: UTF-8, with NUL replaced. */
static char *copy(struct writer *out, const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
    char *text = cJSON_malloc(3 * length + 1), *to = text;
    ap_json_need(out->L, text == NULL);
    while (at < end) {
        size_t valid = *at == '\0' ? 0 : ap_json_utf8_length(at, end);
        const char *from = valid > 0 ? (const char *)at : *at == '\0' ? AP_JSON_NUL : AP_JSON_REPLACEMENT;
        size_t count = valid > 0 ? valid : strlen(from);
        out->escapes |= *at == '\0' || (valid > 0 && hidden(at) != 0);
        memcpy(to, from, count);
        to += count;
        at += valid > 0 ? valid : 1;
    }
    *to = '\0';
    return text;
}

/* Appends an empty item to an array or object. */
static cJSON *append(struct writer *out, cJSON *list)
{
    cJSON *item = cJSON_CreateNull();
    ap_json_need(out->L, item == NULL);
    cJSON_AddItemToArray(list, item);
    return item;
}

/* The shortest of 15 to 17 digits that reads back the same. */
static void print_double(char text[40], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
}

static void write_number(struct writer *out, cJSON *item)
{
    char text[40];
    double value = lua_tonumber(out->L, -1);
    if (lua_isinteger(out->L, -1))
        snprintf(text, sizeof text, "%lld", (long long)lua_tointeger(out->L, -1));
    else if (!isfinite(value))
        refuse(out, item, isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf");
    else
        print_double(text, value);
    item->valuestring = copy(out, text, strlen(text));
    item->type = cJSON_Raw;
}

static void write_value(struct writer *out, cJSON *item, int depth);

/* The sort rank of a byte in cJSON's text: the end, then NUL, then the others. */
static int rank(char c)
{
    return c == '\0' ? 0 : c == *AP_JSON_NUL ? 1 : (unsigned char)c + 1;
}

static int compare_keys(const void *a, const void *b)
{
    const char *x = (*(cJSON *const *)a)->string, *y = (*(cJSON *const *)b)->string;
    while (*x != '\0' && *x == *y) {
        x++;
        y++;
    }
    return rank(*x) - rank(*y);
}

static void sort_members(struct writer *out, cJSON *object)
{
    struct ap_buf *buf = &out->box->text;
    buf->used = 0;
    for (cJSON *item = object->child; item != NULL; item = item->next)
        add(out, (const char *)&item, sizeof item);
    size_t count = buf->used / sizeof(cJSON *);
    if (count < 2)
        return;
    cJSON **items = (cJSON **)(void *)buf->bytes;
    qsort(items, count, sizeof *items, compare_keys);
    for (size_t i = 0; i < count; i++) {
        items[i]->next = i + 1 < count ? items[i + 1] : NULL;
        items[i]->prev = items[i > 0 ? i - 1 : count - 1];
    }
    object->child = items[0];
}

/* Adds the members with string keys. *most: the largest index among the other keys; *count: how many those are. */
static void write_members(struct writer *out, cJSON *object, int depth, lua_Integer *most, lua_Integer *count)
{
    lua_State *L = out->L;
    *most = *count = 0;
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        lua_Integer index = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (index >= 1) {
            *most = index > *most ? index : *most;
            ++*count;
        } else if (lua_type(L, -2) != LUA_TSTRING) {
            lua_pushfstring(L, "a key is %s, not a string or an index", luaL_tolstring(L, -2, NULL));
            refuse(out, object, lua_tostring(L, -1));
        } else {
            size_t length;
            const char *key = lua_tolstring(L, -2, &length);
            cJSON *item = append(out, object);
            item->string = copy(out, key, length);
            write_value(out, item, depth);
        }
        if (*count > 0 && object->child != NULL)
            refuse(out, object, "string keys and indices are mixed");
    }
}

static void write_items(struct writer *out, cJSON *array, int depth, lua_Integer count)
{
    array->type = cJSON_Array;
    for (lua_Integer i = 1; i <= count; i++) {
        cJSON *item = append(out, array);
        if (lua_rawgeti(out->L, -1, i) != LUA_TNIL)
            write_value(out, item, depth);
        lua_pop(out->L, 1);
    }
}

static void write_table(struct writer *out, cJSON *item, int depth)
{
    lua_State *L = out->L;
    lua_Integer most, count;
    if (depth > AP_JSON_DEPTH)
        refuse(out, item, "nested too deeply (more than 1000 levels)");
    for (int up = OUTERMOST; up < lua_gettop(L); up++)
        if (lua_rawequal(L, up, -1))
            refuse(out, item, "the table contains itself");
    luaL_checkstack(L, 8, "JSON");
    item->type = cJSON_Object;
    write_members(out, item, depth, &most, &count);
    bool marked = lua_getmetatable(L, -1);
    if (marked) {
        marked = lua_topointer(L, -1) == out->array;
        lua_pop(L, 1);
    }
    if (marked && item->child != NULL)
        refuse(out, item, "an array has string keys");
    if (!marked && most != count)
        refuse(out, item, "indices have gaps (json.array fills them with null)");
    if (most > count && most / 16 > count + 4096)
        refuse(out, item, "an array is almost empty");
    if (marked || most > 0)
        write_items(out, item, depth, most);
    else if (out->sorted)
        sort_members(out, item);
}

/* Sets the item to the value at the top. */
static void write_value(struct writer *out, cJSON *item, int depth)
{
    lua_State *L = out->L;
    size_t length;
    const char *text;
    switch (lua_type(L, -1)) {
    case LUA_TSTRING:
        text = lua_tolstring(L, -1, &length);
        item->valuestring = copy(out, text, length);
        item->type = cJSON_String;
        return;
    case LUA_TNUMBER:
        write_number(out, item);
        return;
    case LUA_TBOOLEAN:
        item->type = lua_toboolean(L, -1) ? cJSON_True : cJSON_False;
        return;
    case LUA_TTABLE:
        write_table(out, item, depth + 1);
        return;
    default:
        if (lua_touserdata(L, -1) != out->null)
            refuse(out, item, lua_pushfstring(L, "a %s", luaL_typename(L, -1)));
    }
}

static void add_line(struct writer *out, int depth)
{
    add(out, "\n", 1);
    while (depth-- > 0)
        add(out, "  ", 2);
}

/* Adds a byte between strings, with pretty-print whitespace. cJSON's own uses tabs and puts arrays on one line. */
static void add_pretty(struct writer *out, const char *at, int *depth)
{
    bool opens = *at == '{' || *at == '[', closes = *at == '}' || *at == ']';
    *depth += opens - closes;
    if (closes && at[-1] != '{' && at[-1] != '[')
        add_line(out, *depth);
    add(out, at, 1);
    if (*at == ',' || (opens && at[1] != '}' && at[1] != ']'))
        add_line(out, *depth);
    if (*at == ':')
        add(out, " ", 1);
}

/* Converts cJSON's text to ours: escapes NUL and what is hidden. */
static void rewrite(struct writer *out, const char *at)
{
    char escape[8];
    bool quoted = false;
    int depth = 0;
    out->box->text.used = 0;
    for (; *at != '\0'; at++) {
        unsigned code = hidden((const unsigned char *)at);
        quoted ^= *at == '"';
        if (*at == *AP_JSON_NUL || code != 0) {
            at += code < 0x80 ? 0 : code < 0x800 ? 1 : 2;
            add(out, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", code));
        } else if (*at == '\\') {
            add(out, at++, 2);
        } else if (!quoted && out->pretty) {
            add_pretty(out, at, &depth);
        } else {
            add(out, at, 1);
        }
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
    lua_rawgetp(L, LUA_REGISTRYINDEX, &ap_json_null_key);
    out.null = lua_touserdata(L, -1);
    luaL_getmetatable(L, AP_JSON_ARRAY);
    out.array = lua_topointer(L, -1);
    lua_settop(L, 1);
    struct ap_json_box *box = out.box = ap_json_own(L);
    box->tree = cJSON_CreateNull();
    ap_json_need(L, box->tree == NULL);
    lua_pushvalue(L, 1);
    write_value(&out, box->tree, 0);
    box->printed = cJSON_PrintUnformatted(box->tree);
    ap_json_need(L, box->printed == NULL);
    if (!out.pretty && !out.escapes) {
        lua_pushstring(L, box->printed);
        return 1;
    }
    rewrite(&out, box->printed);
    lua_pushlstring(L, box->text.bytes, box->text.used);
    return 1;
}
