/* SPDX-License-Identifier: MIT */
/* column: a growing row of 32-bit numbers, four bytes each, where a Lua table would take sixteen. Called by lcolumn.c. */
#ifndef AP_COLUMN_H
#define AP_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* All zero: an empty column. What was never set is 0. */
struct ap_column {
    uint32_t *items;
    size_t used, room;
};

/* Sets the entry at an index from 0, growing as needed. Code ENOMEM. */
int ap_column_set(struct ap_column *column, size_t index, uint32_t value, struct ap_err *err);

/* 0 where nothing was set. */
uint32_t ap_column_get(const struct ap_column *column, size_t index);

/* The first index at or after `from` that holds value; column->used where none does. */
size_t ap_column_find(const struct ap_column *column, uint32_t value, size_t from);

void ap_column_dispose(struct ap_column *column);

/* A text as 32 bits (FNV-1a), never 0. */
uint32_t ap_column_hash(const char *text, size_t length);

#endif
