/* SPDX-License-Identifier: MIT */
/* slab: small blocks by size class, each class a list of free blocks cut from larger pieces, which are never given back: what
 * a run needed once it needs again. Larger blocks are malloc's. Under a sanitizer all are, so that it sees each. Called by
 * guard.c, which is Lua's allocator. */
#include "slab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define AP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define AP_SANITIZED 1
#endif
#endif

#ifdef AP_SANITIZED
void *ap_slab_alloc(void *block, size_t old_size, size_t new_size)
{
    (void)old_size;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}
#else

enum { LARGEST = 1024, STEP = 16, CLASSES = LARGEST / STEP + 1, PIECE = 64 << 10 };

struct block {
    struct block *next;
};

static struct block *free_blocks[CLASSES];
static char *piece; /* what is left of the newest piece */
static size_t piece_left;

static bool is_small(size_t size)
{
    return size > 0 && size <= LARGEST;
}

static size_t class_of(size_t size)
{
    return (size + STEP - 1) / STEP;
}

static void *take(size_t size)
{
    size_t class = class_of(size), bytes = class * STEP;
    struct block *block = free_blocks[class];
    if (block != NULL) {
        free_blocks[class] = block->next;
        return block;
    }
    if (piece_left < bytes) {
        char *more = malloc(PIECE);
        if (more == NULL)
            return NULL;
        piece = more; /* the rest of the old one, less than the largest class, is lost */
        piece_left = PIECE;
    }
    void *made = piece;
    piece += bytes;
    piece_left -= bytes;
    return made;
}

static void give(void *pointer, size_t size)
{
    struct block *block = pointer;
    block->next = free_blocks[class_of(size)];
    free_blocks[class_of(size)] = block;
}

void *ap_slab_alloc(void *block, size_t old_size, size_t new_size)
{
    size_t old = block == NULL ? 0 : old_size;
    if (old > LARGEST && new_size > LARGEST)
        return realloc(block, new_size);
    if (is_small(old) && is_small(new_size) && class_of(old) == class_of(new_size))
        return block;
    void *made = NULL;
    if (new_size > 0) {
        made = is_small(new_size) ? take(new_size) : malloc(new_size);
        if (made == NULL) /* to shrink may not fail: the block will do, whatever list it is freed to */
            return new_size < old ? block : NULL;
        if (old > 0)
            memcpy(made, block, old < new_size ? old : new_size);
    }
    if (old > LARGEST)
        free(block);
    else if (old > 0)
        give(block, old);
    return made;
}
#endif
