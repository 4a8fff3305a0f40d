/* SPDX-License-Identifier: MIT */
/* lyaml: YAML for Lua, from libyaml's events. lyamlscalar.c interprets scalars, lyamlfail.c words libyaml's errors;
 * this file refuses duplicate keys, too many aliases and a second document. Beside the value it returns the line of
 * every key and item, for error messages. Writes no YAML. Opened by host.c as apsis.yaml. */
#include "codec/lyaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/bindings.h"
#include "base/own.h"

enum { NODES = 100000, DEPTH = 100 };

/* Stack indexes of the tables of one decoding. */
enum { TEXT = 1, NAME, LINES, ANCHORS };

/* The parser and the current event, boxed: Lua may run out of memory between any two events. */
struct yaml {
    struct ap_own own;
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
};

struct reader {
    lua_State *L;
    struct yaml *yaml;
    int nodes;
    struct ap_err err;
};

static void yaml_close(void *self)
{
    struct yaml *yaml = self;
    if (yaml->has_event)
        yaml_event_delete(&yaml->event);
    yaml_parser_delete(&yaml->parser);
}

/* Returns -1 with NAME:LINE: before the message. */
static int refuse(struct reader *in, size_t line, const char *message, const char *detail)
{
    return ap_err_set(&in->err, "EYAML", "%.400s:%zu: %s%.200s", lua_tostring(in->L, NAME), line, message, detail);
}

static size_t event_line(struct reader *in)
{
    return in->yaml->event.start_mark.line + 1;
}

/* Fetches the next event into the box. */
static int next_event(struct reader *in)
{
    struct yaml *yaml = in->yaml;
    if (yaml->has_event)
        yaml_event_delete(&yaml->event);
    yaml->has_event = false;
    if (yaml_parser_parse(&yaml->parser, &yaml->event)) {
        yaml->has_event = true;
        return 0;
    }
    yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return refuse(in, parser->mark.line + 1, "out of memory", "");
    size_t length;
    const char *text = lua_tolstring(in->L, TEXT, &length);
    return ap_yaml_fail(&in->err, lua_tostring(in->L, NAME), text, length, parser);
}

/* ---- scalars ---- */

/* The part of a core tag after "tag:yaml.org,2002:"; "" for none or "!", NULL for any other tag. */
static const char *core_tag(const yaml_char_t *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    const char *text = (const char *)tag;
    if (text == NULL || strcmp(text, "!") == 0)
        return "";
    return strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : NULL;
}

static int refuse_tag(struct reader *in, const yaml_char_t *tag)
{
    return refuse(in, event_line(in), "this tag is not known here: ", (const char *)tag);
}

/* Pushes the value of the current scalar. */
static int read_scalar(struct reader *in)
{
    lua_State *L = in->L;
    yaml_event_t *event = &in->yaml->event;
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    const char *tag = core_tag(event->data.scalar.tag);
    if (tag == NULL)
        return refuse_tag(in, event->data.scalar.tag);
    if (*tag != '\0') {
        int pushed = ap_yaml_push_tagged(L, tag, text, length);
        if (pushed > 0)
            return 0;
        lua_pushfstring(L, "!!%s", tag);
        return pushed < 0 ? refuse_tag(in, event->data.scalar.tag)
                          : refuse(in, event_line(in), "the value does not match its tag: ", lua_tostring(L, -1));
    }
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        event->data.scalar.tag == NULL) /* "!" makes it a string */
        ap_yaml_push_plain(L, text, length);
    else
        lua_pushlstring(L, text, length);
    return 0;
}

/* ---- tables, their lines, and aliases ---- */

/* For the table on top of the stack: makes its record {at, keys, order} in `lines` and pushes keys and order. */
static void push_record(lua_State *L, size_t line)
{
    lua_pushvalue(L, -1);
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)line);
    lua_setfield(L, -2, "at");
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "keys");
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, "order");
    lua_rotate(L, -4, 2); /* table, keys, order, table, record */
    lua_rawset(L, LINES);
}

