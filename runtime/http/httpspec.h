/* SPDX-License-Identifier: MIT */
/* httpspec: a request as options of a libcurl handle. Called by http. */
#ifndef AP_HTTPSPEC_H
#define AP_HTTPSPEC_H

#include <stdbool.h>

#include "http/curllib.h"
#include "http/request.h"

/* Sets everything except the callbacks. The caller frees *lines (initially NULL), also after a failure. */
CURLcode ap_httpspec_set(CURL *easy, struct curl_slist **lines, const struct ap_http_spec *spec, bool loopback);

#endif
