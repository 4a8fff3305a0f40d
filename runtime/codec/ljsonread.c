/* SPDX-License-Identifier: MIT */
/* ljsonread: pushes the tree that cJSON made of a text as Lua values, after jsontext's strict check of it. Numbers and
 * NUL survive exactly. Called by Lua as apsis.json.decode. */
#include "codec/ljsonread.h"

#include <math.h>
#include <string.h>

#include "base/bindings.h"
#include "codec/jsontext.h"
#include "codec/ljsonbox.h"

struct reader {
    lua_State *L;
    struct ap_json_text text;
    const cJSON *tree;
    bool drops_null;
    int wanted; /* stack index of the table with the members to read of the outer object; 0: all */
};

/* Adds to *n the number of keys and values up to and including the item. Returns whether it was found. */
static bool count_to(const cJSON *tree, const cJSON *item, size_t *n)
{
    for (; tree != NULL; tree = tree->next) {
        *n += tree->string != NULL ? 2 : 1;
        if (tree == item || count_to(tree->child, item, n))
            return true;
    }
    return false;
}

/* Records what is wrong with an item or its key, `key`. The tree has no positions, so the text is checked again. */
static int refuse(struct reader *in, const cJSON *item, const char *message, const char *key)
{
    count_to(in->tree, item, &in->text.wanted);
    in->text.wanted -= key != NULL;
    return ap_json_check(&in->text) != 0 ? -1
                                         : ap_json_refuse(&in->text, in->text.found, message, key != NULL ? key : "");
}

static void push_string(lua_State *L, char *text)
{
    size_t length = strlen(text);
    for (char *at = text; (at = memchr(at, *AP_JSON_NUL, (size_t)(text + length - at))) != NULL;)
        *at = '\0';
    lua_pushlstring(L, text, length);
}

static int push_number(struct reader *in, const cJSON *item)
{
    const char *digits = item->valuestring + 1;
    if (strcmp(digits, "-0") == 0)
        lua_pushnumber(in->L, -0.0); /* an integer would lose the sign */
    else if (lua_stringtonumber(in->L, digits) == 0 || !isfinite(lua_tonumber(in->L, -1)))
        return refuse(in, item, "number is not finite", NULL);
    return 0;
}

static bool is_wanted(struct reader *in, const char *key, size_t length)
{
    lua_pushlstring(in->L, key, length);
    bool wanted = lua_rawget(in->L, in->wanted) != LUA_TNIL;
    lua_pop(in->L, 1);
    return wanted;
}

static bool skip(void *self, const char *key, size_t length)
{
    return !is_wanted(self, key, length);
}

static int push(struct reader *in, const cJSON *item, int depth);

static int push_array(struct reader *in, const cJSON *array, int depth)
{
    lua_Integer i = 0;
    lua_createtable(in->L, cJSON_GetArraySize(array), 0);
    luaL_setmetatable(in->L, AP_JSON_ARRAY);
    for (const cJSON *item = array->child; item != NULL; item = item->next) {
        if (push(in, item, depth + 1) != 0)
            return -1;
        lua_rawseti(in->L, -2, ++i);
    }
    return 0;
}

static int push_object(struct reader *in, const cJSON *object, int depth)
{
    lua_State *L = in->L;
    const char *greatest = ""; /* sorted keys, as apsis writes them, need no search for duplicates */
    lua_createtable(L, 0, cJSON_GetArraySize(object));
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        if (in->drops_null && cJSON_IsNull(item))
            continue;
        push_string(L, item->string);
        if (depth == 0 && in->wanted != 0 && !is_wanted(in, item->string, lua_rawlen(L, -1))) {
            lua_pop(L, 1); /* a key with escapes: skip was not called for it */
            continue;
        }
        if (strcmp(item->string, greatest) > 0) {
            greatest = item->string;
        } else {
            lua_pushvalue(L, -1);
            if (lua_rawget(L, -3) != LUA_TNIL)
                return refuse(in, item, "duplicate key ", item->string);
            lua_pop(L, 1);
        }
        if (push(in, item, depth + 1) != 0)
            return -1;
        lua_rawset(L, -3);
    }
    return 0;
}

/* Pushes a value; -1 and in->text.err otherwise (the caller then drops what is on the stack). */
static int push(struct reader *in, const cJSON *item, int depth)
{
    luaL_checkstack(in->L, 6, "JSON");
    if (cJSON_IsArray(item))
        return push_array(in, item, depth);
    if (cJSON_IsObject(item))
        return push_object(in, item, depth);
    if (cJSON_IsString(item) && *item->valuestring == *AP_JSON_NUMBER)
        return push_number(in, item);
    if (cJSON_IsString(item))
        push_string(in->L, item->valuestring);
    else if (cJSON_IsNull(item))
        lua_rawgetp(in->L, LUA_REGISTRYINDEX, &ap_json_null_key);
    else
        lua_pushboolean(in->L, cJSON_IsTrue(item));
    return 0;
}

/* decode(text, drop): true drops members that are null; a table of names also drops all others of the outer object. */
int ap_json_decode(lua_State *L)
{
    size_t length;
    struct reader in = {.L = L, .drops_null = lua_toboolean(L, 2), .wanted = lua_istable(L, 2) ? 2 : 0};
    in.text.start = luaL_checklstring(L, 1, &length);
    in.text.end = in.text.start + length;
    in.text.skip = in.wanted != 0 ? skip : NULL;
    in.text.self = &in;
    struct ap_json_box *box = ap_json_own(L);
    in.text.copy = &box->text;
    int result = ap_json_check(&in.text);
    if (result == 0) {
        in.tree = box->tree = cJSON_ParseWithLength(box->text.bytes, box->text.used);
        ap_json_need(L, box->tree == NULL); /* it has no other reason to fail */
        result = push(&in, box->tree, 0);
    }
    ap_json_need(L, strcmp(in.text.err.code, "ENOMEM") == 0);
    return result == 0 ? 1 : ap_own_fail(L, &in.text.err);
}
