/* SPDX-License-Identifier: MIT */
/* mhdlib: libmicrohttpd, loaded at first use because linking it (with its TLS library) costs every start some
 * milliseconds. A leaf, like curllib. Called by server. */
#ifndef AP_MHDLIB_H
#define AP_MHDLIB_H

#include <microhttpd.h>

#include "base/err.h"

/* Every function of libmicrohttpd that apsis calls, without the prefix MHD_. */
/* clang-format off */
#define AP_MHDLIB_FUNCTIONS(X) \
    X(start_daemon) X(stop_daemon) X(run) X(get_daemon_info) X(get_timeout) X(get_connection_values) \
    X(create_response_from_buffer) X(create_response_from_callback) X(add_response_header) X(destroy_response) \
    X(queue_response) X(suspend_connection) X(resume_connection)
/* clang-format on */

struct ap_mhdlib {
#define AP_MHDLIB_FIELD(name) __typeof__(&MHD_##name) name;
    AP_MHDLIB_FUNCTIONS(AP_MHDLIB_FIELD)
#undef AP_MHDLIB_FIELD
};

/* Empty until ap_mhdlib_load has returned 0. */
extern struct ap_mhdlib ap_mhdlib;

/* Loads libmicrohttpd once. Code ENOLIB if it is not installed. */
int ap_mhdlib_load(struct ap_err *err);

#endif