static int count_node(struct reader *in, int depth, size_t line, const char *what)
{
    if (depth > DEPTH)
        return refuse(in, line, what, "nested too deeply (more than 100 levels)");
    if (++in->nodes > NODES)
        return refuse(in, line, what, "too much in one document (more than 100000 values)");
    luaL_checkstack(in->L, 20, "YAML");
    return 0;
}

/* Pushes a copy of the value on top of the stack: an alias reads like a copy of its anchor's text, but keeps the
 * anchor's lines. */
static int copy_value(struct reader *in, int depth, size_t line)
{
    lua_State *L = in->L;
    if (count_node(in, depth, line, "alias: ") != 0)
        return -1;
    if (!lua_istable(L, -1)) {
        lua_pushvalue(L, -1);
        return 0;
    }
    int source = lua_gettop(L), copy = source + 1;
    lua_newtable(L);
    if (lua_getmetatable(L, source))
        lua_setmetatable(L, copy);
    for (lua_pushnil(L); lua_next(L, source) != 0; lua_pop(L, 1)) {
        if (copy_value(in, depth + 1, line) != 0) /* key, value, copied */
            return -1;
        lua_pushvalue(L, -3);
        lua_insert(L, -2);
        lua_rawset(L, copy);
    }
    lua_pushvalue(L, copy);
    lua_pushvalue(L, source);
    lua_rawget(L, LINES);
    lua_rawset(L, LINES); /* the same record: nobody changes it */
    return 0;
}

static int read_alias(struct reader *in, int depth)
{
    lua_State *L = in->L;
    const char *name = (const char *)in->yaml->event.data.alias.anchor;
    size_t line = event_line(in);
    if (lua_getfield(L, ANCHORS, name) == LUA_TNIL)
        return refuse(in, line, "alias without an anchor before it: *", name);
    if (copy_value(in, depth, line) != 0)
        return -1;
    lua_remove(L, -2);
    return 0;
}

static int read_node(struct reader *in, int depth);

static int read_sequence(struct reader *in, int depth)
{
    lua_State *L = in->L;
    lua_newtable(L);
    luaL_setmetatable(L, "apsis.array");
    int table = lua_gettop(L);
    push_record(L, event_line(in));
    for (lua_Integer i = 1;; i++) {
        if (next_event(in) != 0)
            return -1;
        if (in->yaml->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        lua_pushinteger(L, (lua_Integer)event_line(in));
        lua_rawseti(L, table + 1, i);
        if (read_node(in, depth + 1) != 0)
            return -1;
        lua_rawseti(L, table, i);
    }
    lua_settop(L, table);
    return 0;
}

/* Pushes the current key as text, whatever it looks like, because keys are names. */
static int read_key(struct reader *in, int table)
{
    lua_State *L = in->L;
    yaml_event_t *event = &in->yaml->event;
    size_t line = event_line(in);
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(in, line, "a key must be a plain or quoted text", "");
    if (count_node(in, 0, line, "") != 0)
        return -1;
    const char *tag = core_tag(event->data.scalar.tag);
    if (tag == NULL || (*tag != '\0' && strcmp(tag, "str") != 0))
        return refuse_tag(in, event->data.scalar.tag);
    lua_pushlstring(L, (const char *)event->data.scalar.value, event->data.scalar.length);
    if (event->data.scalar.anchor != NULL) {
        lua_pushvalue(L, -1);
        lua_setfield(L, ANCHORS, (const char *)event->data.scalar.anchor);
    }
    lua_pushvalue(L, -1);
    if (lua_rawget(L, table) != LUA_TNIL)
        return refuse(in, line, "duplicate key ", lua_tostring(L, -2));
    lua_pop(L, 1);
    return 0;
}

static int read_mapping(struct reader *in, int depth)
{
    lua_State *L = in->L;
    lua_newtable(L);
    int table = lua_gettop(L);
    push_record(L, event_line(in));
    for (lua_Integer i = 1;; i++) {
        if (next_event(in) != 0)
            return -1;
        if (in->yaml->event.type == YAML_MAPPING_END_EVENT)
            break;
        if (read_key(in, table) != 0)
            return -1;
        lua_pushvalue(L, -1);
        lua_pushinteger(L, (lua_Integer)event_line(in));
        lua_rawset(L, table + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, table + 2, i);
        if (next_event(in) != 0 || read_node(in, depth + 1) != 0)
            return -1;
        lua_rawset(L, table);
    }
    lua_settop(L, table);
    return 0;
}

/* Pushes the value that begins with the current event. Its anchor is known only when it is complete, so no value
 * contains itself. */
static int read_node(struct reader *in, int depth)
{
    lua_State *L = in->L;
    yaml_event_t *event = &in->yaml->event;
    yaml_char_t *anchor = NULL, *tag = NULL;
    const char *kind = "";
    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(in, depth);
    if (count_node(in, depth, event_line(in), "") != 0)
        return -1;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        kind = "seq";
    } else {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        kind = "map";
    }
    const char *core = core_tag(tag);
    if (core == NULL || (*core != '\0' && strcmp(core, kind) != 0))
        return refuse_tag(in, tag);
    bool anchored = anchor != NULL;
    if (anchored) /* Lua has a copy, so free the event */
        lua_pushstring(L, (const char *)anchor);
    int result = *kind == 's' ? read_sequence(in, depth) : *kind == 'm' ? read_mapping(in, depth) : read_scalar(in);
    if (result != 0 || !anchored)
        return result;
    lua_insert(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, ANCHORS); /* value stays */
    return 0;
}

