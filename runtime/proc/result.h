/* SPDX-License-Identifier: MIT */
/* result: how a command ended. */
#ifndef AP_PROC_RESULT_H
#define AP_PROC_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum ap_proc_outcome { AP_PROC_EXIT, AP_PROC_SIGNAL, AP_PROC_TIMEOUT, AP_PROC_KILLED };
enum ap_proc_excess { AP_PROC_NO_EXCESS, AP_PROC_DISK, AP_PROC_PROCESSES };

struct ap_proc_stream {
    unsigned long long bytes;
    const char *head;
    size_t head_count;
    const char *tail[2]; /* the newest bytes beyond the head, in two parts */
    size_t tail_count[2];
};

struct ap_proc_result {
    enum ap_proc_outcome outcome;
    bool exited;                /* whether it exited by itself; if not, a signal ended it */
    int code, signal;           /* the one of the two that `exited` names, also after a timeout or kill */
    enum ap_proc_excess excess; /* the limit it was killed for exceeding */
    double wall_s, user_s, sys_s;
    long long max_rss_bytes;
    struct ap_proc_stream streams[2]; /* stdout, stderr */
    const char *log_path;             /* NULL without a log */
    struct ap_err log_error;          /* the first one; code "" if there was none */
};

#endif
