/* SPDX-License-Identifier: MIT */
/* test_http: requests to a server in this process, which answers byte by byte when a test needs it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "http/curllib.h"
#include "http/http.h"
#include "http/httptext.h"
#include "tap.h"

static int listener;
static char url[64], asked[8192];
static size_t asked_count;

static void server_open(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 16) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        exit(1);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
}

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Polls the transfer once and, if it is not negative, a descriptor of the server. */
static void turn(struct ap_http *http, int extra)
{
    struct pollfd fds[AP_HTTP_FDS + 1];
    int count = ap_http_fds(http, fds, AP_HTTP_FDS);
    long long deadline_ns = ap_http_deadline_ns(http), left_ms = 20;
    fds[count] = (struct pollfd){.fd = extra, .events = POLLIN};
    if (deadline_ns >= 0 && (deadline_ns - now_ns()) / 1000000 < left_ms)
        left_ms = (deadline_ns - now_ns()) / 1000000 + 1;
    poll(fds, (nfds_t)count + 1, left_ms > 0 ? (int)left_ms : 0);
    ap_http_step(http, fds, count);
}

/* Accepts, and reads until the request's headers are complete. */
static int server_accept(struct ap_http *http)
{
    int conn = -1;
    while (!ap_http_done(http) && conn < 0) {
        turn(http, listener);
        conn = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    for (asked_count = 0; conn >= 0 && memmem(asked, asked_count, "\r\n\r\n", 4) == NULL;) {
        turn(http, conn);
        ssize_t count = read(conn, asked + asked_count, sizeof asked - asked_count);
        asked_count += count > 0 ? (size_t)count : 0;
        if (count == 0)
            break;
    }
    return conn;
}

/* Answers `reply` in pieces of `piece` bytes, hangs up, and returns the finished transfer. */
static struct ap_http *exchange(const struct ap_http_spec *spec, const char *reply, size_t count, size_t piece)
{
    struct ap_err err;
    struct ap_http *http;
    if (ap_http_start(&http, spec, &err) != 0)
        return NULL;
    int conn = server_accept(http);
    for (size_t at = 0; at < count && !ap_http_done(http); at += piece) {
        size_t size = count - at < piece ? count - at : piece;
        if (send(conn, reply + at, size, MSG_NOSIGNAL) != (ssize_t)size)
            break;
        turn(http, -1);
    }
    if (conn >= 0)
        close(conn);
    while (!ap_http_done(http))
        turn(http, -1);
    return http;
}

static int descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

static struct ap_http_spec plain(void)
{
    return (struct ap_http_spec){
        .url = url, .method = "GET", .timeout_ms = 60000, .connect_timeout_ms = 60000, .max_bytes = 1000};
}

static void responses(size_t piece)
{
    static const char whole[] =
        "HTTP/1.1 100 Continue\r\nX-Not: 1\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 3\r\nX-Folded: a\r\n \t b\r\n"
        "x-FOLDED:c\r\nConnection: close\r\n\r\na\0b";
    static const char fields[] = "content-length\0003\0x-folded\0a b\0x-folded\0c\0connection\0close";
    struct ap_http_spec spec = plain();
    struct ap_http_result result = {0};
    struct ap_err err = {0};
    struct ap_http *http = exchange(&spec, whole, sizeof whole - 1, piece);
    int got = ap_http_result(&result, http, &err);
    ok(got == 0 && result.status == 201, "in pieces of %zu: status (%s)", piece, err.message);
    ok(result.body_count == 3 && memcmp(result.body, "a\0b", 3) == 0, "body");
    ok(result.headers_count == sizeof fields && memcmp(result.headers, fields, sizeof fields) == 0,
        "headers: lower-case, unfolded, without the interim response's");
    ok(ap_http_deadline_ns(http) == -1 && ap_http_fds(http, NULL, 0) == 0, "nothing is left to wait for");
    ap_http_close(http);
}

static void wrong_answers(void)
{
    static const struct {
        const char *reply, *code, *what;
    } cases[] = {
        {"", "ERECV", "nothing"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12345678", "ERECV", "one byte less than announced"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "ERECV", "half a chunk"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "ERECV", "no last chunk"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "ERECV", "a chunk of no size"},
        {"HTTP/1.1 200 OK\r\nX-A: 1", "ERECV", "half a head"},
        {"HTTP/1.1 200 OK\r\nX-A: 1\r\n", "ERECV", "a head without its end"},
        {"HTTP/1.1 100 Continue\r\n\r\n", "ERECV", "an interim response alone"},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "ERECV", "a negative length"},
        {"SSH-2.0-OpenSSH\r\n", "ERECV", "another protocol"},
        {"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "ERECV", "a header without a colon"},
        {"HTTP/9.9 200 OK\r\n\r\n", "ERECV", "another version"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "ETOOBIG", "one byte over the limit, announced"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ap_http_spec spec = plain();
        struct ap_http_result result;
        struct ap_err err = {0};
        struct ap_http *http = exchange(&spec, cases[i].reply, strlen(cases[i].reply), 1 << 20);
        int got = ap_http_result(&result, http, &err);
        ok(got == -1 && strcmp(err.code, cases[i].code) == 0, "%s is %s (%s: %s)", cases[i].what, cases[i].code,
            err.code, err.message);
        ap_http_close(http);
    }
}

static void limits(void)
{
    static char reply[2000] = "HTTP/1.0 200 OK\r\n\r\n";
    size_t head = strlen(reply);
    memset(reply + head, 'x', sizeof reply - head);
    for (size_t size = 999; size <= 1001; size++) {
        struct ap_http_spec spec = plain();
        struct ap_http_result result = {0};
        struct ap_err err = {0};
        struct ap_http *http = exchange(&spec, reply, head + size, 700);
        int got = ap_http_result(&result, http, &err);
        ok(size <= 1000 ? got == 0 && result.body_count == size : got == -1 && strcmp(err.code, "ETOOBIG") == 0,
            "%zu bytes under a limit of 1000", size);
        ap_http_close(http);
    }
    struct ap_http_spec spec = plain();
    struct ap_err err = {0};
    struct ap_http *http;
    struct ap_http_result result;
    spec.timeout_ms = 20;
    ok(ap_http_start(&http, &spec, &err) == 0 && ap_http_deadline_ns(http) >= 0, "a request has a deadline");
    int conn = server_accept(http);
    while (!ap_http_done(http))
        turn(http, -1);
    ok(ap_http_result(&result, http, &err) == -1 && strcmp(err.code, "ETIMEDOUT") == 0, "%s", err.message);
    ap_http_close(http);
    close(conn);
}

static void requests(void)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const struct ap_http_header headers[] = {{"X-Key", "secret"}, {"X-None", ""}};
    struct ap_http_spec spec = plain();
    spec.method = "POST";
    spec.headers = headers;
    spec.header_count = 2;
    spec.body = "a\0b";
    spec.body_count = 3;
    struct ap_http *http = exchange(&spec, reply, sizeof reply - 1, 1 << 20);
    ok(memcmp(asked, "POST / HTTP/1.1\r\n", 17) == 0 &&
            memmem(asked, asked_count, "\r\nX-Key: secret\r\n", 17) != NULL &&
            memmem(asked, asked_count, "\r\nX-None:", 9) != NULL &&
            memmem(asked, asked_count, "\r\nContent-Length: 3\r\n", 21) != NULL,
        "the request is as asked");
    ok(asked_count > 7 && memcmp(asked + asked_count - 7, "\r\n\r\na\0b", 7) == 0, "with its body");
    ap_http_close(http);
}

/* A reply's length is that of the body that a HEAD request does not get. */
static void heads(void)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n";
    struct ap_http_spec spec = plain();
    struct ap_http_result result = {0};
    struct ap_err err = {0};
    spec.method = "HEAD";
    struct ap_http *http = exchange(&spec, reply, sizeof reply - 1, 1 << 20);
    ok(ap_http_result(&result, http, &err) == 0 && result.status == 200 && result.body_count == 0 &&
            memcmp(asked, "HEAD / HTTP/1.1\r\n", 17) == 0,
        "HEAD has no body, whatever the length (%s)", err.message);
    ap_http_close(http);
}

/* What the response's head may be: 256 KiB, and 1,000 fields. */
static void large_heads(void)
{
    static const struct {
        int fields, size;
        const char *code;
    } cases[] = {{1000, 10, ""}, {1001, 10, "ETOOBIG"}, {4, 65000, ""}, {5, 65000, "ETOOBIG"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *reply = malloc(400000), *at = reply;
        at += sprintf(at, "HTTP/1.1 200 OK\r\n");
        for (int f = 1; f <= cases[i].fields; f++)
            at += sprintf(at, "X%d: %0*d\r\n", f, cases[i].size, f);
        at += sprintf(at, "\r\n");
        struct ap_http_spec spec = plain();
        struct ap_http_result result = {0};
        struct ap_err err = {0};
        struct ap_http *http = exchange(&spec, reply, (size_t)(at - reply), 1 << 20);
        int got = ap_http_result(&result, http, &err);
        ok(strcmp(got == 0 ? "" : err.code, cases[i].code) == 0, "%d fields of %d bytes (%s)", cases[i].fields,
            cases[i].size, err.message);
        ap_http_close(http);
        free(reply);
    }
}

/* Lines of a head after its first, as libcurl hands them over, and the fields they make, each with a | after it. */
static void head_lines(void)
{
    static const struct {
        const char *lines[3], *fields;
    } cases[] = {
        {{"a:b\r\n"}, "a|b|"},
        {{"A-B: \t c:D \t\r\n"}, "a-b|c:D|"},
        {{"a:\r\n"}, "a||"},
        {{"a b\r\n"}, ""},
        {{": b\r\n"}, ""},
        {{" a: b\r\n"}, ""},
        {{"\ta: b\r\n"}, ""},
        {{"a:b\r\n", " c\r\n"}, "a|b c|"},
        {{"a:b\r\n", "\tc: d\r\n"}, "a|b c: d|"},
        {{"a:b\n", "\n", "c:d\n"}, "a|b|"},
        {{"a:b\r\n", "\r\n", "HTTP/1.1 200 OK\r\n"}, ""},
        {{"a:b\r\n", "\r\n", "HTTP"}, "a|b|"},
        {{"a:b\r\n", "\r\n", "HTTP/"}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ap_http_head head = {0};
        char fields[100] = "";
        int result = ap_httptext_line(&head, "HTTP/1.1 200 OK\r\n", 17);
        for (int l = 0; l < 3 && cases[i].lines[l] != NULL; l++)
            result |= ap_httptext_line(&head, cases[i].lines[l], strlen(cases[i].lines[l]));
        for (size_t at = 0; at < head.fields.used; at += strlen(head.fields.bytes + at) + 1)
            snprintf(fields + strlen(fields), 50, "%s|", head.fields.bytes + at);
        ok(result == 0 && strcmp(fields, cases[i].fields) == 0, "lines of a head, %zu: %s", i, fields);
        ap_buf_dispose(&head.fields);
    }
    struct ap_http_head head = {0};
    ap_httptext_line(&head, "HTTP/1.1 200 OK\r\n", 17);
    ap_httptext_line(&head, "a:b\0c", 5);
    ok(head.fields.used == 6 && memcmp(head.fields.bytes, "a\0b c", 6) == 0, "a NUL byte in a value is a space");
    ap_buf_dispose(&head.fields);
}

static void urls(void)
{
    static const struct {
        const char *url;
        bool loopback;
    } cases[] = {
        {"http://localhost:80/", true},
        {"http://LocalHost", true},
        {"http://a.LOCALHOST", true},
        {"https://127.0.0.1", true},
        {"http://127.9.9.9", true},
        {"http://[::1]:80", true},
        {"http://[::2]", false},
        {"http://alocalhost", false},
        {"http://localhost.example", false},
        {"http://a.localhosts", false},
        {"http://127.example", false},
        {"http://128.0.0.1", false},
        {"http://12.7.0.1", false},
    };
    struct ap_http_url url_of = {0};
    struct ap_err err = {0};
    char text[] = "a\tb\x7f\xc3\xa4";
    ok(ap_curllib_load(&err) == 0, "libcurl");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ok(ap_httptext_url(&url_of, cases[i].url, &err) == 0 && url_of.loopback == cases[i].loopback, "%s is %s",
            cases[i].url, cases[i].loopback ? "this machine" : "another");
    ap_httptext_clean(text);
    ok(strcmp(text, "a?b?\xc3\xa4") == 0, "control characters are not shown");
    ok(ap_httptext_url(&url_of, "https://u:p@h/a?key=1#f", &err) == 0 && strcmp(url_of.shown, "https://h/a") == 0,
        "what may be secret is not shown: %s", url_of.shown);
    ok(ap_httptext_url(&url_of, "ftp://h/a?key#f", &err) != 0 && strcmp(err.code, "EURL") == 0 &&
            strcmp(err.message, "url ftp://h/a: only http and https are supported") == 0,
        "%s", err.message);
    ok(ap_httptext_url(&url_of, "file:///etc", &err) != 0 && strstr(err.message, "only http and https") != NULL, "%s",
        err.message);
    ok(ap_httptext_url(&url_of, "http://u:p@h:x", &err) != 0 && strncmp(err.message, "url: ", 5) == 0, "%s",
        err.message);
    for (char c = 1; c != 0; c = (char)(c == ' ' - 1 ? 127 : c == 127 ? 0 : c + 1)) {
        char with[] = "http://h/a_b";
        with[10] = c;
        if (ap_httptext_url(&url_of, with, &err) == 0 || strstr(err.message, "http://h/a?b") == NULL)
            ok(0, "a URL with the control character %d is refused: %s", c, err.message);
    }
    ok(ap_httptext_url(&url_of, "http:///?x", &err) != 0 && strstr(err.message, "only http") == NULL, "%s",
        err.message);
}

static void left_behind(void)
{
    struct ap_http_spec spec = plain();
    struct ap_err err = {0};
    struct ap_http *many[3];
    int before = descriptors();
    for (int i = 0; i < 3; i++)
        ok(ap_http_start(&many[i], &spec, &err) == 0, "%d of three at once", i + 1);
    ok(descriptors() > before, "each has its descriptor");
    int conn = server_accept(many[1]);
    ap_http_close(many[0]);
    ap_http_close(many[2]);
    ap_http_close(many[1]);
    char byte;
    struct pollfd ended = {.fd = conn, .events = POLLIN};
    ok(poll(&ended, 1, 20000) == 1 && read(conn, &byte, 1) <= 0, "the server sees the end of a closed one");
    close(conn);
    for (int stale; (stale = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
        close(stale);
    ok(descriptors() == before, "closing unfinished ones leaves no descriptor");
    ap_http_close(NULL);
    spec.url = "gopher://x/";
    ok(ap_http_start(&many[0], &spec, &err) == -1 && strcmp(err.code, "EURL") == 0, "%s", err.message);
    close(listener);
    spec.url = url;
    ok(ap_http_start(&many[0], &spec, &err) == 0, "the result reports a refused connection");
    while (!ap_http_done(many[0]))
        turn(many[0], -1);
    struct ap_http_result result;
    ok(ap_http_result(&result, many[0], &err) == -1 && strcmp(err.code, "ECONNECT") == 0, "%s", err.message);
    ap_http_close(many[0]);
}

/* ---- each call of libcurl that can fail does so once ---- */

/* clang-format off */
#define FALLIBLE(X) \
    X(slist_append, 0) X(easy_init, 0) X(multi_init, 0) X(easy_setopt, CURLE_BAD_FUNCTION_ARGUMENT) \
    X(multi_setopt, CURLM_UNKNOWN_OPTION) X(multi_add_handle, CURLM_BAD_EASY_HANDLE) \
    X(multi_socket_action, CURLM_INTERNAL_ERROR)
/* clang-format on */

static int fail_at, calls;           /* which call fails; 0: none */
static const char *failed;           /* its name */
static long failed_option;           /* and its second argument */
static long options[64], values[64]; /* what was set, in turn */
static int option_count;

/* Every argument of these functions is a number or an address, as it is of a function of four numbers. */
typedef long any_function(long, long, long, long);

#define WRAPPER(name, result)                                                                                          \
    static any_function *real_##name;                                                                                  \
    static long wrapped_##name(long a, long b, long c, long d)                                                         \
    {                                                                                                                  \
        if (strstr(#name, "setopt") != NULL && option_count < 64) {                                                    \
            options[option_count] = b & 0xffffffff;                                                                    \
            values[option_count++] = c;                                                                                \
        }                                                                                                              \
        if (fail_at == 0 || ++calls != fail_at)                                                                        \
            return real_##name(a, b, c, d);                                                                            \
        failed = #name;                                                                                                \
        failed_option = b & 0xffffffff;                                                                                \
        return result;                                                                                                 \
    }
FALLIBLE(WRAPPER)

static void wrap_all(void)
{
    any_function *wrapped;
#define WRAP(name, result)                                                                                             \
    memcpy(&real_##name, &ap_curllib.name, sizeof wrapped);                                                            \
    wrapped = wrapped_##name;                                                                                          \
    memcpy(&ap_curllib.name, &wrapped, sizeof wrapped);
    FALLIBLE(WRAP)
}

static struct ap_http_spec posting(void)
{
    static const struct ap_http_header headers[] = {{"X-A", "1"}, {"Expect", ""}};
    struct ap_http_spec spec = plain();
    spec.method = "PATCH";
    spec.headers = headers;
    spec.header_count = 2;
    spec.body = "b";
    spec.body_count = 1;
    return spec;
}

enum { ANSWERED, NOT_STARTED, NOT_DONE, WRONG };

/* How one request ends whose call number `at` fails. The next one is answered. */
static int request_failing(int at)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na";
    struct ap_http_spec spec = posting();
    struct ap_http_result result;
    struct ap_err err = {0};
    int ended = WRONG;
    fail_at = at;
    calls = option_count = 0;
    struct ap_http *http = NULL;
    if (ap_http_start(&http, &spec, &err) != 0) {
        ended = err.code[0] != '\0' && err.message[0] != '\0' ? NOT_STARTED : WRONG;
    } else {
        int conn = server_accept(http);
        ssize_t sent = conn >= 0 ? send(conn, reply, sizeof reply - 1, MSG_NOSIGNAL) : 0;
        while (!ap_http_done(http))
            turn(http, -1);
        if (ap_http_result(&result, http, &err) != 0)
            ended = strcmp(err.code, "ERECV") == 0 && strstr(err.message, ": libcurl: ") != NULL ? NOT_DONE : WRONG;
        else if (sent > 0 && result.status == 200 && result.body_count == 1)
            ended = ANSWERED;
        ap_http_close(http);
        if (conn >= 0)
            close(conn);
    }
    fail_at = 0;
    for (int stale; (stale = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
        close(stale);
    http = exchange(&spec, reply, sizeof reply - 1, 1 << 20);
    if (http == NULL || ap_http_result(&result, http, &err) != 0)
        return WRONG;
    ap_http_close(http);
    return ended;
}

/* Before any other request: only the first sets libcurl up. */
static void each_call(void)
{
    struct ap_err err;
    ok(ap_curllib_load(&err) == 0, "libcurl");
    wrap_all();
    int at = 1, wrong = 0, ended = WRONG;
    for (bool over = false; !over && at < 200; at++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            alarm(60);
            ended = request_failing(at);
            int expected = failed == NULL                               ? ANSWERED
                           : strcmp(failed, "multi_socket_action") == 0 ? NOT_DONE
                                                                        : NOT_STARTED;
            if (failed != NULL && failed_option == CURLOPT_QUICK_EXIT)
                expected = ended; /* its result is not looked at */
            if (ended != expected)
                printf("# call %d, %s: %d\n", at, failed != NULL ? failed : "none", ended);
            fflush(stdout);
            _exit(ended != expected ? 1 : failed == NULL ? 2 : 0);
        }
        waitpid(pid, &status, 0);
        over = WIFEXITED(status) && WEXITSTATUS(status) == 2;
        wrong += !WIFEXITED(status) || WEXITSTATUS(status) == 1;
    }
    ok(wrong == 0 && at > 30 && at < 200, "each of %d calls that fails is an error, and the next request is none",
        at - 2);
}

/* What cannot be seen in a request or at its end. */
static void options_set(void)
{
    static const struct {
        long option, value;
    } wanted[] = {{CURLOPT_NOSIGNAL, 1}, {CURLOPT_HTTP09_ALLOWED, 0}, {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_SSL_VERIFYPEER, 1}, {CURLOPT_SSL_VERIFYHOST, 2}, {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
        {CURLOPT_TCP_KEEPALIVE, 1}, {CURLOPT_TIMEOUT_MS, 60000}, {CURLOPT_CONNECTTIMEOUT_MS, 50000},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2}, {CURLOPT_MAXFILESIZE_LARGE, 1000}, {CURLOPT_QUICK_EXIT, 1}};
    struct ap_http_spec spec = plain();
    struct ap_http *http;
    struct ap_err err;
    spec.connect_timeout_ms = 50000;
    option_count = 0;
    ok(ap_http_start(&http, &spec, &err) == 0, "a request");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int found = -1;
        for (int set = 0; set < option_count; set++)
            found = options[set] == wanted[i].option ? set : found;
        ok(found >= 0 && values[found] == wanted[i].value, "option %ld is %ld", wanted[i].option, wanted[i].value);
    }
    ap_http_close(http);
    for (int stale; (stale = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
        close(stale);
}

int main(void)
{
    server_open();
    each_call();
    options_set();
    head_lines();
    urls();
    responses(1 << 20);
    responses(1);
    requests();
    wrong_answers();
    limits();
    heads();
    large_heads();
    left_behind();
    return done();
}
