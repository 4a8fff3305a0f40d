/* SPDX-License-Identifier: MIT */
/* procreport: what the cage reports about a command. Used only by proc. */
#ifndef AP_PROCREPORT_H
#define AP_PROCREPORT_H

#include "proc/result.h"

/* The report so far. */
struct ap_procreport {
    char text[512];
    size_t count;
};

/* What the reader knows: the command's name, when it was started, whether it was asked to end, and whether its
 * supervisor was killed. */
struct ap_procreport_asker {
    const char *name;
    long long started_ns;
    bool asked, killed;
};

/* Reads what is there: `init PID` for each init that was started, and one line at the command's end. */
void ap_procreport_fill(struct ap_procreport *report, int fd);

/* The newest init's process id; 0 if none was named. */
int ap_procreport_init(const struct ap_procreport *report);

/* Fills result, or start_error if the command never started; false if the report lacks its end. */
bool ap_procreport_read(struct ap_proc_result *result, struct ap_err *start_error, const struct ap_procreport *report,
    const struct ap_procreport_asker *asker);

#endif
