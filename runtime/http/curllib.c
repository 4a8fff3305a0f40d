/* SPDX-License-Identifier: MIT */
/* curllib: loads libcurl with dlopen at first use and sets it up for the whole process. Never unloads it: the thread of
 * a name lookup may outlive the transfer. Makes no transfer itself. Called by http; not thread-safe, like the rest of
 * apsis. */
#include "http/curllib.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or newer is needed"
#endif

struct ap_curllib ap_curllib;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name) {"curl_" #name, offsetof(struct ap_curllib, name)},
    AP_CURLLIB_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static int load_functions(void *library, struct ap_err *err)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL)
            return ap_err_set(err, "ENOLIB", "libcurl has no %s: 7.85 or newer is needed", functions[i].name);
        memcpy((char *)&ap_curllib + functions[i].offset, &address, sizeof address);
    }
    return 0;
}

int ap_curllib_load(struct ap_err *err)
{
    static bool loaded;
    /* These flavours differ only in their TLS library; git brings the second one. */
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    if (loaded)
        return 0;
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return ap_err_set(err, "ENOLIB", "libcurl is not installed (apt install libcurl4): %s", dlerror());
    if (load_functions(library, err) != 0) {
        dlclose(library);
        return -1;
    }
    CURLcode result = ap_curllib.global_init(CURL_GLOBAL_DEFAULT);
    if (result != CURLE_OK)
        return ap_err_set(err, "ENOLIB", "libcurl: %s", ap_curllib.easy_strerror(result));
    loaded = true;
    return 0;
}
