/* SPDX-License-Identifier: MIT */
/* metricline: the grammar of one METRIC line, as a machine that reads the line in pieces of any size. Used only by
 * metric.c. */
#ifndef AP_METRICLINE_H
#define AP_METRICLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "metric/decimal.h"

enum {
    AP_METRICLINE_TOKEN = 40, /* bytes of the text in place of a number, for the reason */
    AP_METRICLINE_TEXT = 200, /* bytes of the line that are stored */
    AP_METRICLINE_REASON = 100,
    AP_METRICLINE_NAME = 1 << 16, /* bytes of a name; a longer one is a near miss */
};

/* NOT_FINITE is a MISS whose number is NaN, an infinity or too large for a double, or a word like None, or absent. */
enum ap_metricline_is { AP_METRICLINE_DULL, AP_METRICLINE_VALUE, AP_METRICLINE_MISS, AP_METRICLINE_NOT_FINITE };

/* Init with {0}. Valid after ap_metricline_end: name after a VALUE or NOT_FINITE; text and reason after a MISS or
 * NOT_FINITE. */
struct ap_metricline {
    int state;
    const char *before; /* what preceded the word, or NULL */
    int letters;        /* matched letters of "metric" */
    bool small;         /* one of them was not a capital */
    bool token_cut;
    size_t text_size, token_size;
    char text[AP_METRICLINE_TEXT], token[AP_METRICLINE_TOKEN + 1], reason[AP_METRICLINE_REASON];
    struct ap_buf name;
    struct ap_decimal number;
};

void ap_metricline_begin(struct ap_metricline *line);

/* The next bytes of the line, without its newline. -1 when out of memory. */
int ap_metricline_feed(struct ap_metricline *line, const char *bytes, size_t count);

enum ap_metricline_is ap_metricline_end(struct ap_metricline *line, double *value);
void ap_metricline_dispose(struct ap_metricline *line);

#endif
