/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "slab.h"
#include "tap.h"

enum { BLOCKS = 400, ROUNDS = 20000, LONGEST = 3000 };

static struct {
    unsigned char *bytes;
    size_t size;
    unsigned char mark;
} blocks[BLOCKS];

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static int intact(int index, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (blocks[index].bytes[at] != blocks[index].mark)
            return 0;
    return 1;
}

/* Makes, resizes and frees at random; every block must keep its bytes. */
static int random_work(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        int index = (int)draw(BLOCKS);
        size_t old = blocks[index].size, size = draw(4) == 0 ? 0 : 1 + draw(draw(3) == 0 ? LONGEST : 200);
        unsigned char *made = ap_slab_alloc(blocks[index].bytes, old, size);
        if (size > 0 && made == NULL)
            return 0;
        blocks[index].bytes = made;
        blocks[index].size = size;
        if (!intact(index, old < size ? old : size))
            return 0;
        blocks[index].mark = (unsigned char)round;
        if (size > 0)
            memset(made, blocks[index].mark, size);
    }
    for (int index = 0; index < BLOCKS; index++)
        if (!intact(index, blocks[index].size))
            return 0;
    return 1;
}

int main(void)
{
    ok(random_work(), "blocks made, resized and freed at random keep their own bytes");
    int aligned = 1;
    for (size_t size = 1; size < 2000; size += 7) {
        void *block = ap_slab_alloc(NULL, 0, size);
        aligned &= (uintptr_t)block % 16 == 0;
        ap_slab_alloc(block, size, 0);
    }
    ok(aligned, "every block is aligned as malloc's are");
    ok(ap_slab_alloc(NULL, 5, 0) == NULL,
        "freeing nothing is nothing, whatever the old size says (Lua passes a type there)");
    for (int index = 0; index < BLOCKS; index++)
        ap_slab_alloc(blocks[index].bytes, blocks[index].size, 0);
    return done();
}
