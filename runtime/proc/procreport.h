/* SPDX-License-Identifier: MIT */
/* procreport: what the cage says of a command. A part of proc; used only by it. */
#ifndef AP_PROCREPORT_H
#define AP_PROCREPORT_H

#include "proc/proc.h"

/* What has been said so far. */
struct ap_procreport {
    char text[512];
    size_t count;
};

/* What the reader knows: the command's name, when it was started, whether it was asked to end, and whether its supervisor was
 * killed. */
struct ap_procreport_asker {
    const char *name;
    long long started_ns;
    bool asked, killed;
};

/* Takes in what is there: `init PID` of each init that was started, and one line at the command's end. */
void ap_procreport_fill(struct ap_procreport *report, int fd);

/* The newest init's process id; 0 where none was named. */
int ap_procreport_init(const struct ap_procreport *report);

/* Fills result, or start_error where the command never began; false where nothing is said of its end. */
bool ap_procreport_read(struct ap_proc_result *result, struct ap_err *start_error, const struct ap_procreport *report,
    const struct ap_procreport_asker *asker);

#endif
