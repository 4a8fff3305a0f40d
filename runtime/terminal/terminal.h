/* SPDX-License-Identifier: MIT */
/* terminal: a terminal that gives each key at once and echoes none. Called by lterminal.c. */
#ifndef AP_TERMINAL_H
#define AP_TERMINAL_H

#include <termios.h>

#include "base/err.h"

struct ap_terminal {
    int fd;
    struct termios before;
};

/* Keys come as they are pressed, unseen; Ctrl-C, Ctrl-Z, Ctrl-S and Enter are keys like others. -1 with err (ENOTTY: no
 * terminal is there). */
int ap_terminal_raw(struct ap_terminal *terminal, int fd, struct ap_err *err);

/* The terminal is as it was before. */
void ap_terminal_restore(const struct ap_terminal *terminal);

#endif
