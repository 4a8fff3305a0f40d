/* SPDX-License-Identifier: MIT */
/* proccage: the cage program's path, and the descriptors that a cage gets. Used only by proc.c. */
#ifndef AP_PROCCAGE_H
#define AP_PROCCAGE_H

/* The descriptors of a cage: the command's three, the one for its report, and that of a record if there is one. */
enum { AP_FD_STDIN, AP_FD_STDOUT, AP_FD_STDERR, AP_FD_REPORT, AP_FD_RECORD, AP_FD_CHILD_COUNT };

/* What to execute; NULL before ap_proc_cage (proc.h). */
const char *ap_proccage_path(void);

/* Moves a descriptor away from those that the child gets; -1 stays -1, and -1 with errno if it fails. */
int ap_fd_raise(int fd);

#endif
