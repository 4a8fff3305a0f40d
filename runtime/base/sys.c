/* SPDX-License-Identifier: MIT */
/* sys: two system calls that every room needs, in the form it needs them. Leaf. */
#define _GNU_SOURCE
#include "base/sys.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

int ap_sys_write(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

long long ap_sys_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
