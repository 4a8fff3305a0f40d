/* SPDX-License-Identifier: MIT */
/* column: numbers stay where they were put, whatever the order; what was never set is nothing; the first of a value is found. */
#include "column.h"

#include "tap.h"

static void keeps(void)
{
    struct ap_column column = {0};
    struct ap_err err;
    ok(ap_column_get(&column, 0) == 0 && ap_column_find(&column, 7, 0) == 0, "an empty column holds nothing");
    ok(ap_column_set(&column, 4, 7, &err) == 0 && column.used == 5, "an entry beyond the end makes the column longer");
    ok(ap_column_get(&column, 3) == 0 && ap_column_get(&column, 4) == 7, "what is before it was never set");
    ok(ap_column_set(&column, 1, UINT32_MAX, &err) == 0 && column.used == 5, "an earlier one is set in its place");
    ok(ap_column_get(&column, 1) == UINT32_MAX && ap_column_get(&column, 5) == 0, "all 32 bits are kept");
    ok(ap_column_set(&column, SIZE_MAX - 1, 1, &err) != 0, "an index that memory cannot hold is refused");
    ap_column_dispose(&column);
    ok(column.items == NULL && column.used == 0, "after dispose it is empty");
}

static void grows(void)
{
    enum { COUNT = 100000 };
    struct ap_column column = {0};
    struct ap_err err;
    int failed = 0, wrong = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        failed += ap_column_set(&column, i, i + 1, &err) != 0;
    for (uint32_t i = 0; i < COUNT; i++)
        wrong += ap_column_get(&column, i) != i + 1;
    ok(failed == 0 && wrong == 0, "a hundred thousand entries are as they were set");
    for (uint32_t i = 0; i < COUNT; i += 997)
        wrong += ap_column_find(&column, i + 1, 0) != i || ap_column_find(&column, i + 1, i) != i;
    ok(wrong == 0, "each is found, from the start and from where it stands");
    ok(ap_column_find(&column, 1, 1) == COUNT && ap_column_find(&column, COUNT + 1, 0) == COUNT,
        "one that is not there is not found");
    ok(ap_column_find(&column, 1, COUNT + 50) == COUNT, "nor one from behind the end");
    ap_column_set(&column, 50000, 17, &err);
    ok(ap_column_find(&column, 17, 0) == 16 && ap_column_find(&column, 17, 17) == 50000,
        "of several the first at or after");
    ap_column_dispose(&column);
}

int main(void)
{
    keeps();
    grows();
    ok(ap_column_hash("a", 1) == 0xE40C292Cu && ap_column_hash("foobar", 6) == 0xBF9CF968u,
        "a text's number is its FNV-1a");
    return done();
}