/* Pushes the value of the only document. */
static int read_document(struct reader *in)
{
    do
        if (next_event(in) != 0)
            return -1;
    while (in->yaml->event.type == YAML_STREAM_START_EVENT);
    if (in->yaml->event.type == YAML_STREAM_END_EVENT) {
        ap_yaml_push_null(in->L);
        return 0;
    }
    if (next_event(in) != 0 || read_node(in, 1) != 0)
        return -1;
    if (next_event(in) != 0 || next_event(in) != 0) /* the document's end, and the stream's */
        return -1;
    if (in->yaml->event.type != YAML_STREAM_END_EVENT)
        return refuse(in, event_line(in), "there is more than one document", "");
    return 0;
}

/* Puts options.name, or a default, at NAME. */
static void check_options(lua_State *L)
{
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        luaL_checktype(L, 2, LUA_TTABLE);
        for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1))
            if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "name") != 0)
                luaL_error(L, "unknown option '%s' (known: name)", luaL_tolstring(L, -2, NULL));
        if (lua_getfield(L, 2, "name") != LUA_TNIL && lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "option 'name' must be a string");
        lua_replace(L, 2);
    }
    if (lua_isnil(L, NAME)) {
        lua_pushliteral(L, "yaml");
        lua_replace(L, NAME);
    }
}

/* The text without the byte order mark that editors on Windows begin a file with. */
static const char *check_text(lua_State *L, size_t *length)
{
    const char *text = luaL_checklstring(L, TEXT, length);
    if (*length < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0)
        return text;
    lua_pushlstring(L, text + 3, *length - 3);
    lua_replace(L, TEXT);
    return lua_tolstring(L, TEXT, length);
}

static int l_yaml_decode(lua_State *L)
{
    size_t length;
    const char *text = check_text(L, &length);
    check_options(L);
    lua_newtable(L); /* LINES */
    lua_newtable(L); /* ANCHORS */
    struct reader in = {.L = L};
    ap_own_class(L, "apsis.yaml.parser", NULL);
    in.yaml = ap_own_new(L, sizeof *in.yaml, "apsis.yaml.parser", yaml_close);
    lua_toclose(L, -1);
    if (!yaml_parser_initialize(&in.yaml->parser))
        return luaL_error(L, "out of memory");
    in.yaml->own.open = true;
    yaml_parser_set_encoding(&in.yaml->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.yaml->parser, (const unsigned char *)text, length);
    if (read_document(&in) != 0)
        return ap_own_fail(L, &in.err);
    lua_pushvalue(L, LINES);
    return 2;
}

int luaopen_apsis_yaml(lua_State *L)
{
    static const luaL_Reg functions[] = {{"decode", l_yaml_decode}, {NULL, NULL}};
    luaL_newlib(L, functions);
    ap_yaml_push_null(L);
    lua_setfield(L, -2, "null");
    return 1;
}
