/* search: what the example's search programs share: random numbers, and an answer as rows of numbers. A program reads
 * the parent's rows from standard input, tries changes, and prints the rows of the best answer it found. Its arguments
 * are how many changes it tries and a seed: the same arguments and the same parent always give the same answer. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

/* splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From 0 to less than 1. */
static inline double random_unit(void)
{
    return (double)(random_bits() >> 11) / 9007199254740992.0;
}

/* From 0 to count - 1. */
static inline int random_below(int count)
{
    return (int)(random_bits() % (uint64_t)count);
}

/* Of the normal distribution, by Box and Muller. */
static inline double random_normal(void)
{
    return sqrt(-2 * log(1 - random_unit())) * cos(6.283185307179586 * random_unit());
}

/* The number of changes to try; seeds the random numbers. */
static inline long search_begin(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s CHANGES SEED ... < parent > answer\n", argv[0]);
        exit(2);
    }
    random_state = strtoull(argv[2], NULL, 10);
    return strtol(argv[1], NULL, 10);
}

/* Reads at most `most` numbers; returns how many there were. */
static inline int read_numbers(double *numbers, int most)
{
    int count = 0;
    while (count < most && scanf("%lf", &numbers[count]) == 1)
        count++;
    return count;
}

/* Prints multiples of 2^-52, rounded down. */
static inline void print_rows(const double *numbers, int rows, int columns)
{
    for (int i = 0; i < rows * columns; i++)
        printf("%.17g%c", ldexp(floor(ldexp(numbers[i], 52)), -52), (i + 1) % columns ? ' ' : '\n');
}
