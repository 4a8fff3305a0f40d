/* routine: what the timed routine is given and what it finds out. Read by routine.c and by the benchmark; fixed. */
#ifndef ROUTINE_H
#define ROUTINE_H
#include <stdint.h>

struct findings {
    uint32_t checksum, ones, digits, polynomial, window, divisors, classes, middle, below, roots, mixed, mirrored,
        primes, spread;
};

/* Looks at `count` readings and fills in all of `found`. Keeps nothing from one call to the next. */
void inspect(const uint32_t *readings, int count, struct findings *found);
#endif
