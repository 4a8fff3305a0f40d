/* SPDX-License-Identifier: MIT */
/* mhdlib: loads libmicrohttpd with dlopen at first use, and never unloads it. Serves nothing itself. Called by server.
 */
#include "server/mhdlib.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if MHD_VERSION < 0x00097002
#error "libmicrohttpd 0.9.71 or newer is needed"
#endif

struct ap_mhdlib ap_mhdlib;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name) {"MHD_" #name, offsetof(struct ap_mhdlib, name)},
    AP_MHDLIB_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

int ap_mhdlib_load(struct ap_err *err)
{
    static bool loaded;
    if (loaded)
        return 0;
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        library = dlopen("libmicrohttpd.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return ap_err_set(err, "ENOLIB", "libmicrohttpd is not installed (apt install libmicrohttpd12): %s", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL) {
            dlclose(library);
            return ap_err_set(err, "ENOLIB", "libmicrohttpd has no %s: 0.9.71 or newer is needed", functions[i].name);
        }
        memcpy((char *)&ap_mhdlib + functions[i].offset, &address, sizeof address);
    }
    loaded = true;
    return 0;
}
