/* SPDX-License-Identifier: MIT */
/* tap: what a C test needs: ok(condition, "what must be true"), and done() as main's return value. */
#ifndef AP_TAP_H
#define AP_TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3))) static inline int ok(int holds, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%sok %d - ", holds ? "" : "not ", ++tap_count);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    fflush(stdout);
    tap_failed += !holds;
    return holds;
}

static inline int done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed > 0;
}

#endif
