/* SPDX-License-Identifier: MIT */
/* torn: recovery of a torn journal line: one without a newline at the end of the file, from an interrupted append.
 * Called by state.c when it opens a journal. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "state/state.h"

/* The end of the last complete line: the offset after the last newline, 0 without one. -1 and errno. */
static long long find_last_end(int fd, long long size)
{
    char chunk[1 << 16];
    while (size > 0) {
        size_t count = size < (long long)sizeof chunk ? (size_t)size : sizeof chunk;
        ssize_t n = pread(fd, chunk, count, size - (long long)count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)count) {
            errno = n < 0 ? errno : EIO;
            return -1;
        }
        const char *newline = memrchr(chunk, '\n', count);
        if (newline != NULL)
            return size - (long long)count + (newline - chunk) + 1;
        size -= (long long)count;
    }
    return 0;
}

int ap_state_torn_cut(int fd, struct ap_state_torn *torn, long long size)
{
    long long end = find_last_end(fd, size);
    if (end < 0 || end == size)
        return end < 0 ? -1 : 0;
    ssize_t length = pread(fd, torn->text, sizeof torn->text, end);
    if (length < 0 || ftruncate(fd, end) != 0 || fsync(fd) != 0)
        return -1;
    torn->cut_bytes = size - end;
    torn->text_length = (size_t)length;
    return 0;
}
