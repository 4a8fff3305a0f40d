/* SPDX-License-Identifier: MIT */
/* http: requests over libcurl's socket interface.
 * Owns one multi handle for the life of the process, which keeps connections for later requests, and each transfer from
 * start to close. libcurl reports which descriptors and which deadline it waits for; the caller waits. Uses only http
 * and https, verifies certificates, follows no redirect, decodes no content. Never puts a header, a query or
 * credentials into a message, and judges no status: a 500 is a result. Knows no Lua. Called only by lhttp.c. */
#define _GNU_SOURCE
#include "http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/sys.h"
#include "http/curllib.h"
#include "http/httpspec.h"
#include "http/httptext.h"

enum { IDLE_CONNECTIONS = 16 };

struct ap_http {
    CURL *easy; /* NULL once done */
    struct curl_slist *lines;
    struct ap_http *previous, *next; /* in the list of unfinished transfers */
    struct pollfd sockets[AP_HTTP_FDS];
    int socket_count;
    bool done, too_big, head_too_big, no_memory;
    CURLcode code;
    long status, os_error;
    double seconds;
    size_t max_bytes, sent;
    struct ap_http_head head;
    struct ap_buf body;
    struct ap_http_url url;
    char method[16], error[CURL_ERROR_SIZE];
};

static CURLM *multi;
static struct ap_http *running;
static long long timer_ns = -1; /* libcurl has one timer for all its transfers */

/* ---- what libcurl asks for ---- */

static void socket_forget(int fd)
{
    for (struct ap_http *http = running; http != NULL; http = http->next)
        for (int i = http->socket_count - 1; i >= 0; i--)
            if (http->sockets[i].fd == fd)
                http->sockets[i] = http->sockets[--http->socket_count];
}

/* The handle may be an internal one of libcurl, and a kept connection changes owners: so first remove the old owner. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *self, void *unused)
{
    struct ap_http *http = NULL;
    (void)self;
    (void)unused;
    socket_forget(fd);
    short events = (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
    ap_curllib.easy_getinfo(easy, CURLINFO_PRIVATE, &http);
    if (what == CURL_POLL_REMOVE || http == NULL || http->socket_count == AP_HTTP_FDS)
        return 0;
    http->sockets[http->socket_count++] = (struct pollfd){.fd = fd, .events = events};
    return 0;
}

static int on_timer(CURLM *handle, long timeout_ms, void *self)
{
    (void)handle;
    (void)self;
    timer_ns = timeout_ms < 0 ? -1 : ap_sys_now_ns() + timeout_ms * 1000000LL;
    return 0;
}

static size_t on_body(char *bytes, size_t unit, size_t count, void *self)
{
    struct ap_http *http = self;
    (void)unit; /* always 1 */
    http->too_big = count > http->max_bytes - http->body.used;
    http->no_memory = !http->too_big && ap_buf_add(&http->body, bytes, count) != 0;
    return http->too_big || http->no_memory ? 0 : count;
}

static size_t on_header(char *bytes, size_t unit, size_t count, void *self)
{
    struct ap_http *http = self;
    (void)unit;
    http->head_too_big = ap_httptext_line(&http->head, bytes, count) != 0;
    return http->head_too_big ? 0 : count;
}

