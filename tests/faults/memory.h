/* SPDX-License-Identifier: MIT */
/* memory: malloc and its kin in place of libc's, counted, one of them refused, and what is not freed known. For allocations.c. */
#ifndef FAULTS_MEMORY_H
#define FAULTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum memory_mode { MEMORY_LIBC, MEMORY_LUA, MEMORY_COLLECT };
enum { MEMORY_FRAMES = 12 };

/* What refused stands for: the libc allocation number wanted; of Lua's also when it asks again after collecting; or
 * only the first of the two, so that it collects there. wanted 0 only counts. */
struct memory_plan {
    enum memory_mode mode;
    long wanted;
    bool ours_only; /* of libc's, only what is called for by this program, and not by a library */
};

struct memory_block {
    void *at, *frames[MEMORY_FRAMES];
    size_t size;
};

void memory_watch(bool traced);                  /* from here on: what is allocated is known until it is freed */
void memory_arm(const struct memory_plan *plan); /* NULL: nothing counts, nothing is refused */
long memory_count(void);                         /* so many allocations since memory_arm */
bool memory_hit(void);                           /* whether one was refused */
size_t memory_lua_bytes(void);

/* The n-th block that is not freed; NULL after the last. */
const struct memory_block *memory_left(size_t n);

/* For lua_newstate: every growth moves, and what is freed is overwritten. */
void *memory_lua(void *self, void *block, size_t old_size, size_t size);

#endif
