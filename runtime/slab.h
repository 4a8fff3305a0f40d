/* SPDX-License-Identifier: MIT */
/* slab: small blocks by size class. Lua makes and drops many of a few sizes, for which malloc searches and merges. Leaf. */
#ifndef AP_SLAB_H
#define AP_SLAB_H

#include <stddef.h>

/* What lua_Alloc asks for: a block resized, made (block NULL) or freed (new_size 0). NULL when memory is out; the old block
 * then stays. Not for more than one thread. */
void *ap_slab_alloc(void *block, size_t old_size, size_t new_size);

#endif
