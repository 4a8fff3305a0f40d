/* SPDX-License-Identifier: MIT */
/* buf: a growing byte buffer. Leaf. Init with {0}; bytes is never NULL-terminated. */
#ifndef AP_BUF_H
#define AP_BUF_H

#include <stddef.h>

struct ap_buf {
    char *bytes;
    size_t used, room;
};

/* Receives the bytes of a stream: connects siblings that do not know each other. */
struct ap_sink {
    void (*feed)(void *self, const char *bytes, size_t count);
    void *self;
};

/* 0, or -1 when out of memory (the buffer is then unchanged). */
int ap_buf_reserve(struct ap_buf *buf, size_t more);
int ap_buf_add(struct ap_buf *buf, const void *bytes, size_t count);
void ap_buf_dispose(struct ap_buf *buf);

#endif
