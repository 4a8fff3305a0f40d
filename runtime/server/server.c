/* SPDX-License-Identifier: MIT */
/* server: requests over libmicrohttpd without a thread of its own.
 * Owns the daemon, and of each request its text, its answer and what its stream has not sent yet. A connection whose
 * request is whole, or whose stream has nothing to send, is suspended: it costs nothing until the caller answers.
 * Judges no request: paths, tokens and hosts are the caller's. Knows no Lua. Called only by lserver.c. */
#define _GNU_SOURCE
#include "server/server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/sys.h"
#include "server/mhdlib.h"

/* At its limit the library looks at nobody who connects, and asks for no call when others have left. */
enum { FULL_MS = 100 };

enum state { ARRIVING, WHOLE, TAKEN, ANSWERED };

struct exchange {
    struct exchange *next;
    struct ap_server *server;
    struct MHD_Connection *connection;
    struct MHD_Response *response;
    long long id;
    enum state state;
    int status;
    bool suspended, finished, no_memory, too_large;
    char *method, *path;
    struct ap_buf headers, body, backlog;
};

struct ap_server {
    struct MHD_Daemon *daemon;
    struct exchange *exchanges; /* newest first */
    long long last_id;
    int port, fd;
    bool closing, full, resumed; /* resumed: a connection that the library has not looked at since */
};

static void suspend(struct exchange *exchange)
{
    exchange->suspended = true;
    ap_mhdlib.suspend_connection(exchange->connection);
}

static void resume(struct exchange *exchange)
{
    if (!exchange->suspended)
        return;
    ap_mhdlib.resume_connection(exchange->connection);
    exchange->suspended = false;
    exchange->server->resumed = true;
}

/* ---- what libmicrohttpd calls ---- */

static enum MHD_Result on_header(void *self, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct exchange *exchange = self;
    size_t from = exchange->headers.used;
    (void)kind;
    exchange->no_memory = exchange->no_memory || ap_buf_add(&exchange->headers, name, strlen(name) + 1) != 0;
    for (size_t i = from; i < exchange->headers.used; i++)
        exchange->headers.bytes[i] = (char)tolower((unsigned char)exchange->headers.bytes[i]);
    value = value != NULL ? value : "";
    exchange->no_memory = exchange->no_memory || ap_buf_add(&exchange->headers, value, strlen(value) + 1) != 0;
    return exchange->no_memory ? MHD_NO : MHD_YES;
}

static void dispose(struct exchange *exchange)
{
    if (exchange->response != NULL)
        ap_mhdlib.destroy_response(exchange->response);
    ap_buf_dispose(&exchange->headers);
    ap_buf_dispose(&exchange->body);
    ap_buf_dispose(&exchange->backlog);
    free(exchange->method);
    free(exchange->path);
    free(exchange);
}

/* The head has arrived. */
static enum MHD_Result begin(
    struct ap_server *server, struct MHD_Connection *connection, const char *path, const char *method, void **out)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL)
        return MHD_NO;
    exchange->server = server;
    exchange->connection = connection;
    exchange->id = ++server->last_id;
    exchange->method = strdup(method);
    exchange->path = strdup(path);
    ap_mhdlib.get_connection_values(connection, MHD_HEADER_KIND, on_header, exchange);
    if (exchange->method == NULL || exchange->path == NULL || exchange->no_memory) {
        dispose(exchange);
        return MHD_NO;
    }
    exchange->next = server->exchanges;
    server->exchanges = exchange;
    *out = exchange;
    return MHD_YES;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *path, const char *method,
    const char *version, const char *bytes, size_t *count, void **state)
{
    struct ap_server *server = self;
    struct exchange *exchange = *state;
    (void)version;
    if (exchange == NULL)
        return begin(server, connection, path, method, state);
    if (*count > 0) {
        exchange->too_large = exchange->too_large || *count > AP_SERVER_BODY - exchange->body.used;
        if (!exchange->too_large && ap_buf_add(&exchange->body, bytes, *count) != 0)
            return MHD_NO;
        *count = 0; /* what is too large is read to its end all the same: only then can it be answered */
        return MHD_YES;
    }
    if (exchange->state == ANSWERED)
        return ap_mhdlib.queue_response(connection, (unsigned)exchange->status, exchange->response);
    if (server->closing)
        return MHD_NO;
    if (exchange->state == ARRIVING)
        exchange->state = WHOLE;
    suspend(exchange);
    return MHD_YES;
}

static ssize_t on_stream(void *self, uint64_t position, char *out, size_t room)
{
    struct exchange *exchange = self;
    struct ap_buf *backlog = &exchange->backlog;
    (void)position;
    if (backlog->used > 0) {
        size_t count = backlog->used < room ? backlog->used : room;
        memcpy(out, backlog->bytes, count);
        memmove(backlog->bytes, backlog->bytes + count, backlog->used - count);
        backlog->used -= count;
        return (ssize_t)count;
    }
    if (exchange->finished || exchange->server->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    suspend(exchange);
    return 0;
}

static void on_end(void *self, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct ap_server *server = self;
    struct exchange *exchange = *state;
    (void)connection;
    (void)why;
    for (struct exchange **at = &server->exchanges; exchange != NULL && *at != NULL; at = &(*at)->next)
        if (*at == exchange) {
            *at = exchange->next;
            dispose(exchange);
            break;
        }
    *state = NULL;
}

/* ---- opening and closing ---- */

int ap_server_open(struct ap_server **out, int port, struct ap_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (ap_mhdlib_load(err) != 0)
        return -1;
    struct ap_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return ap_err_memory(err);
    errno = 0;
    server->daemon = ap_mhdlib.start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, (uint16_t)port, NULL, NULL,
        on_request, server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, on_end, server,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)AP_SERVER_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)AP_SERVER_HEAD, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)AP_SERVER_SILENCE_S, MHD_OPTION_END);
    if (server->daemon == NULL) {
        int error = errno != 0 ? errno : ENOMEM;
        free(server);
        return ap_err_errno(err, error, "port %d of 127.0.0.1", port);
    }
    server->port = ap_mhdlib.get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    server->fd = ap_mhdlib.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    *out = server;
    return 0;
}

