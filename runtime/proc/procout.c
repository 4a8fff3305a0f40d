/* SPDX-License-Identifier: MIT */
/* procout: keeps a command's output in bounded space: a ring of its newest bytes, and log files with a limit, which end
 * with the number of bytes left out and the newest of them. A full disk is no fault of the command: the error is
 * recorded, the log given up, and the output continues. Used only by proc. */
#define _GNU_SOURCE
#include "proc/procout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"

void ap_ring_add(struct ap_ring *ring, const char *bytes, size_t count)
{
    if (ring->room == 0 || count == 0)
        return;
    if (ring->bytes == NULL && (ring->bytes = malloc(ring->room)) == NULL)
        return;
    if (count > ring->room) {
        bytes += count - ring->room;
        count = ring->room;
    }
    size_t first = ring->room - ring->at < count ? ring->room - ring->at : count;
    memcpy(ring->bytes + ring->at, bytes, first);
    memcpy(ring->bytes, bytes + first, count - first);
    ring->at = (ring->at + count) % ring->room;
    ring->used = ring->used + count > ring->room ? ring->room : ring->used + count;
}

void ap_ring_parts(const struct ap_ring *ring, const char *parts[2], size_t counts[2])
{
    bool wrapped = ring->used == ring->room && ring->at > 0;
    parts[0] = wrapped ? ring->bytes + ring->at : ring->bytes;
    counts[0] = wrapped ? ring->room - ring->at : ring->used;
    parts[1] = ring->bytes;
    counts[1] = wrapped ? ring->at : 0;
}

static void log_close(struct ap_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

static void log_put(struct ap_log *log, const char *bytes, size_t count, struct ap_err *first)
{
    if (log->fd < 0 || ap_sys_write(log->fd, bytes, count) == 0)
        return;
    if (first->code[0] == '\0')
        ap_err_errno(first, errno, "write %s", log->path);
    log_close(log);
}

int ap_log_open(struct ap_log *log, const char *path, unsigned long long limit, size_t tail_bytes, struct ap_err *err)
{
    *log = (struct ap_log){.fd = -1, .limit = limit, .tail = {.room = tail_bytes}};
    if (path == NULL)
        return 0;
    log->path = strdup(path);
    if (log->path == NULL)
        return ap_err_errno(err, ENOMEM, "%s", path);
    /* O_NONBLOCK only for the open: a FIFO without a reader then fails with ENXIO instead of blocking. */
    log->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (log->fd < 0)
        return ap_err_errno(err, errno, "open %s", path);
    fcntl(log->fd, F_SETFL, O_APPEND);
    return 0;
}

void ap_log_add(struct ap_log *log, const char *bytes, size_t count, struct ap_err *first)
{
    if (log->fd < 0)
        return;
    unsigned long long room = log->limit - log->written;
    size_t fits = count < room ? count : (size_t)room;
    log_put(log, bytes, fits, first);
    log->written += fits;
    log->dropped += count - fits;
    ap_ring_add(&log->tail, bytes + fits, count - fits);
}

void ap_log_finish(struct ap_log *log, struct ap_err *first)
{
    const char *parts[2];
    size_t counts[2];
    unsigned long long lost = log->dropped - log->tail.used;
    if (lost > 0) {
        char line[100];
        int count = snprintf(line, sizeof line, "\n[apsis: %llu bytes left out here]\n", lost);
        log_put(log, line, (size_t)count, first);
    }
    ap_ring_parts(&log->tail, parts, counts);
    log_put(log, parts[0], counts[0], first);
    log_put(log, parts[1], counts[1], first);
    log_close(log);
}

void ap_log_dispose(struct ap_log *log)
{
    log_close(log);
    free(log->path);
    free(log->tail.bytes);
}
