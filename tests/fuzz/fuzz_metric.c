/* SPDX-License-Identifier: MIT */
/* fuzz_metric: the METRIC scanner against the same grammar as PCRE2 patterns: the same values, the same near misses,
 * and the same report when the bytes are cut. A libFuzzer target. */
#define _GNU_SOURCE
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "metric/metric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NUMBER "[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
static const char value_pattern[] = "\\AMETRIC[ \\t]+((?:[A-Za-z0-9_.]|\\xC2\\xB5)+)=(" NUMBER ")[ \\t]*\\r?\\z";
/* Escape sequences: CSI, strings (ended by BEL, or by the escape that begins the next sequence), and the short ones. */
static const char miss_pattern[] =
    "(?:\\A|\\r)(?>(?:[ \\t]|\\xEF\\xBB\\xBF|\\x1B(?:\\[[\\x20-\\x3F]*+(?:[\\x40-\\x7E]|(?=\\x1B))"
    "|[]PX^_][^\\r\\x07\\x1B]*+(?:\\x07|(?=\\x1B))|(?![]\\[PX^_])[\\x20-\\x2F]*+(?:[\\x30-\\x7E]|(?=\\x1B))))*)(?i:"
    "metric)";

static pcre2_code *compile(const char *pattern)
{
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_DOTALL, &error, &at, NULL);
    if (code == NULL)
        abort();
    return code;
}

static void need(int holds)
{
    if (!holds)
        abort();
}

static void check_value(
    const struct ap_metric_report *report, size_t sample, const uint8_t *name, size_t size, double value)
{
    need(sample < report->sample_count && report->samples[sample].value == value);
    const struct ap_metric_name *got = &report->names[report->samples[sample].name];
    need(got->size == size && memcmp(report->name_bytes + got->at, name, size) == 0);
}

/* What the patterns say of each line is what the report says. */
static void check(const struct ap_metric_report *report, const uint8_t *data, size_t size)
{
    static pcre2_code *value_code, *miss_code;
    if (value_code == NULL) {
        value_code = compile(value_pattern);
        miss_code = compile(miss_pattern);
    }
    pcre2_match_data *match = pcre2_match_data_create(4, NULL);
    size_t samples = 0, misses = 0;
    uint64_t lines = 0;
    for (const uint8_t *p = data, *end = data + size; p < end;) {
        const uint8_t *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline != NULL ? newline : end;
        size_t length = (size_t)(stop - p);
        lines++;
        if (pcre2_match(value_code, p, length, 0, 0, match, NULL) > 0) {
            const PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);
            char *number = strndup((const char *)p + at[4], at[5] - at[4]);
            double value = strtod(number, NULL);
            free(number);
            if (value - value == 0)
                check_value(report, samples++, p + at[2], at[3] - at[2], value);
            else
                need(misses < report->miss_count && report->misses[misses++].line == lines);
        } else if (pcre2_match(miss_code, p, length, 0, 0, match, NULL) > 0) {
            need(misses < report->miss_count && report->misses[misses++].line == lines);
        }
        p = newline != NULL ? newline + 1 : end;
    }
    pcre2_match_data_free(match);
    need(samples == report->sample_count && misses == report->near_misses && lines == report->lines);
}

static void check_same(const struct ap_metric_report *a, const struct ap_metric_report *b)
{
    need(a->miss_count == b->miss_count && a->name_count == b->name_count && a->sample_count == b->sample_count);
    for (size_t i = 0; i < a->miss_count; i++) {
        const struct ap_metric_miss *x = &a->misses[i], *y = &b->misses[i];
        need(x->line == y->line && x->size == y->size && memcmp(x->text, y->text, x->size) == 0);
        need(strcmp(x->reason, y->reason) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ap_metric *whole, *cut;
    struct ap_metric_report report, pieces;
    if (size > 30000)
        return 0;
    need(ap_metric_open(&whole, NULL) == 0 && ap_metric_open(&cut, NULL) == 0);
    ap_metric_feed(whole, (const char *)data, size);
    size_t step = size > 0 ? data[0] % 64u + 1 : 1;
    for (size_t at = 0; at < size; at += step)
        ap_metric_feed(cut, (const char *)data + at, step < size - at ? step : size - at);
    need(ap_metric_finish(&report, whole, NULL) == 0 && ap_metric_finish(&pieces, cut, NULL) == 0);
    if (report.near_misses == report.miss_count)
        check(&report, data, size);
    check_same(&report, &pieces);
    ap_metric_close(whole);
    ap_metric_close(cut);
    return 0;
}
