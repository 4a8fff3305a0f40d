/* SPDX-License-Identifier: MIT */
/* procreport: reads the cage's lines: how a command ended, or why it never started. */
#define _GNU_SOURCE
#include "proc/procreport.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STOPPED_TIMEOUT = 1, STOPPED_ASKED, STOPPED_DISK, STOPPED_PROCESSES }; /* numbered as in the cage */

void ap_procreport_fill(struct ap_procreport *report, int fd)
{
    ssize_t count;
    do {
        count = read(fd, report->text + report->count, sizeof report->text - 1 - report->count);
        report->count += count > 0 ? (size_t)count : 0;
    } while (count > 0 || (count < 0 && errno == EINTR));
    report->text[report->count] = '\0';
}

int ap_procreport_init(const struct ap_procreport *report)
{
    int init = 0;
    for (const char *line = report->text; (line = strstr(line, "init ")) != NULL; line++)
        sscanf(line, "init %d", &init);
    return init;
}

/* An errno about a box refers to `step`. */
static void start_failed(struct ap_err *err, const char *name, const char *how, int number, const char *step)
{
    if (strcmp(how, "box") == 0) {
        ap_err_errno(err, number, "the sandbox of %s (%s)", name, step);
        snprintf(err->code, sizeof err->code, "ESANDBOX");
    } else
        ap_err_errno(err, number, strcmp(how, "chdir") == 0 ? "cwd of %s" : "%s", name);
}

/* Why it ended; `stopped` is the cage's reason. */
static void outcome_set(struct ap_proc_result *result, const struct ap_procreport_asker *asker, int stopped)
{
    result->outcome = result->exited ? AP_PROC_EXIT : AP_PROC_SIGNAL;
    if (stopped == STOPPED_TIMEOUT)
        result->outcome = AP_PROC_TIMEOUT;
    else if (stopped == STOPPED_ASKED && !asker->asked && asker->killed) {
        result->exited = false;
        result->code = 0;
        result->signal = SIGKILL;
        result->outcome = AP_PROC_SIGNAL;
    } else if (stopped == STOPPED_ASKED &&
               (asker->asked || result->exited)) /* otherwise somebody else killed it: a signal */
        result->outcome = AP_PROC_KILLED;
    else if (stopped == STOPPED_DISK || stopped == STOPPED_PROCESSES) {
        result->outcome = AP_PROC_KILLED;
        result->excess = stopped == STOPPED_DISK ? AP_PROC_DISK : AP_PROC_PROCESSES;
    }
}

bool ap_procreport_read(struct ap_proc_result *result, struct ap_err *start_error, const struct ap_procreport *report,
    const struct ap_procreport_asker *asker)
{
    char how[8], step[208] = "-";
    int number, stopped, lost;
    long long ended_ns, user_us, sys_us, max_rss_kb;
    const char *line = report->text;
    while (line != NULL && sscanf(line, "%7s %d %d %d %lld %lld %lld %lld %207[^\n]", how, &number, &stopped, &lost,
                               &ended_ns, &user_us, &sys_us, &max_rss_kb, step) < 8)
        line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL;
    if (line == NULL)
        return false;
    result->exited = strcmp(how, "exit") == 0;
    if (result->exited)
        result->code = number;
    else if (strcmp(how, "signal") == 0)
        result->signal = number;
    else
        start_failed(start_error, asker->name, how, number, step);
    outcome_set(result, asker, stopped);
    if (lost != 0)
        ap_err_errno(&result->log_error, lost, "the output of %s", asker->name);
    result->wall_s = (double)(ended_ns - asker->started_ns) / 1e9;
    result->user_s = (double)user_us / 1e6;
    result->sys_s = (double)sys_us / 1e6;
    result->max_rss_bytes = max_rss_kb * 1024;
    return true;
}
