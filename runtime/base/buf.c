/* SPDX-License-Identifier: MIT */
/* buf: a growing byte buffer; doubles, never shrinks. Leaf. */
#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int ap_buf_reserve(struct ap_buf *buf, size_t more)
{
    if (more <= buf->room - buf->used)
        return 0;
    if (more > SIZE_MAX / 2 - buf->used)
        return -1;
    size_t room = buf->room > 0 ? buf->room : 256;
    while (room < buf->used + more)
        room *= 2;
    char *bytes = realloc(buf->bytes, room);
    if (bytes == NULL)
        return -1;
    buf->bytes = bytes;
    buf->room = room;
    return 0;
}

int ap_buf_add(struct ap_buf *buf, const void *bytes, size_t count)
{
    if (ap_buf_reserve(buf, count) != 0)
        return -1;
    if (count > 0)
        memcpy(buf->bytes + buf->used, bytes, count);
    buf->used += count;
    return 0;
}

void ap_buf_dispose(struct ap_buf *buf)
{
    free(buf->bytes);
    *buf = (struct ap_buf){0};
}
