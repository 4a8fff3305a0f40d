/* SPDX-License-Identifier: MIT */
/* procout: stores a command's output: its newest bytes, and its log files. Used only by proc. */
#ifndef AP_PROCOUT_H
#define AP_PROCOUT_H

#include <stddef.h>

#include "base/err.h"

/* The newest bytes of a stream, at most `room`; allocated at first use. The owner frees `bytes`. */
struct ap_ring {
    char *bytes;
    size_t room, used, at;
};

/* A log: up to `limit` bytes are written as they come; the newest of the rest are kept and written at the end. */
struct ap_log {
    int fd; /* -1: none, or given up */
    char *path;
    unsigned long long limit, written, dropped;
    struct ap_ring tail;
};

void ap_ring_add(struct ap_ring *ring, const char *bytes, size_t count);

/* Its bytes in order: the older part, then the newer. */
void ap_ring_parts(const struct ap_ring *ring, const char *parts[2], size_t counts[2]);

/* Opens `path` for appending; a NULL path is no log. Dispose in any case. */
int ap_log_open(struct ap_log *log, const char *path, unsigned long long limit, size_t tail_bytes, struct ap_err *err);

/* `first` receives the first error of all, if its code is still "". */
void ap_log_add(struct ap_log *log, const char *bytes, size_t count, struct ap_err *first);
void ap_log_finish(struct ap_log *log, struct ap_err *first);
void ap_log_dispose(struct ap_log *log);

#endif
