/* SPDX-License-Identifier: MIT */
/* httpspec: a request as options of one of libcurl's handles. Called by http. */
#ifndef AP_HTTPSPEC_H
#define AP_HTTPSPEC_H

#include "http/curllib.h"
#include "http/http.h"

/* Sets everything but the callbacks. *lines (begin with NULL) is the caller's to free, also after a failure. */
CURLcode ap_httpspec_set(CURL *easy, struct curl_slist **lines, const struct ap_http_spec *spec, bool loopback);

#endif