static int multi_open(struct ap_err *err)
{
    if (multi != NULL)
        return 0;
    CURLM *opened = ap_curllib.multi_init();
    if (opened == NULL)
        return ap_err_set(err, "ENOMEM", "libcurl: out of memory or descriptors");
    CURLMcode result = ap_curllib.multi_setopt(opened, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (result == CURLM_OK)
        result = ap_curllib.multi_setopt(opened, CURLMOPT_TIMERFUNCTION, on_timer);
    if (result == CURLM_OK)
        result = ap_curllib.multi_setopt(opened, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    if (result != CURLM_OK) {
        ap_curllib.multi_cleanup(opened);
        return ap_err_set(err, "EHTTP", "libcurl: %s", ap_curllib.multi_strerror(result));
    }
    multi = opened;
    return 0;
}

/* ---- the run ---- */

/* Returns everything to libcurl; an unfinished connection is closed, a finished one kept for the next request. */
static void release(struct ap_http *http)
{
    if (http->easy == NULL)
        return;
    ap_curllib.multi_remove_handle(multi, http->easy);
    ap_curllib.easy_cleanup(http->easy);
    ap_curllib.slist_free_all(http->lines);
    http->easy = NULL;
    http->lines = NULL;
    http->socket_count = 0;
    if (http->previous != NULL)
        http->previous->next = http->next;
    else if (running == http)
        running = http->next;
    if (http->next != NULL)
        http->next->previous = http->previous;
}

static void finish(struct ap_http *http, CURLcode code)
{
    curl_off_t microseconds = 0, sent = 0;
    ap_curllib.easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &http->status);
    ap_curllib.easy_getinfo(http->easy, CURLINFO_OS_ERRNO, &http->os_error);
    ap_curllib.easy_getinfo(http->easy, CURLINFO_TOTAL_TIME_T, &microseconds);
    ap_curllib.easy_getinfo(http->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    http->seconds = (double)microseconds / 1e6;
    http->sent = (size_t)sent;
    http->code = code;
    if (code == CURLE_OK && http->head.inside) { /* libcurl takes this for a response without a body */
        snprintf(http->error, sizeof http->error, "the connection ended within the response's headers");
        http->code = CURLE_RECV_ERROR;
    }
    http->done = true;
    release(http);
}

static void reap(void)
{
    int left;
    for (CURLMsg *message; (message = ap_curllib.multi_info_read(multi, &left)) != NULL;) {
        struct ap_http *http = NULL;
        CURLcode code = message->data.result;
        if (message->msg == CURLMSG_DONE &&
            ap_curllib.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &http) == CURLE_OK && http != NULL)
            finish(http, code);
    }
}

static void drive(struct ap_http *http, curl_socket_t fd, int events)
{
    int count;
    CURLMcode result = ap_curllib.multi_socket_action(multi, fd, events, &count);
    reap();
    if (result == CURLM_OK || http->done)
        return;
    snprintf(http->error, sizeof http->error, "libcurl: %s", ap_curllib.multi_strerror(result));
    finish(http, CURLE_RECV_ERROR);
}

void ap_http_step(struct ap_http *http, const struct pollfd *fds, int count)
{
    for (int i = 0; i < count && !http->done; i++) {
        short ready = fds[i].revents;
        int events = (ready & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) | (ready & POLLOUT ? CURL_CSELECT_OUT : 0) |
                     (ready & (POLLERR | POLLNVAL) ? CURL_CSELECT_ERR : 0);
        if (events != 0)
            drive(http, fds[i].fd, events);
    }
    if (!http->done && timer_ns >= 0 && ap_sys_now_ns() >= timer_ns) {
        timer_ns = -1; /* it fires once; libcurl sets it again */
        drive(http, CURL_SOCKET_TIMEOUT, 0);
    }
}

static CURLcode set_callbacks(struct ap_http *http)
{
    const struct {
        CURLoption option;
        void *value;
    } pointers[] = {
        {CURLOPT_PRIVATE, http},
        {CURLOPT_WRITEDATA, http},
        {CURLOPT_HEADERDATA, http},
        {CURLOPT_ERRORBUFFER, http->error},
    };
    CURLcode result = ap_curllib.easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, on_body);
    if (result == CURLE_OK)
        result = ap_curllib.easy_setopt(http->easy, CURLOPT_HEADERFUNCTION, on_header);
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0] && result == CURLE_OK; i++)
        result = ap_curllib.easy_setopt(http->easy, pointers[i].option, pointers[i].value);
    return result;
}

static int begin(struct ap_http *http, const struct ap_http_spec *spec, struct ap_err *err)
{
    CURLcode result = set_callbacks(http);
    if (result == CURLE_OK)
        result = ap_httpspec_set(http->easy, &http->lines, spec, http->url.loopback);
    if (result != CURLE_OK)
        return ap_err_set(
            err, result == CURLE_OUT_OF_MEMORY ? "ENOMEM" : "ENOLIB", "libcurl: %s", ap_curllib.easy_strerror(result));
    CURLMcode added = ap_curllib.multi_add_handle(multi, http->easy);
    return added == CURLM_OK ? 0 : ap_err_set(err, "ENOMEM", "libcurl: %s", ap_curllib.multi_strerror(added));
}

