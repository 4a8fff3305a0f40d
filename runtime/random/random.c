/* SPDX-License-Identifier: MIT */
/* random: keyed random streams. The generator is xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 over an
 * FNV-1a hash of the key. The stream of a key must never change: apsis repeats a run by drawing again. Allocates
 * nothing and never fails. Called by lrandom.c. */
#include "random/random.h"

#include <math.h>

uint64_t ap_random_key(uint64_t key, const char *part, size_t count)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    for (size_t i = 0; i < count; i++)
        key = (key ^ (unsigned char)part[i]) * prime;
    return key * prime; /* a NUL ends the part, so that ("ab", "c") differs from ("a", "bc") */
}

void ap_random_seed(struct ap_random *stream, uint64_t key)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = key += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        stream->words[i] = z ^ z >> 31;
    }
}

static inline uint64_t rotate(uint64_t bits, int count)
{
    return bits << count | bits >> (64 - count);
}

uint64_t ap_random_bits(struct ap_random *stream)
{
    uint64_t *s = stream->words, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double ap_random_double(struct ap_random *stream)
{
    return (double)(ap_random_bits(stream) >> 11) * 0x1p-53;
}

int64_t ap_random_integer(struct ap_random *stream, int64_t low, int64_t high)
{
    uint64_t bits = ap_random_bits(stream), span = (uint64_t)high - (uint64_t)low + 1;
    return (int64_t)((uint64_t)low + (span == 0 ? bits : bits % span)); /* 0: every integer */
}

/* The polar method (Marsaglia and Bray, 1964); uses one of the pair. */
double ap_random_normal(struct ap_random *stream)
{
    for (;;) {
        double u = 2 * ap_random_double(stream) - 1, v = 2 * ap_random_double(stream) - 1;
        double uu = u * u, vv = v * v, s = uu + vv; /* separate, so that no compiler fuses the operations */
        if (s > 0 && s < 1)
            return u * sqrt(-2 * log(s) / s);
    }
}
