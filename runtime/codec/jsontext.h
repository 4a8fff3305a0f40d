/* SPDX-License-Identifier: MIT */
/* jsontext: the strict check of a JSON text that comes before cJSON. */
#ifndef AP_JSONTEXT_H
#define AP_JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Replaces NUL in cJSON's strings and begins strings that are numbers: UTF-8 has no such bytes. */
#define AP_JSON_NUL "\xFF"
#define AP_JSON_NUMBER "\xFE"
#define AP_JSON_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD, replaces a byte that is not UTF-8 */

enum { AP_JSON_DEPTH = 1000 };

struct ap_json_text {
    const char *start, *end; /* *end is NUL */
    struct ap_buf *copy;     /* for cJSON: valid UTF-8, with the replacements above */
    /* Whether to leave a member of the outermost object out of the copy; not called for keys with escapes. NULL: keep
     * all. */
    bool (*skip)(void *self, const char *key, size_t length);
    void *self;
    size_t wanted; /* sets found: where the n-th key or value of the copy begins; 0: none */
    const char *found;
    struct ap_err err;

    const char *at, *copied; /* private: how far the text is checked and copied */
    size_t count;
};

/* Checks the text and fills the copy. 0, or -1 with text->err: EJSON, "LINE:COLUMN: ...", or ENOMEM. */
int ap_json_check(struct ap_json_text *text);

/* Records what is wrong at `where`. Returns -1. */
int ap_json_refuse(struct ap_json_text *text, const char *where, const char *message, const char *detail);

/* The length of the valid UTF-8 sequence at `at`, or 0: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t ap_json_utf8_length(const unsigned char *at, const unsigned char *end);

#endif
