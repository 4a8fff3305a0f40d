/* SPDX-License-Identifier: MIT */
/* column: numbers by index, packed. Owns its memory from the first set to dispose; room that was not used yet is not
 * resident, so it doubles. Finding one is a scan: of a hundred thousand it takes some microseconds, and nothing has to
 * be kept beside the numbers. Called by lcolumn.c. */
#include "column.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, BLOCK = 32 };

static int reserve(struct ap_column *column, size_t count, struct ap_err *err)
{
    size_t room = column->room > 0 ? column->room : FIRST_ROOM;
    if (count <= column->room)
        return 0;
    while (room < count && room <= SIZE_MAX / (2 * sizeof *column->items))
        room *= 2;
    uint32_t *items = room >= count ? realloc(column->items, room * sizeof *items) : NULL;
    if (items == NULL)
        return ap_err_set(err, "ENOMEM", "out of memory");
    column->items = items;
    column->room = room;
    return 0;
}

int ap_column_set(struct ap_column *column, size_t index, uint32_t value, struct ap_err *err)
{
    if (index >= SIZE_MAX / 2 || reserve(column, index + 1, err) != 0)
        return ap_err_set(err, "ENOMEM", "out of memory");
    if (index >= column->used) {
        memset(column->items + column->used, 0, (index - column->used) * sizeof *column->items);
        column->used = index + 1;
    }
    column->items[index] = value;
    return 0;
}

uint32_t ap_column_get(const struct ap_column *column, size_t index)
{
    return index < column->used ? column->items[index] : 0;
}

/* Whether a block holds value: without a branch in the loop, so that the compiler compares several at once. */
static bool block_has(const uint32_t *items, uint32_t value)
{
    uint32_t found = 0;
    for (size_t i = 0; i < BLOCK; i++)
        found |= items[i] == value;
    return found != 0;
}

size_t ap_column_find(const struct ap_column *column, uint32_t value, size_t from)
{
    size_t at = from;
    while (at + BLOCK <= column->used && !block_has(column->items + at, value))
        at += BLOCK;
    while (at < column->used && column->items[at] != value)
        at++;
    return at < column->used ? at : column->used;
}

void ap_column_dispose(struct ap_column *column)
{
    free(column->items);
    *column = (struct ap_column){0};
}

uint32_t ap_column_hash(const char *text, size_t length)
{
    uint32_t hash = 0x811C9DC5u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x01000193u;
    return hash != 0 ? hash : 1;
}
