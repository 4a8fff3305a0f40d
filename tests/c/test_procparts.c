/* SPDX-License-Identifier: MIT */
/* test_procparts: what proc keeps of a command's output, and what it reads from the cage's lines; no process. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/procout.h"
#include "proc/procreport.h"
#include "tap.h"

#define USED "0 2000000000 1500000 250000 100"

static void test_outcomes(void)
{
    static const struct {
        const char *line;
        bool asked, killed; /* by ap_proc_stop, and whether the supervisor was */
        bool exited;
        int code, signal, outcome, excess;
    } cases[] = {
        {"exit 3 0 " USED " -\n", false, false, true, 3, 0, AP_PROC_EXIT, 0},
        {"init 5\nexit 3 0 " USED " -\n", true, true, true, 3, 0, AP_PROC_EXIT, 0},
        {"exit 3 0 " USED "\n", false, false, true, 3, 0, AP_PROC_EXIT, 0},
        {"signal 11 0 " USED " -\n", false, false, false, 0, 11, AP_PROC_SIGNAL, 0},
        {"exit 0 1 " USED " -\n", true, true, true, 0, 0, AP_PROC_TIMEOUT, 0},
        {"signal 9 1 " USED " -\n", false, false, false, 0, 9, AP_PROC_TIMEOUT, 0},
        {"exit 1 2 " USED " -\n", true, false, true, 1, 0, AP_PROC_KILLED, 0},
        {"exit 1 2 " USED " -\n", false, false, true, 1, 0, AP_PROC_KILLED, 0},
        {"exit 1 2 " USED " -\n", true, true, true, 1, 0, AP_PROC_KILLED, 0},
        {"exit 1 2 " USED " -\n", false, true, false, 0, SIGKILL, AP_PROC_SIGNAL, 0},
        {"signal 15 2 " USED " -\n", true, false, false, 0, 15, AP_PROC_KILLED, 0},
        {"signal 15 2 " USED " -\n", false, false, false, 0, 15, AP_PROC_SIGNAL, 0},
        {"signal 15 2 " USED " -\n", false, true, false, 0, SIGKILL, AP_PROC_SIGNAL, 0},
        {"signal 9 3 " USED " -\n", false, false, false, 0, 9, AP_PROC_KILLED, AP_PROC_DISK},
        {"exit 0 4 " USED " -\n", false, false, true, 0, 0, AP_PROC_KILLED, AP_PROC_PROCESSES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ap_procreport report = {0};
        struct ap_procreport_asker asker = {"name", 1000000000, cases[i].asked, cases[i].killed};
        struct ap_proc_result got = {0};
        struct ap_err err = {0};
        strcpy(report.text, cases[i].line);
        ok(ap_procreport_read(&got, &err, &report, &asker) && err.code[0] == '\0' && got.exited == cases[i].exited &&
                got.code == cases[i].code && got.signal == cases[i].signal && (int)got.outcome == cases[i].outcome &&
                (int)got.excess == cases[i].excess && got.wall_s == 1 && got.user_s == 1.5 && got.sys_s == 0.25 &&
                got.max_rss_bytes == 102400,
            "line %zu, asked %d, killed %d: outcome %d, exited %d, code %d, signal %d", i, cases[i].asked,
            cases[i].killed, got.outcome, got.exited, got.code, got.signal);
    }
}

static void test_starts(void)
{
    static const struct {
        const char *line, *code, *message;
    } cases[] = {
        {"exec 2 0 " USED " -\n", "ENOENT", "name: No such file or directory"},
        {"chdir 13 0 " USED " -\n", "EACCES", "cwd of name: Permission denied"},
        {"box 1 0 " USED " the mounts\n", "ESANDBOX", "the sandbox of name (the mounts): Operation not permitted"},
        {"fork 11 0 " USED " -\n", "EAGAIN", "name: Resource temporarily unavailable"},
    };
    static const char *const unfinished[] = {
        "", "init 5\n", "exit 3 0 5\n", "exit 3 0 2000000000 1500000 250000\n", "x"};
    struct ap_procreport_asker asker = {"name", 0, false, false};
    struct ap_proc_result got;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ap_procreport report = {0};
        struct ap_err err = {0};
        strcpy(report.text, cases[i].line);
        ok(ap_procreport_read(&got, &err, &report, &asker) && strcmp(err.code, cases[i].code) == 0 &&
                strcmp(err.message, cases[i].message) == 0,
            "%s: %s", err.code, err.message);
    }
    for (size_t i = 0; i < sizeof unfinished / sizeof unfinished[0]; i++) {
        struct ap_procreport report = {0};
        struct ap_err err = {0};
        strcpy(report.text, unfinished[i]);
        ok(!ap_procreport_read(&got, &err, &report, &asker) && ap_procreport_init(&report) == (i == 1 ? 5 : 0),
            "no report of the end: %zu", i);
    }
}

