/* SPDX-License-Identifier: MIT */
/* err: fills a struct ap_err. Messages are copied at the failing call, never pointed to. Leaf. */
#define _GNU_SOURCE
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ap_err_set(struct ap_err *err, const char *code, const char *format, ...)
{
    if (err == NULL)
        return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    snprintf(err->code, sizeof err->code, "%s", code);
    return -1;
}

int ap_err_errno(struct ap_err *err, int errnum, const char *format, ...)
{
    if (err == NULL)
        return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s%s", strerror(errnum),
        errnum == EFBIG ? " (the limit is `ulimit -f`, or the file system's)" : "");
    const char *name = strerrorname_np(errnum);
    snprintf(err->code, sizeof err->code, "%s", name != NULL ? name : "EUNKNOWN");
    return -1;
}

int ap_err_memory(struct ap_err *err)
{
    return ap_err_set(err, "ENOMEM", "out of memory");
}
