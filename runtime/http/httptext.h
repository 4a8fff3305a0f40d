/* SPDX-License-Identifier: MIT */
/* httptext: what http reads and shows as text: a URL checked and made fit for a message, and header lines collected.
 * Called by http. */
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

/* Checks an http or https URL (libcurl is loaded). -1 with code EURL; the message shows no credentials either. */
int ap_httptext_url(struct ap_http_url *out, const char *url, struct ap_err *err);

/* The headers of the last response: each a lower-case name and a value, both closed by NUL. Init with {0}. */
struct ap_http_head {
    struct ap_buf fields;
    size_t bytes; /* of every line so far, interim responses' too */
    int count;
    bool inside; /* between a status line and its empty line */
    bool no_memory;
};

/* One line as it came. -1: over the limits (256 KiB, 1000 fields), or no_memory. */
int ap_httptext_line(struct ap_http_head *head, const char *line, size_t size);

/* Makes control characters harmless in what a server may have had a say in. */
void ap_httptext_clean(char *text);

#endif