int ap_http_start(struct ap_http **out, const struct ap_http_spec *spec, struct ap_err *err)
{
    struct ap_http_url url;
    if (ap_curllib_load(err) != 0 || multi_open(err) != 0 || ap_httptext_url(&url, spec->url, err) != 0)
        return -1;
    struct ap_http *http = calloc(1, sizeof *http);
    if (http == NULL || (http->easy = ap_curllib.easy_init()) == NULL) {
        free(http);
        return ap_err_memory(err);
    }
    http->url = url;
    http->max_bytes = spec->max_bytes;
    snprintf(http->method, sizeof http->method, "%s", spec->method);
    http->next = running;
    if (running != NULL)
        running->previous = http;
    running = http;
    if (begin(http, spec, err) != 0) {
        ap_http_close(http);
        return -1;
    }
    drive(http, CURL_SOCKET_TIMEOUT, 0); /* start now, not at the first wait */
    *out = http;
    return 0;
}

int ap_http_fds(const struct ap_http *http, struct pollfd *fds, int room)
{
    int count = http->socket_count < room ? http->socket_count : room;
    for (int i = 0; i < count; i++)
        fds[i] = http->sockets[i];
    return count;
}

bool ap_http_done(const struct ap_http *http)
{
    return http->done;
}

long long ap_http_deadline_ns(const struct ap_http *http)
{
    return http->done ? -1 : timer_ns;
}

/* ---- the result ---- */

static const char *code_of(CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT:
        return "EURL";
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return "ERESOLVE";
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
        return "ECONNECT";
    case CURLE_OPERATION_TIMEDOUT:
        return "ETIMEDOUT";
    case CURLE_FILESIZE_EXCEEDED:
        return "ETOOBIG";
    case CURLE_OUT_OF_MEMORY:
        return "ENOMEM";
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
        return "ESEND";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
        return "ETLS";
    default: /* cut short, no answer, not HTTP */
        return "ERECV";
    }
}

/* Why there is no response. libcurl's text may contain a proxy's user and password: then only the general reason. */
static int fail(struct ap_err *err, const struct ap_http *http)
{
    char why[CURL_ERROR_SIZE];
    bool general = http->error[0] == '\0' || strchr(http->error, '@') != NULL;
    snprintf(why, sizeof why, "%s", general ? ap_curllib.easy_strerror(http->code) : http->error);
    ap_httptext_clean(why);
    const char *url = http->url.shown, *method = http->method;
    if (http->no_memory || http->head.no_memory)
        return ap_err_set(err, "ENOMEM", "%s %s: out of memory", method, url);
    if (http->head_too_big)
        return ap_err_set(err, "ETOOBIG", "%s %s: the response's headers are too large", method, url);
    if (http->too_big || http->code == CURLE_FILESIZE_EXCEEDED)
        return ap_err_set(
            err, "ETOOBIG", "%s %s: the response is over %zu bytes (max_bytes)", method, url, http->max_bytes);
    if (http->code == CURLE_UNSUPPORTED_PROTOCOL)
        return ap_err_set(err, "ERECV", "%s %s: %s: the server there does not speak HTTP/1", method, url, why);
    if (http->code == CURLE_PEER_FAILED_VERIFICATION)
        return ap_err_set(
            err, "ETLS", "%s %s: %s (SSL_CERT_FILE=FILE names the authorities to trust)", method, url, why);
    if (http->code == CURLE_COULDNT_CONNECT && http->os_error != 0)
        return ap_err_set(err, "ECONNECT", "%s %s: %s (%s)", method, url, why, strerror((int)http->os_error));
    return ap_err_set(err, code_of(http->code), "%s %s: %s", method, url, why);
}

struct ap_http_moved ap_http_moved(const struct ap_http *http)
{
    return (struct ap_http_moved){.sent = http->sent, .received = http->body.used};
}

int ap_http_result(struct ap_http_result *out, const struct ap_http *http, struct ap_err *err)
{
    if (http->code != CURLE_OK)
        return fail(err, http);
    *out = (struct ap_http_result){
        .status = (int)http->status,
        .headers = http->head.fields.bytes,
        .headers_count = http->head.fields.used,
        .body = http->body.bytes,
        .body_count = http->body.used,
        .seconds = http->seconds,
    };
    return 0;
}

void ap_http_close(struct ap_http *http)
{
    if (http == NULL)
        return;
    release(http);
    ap_buf_dispose(&http->head.fields);
    ap_buf_dispose(&http->body);
    free(http);
}
