/* bench: the judge's side of the example.
 *   bench check   what the routine finds in inputs of many sizes, for comparison with expected.txt
 *   bench time    the metric: the routine's processor time by that of the routine as it was at first (reference.c, part
 *                 of this program), call beside call, a millisecond each: when the machine slows down, both do. The
 *                 median of 60 ratios; the time per reading in ns as a second number; and what was found meanwhile,
 *                 for the same comparison
 * The inputs are the same in every run; the time is not, which is what the example is about. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "routine.h"

typedef void inspector(const uint32_t *, int, struct findings *);
inspector inspect_reference;
#define inspect inspect_reference
#include "reference.c"
#undef inspect

enum { MOST = 4000, PAIRS = 60, TIMED_SEED = 20011 };

static uint32_t readings[MOST];

/* Readings of all magnitudes. */
static void fill(uint32_t state, int count)
{
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t high = state >> 16;
        state = state * 1664525u + 1013904223u;
        readings[i] = (high << 16 | state >> 16) >> (high % 5 * 4);
    }
}

static void print(const char *name, int count, const struct findings *f)
{
    printf("%s %d: %08x %08x %08x %08x %08x %08x %08x", name, count, (unsigned)f->checksum, (unsigned)f->ones,
        (unsigned)f->digits, (unsigned)f->polynomial, (unsigned)f->window, (unsigned)f->divisors, (unsigned)f->classes);
    printf(" %08x %08x %08x %08x %08x %08x %08x\n", (unsigned)f->middle, (unsigned)f->below, (unsigned)f->roots,
        (unsigned)f->mixed, (unsigned)f->mirrored, (unsigned)f->primes, (unsigned)f->spread);
}

static void check(void)
{
    static const int counts[] = {0, 1, 2, 3, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 33, 64, 100, 255, 1000, 3999, MOST};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        struct findings found;
        memset(&found, 0xa5, sizeof found);
        fill(7u + (uint32_t)k, counts[k]);
        inspect(readings, counts[k], &found);
        print("check", counts[k], &found);
    }
}

static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double median(double *values, int count)
{
    for (int i = 1; i < count; i++) {
        double value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double time_of(inspector *routine, struct findings *found)
{
    double began = processor_ns();
    routine(readings, MOST, found);
    return processor_ns() - began;
}

/* Which of the two comes first alternates. False: they did not find the same. */
static int measure(void)
{
    struct findings found, wanted;
    uint32_t checksum = 0, spread = 0;
    double took[PAIRS], ratio[PAIRS];
    memset(&found, 0xa5, sizeof found);
    memset(&wanted, 0x5a, sizeof wanted);
    fill(TIMED_SEED, MOST);
    for (int pair = 0; pair < PAIRS; pair++) {
        double reference = 1;
        readings[pair] += 977; /* no two pairs see the same */
        if (pair % 2 == 0)
            reference = time_of(inspect_reference, &wanted);
        took[pair] = time_of(inspect, &found);
        if (pair % 2 == 1)
            reference = time_of(inspect_reference, &wanted);
        ratio[pair] = took[pair] / reference;
        if (memcmp(&found, &wanted, sizeof found) != 0)
            return 0;
        checksum = checksum * 33 ^ found.checksum;
        spread = spread * 33 ^ found.spread;
    }
    found.checksum ^= checksum;
    found.spread ^= spread;
    print("timed", MOST, &found);
    printf("METRIC relative_time=%.6g\nMETRIC ns_per_reading=%.6g\n", median(ratio, PAIRS), median(took, PAIRS) / MOST);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "check") == 0)
        check();
    else if (argc == 2 && strcmp(argv[1], "time") == 0)
        return !measure();
    else
        return 2;
    return 0;
}
