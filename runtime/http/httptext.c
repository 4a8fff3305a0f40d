/* SPDX-License-Identifier: MIT */
/* httptext: parses URLs with libcurl's own parser, so that the URL checked is the URL requested; and header lines as in
 * RFC 9112. Sends nothing. Called by http. */
#define _GNU_SOURCE
#include "http/httptext.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/curllib.h"

enum { HEAD_BYTES = 256 * 1024, HEAD_FIELDS = 1000 };

/* ---- URLs ---- */

static bool is_loopback(const char *host)
{
    static const char suffix[] = ".localhost";
    size_t length = strlen(host), tail = sizeof suffix - 1;
    bool net127 = strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == length;
    return net127 || strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (length > tail && strcasecmp(host + length - tail, suffix) == 0);
}

void ap_httptext_clean(char *text)
{
    for (; *text != '\0'; text++)
        if (iscntrl((unsigned char)*text))
            *text = '?';
}

/* A URL that cannot be parsed is shown only up to where secrets may begin. */
static int refuse(struct ap_err *err, const char *url, const char *why)
{
    int length = strchr(url, '@') == NULL ? (int)strcspn(url, "?#") : 0;
    char shown[200];
    snprintf(shown, sizeof shown, "%.*s", length, url);
    ap_httptext_clean(shown);
    return ap_err_set(err, "EURL", "url%s%s: %s", shown[0] != '\0' ? " " : "", shown, why);
}

static CURLUcode read_parts(struct ap_http_url *out, CURLU *parts, bool *web)
{
    static const CURLUPart secret[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT};
    char *scheme = NULL, *host = NULL, *shown = NULL;
    CURLUcode result = ap_curllib.url_get(parts, CURLUPART_SCHEME, &scheme, 0);
    if (result == CURLUE_OK)
        result = ap_curllib.url_get(parts, CURLUPART_HOST, &host, 0);
    for (size_t i = 0; i < sizeof secret / sizeof secret[0] && result == CURLUE_OK; i++)
        result = ap_curllib.url_set(parts, secret[i], NULL, 0);
    if (result == CURLUE_OK)
        result = ap_curllib.url_get(parts, CURLUPART_URL, &shown, 0);
    if (result == CURLUE_OK) {
        *web = strcasecmp(scheme, "http") == 0 || strcasecmp(scheme, "https") == 0;
        out->loopback = is_loopback(host);
        snprintf(out->shown, sizeof out->shown, "%.*s", (int)strcspn(shown, "?"), shown);
        ap_httptext_clean(out->shown); /* an old libcurl lets control characters pass */
    }
    ap_curllib.free(shown);
    ap_curllib.free(host);
    ap_curllib.free(scheme);
    return result;
}

int ap_httptext_url(struct ap_http_url *out, const char *url, struct ap_err *err)
{
    bool web = false;
    CURLU *parts = ap_curllib.url();
    if (parts == NULL)
        return ap_err_memory(err);
    CURLUcode result = ap_curllib.url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME);
    if (result == CURLUE_OK)
        result = read_parts(out, parts, &web);
    ap_curllib.url_cleanup(parts);
    if (result == CURLUE_NO_HOST && strncasecmp(url, "http", 4) != 0)
        result = CURLUE_OK; /* file:///x: the scheme is what is wrong */
    if (result != CURLUE_OK)
        return refuse(err, url, ap_curllib.url_strerror(result));
    return web ? 0 : refuse(err, url, "only http and https are supported");
}

/* ---- headers ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Adds bytes without surrounding blanks; a NUL inside becomes a space (RFC 9110, 5.5). */
static int add_trimmed(struct ap_buf *fields, const char *bytes, size_t size, bool lower)
{
    while (size > 0 && is_blank(bytes[size - 1]))
        size--;
    for (; size > 0 && is_blank(*bytes); size--)
        bytes++;
    if (ap_buf_reserve(fields, size + 1) != 0)
        return -1;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i] != '\0' ? bytes[i] : ' ';
        fields->bytes[fields->used++] = lower ? (char)tolower((unsigned char)c) : c;
    }
    fields->bytes[fields->used++] = '\0';
    return 0;
}

static int add_field(struct ap_http_head *head, const char *line, size_t size)
{
    const char *colon = memchr(line, ':', size);
    if (is_blank(*line) && head->fields.used > 0) { /* a folded line continues the value before it */
        head->fields.bytes[head->fields.used - 1] = ' ';
        head->no_memory = add_trimmed(&head->fields, line, size, false) != 0;
        return head->no_memory ? -1 : 0;
    }
    if (colon == NULL || colon == line || is_blank(*line))
        return 0;
    if (++head->count > HEAD_FIELDS)
        return -1;
    size_t name = (size_t)(colon - line);
    head->no_memory = add_trimmed(&head->fields, line, name, true) != 0 ||
                      add_trimmed(&head->fields, colon + 1, size - name - 1, false) != 0;
    return head->no_memory ? -1 : 0;
}

int ap_httptext_line(struct ap_http_head *head, const char *line, size_t size)
{
    head->bytes += size;
    if (head->bytes > HEAD_BYTES)
        return -1;
    if (!head->inside) { /* a status line, also after an interim response; else a trailer, which is no header */
        head->inside = size >= 5 && memcmp(line, "HTTP/", 5) == 0;
        if (head->inside)
            head->fields.used = head->count = 0;
        return 0;
    }
    if (size > 0 && *line != '\r' && *line != '\n')
        return add_field(head, line, size);
    head->inside = false;
    return 0;
}
