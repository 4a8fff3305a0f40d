/* SPDX-License-Identifier: MIT */
/* lregex: PCRE2 for Lua, with the interface of the string library. A compiled pattern is a handle. Every match is
 * limited, so that a catastrophic pattern fails with EREGEX_LIMIT instead of running forever. Captures leave the
 * library's memory before Lua is called, so a function given to gsub may use the same handle. Opened by host.c as
 * apsis.regex. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>
#include <string.h>

#include "base/bindings.h"
#include "base/own.h"

#define REGEX "apsis.regex"

enum { MATCH_LIMIT = 5000000, HEAP_KIB = 65536 };

struct regex {
    struct ap_own own;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    bool utf;
};

static void regex_close(void *self)
{
    struct regex *regex = self; /* all three accept NULL */
    pcre2_match_context_free(regex->context);
    pcre2_match_data_free(regex->data);
    pcre2_code_free(regex->code);
}

static uint32_t check_flags(lua_State *L, int index)
{
    uint32_t options = 0;
    for (const char *at = luaL_optstring(L, index, ""); *at != '\0'; at++) {
        switch (*at) {
        case 'i':
            options |= PCRE2_CASELESS;
            break;
        case 'm':
            options |= PCRE2_MULTILINE;
            break;
        case 's':
            options |= PCRE2_DOTALL;
            break;
        case 'x':
            options |= PCRE2_EXTENDED;
            break;
        case 'u': /* invalid UTF-8, common in program output, matches nothing and is no error */
            options |= PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
            break;
        default:
            luaL_error(L, "unknown flag '%c' (known: i m s x u)", *at);
        }
    }
    return options;
}

static int l_regex_compile(lua_State *L)
{
    size_t length, offset;
    const char *pattern = luaL_checklstring(L, 1, &length);
    uint32_t options = check_flags(L, 2);
    struct ap_err err;
    int number;
    struct regex *regex = ap_own_new(L, sizeof *regex, REGEX, regex_close);
    regex->own.open = true;
    regex->utf = (options & PCRE2_UTF) != 0;
    regex->code = pcre2_compile((PCRE2_SPTR)pattern, length, options, &number, &offset, NULL);
    if (regex->code == NULL) {
        char message[256];
        pcre2_get_error_message(number, (PCRE2_UCHAR *)message, sizeof message);
        ap_err_set(&err, "EREGEX", "%s at offset %zu", message, offset);
        return ap_own_fail(L, &err);
    }
    pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE); /* without JIT, matching is only slower */
    regex->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (regex->data == NULL || regex->context == NULL)
        return luaL_error(L, "out of memory");
    pcre2_set_match_limit(regex->context, MATCH_LIMIT);
    pcre2_set_depth_limit(regex->context, MATCH_LIMIT);
    pcre2_set_heap_limit(regex->context, HEAP_KIB);
    return 1;
}

/* ---- one match ---- */

struct subject {
    const char *bytes;
    size_t length;
};

/* 1 found, 0 not found, -1 and err. Options: 0 or PCRE2_NOTEMPTY_ATSTART. */
static int match(struct regex *regex, struct subject subject, size_t from, uint32_t options, struct ap_err *err)
{
    PCRE2_SPTR bytes = (PCRE2_SPTR)subject.bytes;
    int result = pcre2_match(regex->code, bytes, subject.length, from, options, regex->data, regex->context);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter uses the heap */
        result =
            pcre2_match(regex->code, bytes, subject.length, from, options | PCRE2_NO_JIT, regex->data, regex->context);
    if (result >= 0)
        return 1;
    if (result == PCRE2_ERROR_NOMATCH)
        return 0;
    char message[256];
    pcre2_get_error_message(result, (PCRE2_UCHAR *)message, sizeof message);
    bool limit =
        result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_DEPTHLIMIT || result == PCRE2_ERROR_HEAPLIMIT;
    return ap_err_set(err, limit ? "EREGEX_LIMIT" : "EREGEX", "%s", message);
}

/* The span of the match. \K in a lookaround (older PCRE2 allow it) could begin it before `from`, or end it before its
 * start. */
static void match_span(struct regex *regex, size_t from, size_t *start, size_t *end)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->data);
    *start = offsets[0] > from ? offsets[0] : from;
    *end = offsets[1] > *start ? offsets[1] : *start;
}

