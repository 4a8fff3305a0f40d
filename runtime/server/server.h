/* SPDX-License-Identifier: MIT */
/* server: HTTP/1.1 on 127.0.0.1. Nothing here waits: the caller polls the descriptor and calls ap_server_step. A
 * request is known by its number; one whose client has gone is answered with ENOENT. Called only by lserver.c. */
#ifndef AP_SERVER_H
#define AP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ap_server;

/* Limits: connections, of all clients; bytes of a request's head, of its body, and of what a stream has not sent. */
enum {
    AP_SERVER_CONNECTIONS = 128,
    AP_SERVER_HEAD = 32 << 10,
    AP_SERVER_BODY = 64 << 10,
    AP_SERVER_BACKLOG = 4 << 20,
    AP_SERVER_SILENCE_S = 10 /* a connection on which nothing moves for so long is closed */
};

struct ap_server_request {
    long long id;
    const char *method, *path; /* path: decoded, without the query */
    const char *headers;       /* name NUL value NUL ..., names in lower case */
    size_t headers_count;
    const char *body;
    size_t body_count;
    bool too_large; /* the body: only its beginning is here */
};

struct ap_server_header {
    const char *name, *value;
};

/* Listens on the port; 0: one that the kernel chooses. -1 with err (EADDRINUSE, EACCES, ENOLIB). */
int ap_server_open(struct ap_server **out, int port, struct ap_err *err);

int ap_server_port(const struct ap_server *server);
int ap_server_fd(const struct ap_server *server);

/* When to step even if nothing is ready (CLOCK_MONOTONIC, ns); -1 never. */
long long ap_server_deadline_ns(struct ap_server *server);
void ap_server_step(struct ap_server *server);

/* Whether a request is there to be taken. */
bool ap_server_waiting(const struct ap_server *server);

/* The oldest whole request; false if there is none. What it points to is there until the next step. */
bool ap_server_take(struct ap_server_request *out, struct ap_server *server);

/* Answers a request that was taken; body NULL: the body is a stream. */
int ap_server_answer(struct ap_server *server, long long id, int status, const struct ap_server_header *headers,
    size_t header_count, const void *body, size_t body_count, struct ap_err *err);

/* Adds to a stream. EFULL: the client does not read, and the stream is ended without it. */
int ap_server_send(struct ap_server *server, long long id, const void *bytes, size_t count, struct ap_err *err);

/* Ends a stream when everything is sent. */
int ap_server_finish(struct ap_server *server, long long id, struct ap_err *err);

/* Closes every connection; frees. NULL is fine. */
void ap_server_close(struct ap_server *server);

#endif
