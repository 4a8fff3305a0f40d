/* bench: the judge's side of the example.
 *   bench check   what the routine finds in inputs of many sizes, for comparison with expected.txt
 *   bench time    the metric: processor time per reading in ns, the lower quartile of 32 slices, which a busy neighbour
 *                 disturbs least; and what was found meanwhile, for the same comparison
 * The inputs are the same in every run; the time is not, which is what the example is about. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "routine.h"

enum { MOST = 4000, SLICES = 32, PASSES = 2, TIMED_SEED = 20011 };

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

static double lower_quartile(double *values, int count)
{
    for (int i = 1; i < count; i++) {
        double value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    return values[count / 4];
}

static void measure(void)
{
    struct findings found = {0};
    uint32_t checksum = 0, spread = 0;
    double took[SLICES];
    fill(TIMED_SEED, MOST);
    for (int slice = 0; slice < SLICES; slice++) {
        double began = processor_ns();
        for (int pass = 0; pass < PASSES; pass++) {
            readings[slice] += 977; /* no two passes see the same */
            inspect(readings, MOST, &found);
            checksum = checksum * 33 ^ found.checksum;
            spread = spread * 33 ^ found.spread;
        }
        took[slice] = processor_ns() - began;
    }
    found.checksum ^= checksum;
    found.spread ^= spread;
    print("timed", MOST, &found);
    printf("METRIC ns_per_reading=%.6g\n", lower_quartile(took, SLICES) / ((double)PASSES * MOST));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "check") == 0)
        check();
    else if (argc == 2 && strcmp(argv[1], "time") == 0)
        measure();
    else
        return 2;
    return 0;
}