/* Pushes capture i of the last match; false if its group did not take part. */
static void push_capture(lua_State *L, struct regex *regex, struct subject subject, uint32_t i)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->data) + 2 * (size_t)i;
    if (offsets[0] == PCRE2_UNSET)
        lua_pushboolean(L, 0);
    else
        lua_pushlstring(L, subject.bytes + offsets[0], offsets[1] > offsets[0] ? offsets[1] - offsets[0] : 0);
}

/* Pushes all captures, or the whole match if there is no group (and `whole` is set). Returns how many. */
static int push_captures(lua_State *L, struct regex *regex, struct subject subject, bool whole)
{
    uint32_t groups = pcre2_get_ovector_count(regex->data) - 1;
    luaL_checkstack(L, (int)groups + 8, "too many groups");
    if (groups == 0 && whole)
        push_capture(L, regex, subject, 0);
    for (uint32_t i = 1; i <= groups; i++)
        push_capture(L, regex, subject, i);
    return groups == 0 ? whole : (int)groups;
}

static struct subject check_subject(lua_State *L, int index)
{
    struct subject subject;
    subject.bytes = luaL_checklstring(L, index, &subject.length);
    return subject;
}

/* Same as string.find's init: from 1, negative from the end. */
static size_t check_init(lua_State *L, int index, size_t length)
{
    lua_Integer init = luaL_optinteger(L, index, 1);
    if (init > 0)
        return (lua_Unsigned)init - 1 > length ? length + 1 : (size_t)init - 1;
    return init == 0 || 0 - (lua_Unsigned)init > length ? 0 : length - (size_t)(0 - (lua_Unsigned)init);
}

static int find_or_match(lua_State *L, bool find)
{
    struct ap_err err;
    struct regex *regex = ap_own_check(L, 1, REGEX);
    struct subject subject = check_subject(L, 2);
    size_t from = check_init(L, 3, subject.length), start, end;
    int found = from > subject.length ? 0 : match(regex, subject, from, 0, &err);
    if (found < 0)
        return ap_own_fail(L, &err);
    if (found == 0) {
        lua_pushnil(L);
        return 1;
    }
    if (!find)
        return push_captures(L, regex, subject, true);
    match_span(regex, 0, &start, &end);
    lua_pushinteger(L, (lua_Integer)start + 1);
    lua_pushinteger(L, (lua_Integer)end);
    return 2 + push_captures(L, regex, subject, false);
}

static int l_regex_match(lua_State *L)
{
    return find_or_match(L, false);
}

static int l_regex_find(lua_State *L)
{
    return find_or_match(L, true);
}

static int l_regex_names(lua_State *L)
{
    struct regex *regex = ap_own_check(L, 1, REGEX);
    uint32_t count, size;
    PCRE2_SPTR entry;
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMECOUNT, &count);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMETABLE, &entry);
    lua_newtable(L);
    for (; count > 0; count--, entry += size) {
        lua_pushinteger(L, entry[0] << 8 | entry[1]);
        lua_setfield(L, -2, (const char *)entry + 2);
    }
    return 1;
}

/* ---- all matches ---- */

/* The next match after one that ended at `at`; it may be empty at `at` only if that one was not empty. */
static int match_next(struct regex *regex, struct subject subject, size_t at, bool after_empty, struct ap_err *err)
{
    return at > subject.length ? 0 : match(regex, subject, at, after_empty ? PCRE2_NOTEMPTY_ATSTART : 0, err);
}

/* Upvalues: the handle, the subject, where to continue, whether the last match was empty. */
static int gmatch_next(lua_State *L)
{
    struct ap_err err;
    size_t start, end;
    struct regex *regex = ap_own_check(L, lua_upvalueindex(1), REGEX);
    struct subject subject = check_subject(L, lua_upvalueindex(2));
    size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(3));
    int found = match_next(regex, subject, at, lua_toboolean(L, lua_upvalueindex(4)), &err);
    if (found < 0) /* nil would end the loop silently */
        return luaL_error(L, "%s: %s", err.code, err.message);
    if (found == 0)
        return 0;
    match_span(regex, at, &start, &end);
    lua_pushinteger(L, (lua_Integer)end);
    lua_replace(L, lua_upvalueindex(3));
    lua_pushboolean(L, start == end);
    lua_replace(L, lua_upvalueindex(4));
    return push_captures(L, regex, subject, true);
}

