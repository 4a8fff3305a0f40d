/* SPDX-License-Identifier: MIT */
/* metric: METRIC lines in a stream of bytes. Owns the grammar, the values, and the reasons why a line that was meant as
 * a METRIC line is none. Memory is bounded for any input. Never judges a value, and knows no direction. Called by
 * lmetric.c and, through struct ap_sink, by whatever produces bytes. */
#ifndef AP_METRIC_H
#define AP_METRIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    AP_METRIC_NAMES = 10000,        /* stored; the rest is only counted */
    AP_METRIC_NAME_BYTES = 8 << 20, /* of all stored names together */
    AP_METRIC_SAMPLES = 100000,     /* stored in all */
    AP_METRIC_MISSES = 1000,        /* stored */
    AP_METRIC_TEXT = 200,           /* bytes stored of a near miss */
};

struct ap_metric;

struct ap_metric_name {
    size_t at, size;     /* in report.name_bytes */
    double last;         /* the newest value, even if its sample was not stored */
    uint64_t not_finite; /* the line after it that has the name and no finite number; 0: none */
};

struct ap_metric_sample {
    double value; /* always finite */
    uint32_t name;
};

struct ap_metric_miss {
    uint64_t line; /* from 1 */
    size_t size;
    char text[AP_METRIC_TEXT];
    char reason[100];
};

/* Borrowed from the scanner: valid until it is fed again or closed. */
struct ap_metric_report {
    const char *name_bytes;
    const struct ap_metric_name *names; /* in order of first appearance */
    const struct ap_metric_sample *samples;
    const struct ap_metric_miss *misses;
    size_t name_count, sample_count, miss_count;
    uint64_t near_misses, dropped_names, dropped_samples, lines;
};

int ap_metric_open(struct ap_metric **metric, struct ap_err *err);
void ap_metric_close(struct ap_metric *metric); /* NULL is fine */

/* The next bytes, cut anywhere. Has the signature of struct ap_sink's feed; self is a struct ap_metric, or NULL: no
 * effect. Cannot fail: ap_metric_finish reports lack of memory. */
void ap_metric_feed(void *self, const char *bytes, size_t count);

/* Feeds a whole file, pipe or device. */
int ap_metric_file(struct ap_metric *metric, const char *path, struct ap_err *err);

/* Ends a last line without a newline, and reports everything so far. Feeding may continue, with a new line. */
int ap_metric_finish(struct ap_metric_report *report, struct ap_metric *metric, struct ap_err *err);

#endif
