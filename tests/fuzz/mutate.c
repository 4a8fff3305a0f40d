/* SPDX-License-Identifier: MIT */
/* mutate: every format that is fuzzed here is one of lines, so half of the changes to an input are made by lines: one is left out,
 * comes twice, moves, or is changed for itself. Linked into the targets of `make fuzz`, not into their replay. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

struct span {
    size_t from, to; /* its newline included */
};

static uint32_t draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* The line around some byte. */
static struct span any_line(const uint8_t *data, size_t size, uint32_t *state)
{
    struct span line = {.from = draw(state) % size};
    line.to = line.from;
    while (line.from > 0 && data[line.from - 1] != '\n')
        line.from--;
    while (line.to < size && data[line.to] != '\n')
        line.to++;
    line.to += line.to < size;
    return line;
}

/* Puts the bytes in the place of a span; the new size, or the old one where there is no room. */
static size_t put(uint8_t *data, size_t size, size_t room, struct span old, const uint8_t *bytes, size_t count)
{
    if (size - (old.to - old.from) + count > room)
        return size;
    memmove(data + old.from + count, data + old.to, size - old.to);
    memcpy(data + old.from, bytes, count);
    return size - (old.to - old.from) + count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint32_t state = seed | 1;
    draw(&state);
    uint32_t kind = draw(&state) % 8;
    if (size == 0 || kind >= 4)
        return LLVMFuzzerMutate(data, size, room);
    struct span line = any_line(data, size, &state), other = any_line(data, size, &state);
    size_t count = line.to - line.from;
    uint8_t *bytes = malloc(count + 64);
    if (bytes == NULL)
        abort();
    memcpy(bytes, data + line.from, count);
    other.to = other.from;
    if (kind == 0 || kind == 1) { /* left out, or moved back or on */
        size = put(data, size, room, line, bytes, 0);
        if (other.from >= line.to)
            other.from = other.to = other.from - count;
    }
    if (kind == 1 || kind == 2)
        size = put(data, size, room, other, bytes, count);
    if (kind == 3) {
        size_t ending = bytes[count - 1] == '\n',
               changed = LLVMFuzzerMutate(bytes, count - ending, count - ending + 63);
        if (ending)
            bytes[changed++] = '\n';
        size = put(data, size, room, line, bytes, changed);
    }
    free(bytes);
    return size;
}
