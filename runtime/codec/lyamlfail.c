/* SPDX-License-Identifier: MIT */
/* lyamlfail: why libyaml refused a text, in plain words, with the place and a remedy; its own words are never shown.
 * Called only by lyaml.c. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "codec/lyaml.h"

/* What libyaml's parser finds, and what a person can do about it. */
#define TABS "tabs are not allowed in YAML: use spaces"
#define QUOTE "put it in quotes"
#define TAG "a '!' begins a tag, and this is none: " QUOTE
#define DIRECTIVE "a '%' in the first column begins a directive, and this is none: remove the line"
#define ENCODING "this is not UTF-8: save the file as UTF-8"
static const struct {
    const char *problem, *remedy;
} remedies[] = {
    {"found character that cannot start any token", "a value cannot begin with this character: " QUOTE},
    {"found a tab character that violates indentation", TABS},
    {"found a tab character where an indentation space is expected", TABS},
    {"mapping values are not allowed in this context",
        "a ':' does not belong here: put the text in quotes, or check the indentation"},
    {"mapping keys are not allowed in this context",
        "a '?' does not belong here: put the text in quotes, or check the indentation"},
    {"block sequence entries are not allowed in this context",
        "a list item, '- ...', does not belong here: begin the list in the next line"},
    {"did not find expected '-' indicator", "a list item, '- ...', was expected here: check the indentation"},
    {"did not find expected key", "a key, 'name: ...', was expected here: check the indentation"},
    {"could not find expected ':'", "a key without ':' after it: write 'name: ...', or check the indentation"},
    {"did not find expected ',' or ']'", "a list in brackets is not closed: ',' or ']' was expected"},
    {"did not find expected ',' or '}'", "a mapping in braces is not closed: ',' or '}' was expected"},
    {"found unexpected ':'", "a ':' does not belong into brackets or braces: put the text in quotes"},
    {"did not find expected node content", "a value was expected here: check the brackets, or put the text in quotes"},
    {"found unexpected end of stream", "a quote is not closed"},
    {"found unexpected document indicator", "a quote is not closed before this line of --- or ..."},
    {"found unknown escape character",
        "a backslash begins an unknown escape in double quotes: use single quotes, or write two backslashes"},
    {"did not find expected hexdecimal number",
        "digits are missing after \\x, \\u or \\U in double quotes: use single quotes, or write two backslashes"},
    {"found invalid Unicode character escape code", "there is no character of this number: use another escape"},
    {"did not find expected comment or line break",
        "text does not belong here: begin it in the next line, or put all of it in quotes"},
    {"found an indentation indicator equal to 0", "the number after | or > must be 1 to 9: remove it"},
    {"did not find expected alphabetic or numeric character",
        "a name is missing after * or &: put the text in quotes, if it begins with one of them"},
    {"found duplicate anchor; first occurrence", "this anchor is there already: give it another name"},
    {"found undefined alias", "no anchor has this name: put the text in quotes, if it begins with *"},
    {"did not find expected <document start>", "there is text after the document: remove it, or check the indentation"},
    {"found undefined tag handle", TAG},
    {"did not find expected '!'", TAG},
    {"did not find expected tag URI", TAG},
    {"did not find URI escaped octet", TAG},
    {"did not find the expected '>'", TAG},
    {"did not find expected whitespace or line break", TAG},
    {"found an incorrect leading UTF-8 octet", TAG},
    {"found an incorrect trailing UTF-8 octet", TAG},
    {"could not find expected directive name", DIRECTIVE},
    {"found unknown directive name", DIRECTIVE},
    {"found unexpected non-alphabetical character", DIRECTIVE},
    {"did not find expected version number", DIRECTIVE},
    {"did not find expected digit or '.' character", DIRECTIVE},
    {"found extremely long version number", DIRECTIVE},
    {"did not find expected whitespace", DIRECTIVE},
    {"found duplicate %YAML directive", DIRECTIVE},
    {"found duplicate %TAG directive", DIRECTIVE},
    {"found incompatible YAML document", "this version of YAML is not known here: remove the line"},
    {"invalid leading UTF-8 octet", ENCODING},
    {"incomplete UTF-8 octet sequence", ENCODING},
    {"invalid length of a UTF-8 sequence", ENCODING},
    {"invalid trailing UTF-8 octet", ENCODING},
    {"invalid Unicode character", ENCODING},
    {"control characters are not allowed", "control characters are not allowed in YAML: remove this one"},
};

struct place {
    size_t line, column; /* from 1; the column counts characters */
};

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

/* The place of the byte at offset; past the end, that after the last line with content. */
static struct place place_at(const char *text, size_t length, size_t offset)
{
    struct place place = {1, 1};
    for (size_t i = 0; i < offset && i < length && (text[i] != '\n' || i + 1 < length); i++) {
        place.line += text[i] == '\n';
        place.column = text[i] == '\n' ? 1 : place.column + begins_character(text[i]);
    }
    return place;
}

/* The byte of the text at a mark, whose index counts characters. */
static char byte_at(const char *text, size_t length, const yaml_mark_t *mark)
{
    size_t at = 0;
    for (size_t left = mark->index; at < length && left > 0; left--)
        do
            at++;
        while (at < length && !begins_character(text[at]));
    return at < length ? text[at] : '\0';
}

static const char *remedy_for(const char *text, size_t length, const yaml_parser_t *parser)
{
    if (parser->error == YAML_SCANNER_ERROR && byte_at(text, length, &parser->problem_mark) == '\t')
        return TABS;
    for (size_t i = 0; parser->problem != NULL && i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(parser->problem, remedies[i].problem) == 0)
            return remedies[i].remedy;
    return "this is not YAML: check quotes and indentation";
}

int ap_yaml_fail(struct ap_err *err, const char *name, const char *text, size_t length, const yaml_parser_t *parser)
{
    struct place last = place_at(text, length, (size_t)-1);
    struct place place = {parser->problem_mark.line + 1, parser->problem_mark.column + 1};
    if (parser->error == YAML_READER_ERROR) /* it has only an offset */
        place = place_at(text, length, parser->problem_offset);
    if (place.line > last.line) /* libyaml reports the end one line after the last line */
        place = last;
    char context[60] = "";
    if (parser->context != NULL && parser->context_mark.line + 1 < place.line)
        snprintf(context, sizeof context, " (it begins in line %zu)", parser->context_mark.line + 1);
    return ap_err_set(err, "EYAML", "%.400s:%zu:%zu: %s%s", name, place.line, place.column,
        remedy_for(text, length, parser), context);
}
