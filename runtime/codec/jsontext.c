/* SPDX-License-Identifier: MIT */
/* jsontext: checks a text as strictly as RFC 8259 and copies it for cJSON. cJSON accepts 01, raw control characters
 * and text after the value; it reads every number as a double and ends every string at NUL. Builds no values;
 * ljsonread.c does. */
#include "codec/jsontext.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t ap_json_utf8_length(const unsigned char *at, const unsigned char *end)
{
    size_t length = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
    if (length < 2)
        return length;
    if ((size_t)(end - at) < length)
        return 0;
    unsigned char low = *at == 0xE0 ? 0xA0 : *at == 0xF0 ? 0x90 : 0x80;
    unsigned char high = *at == 0xED ? 0x9F : *at == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xBF)
            return 0;
    return length;
}

int ap_json_refuse(struct ap_json_text *text, const char *where, const char *message, const char *detail)
{
    int line = 1;
    const char *begin = text->start;
    for (const char *at = text->start; at < where; at++)
        if (*at == '\n') {
            line++;
            begin = at + 1;
        }
    return ap_err_set(&text->err, "EJSON", "%d:%d: %s%.200s", line, (int)(where - begin) + 1, message, detail);
}

static int refuse(struct ap_json_text *text, const char *message)
{
    return ap_json_refuse(text, text->at, message, "");
}

/* Copies what precedes text->at, then `with` in place of the next `count` bytes. */
static int replace(struct ap_json_text *text, size_t count, const char *with)
{
    if (ap_buf_add(text->copy, text->copied, (size_t)(text->at - text->copied)) != 0 ||
        ap_buf_add(text->copy, with, strlen(with)) != 0)
        return ap_err_set(&text->err, "ENOMEM", "out of memory");
    text->copied = text->at += count;
    return 0;
}

static void skip_blanks(struct ap_json_text *text)
{
    while (*text->at == ' ' || *text->at == '\n' || *text->at == '\r' || *text->at == '\t')
        text->at++;
}

/* The UTF-16 unit of the escape \uXXXX at `at`; -1 if there is none. */
static long escaped_unit(const char *at)
{
    char digits[5] = "";
    if (at[0] == '\\' && at[1] == 'u')
        strncpy(digits, at + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

static int check_escape(struct ap_json_text *text)
{
    long unit = escaped_unit(text->at), low = -1;
    if (unit < 0 && (text->at[1] == '\0' || strchr("\"\\/bfnrt", text->at[1]) == NULL))
        return refuse(text, "malformed escape");
    if (unit == 0)
        return replace(text, 6, AP_JSON_NUL);
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        low = unit < 0xDC00 ? escaped_unit(text->at + 6) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return replace(text, 6, AP_JSON_REPLACEMENT); /* half of a pair; what follows is read separately */
    }
    text->at += unit < 0 ? 2 : low < 0 ? 6 : 12;
    return 0;
}

/* Skips the bytes that need no escape in a string. */
static const char *skip_plain(const char *at)
{
    while ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

static int check_string(struct ap_json_text *text)
{
    const char *opening = text->at++;
    for (int result = 0; result == 0;) {
        text->at = skip_plain(text->at);
        unsigned char c = (unsigned char)*text->at;
        size_t length = ap_json_utf8_length((const unsigned char *)text->at, (const unsigned char *)text->end);
        if (c == '"') {
            text->at++;
            return 0;
        }
        if (text->at == text->end)
            return ap_json_refuse(text, opening, "string without a closing quote", "");
        if (c < 0x20)
            return refuse(text, "control character in a string");
        if (c == '\\')
            result = check_escape(text);
        else if (length == 0)
            result = replace(text, 1, AP_JSON_REPLACEMENT);
        else
            text->at += length;
    }
    return -1;
}

/* Skips the digits at *at. Returns how many there were. */
static size_t skip_digits(const char **at)
{
    size_t count = strspn(*at, "0123456789");
    *at += count;
    return count;
}

/* A number is copied as a string. */
static int check_number(struct ap_json_text *text)
{
    const char *at = text->at + (*text->at == '-');
    bool zero = *at == '0';
    size_t whole = skip_digits(&at), fraction = 1, exponent = 1;
    if (*at == '.') {
        at++;
        fraction = skip_digits(&at);
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        exponent = skip_digits(&at);
    }
    if (whole == 0 || (zero && whole > 1) || fraction == 0 || exponent == 0)
        return refuse(text, "malformed number");
    if (replace(text, 0, "\"" AP_JSON_NUMBER) != 0)
        return -1;
    text->at = at;
    return replace(text, 0, "\"");
}

static int check_value(struct ap_json_text *text, int depth);

/* Skips blanks and counts the key or value that begins there. */
static void begin(struct ap_json_text *text)
{
    skip_blanks(text);
    if (++text->count == text->wanted)
        text->found = text->at;
}

/* Removes the member that ends here from the copy, which had `used` bytes before it, with an adjacent comma. */
static void leave_out(struct ap_json_text *text, size_t used)
{
    struct ap_buf *copy = text->copy;
    skip_blanks(text);
    text->copied = text->at + (*text->at == ',');
    copy->used = used;
    while (*text->at != ',' && copy->bytes[copy->used - 1] != '{')
        if (copy->bytes[--copy->used] == ',')
            break;
}

static int check_member(struct ap_json_text *text, int depth)
{
    begin(text);
    if (*text->at != '"')
        return refuse(text, "expected a key in quotes");
    const char *key = text->at + 1, *end = skip_plain(key);
    bool skipped = depth == 1 && text->skip != NULL && *end == '"' && text->skip(text->self, key, (size_t)(end - key));
    if (skipped && replace(text, 0, "") != 0)
        return -1;
    size_t used = text->copy->used, count = text->count - 1;
    if (check_string(text) != 0)
        return -1;
    skip_blanks(text);
    if (*text->at != ':')
        return refuse(text, "expected ':'");
    text->at++;
    if (check_value(text, depth) != 0)
        return -1;
    if (skipped) {
        leave_out(text, used);
        text->count = count;
    }
    return 0;
}

/* An array or an object. */
static int check_list(struct ap_json_text *text, int depth)
{
    bool object = *text->at == '{';
    char closing = object ? '}' : ']';
    text->at++;
    skip_blanks(text);
    for (bool empty = true; *text->at != closing || !empty; text->at++) {
        if ((object ? check_member(text, depth) : check_value(text, depth)) != 0)
            return -1;
        empty = false;
        skip_blanks(text);
        if (*text->at == closing)
            break;
        if (*text->at != ',')
            return refuse(text, object ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    text->at++;
    return 0;
}

static int check_value(struct ap_json_text *text, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    begin(text);
    char c = *text->at;
    if (c == '"')
        return check_string(text);
    if (c == '-' || (c >= '0' && c <= '9'))
        return check_number(text);
    if (c == '{' || c == '[')
        return depth < AP_JSON_DEPTH ? check_list(text, depth + 1)
                                     : refuse(text, "nested too deeply (more than 1000 levels)");
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(text->at, words[i], length) == 0) {
            text->at += length;
            return 0;
        }
    }
    return refuse(text, text->at == text->end ? "the text ends where a value is expected" : "expected a value");
}

int ap_json_check(struct ap_json_text *text)
{
    text->at = text->copied = text->start;
    text->count = text->copy->used = 0;
    if (strncmp(text->start, "\xEF\xBB\xBF", 3) == 0)
        return refuse(text, "the text begins with a byte order mark");
    if (check_value(text, 0) != 0)
        return -1;
    skip_blanks(text);
    return text->at == text->end ? replace(text, 0, "") : refuse(text, "text after the value");
}
