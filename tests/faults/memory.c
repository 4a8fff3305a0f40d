/* SPDX-License-Identifier: MIT */
/* memory: takes the place of malloc in the whole program, its libraries included, and hands on to libc's own. Keeps a table
 * of what is allocated while it watches. Nothing here allocates. Used by allocations.c alone. */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 17 };

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
extern char __executable_start, etext;

static struct {
    const struct memory_plan *plan;
    struct memory_plan copy;
    long count;
    size_t asked_again, lua_bytes, live;
    bool watching, traced, within, hit;
} state;

static struct memory_block blocks[SLOTS]; /* open addressing by address; size SIZE_MAX marks a removed one */

static size_t place_of(const void *at)
{
    return (size_t)(((uintptr_t)at >> 4) * 0x9E3779B97F4A7C15u >> 47) % SLOTS;
}

static void add(void *at, size_t size)
{
    if (at == NULL || !state.watching || state.within)
        return;
    size_t place = place_of(at);
    while (blocks[place].at != NULL && blocks[place].size != SIZE_MAX)
        place = (place + 1) % SLOTS;
    blocks[place] = (struct memory_block){.at = at, .size = size};
    state.live++;
    if (state.traced) {
        state.within = true;
        backtrace(blocks[place].frames, MEMORY_FRAMES);
        state.within = false;
    }
}

static void drop(const void *at)
{
    if (at == NULL || !state.watching)
        return;
    for (size_t place = place_of(at); blocks[place].at != NULL; place = (place + 1) % SLOTS)
        if (blocks[place].at == at && blocks[place].size != SIZE_MAX) {
            blocks[place].size = SIZE_MAX;
            state.live--;
            return;
        }
}

const struct memory_block *memory_left(size_t n)
{
    if (n >= state.live) /* mostly: the table is large to look through */
        return NULL;
    for (size_t place = 0; place < SLOTS; place++)
        if (blocks[place].at != NULL && blocks[place].size != SIZE_MAX && n-- == 0)
            return &blocks[place];
    return NULL;
}

void memory_watch(bool traced)
{
    void *frames[2];
    backtrace(frames, 2); /* its first call allocates */
    state.traced = traced;
    state.watching = true;
}

void memory_arm(const struct memory_plan *plan)
{
    if (plan != NULL) {
        state.copy = *plan;
        state.count = 0;
        state.hit = false;
        state.asked_again = 0;
    }
    state.plan = plan != NULL ? &state.copy : NULL;
}

long memory_count(void)
{
    return state.count;
}

bool memory_hit(void)
{
    return state.hit;
}

size_t memory_lua_bytes(void)
{
    return state.lua_bytes;
}

/* Whether this allocation is to be refused. caller: where it will return to. */
static bool refused(const void *caller)
{
    if (state.plan == NULL || state.within || state.plan->mode != MEMORY_LIBC)
        return false;
    if (state.plan->ours_only && ((const char *)caller < &__executable_start || (const char *)caller >= &etext))
        return false;
    if (++state.count != state.plan->wanted)
        return false;
    state.hit = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    if (refused(__builtin_return_address(0)))
        return NULL;
    void *at = __libc_malloc(size);
    add(at, size);
    return at;
}

void *calloc(size_t count, size_t size)
{
    if (refused(__builtin_return_address(0)))
        return NULL;
    void *at = __libc_calloc(count, size);
    add(at, count * size);
    return at;
}

void *realloc(void *old, size_t size)
{
    if (size > 0 && refused(__builtin_return_address(0)))
        return NULL;
    void *at = __libc_realloc(old, size);
    if (at != NULL || size == 0)
        drop(old);
    add(at, size);
    return at;
}

/* libc's own would ask for the memory in libc's name. */
char *strndup(const char *text, size_t most)
{
    size_t size = strnlen(text, most);
    if (refused(__builtin_return_address(0)))
        return NULL;
    char *copy = __libc_malloc(size + 1);
    add(copy, size + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *strdup(const char *text)
{
    if (refused(__builtin_return_address(0)))
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = __libc_malloc(size);
    add(copy, size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static void *aligned(size_t alignment, size_t size, const void *caller)
{
    if (refused(caller))
        return NULL;
    void *at = __libc_memalign(alignment, size);
    add(at, size);
    return at;
}

void *memalign(size_t alignment, size_t size)
{
    return aligned(alignment, size, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned(alignment, size, __builtin_return_address(0));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *at = aligned(alignment, size, __builtin_return_address(0));
    if (at == NULL)
        return ENOMEM;
    *out = at;
    return 0;
}

void free(void *at)
{
    drop(at);
    __libc_free(at);
}

/* Whether Lua is refused growth. After a refusal it collects garbage and asks for the same again. */
static bool lua_refused(size_t size)
{
    if (state.plan == NULL || state.plan->mode == MEMORY_LIBC)
        return false;
    if (state.asked_again == size && state.hit) {
        state.asked_again = 0;
        return state.plan->mode == MEMORY_LUA;
    }
    if (++state.count != state.plan->wanted)
        return false;
    state.hit = true;
    state.asked_again = size;
    return true;
}

void *memory_lua(void *self, void *block, size_t old_size, size_t size)
{
    (void)self;
    size_t had = block != NULL ? old_size : 0;
    if (size > had && lua_refused(size))
        return NULL;
    void *fresh = NULL;
    if (size > 0) {
        fresh = __libc_malloc(size);
        if (fresh == NULL)
            abort();
        if (block != NULL)
            memcpy(fresh, block, had < size ? had : size);
    }
    if (block != NULL) {
        memset(block, 0xDB, had);
        __libc_free(block);
    }
    state.lua_bytes += size - had;
    return fresh;
}
