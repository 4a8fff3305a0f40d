/* SPDX-License-Identifier: MIT */
/* proccage: the cage program's path, and the descriptors that a cage gets. Used by
 * proc.c; lproc.c hands the program over. */
#ifndef AP_PROCCAGE_H
#define AP_PROCCAGE_H

#include <stddef.h>

#include "base/err.h"

/* The descriptors of a cage: the command's three, the one for its report, and that of a record if there is one. */
enum { AP_FD_STDIN, AP_FD_STDOUT, AP_FD_STDERR, AP_FD_REPORT, AP_FD_RECORD, AP_FD_CHILD_COUNT };

/* Hands over the cage program, once, before the first start. */
int ap_proc_cage(const void *bytes, size_t count, struct ap_err *err);

/* What to execute; NULL before ap_proc_cage. */
const char *ap_proccage_path(void);

/* Moves a descriptor away from those that the child gets; -1 stays -1, and -1 with errno if it fails. */
int ap_fd_raise(int fd);

#endif
