/* SPDX-License-Identifier: MIT */
/* http: one request to one response, several at a time. Nothing here waits: the caller polls the descriptors of
 * ap_http_fds and calls ap_http_step. Called only by lhttp.c. */
#ifndef AP_HTTP_H
#define AP_HTTP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "http/request.h"

struct ap_http;

enum { AP_HTTP_FDS = 16 }; /* the most that ap_http_fds fills */

struct ap_http_result {
    int status;
    const char *headers; /* name NUL value NUL ..., in order of arrival, names in lower case */
    size_t headers_count;
    const char *body;
    size_t body_count;
    double seconds;
};

/* Starts a request. -1 with err: nothing was started. The result reports what the network refuses. */
int ap_http_start(struct ap_http **out, const struct ap_http_spec *spec, struct ap_err *err);

/* Fills what to poll (at most AP_HTTP_FDS); returns how many. */
int ap_http_fds(const struct ap_http *http, struct pollfd *fds, int room);

/* Handles what is ready; other transfers may advance too. */
void ap_http_step(struct ap_http *http, const struct pollfd *fds, int count);

bool ap_http_done(const struct ap_http *http);

/* When to step even if nothing is ready (CLOCK_MONOTONIC, ns); -1 never. */
long long ap_http_deadline_ns(const struct ap_http *http);

/* Bytes transferred of the request's and the response's body, also of a transfer that failed. */
struct ap_http_moved {
    size_t sent, received;
};

struct ap_http_moved ap_http_moved(const struct ap_http *http);

/* Once done: 0 with the response (borrowed until the close), whatever its status; or -1 with the reason why there is
 * none. */
int ap_http_result(struct ap_http_result *out, const struct ap_http *http, struct ap_err *err);

/* Drops the connection of an unfinished transfer; frees. NULL is fine. */
void ap_http_close(struct ap_http *http);

#endif
