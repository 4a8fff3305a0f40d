/* SPDX-License-Identifier: MIT */
/* httpspec: a request as libcurl's options. All policies (which protocols, which certificates, which proxies, no
 * redirects) are here and nowhere else. Keeps no state. Called by http. */
#define _GNU_SOURCE
#include "http/httpspec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* libcurl's own sockets would be inherited by every command. */
static curl_socket_t on_open(void *self, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)self;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int line_add(struct curl_slist **lines, const char *name, const char *value)
{
    char *line = NULL;
    /* For libcurl, "Name;" sends an empty value, "Name:" (value NULL) suppresses its own header. */
    int size = value != NULL && *value == '\0' ? asprintf(&line, "%s;", name)
                                               : asprintf(&line, "%s: %s", name, value != NULL ? value : "");
    struct curl_slist *longer = size < 0 ? NULL : ap_curllib.slist_append(*lines, line);
    if (size >= 0)
        free(line);
    if (longer == NULL)
        return -1;
    *lines = longer;
    return 0;
}

static CURLcode set_headers(CURL *easy, struct curl_slist **lines, const struct ap_http_spec *spec)
{
    /* libcurl guesses the wrong type, and a server that does not know Expect costs a second. */
    static const char *const unwanted[] = {"Content-Type", "Expect"};
    for (size_t i = 0; i < spec->header_count; i++)
        if (line_add(lines, spec->headers[i].name, spec->headers[i].value) != 0)
            return CURLE_OUT_OF_MEMORY;
    for (size_t u = 0; u < sizeof unwanted / sizeof unwanted[0]; u++) {
        bool given = false;
        for (size_t i = 0; i < spec->header_count; i++)
            given = given || strcasecmp(spec->headers[i].name, unwanted[u]) == 0;
        if (!given && line_add(lines, unwanted[u], NULL) != 0)
            return CURLE_OUT_OF_MEMORY;
    }
    return ap_curllib.easy_setopt(easy, CURLOPT_HTTPHEADER, *lines);
}

static CURLcode set_method(CURL *easy, const struct ap_http_spec *spec)
{
    const char *method = spec->method;
    bool post = strcmp(method, "POST") == 0, empty = post || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
    if (strcmp(method, "HEAD") == 0)
        return ap_curllib.easy_setopt(easy, CURLOPT_NOBODY, 1L);
    CURLcode result = ap_curllib.easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)spec->max_bytes);
    if (result == CURLE_OK && (spec->body != NULL || empty)) {
        result = ap_curllib.easy_setopt(easy, CURLOPT_POST, 1L);
        if (result == CURLE_OK)
            result = ap_curllib.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)spec->body_count);
        if (result == CURLE_OK)
            result = ap_curllib.easy_setopt(
                easy, CURLOPT_COPYPOSTFIELDS, spec->body != NULL ? spec->body : (const void *)"");
    }
    if (result == CURLE_OK && !post)
        result = ap_curllib.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    return result;
}

static CURLcode set_longs(CURL *easy, const struct ap_http_spec *spec)
{
    const struct {
        CURLoption option;
        long value;
    } longs[] = {
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1}, /* so that a connection serves one transfer at a time */
        {CURLOPT_HTTP09_ALLOWED, 0},
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_SSL_VERIFYPEER, 1},
        {CURLOPT_SSL_VERIFYHOST, 2},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
        {CURLOPT_TCP_KEEPALIVE, 1}, /* a model may think for minutes behind a router that drops idle connections */
        {CURLOPT_TIMEOUT_MS, spec->timeout_ms},
        {CURLOPT_CONNECTTIMEOUT_MS, spec->connect_timeout_ms},
    };
    CURLcode result = CURLE_OK;
    for (size_t i = 0; i < sizeof longs / sizeof longs[0] && result == CURLE_OK; i++)
        result = ap_curllib.easy_setopt(easy, longs[i].option, longs[i].value);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Otherwise a close or a timeout waits for a name server. An older libcurl does not know the option, and waits. */
    ap_curllib.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    return result;
}

/* Same variables as curl for authorities and proxies; but no proxy between this machine and itself. */
static CURLcode set_environment(CURL *easy, bool loopback)
{
    static const struct {
        const char *name;
        CURLoption option;
    } names[] = {
        {"SSL_CERT_DIR", CURLOPT_CAPATH},
        {"SSL_CERT_FILE", CURLOPT_CAINFO},
        {"CURL_CA_BUNDLE", CURLOPT_CAINFO},
    };
    CURLcode result = CURLE_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && result == CURLE_OK; i++) {
        const char *path = getenv(names[i].name);
        if (path != NULL && *path != '\0')
            result = ap_curllib.easy_setopt(easy, names[i].option, path);
    }
    if (result == CURLE_OK && loopback)
        result = ap_curllib.easy_setopt(easy, CURLOPT_PROXY, "");
    return result;
}

CURLcode ap_httpspec_set(CURL *easy, struct curl_slist **lines, const struct ap_http_spec *spec, bool loopback)
{
    CURLcode result = ap_curllib.easy_setopt(easy, CURLOPT_URL, spec->url);
    if (result == CURLE_OK)
        result = ap_curllib.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (result == CURLE_OK)
        result = ap_curllib.easy_setopt(easy, CURLOPT_USERAGENT, "apsis/" AP_VERSION);
    if (result == CURLE_OK)
        result = ap_curllib.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    if (result == CURLE_OK)
        result = set_longs(easy, spec);
    if (result == CURLE_OK)
        result = set_environment(easy, loopback);
    if (result == CURLE_OK)
        result = set_method(easy, spec);
    return result == CURLE_OK ? set_headers(easy, lines, spec) : result;
}
