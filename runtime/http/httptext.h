/* SPDX-License-Identifier: MIT */
/* httptext: the texts that http reads and shows: checks a URL and makes it printable, collects header lines. Called by
 * http. */
#ifndef AP_HTTPTEXT_H
#define AP_HTTPTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct ap_http_url {
    char shown[320]; /* without user, password, query and fragment: those may hold secrets */
    bool loopback;
};

/* Checks an http or https URL (libcurl is loaded). -1 with code EURL; the message contains no credentials either. */
int ap_httptext_url(struct ap_http_url *out, const char *url, struct ap_err *err);

/* The headers of the last response: each a lower-case name and a value, both ended by NUL. Init with {0}. */
struct ap_http_head {
    struct ap_buf fields;
    size_t bytes; /* of every line so far, including interim responses */
    int count;
    bool inside; /* between a status line and its empty line */
    bool no_memory;
};

/* One line as received. -1: over the limits (256 KiB, 1000 fields), or no_memory. */
int ap_httptext_line(struct ap_http_head *head, const char *line, size_t size);

/* Replaces control characters in text that a server may have influenced. */
void ap_httptext_clean(char *text);

#endif
