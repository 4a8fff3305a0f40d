/* SPDX-License-Identifier: MIT */
/* request: what a request is made of. */
#ifndef AP_HTTP_REQUEST_H
#define AP_HTTP_REQUEST_H

#include <stddef.h>

struct ap_http_header {
    const char *name, *value; /* neither has a line end */
};

/* The request. Pointers are borrowed only during the start. */
struct ap_http_spec {
    const char *url, *method;
    const struct ap_http_header *headers;
    size_t header_count;
    const void *body; /* NULL: none */
    size_t body_count;
    long timeout_ms, connect_timeout_ms;
    size_t max_bytes; /* of the response's body */
};

#endif
