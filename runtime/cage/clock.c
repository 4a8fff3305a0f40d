/* SPDX-License-Identifier: MIT */
/* clock: the time that nobody sets, and waiting for a signal until then. Part of the cage program. Leaf. */
#define _GNU_SOURCE
#include "cage/clock.h"

#include <errno.h>

long long cage_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

struct timespec cage_left(long long until_ns)
{
    long long left_ns = until_ns - cage_now_ns();
    if (left_ns < 0)
        return (struct timespec){0, 0};
    return (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
}

int cage_signal_await(const sigset_t *set, siginfo_t *info, long long until_ns)
{
    int signal;
    do {
        struct timespec left = cage_left(until_ns);
        signal = sigtimedwait(set, info, &left);
    } while (signal < 0 && errno == EINTR);
    return signal < 0 ? 0 : signal;
}
