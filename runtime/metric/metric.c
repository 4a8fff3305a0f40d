/* SPDX-License-Identifier: MIT */
/* metric: finds METRIC lines in a stream of bytes and stores their values.
 * Three readers, each passing on what it cannot decide: skip_dull_lines() skips lines that cannot hold the word;
 * whole_line() reads a plain METRIC line that is complete in the chunk; metricline's machine reads every other line and
 * recognises near misses. The same bytes give the same report however they are cut. Called by lmetric.c. */
#define _GNU_SOURCE
#include "metric/metric.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buf.h"
#include "metric/decimal.h"
#include "metric/metricline.h"

struct ap_metric {
    struct ap_metricline line;
    bool in_line, out_of_memory;
    struct ap_buf name_bytes;
    struct ap_metric_name *names;
    uint32_t *slots; /* open addressing over names: index + 1, 0 is empty */
    struct ap_metric_sample *samples;
    struct ap_metric_miss *misses;
    size_t name_count, name_room, slot_count, sample_count, sample_room, miss_count, miss_room;
    uint64_t seed, near_misses, dropped_names, dropped_samples, lines;
};

/* ---- storing ---- */

/* Makes room for one more. */
static int grow(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return 0;
    size_t wanted = *room > 0 ? *room * 2 : 16;
    void *old, *bytes;
    memcpy(&old, array, sizeof old);
    bytes = realloc(old, wanted * size);
    if (bytes == NULL)
        return -1;
    memcpy(array, &bytes, sizeof bytes);
    *room = wanted;
    /* cppcheck-suppress memleak ; bytes is now *array */
    return 0;
}

