/* SPDX-License-Identifier: MIT */
/* curllib: libcurl, loaded at first use because linking it costs every start some milliseconds. A leaf, like gitlib:
 * knows no transfer. Called by http. */
#ifndef AP_CURLLIB_H
#define AP_CURLLIB_H

#include <curl/curl.h>

#include "base/err.h"

/* Every libcurl function that apsis calls, without the prefix curl_. */
/* clang-format off */
#define AP_CURLLIB_FUNCTIONS(X) \
    X(global_init) X(free) X(slist_append) X(slist_free_all) X(url) X(url_cleanup) X(url_set) X(url_get) \
    X(url_strerror) X(easy_init) X(easy_cleanup) X(easy_setopt) X(easy_getinfo) X(easy_strerror) X(multi_init) \
    X(multi_cleanup) X(multi_setopt) X(multi_add_handle) X(multi_remove_handle) X(multi_socket_action) \
    X(multi_info_read) X(multi_strerror)
/* clang-format on */

struct ap_curllib {
#define AP_CURLLIB_FIELD(name) __typeof__(&curl_##name) name;
    AP_CURLLIB_FUNCTIONS(AP_CURLLIB_FIELD)
#undef AP_CURLLIB_FIELD
};

/* Empty until ap_curllib_load has returned 0. */
extern struct ap_curllib ap_curllib;

/* Loads and sets up libcurl once. Code ENOLIB if it is not installed. */
int ap_curllib_load(struct ap_err *err);

#endif
