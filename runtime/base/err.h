/* SPDX-License-Identifier: MIT */
/* err: how a mechanism reports a refusal: a code for programs ("ENOENT", "LOCKED"), a message for people. Leaf. */
#ifndef AP_ERR_H
#define AP_ERR_H

struct ap_err {
    char code[24];
    char message[1000];
};

/* Fills err (which may be NULL) and returns -1: a failing call can `return ap_err_set(...)`. */
int ap_err_set(struct ap_err *err, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Same, from an errno value: code "ENOENT", message "<what>: No such file or directory". */
int ap_err_errno(struct ap_err *err, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Same: code "ENOMEM", message "out of memory". */
int ap_err_memory(struct ap_err *err);

#endif