static int l_regex_gmatch(lua_State *L)
{
    ap_own_check(L, 1, REGEX);
    luaL_checkstring(L, 2);
    lua_settop(L, 2);
    lua_pushinteger(L, 0);
    lua_pushboolean(L, 0);
    lua_pushcclosure(L, gmatch_next, 4);
    return 1;
}

/* Raises unless every % is followed by % or a digit that names a group. */
static void check_replacement(lua_State *L, int index, uint32_t groups)
{
    size_t length;
    const char *text = luaL_checklstring(L, index, &length);
    for (const char *at = text; (at = memchr(at, '%', length - (size_t)(at - text))) != NULL; at += 2) {
        char c = at[1]; /* a Lua string ends in NUL */
        if (c != '%' && !isdigit((unsigned char)c))
            luaL_argerror(L, index, "use %0 to %9, or %% for a %");
        if (isdigit((unsigned char)c) && (uint32_t)(c - '0') > groups && !(groups == 0 && c == '1'))
            luaL_argerror(L, index, lua_pushfstring(L, "there is no group %%%c", c));
    }
}

static void add_text(lua_State *L, luaL_Buffer *out, struct regex *regex, struct subject subject)
{
    size_t length;
    const char *text = lua_tolstring(L, 3, &length), *end = text + length;
    bool has_groups = pcre2_get_ovector_count(regex->data) > 1;
    for (const char *percent; (percent = memchr(text, '%', (size_t)(end - text))) != NULL; text = percent + 2) {
        luaL_addlstring(out, text, (size_t)(percent - text));
        if (percent[1] == '%') {
            luaL_addchar(out, '%');
            continue;
        }
        push_capture(L, regex, subject, has_groups ? (uint32_t)(percent[1] - '0') : 0);
        if (!lua_toboolean(L, -1)) { /* an unset group is replaced by nothing */
            lua_pop(L, 1);
            lua_pushliteral(L, "");
        }
        luaL_addvalue(out);
    }
    luaL_addlstring(out, text, (size_t)(end - text));
}

/* Adds the function's result for the match at [start, end): false and nil keep the match. */
static void add_called(
    lua_State *L, luaL_Buffer *out, struct regex *regex, struct subject subject, size_t start, size_t end)
{
    lua_pushvalue(L, 3);
    lua_call(L, push_captures(L, regex, subject, true), 1);
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        lua_pushlstring(L, subject.bytes + start, end - start);
    } else if (!lua_isstring(L, -1)) {
        luaL_error(L, "the function must return a string, not a %s", luaL_typename(L, -1));
    }
    luaL_addvalue(out);
}

static int l_regex_gsub(lua_State *L)
{
    struct ap_err err;
    struct regex *regex = ap_own_check(L, 1, REGEX);
    struct subject subject = check_subject(L, 2);
    bool is_function = lua_isfunction(L, 3);
    if (!is_function)
        check_replacement(L, 3, pcre2_get_ovector_count(regex->data) - 1);
    lua_Integer most = luaL_optinteger(L, 4, LUA_MAXINTEGER), count = 0;
    size_t at = 0, start, end;
    bool after_empty = false;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (count < most) {
        if (!regex->own.open)
            return luaL_error(L, "the function closed its regex");
        int found = match_next(regex, subject, at, after_empty, &err);
        if (found < 0)
            return ap_own_fail(L, &err);
        if (found == 0)
            break;
        count++;
        match_span(regex, at, &start, &end);
        luaL_addlstring(&out, subject.bytes + at, start - at);
        if (is_function)
            add_called(L, &out, regex, subject, start, end);
        else
            add_text(L, &out, regex, subject);
        at = end;
        after_empty = start == end;
    }
    luaL_addlstring(&out, subject.bytes + at, subject.length - at);
    luaL_pushresult(&out);
    lua_pushinteger(L, count);
    return 2;
}

int luaopen_apsis_regex(lua_State *L)
{
    static const luaL_Reg functions[] = {{"compile", l_regex_compile}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"match", l_regex_match},
        {"find", l_regex_find},
        {"gmatch", l_regex_gmatch},
        {"gsub", l_regex_gsub},
        {"names", l_regex_names},
        {NULL, NULL},
    };
    ap_own_class(L, REGEX, methods);
    luaL_newlib(L, functions);
    return 1;
}