void ap_server_close(struct ap_server *server)
{
    if (server == NULL)
        return;
    server->closing = true;
    for (struct exchange *exchange = server->exchanges; exchange != NULL; exchange = exchange->next)
        resume(exchange); /* the library stops no daemon that has suspended connections */
    ap_mhdlib.stop_daemon(server->daemon);
    while (server->exchanges != NULL) {
        struct exchange *exchange = server->exchanges;
        server->exchanges = exchange->next;
        dispose(exchange);
    }
    free(server);
}

int ap_server_port(const struct ap_server *server)
{
    return server->port;
}

int ap_server_fd(const struct ap_server *server)
{
    return server->fd;
}

long long ap_server_deadline_ns(struct ap_server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms;
    if (server->resumed)
        return ap_sys_now_ns();
    if (ap_mhdlib.get_timeout(server->daemon, &timeout_ms) != MHD_YES)
        timeout_ms = ULLONG_MAX;
    if (server->full && timeout_ms > FULL_MS)
        timeout_ms = FULL_MS;
    return timeout_ms == ULLONG_MAX ? -1 : ap_sys_now_ns() + (long long)timeout_ms * 1000000;
}

static bool is_full(struct ap_server *server)
{
    return ap_mhdlib.get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections >=
           AP_SERVER_CONNECTIONS;
}

void ap_server_step(struct ap_server *server)
{
    server->full = is_full(server);
    server->resumed = false;
    (void)ap_mhdlib.run(server->daemon);
    server->full = server->full || is_full(server);
}

/* ---- requests and answers ---- */

static struct exchange *oldest_whole(const struct ap_server *server)
{
    struct exchange *found = NULL;
    for (struct exchange *exchange = server->exchanges; exchange != NULL; exchange = exchange->next)
        if (exchange->state == WHOLE)
            found = exchange;
    return found;
}

bool ap_server_waiting(const struct ap_server *server)
{
    return oldest_whole(server) != NULL;
}

bool ap_server_take(struct ap_server_request *out, struct ap_server *server)
{
    struct exchange *exchange = oldest_whole(server);
    if (exchange == NULL)
        return false;
    exchange->state = TAKEN;
    *out = (struct ap_server_request){exchange->id, exchange->method, exchange->path, exchange->headers.bytes,
        exchange->headers.used, exchange->body.bytes, exchange->body.used, exchange->too_large};
    return true;
}

static struct exchange *find(struct ap_server *server, long long id, enum state state, struct ap_err *err)
{
    for (struct exchange *exchange = server->exchanges; exchange != NULL; exchange = exchange->next)
        if (exchange->id == id && exchange->state == state)
            return exchange;
    ap_err_set(err, "ENOENT", "request %lld is not there any more", id);
    return NULL;
}

int ap_server_answer(struct ap_server *server, long long id, int status, const struct ap_server_header *headers,
    size_t header_count, const void *body, size_t body_count, struct ap_err *err)
{
    struct exchange *exchange = find(server, id, TAKEN, err);
    if (exchange == NULL)
        return -1;
    struct MHD_Response *response =
        body != NULL ? ap_mhdlib.create_response_from_buffer(body_count, (void *)body, MHD_RESPMEM_MUST_COPY)
                     : ap_mhdlib.create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, on_stream, exchange, NULL);
    bool whole = response != NULL;
    for (size_t i = 0; i < header_count && whole; i++)
        whole = ap_mhdlib.add_response_header(response, headers[i].name, headers[i].value) == MHD_YES;
    if (!whole) {
        if (response != NULL)
            ap_mhdlib.destroy_response(response);
        return ap_err_memory(err);
    }
    exchange->response = response;
    exchange->status = status;
    exchange->state = ANSWERED;
    exchange->finished = body != NULL;
    resume(exchange);
    return 0;
}

static struct exchange *find_stream(struct ap_server *server, long long id, struct ap_err *err)
{
    struct exchange *exchange = find(server, id, ANSWERED, err);
    if (exchange != NULL && exchange->finished)
        ap_err_set(err, "ENOENT", "the answer to request %lld has ended", id);
    return exchange != NULL && !exchange->finished ? exchange : NULL;
}

int ap_server_send(struct ap_server *server, long long id, const void *bytes, size_t count, struct ap_err *err)
{
    struct exchange *exchange = find_stream(server, id, err);
    if (exchange == NULL)
        return -1;
    if (count > AP_SERVER_BACKLOG - exchange->backlog.used) {
        exchange->finished = true;
        ap_buf_dispose(&exchange->backlog);
        exchange->backlog = (struct ap_buf){0};
        resume(exchange);
        return ap_err_set(err, "EFULL", "the client of request %lld does not read", id);
    }
    if (ap_buf_add(&exchange->backlog, bytes, count) != 0)
        return ap_err_memory(err);
    resume(exchange);
    return 0;
}

int ap_server_finish(struct ap_server *server, long long id, struct ap_err *err)
{
    struct exchange *exchange = find_stream(server, id, err);
    if (exchange == NULL)
        return -1;
    exchange->finished = true;
    resume(exchange);
    return 0;
}
