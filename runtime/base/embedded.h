/* SPDX-License-Identifier: MIT */
/* embedded: the files carried inside the program (Lua, strategies, the cage), as .ci/embed writes them. Leaf. */
#ifndef AP_EMBEDDED_H
#define AP_EMBEDDED_H

/* A null name ends the table. */
struct ap_embedded {
    const char *name, *bytes, *end;
};
extern const struct ap_embedded ap_embedded[];

#endif