/* What is filled in from a pipe, a part at a time. */
static void test_fill(void)
{
    int ends[2];
    struct ap_procreport report = {0};
    if (pipe(ends) != 0)
        return;
    ok(write(ends[1], "init 12\n", 8) == 8 && close(ends[1]) == 0, "a report begins");
    ap_procreport_fill(&report, ends[0]);
    ap_procreport_fill(&report, ends[0]);
    ok(report.count == 8 && strcmp(report.text, "init 12\n") == 0 && ap_procreport_init(&report) == 12, "and is read");
    close(ends[0]);
}

static const char letters[] = "abcdefghijklmnopqrst";

/* The newest bytes of 20, which come in pieces. */
static void test_rings(void)
{
    int wrong = 0;
    for (size_t room = 0; room <= 21; room++)
        for (size_t piece = 1; piece <= 20; piece++) {
            struct ap_ring ring = {.room = room};
            const char *parts[2];
            size_t counts[2];
            char got[42] = "";
            for (size_t at = 0; at < 20; at += piece) {
                size_t count = 20 - at < piece ? 20 - at : piece, kept = at + count < room ? at + count : room;
                ap_ring_add(&ring, letters + at, count);
                ap_ring_parts(&ring, parts, counts);
                memset(got, 0, sizeof got);
                if (counts[0] > 0)
                    memcpy(got, parts[0], counts[0]);
                if (counts[1] > 0)
                    memcpy(got + counts[0], parts[1], counts[1]);
                wrong +=
                    ring.used != kept || strlen(got) != kept || memcmp(got, letters + at + count - kept, kept) != 0;
            }
            free(ring.bytes);
        }
    ok(wrong == 0, "a ring holds the newest bytes: %d times wrong", wrong);
}

/* A log's first and last bytes, and how many are left out between them. */
static void test_logs(void)
{
    char path[] = "/tmp/apsis-test-XXXXXX", wanted[100], got[100];
    int wrong = 0, fd = mkstemp(path);
    for (size_t limit = 0; limit <= 21; limit++)
        for (size_t tail = 0; tail <= 5; tail++)
            for (size_t piece = 1; piece <= 20; piece += 3) {
                struct ap_log log;
                struct ap_err err = {0};
                size_t first = limit < 20 ? limit : 20, last = 20 - first < tail ? 20 - first : tail;
                wrong += ftruncate(fd, 0) != 0 || ap_log_open(&log, path, limit, tail, &err) != 0;
                for (size_t at = 0; at < 20; at += piece)
                    ap_log_add(&log, letters + at, 20 - at < piece ? 20 - at : piece, &err);
                ap_log_finish(&log, &err);
                ap_log_dispose(&log);
                int size = snprintf(wanted, sizeof wanted, "%.*s", (int)first, letters);
                if (first + last < 20)
                    size += snprintf(wanted + size, sizeof wanted - (size_t)size,
                        "\n[apsis: %zu bytes left out here]\n", 20 - first - last);
                size += snprintf(wanted + size, sizeof wanted - (size_t)size, "%s", letters + 20 - last);
                ssize_t count = pread(fd, got, sizeof got, 0);
                wrong += count != size || memcmp(got, wanted, (size_t)size) != 0 || err.code[0] != '\0';
            }
    ok(wrong == 0, "a log holds its first and its last bytes: %d times wrong", wrong);
    struct ap_log none;
    struct ap_err err = {0};
    ok(ap_log_open(&none, NULL, 9, 9, &err) == 0, "there may be none");
    ap_log_add(&none, "x", 1, &err);
    ap_log_finish(&none, &err);
    ap_log_dispose(&none);
    ok(ap_log_open(&none, "/none/log", 9, 9, &err) != 0 && strcmp(err.code, "ENOENT") == 0, "%s", err.message);
    ap_log_dispose(&none);
    struct ap_log full;
    err = (struct ap_err){0};
    ok(ap_log_open(&full, "/dev/full", 9, 9, &err) == 0, "a full disk");
    ap_log_add(&full, "x", 1, &err);
    ok(strcmp(err.code, "ENOSPC") == 0 && strcmp(err.message, "write /dev/full: No space left on device") == 0,
        "is reported: %s", err.message);
    snprintf(err.message, sizeof err.message, "first");
    ap_log_add(&full, "x", 1, &err);
    ok(strcmp(err.message, "first") == 0, "once");
    ap_log_dispose(&full);
    close(fd);
    unlink(path);
}

int main(void)
{
    test_outcomes();
    test_starts();
    test_fill();
    test_rings();
    test_logs();
    return done();
}