static uint32_t *find_slot(struct ap_metric *metric, const char *bytes, size_t size)
{
    uint64_t hash = metric->seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    for (size_t i = hash ^ hash >> 32;; i++) {
        uint32_t *slot = &metric->slots[i & (metric->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const struct ap_metric_name *name = &metric->names[*slot - 1];
        if (name->size == size && memcmp(metric->name_bytes.bytes + name->at, bytes, size) == 0)
            return slot;
    }
}

static int grow_slots(struct ap_metric *metric)
{
    if (metric->name_count * 2 < metric->slot_count)
        return 0;
    size_t count = metric->slot_count > 0 ? metric->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return -1;
    free(metric->slots);
    metric->slots = slots;
    metric->slot_count = count;
    for (uint32_t i = 0; i < metric->name_count; i++)
        *find_slot(metric, metric->name_bytes.bytes + metric->names[i].at, metric->names[i].size) = i + 1;
    return 0;
}

static int add_sample(struct ap_metric *metric, uint32_t name, double value)
{
    metric->names[name].last = value;
    metric->names[name].not_finite = 0;
    if (metric->sample_count == AP_METRIC_SAMPLES) {
        metric->dropped_samples++;
        return 0;
    }
    if (grow(&metric->samples, &metric->sample_room, metric->sample_count, sizeof *metric->samples) != 0)
        return -1;
    metric->samples[metric->sample_count++] = (struct ap_metric_sample){value, name};
    return 0;
}

static int add_value(struct ap_metric *metric, const char *bytes, size_t size, double value)
{
    if (grow_slots(metric) != 0)
        return -1;
    uint32_t *slot = find_slot(metric, bytes, size);
    if (*slot == 0) {
        if (metric->name_count == AP_METRIC_NAMES || metric->name_bytes.used + size > AP_METRIC_NAME_BYTES) {
            metric->dropped_names++;
            return 0;
        }
        if (grow(&metric->names, &metric->name_room, metric->name_count, sizeof *metric->names) != 0 ||
            ap_buf_add(&metric->name_bytes, bytes, size) != 0)
            return -1;
        metric->names[metric->name_count] = (struct ap_metric_name){.at = metric->name_bytes.used - size, .size = size};
        *slot = (uint32_t)++metric->name_count;
    }
    return add_sample(metric, *slot - 1, value);
}

static int add_miss(struct ap_metric *metric)
{
    const struct ap_metricline *line = &metric->line;
    metric->near_misses++;
    if (metric->miss_count == AP_METRIC_MISSES)
        return 0;
    if (grow(&metric->misses, &metric->miss_room, metric->miss_count, sizeof *metric->misses) != 0)
        return -1;
    struct ap_metric_miss *miss = &metric->misses[metric->miss_count++];
    *miss = (struct ap_metric_miss){.line = metric->lines + 1, .size = line->text_size};
    memcpy(miss->text, line->text, line->text_size);
    memcpy(miss->reason, line->reason, sizeof miss->reason);
    return 0;
}

/* A value that was printed before this line is not the newest any more. */
static void note_not_finite(struct ap_metric *metric)
{
    const struct ap_buf *name = &metric->line.name;
    const uint32_t *slot = metric->slot_count > 0 ? find_slot(metric, name->bytes, name->used) : NULL;
    if (slot != NULL && *slot != 0)
        metric->names[*slot - 1].not_finite = metric->lines + 1;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether a line may matter: the machine looks for the word at its start and after each carriage return, both after
 * blanks, byte order marks and escape sequences. */
static bool may_matter(const char *p, const char *end)
{
    for (; p != NULL; p = memchr(p, '\r', (size_t)(end - p))) {
        while (p < end && (is_blank(*p) || *p == '\r'))
            p++;
        if (p < end && (*p == '\xef' || *p == '\033'))
            return true;
        if (end - p >= 6 && (*p | 32) == 'm' && strncasecmp(p, "metric", 6) == 0)
            return true;
    }
    return false;
}

/* The first line from p (a line start) that may matter, or the last if it has no newline yet. Counts the lines before
 * it. */
static const char *skip_dull_lines(const char *p, const char *end, uint64_t *lines)
{
    const char *newline;
    while ((newline = memchr(p, '\n', (size_t)(end - p))) != NULL && !may_matter(p, newline)) {
        ++*lines;
        p = newline + 1;
    }
    return p;
}

enum { USUAL_NAME = 256 };

/* Reads the METRIC line at p if it is complete before end and has a known name. Returns the next line, or NULL. */
static const char *whole_line(struct ap_metric *metric, const char *p, const char *end)
{
    if (end - p < 8 || memcmp(p, "METRIC", 6) != 0 || !is_blank(p[6]) || metric->slot_count == 0)
        return NULL;
    for (p += 7; p < end && is_blank(*p); p++)
        ;
    size_t left = (size_t)(end - p);
    const char *name = p, *equals = memchr(p, '=', left < USUAL_NAME ? left : USUAL_NAME);
    const uint32_t *slot = equals != NULL ? find_slot(metric, name, (size_t)(equals - name)) : NULL;
    double value;
    if (slot == NULL || *slot == 0)
        return NULL;
    p = ap_decimal_read(&value, equals + 1, end);
    if (p == NULL)
        return NULL;
    while (p < end && is_blank(*p))
        p++;
    if (p < end && *p == '\r')
        p++;
    if (p == end || *p != '\n')
        return NULL;
    metric->out_of_memory |= add_sample(metric, *slot - 1, value) != 0;
    metric->lines++;
    return p + 1;
}

static void end_line(struct ap_metric *metric)
{
    struct ap_metricline *line = &metric->line;
    double value;
    enum ap_metricline_is is = ap_metricline_end(line, &value);
    int failed = 0;
    if (is == AP_METRICLINE_VALUE)
        failed = add_value(metric, line->name.bytes, line->name.used, value);
    else if (is != AP_METRICLINE_DULL)
        failed = add_miss(metric);
    if (is == AP_METRICLINE_NOT_FINITE)
        note_not_finite(metric);
    metric->out_of_memory |= failed != 0;
    metric->in_line = false;
    metric->lines++;
}

/* Gives the machine the line at p, or its first part. Returns the next line, or end. */
static const char *any_line(struct ap_metric *metric, const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline != NULL ? newline : end;
    if (!metric->in_line)
        ap_metricline_begin(&metric->line);
    metric->in_line = true;
    metric->out_of_memory |= ap_metricline_feed(&metric->line, p, (size_t)(stop - p)) != 0;
    if (newline == NULL)
        return end;
    end_line(metric);
    return newline + 1;
}

void ap_metric_feed(void *self, const char *bytes, size_t count)
{
    struct ap_metric *metric = self;
    const char *p = bytes, *end = bytes + count, *next;
    if (metric == NULL || count == 0)
        return;
    if (metric->in_line)
        p = any_line(metric, p, end);
    while (p < end) {
        next = whole_line(metric, p, end);
        if (next == NULL) {
            p = skip_dull_lines(p, end, &metric->lines);
            next = p < end ? whole_line(metric, p, end) : p;
        }
        p = next != NULL ? next : any_line(metric, p, end);
    }
}

/* ---- the handle ---- */

int ap_metric_open(struct ap_metric **metric, struct ap_err *err)
{
    *metric = calloc(1, sizeof **metric);
    if (*metric == NULL)
        return ap_err_errno(err, ENOMEM, "metric");
    /* so that no output can put all its names into one slot; without randomness that is only slow */
    if (getrandom(&(*metric)->seed, sizeof(*metric)->seed, GRND_NONBLOCK) < 0)
        (*metric)->seed = 0;
    return 0;
}

void ap_metric_close(struct ap_metric *metric)
{
    if (metric == NULL)
        return;
    ap_metricline_dispose(&metric->line);
    ap_buf_dispose(&metric->name_bytes);
    free(metric->names);
    free(metric->slots);
    free(metric->samples);
    free(metric->misses);
    free(metric);
}

int ap_metric_file(struct ap_metric *metric, const char *path, struct ap_err *err)
{
    enum { CHUNK = 64 * 1024 }; /* stays in the cache; mapping the file would count as memory used */
    int result = -1;
    ssize_t count = -1;
    char *chunk = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        ap_err_errno(err, errno, "%s", path);
        goto out;
    }
    chunk = malloc(CHUNK);
    if (chunk == NULL) {
        ap_err_errno(err, ENOMEM, "%s", path);
        goto out;
    }
    while ((count = read(fd, chunk, CHUNK)) != 0) {
        if (count > 0)
            ap_metric_feed(metric, chunk, (size_t)count);
        else if (errno != EINTR) {
            ap_err_errno(err, errno, "%s", path);
            goto out;
        }
    }
    result = 0;
out:
    free(chunk);
    if (fd >= 0)
        close(fd);
    return result;
}

int ap_metric_finish(struct ap_metric_report *report, struct ap_metric *metric, struct ap_err *err)
{
    if (metric->in_line)
        end_line(metric);
    if (metric->out_of_memory)
        return ap_err_errno(err, ENOMEM, "metric");
    *report = (struct ap_metric_report){
        .name_bytes = metric->name_bytes.bytes,
        .names = metric->names,
        .samples = metric->samples,
        .misses = metric->misses,
        .name_count = metric->name_count,
        .sample_count = metric->sample_count,
        .miss_count = metric->miss_count,
        .near_misses = metric->near_misses,
        .dropped_names = metric->dropped_names,
        .dropped_samples = metric->dropped_samples,
        .lines = metric->lines,
    };
    return 0;
}
