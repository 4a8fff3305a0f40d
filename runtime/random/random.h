/* SPDX-License-Identifier: MIT */
/* random: keyed random streams; the same key gives the same stream on every machine. Called by lrandom.c. */
#ifndef AP_RANDOM_H
#define AP_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct ap_random {
    uint64_t words[4];
};

#define AP_RANDOM_KEY UINT64_C(0xcbf29ce484222325) /* a key without parts */

/* The key with one more part at its end. */
uint64_t ap_random_key(uint64_t key, const char *part, size_t count);

/* Sets the stream to the start of a key's stream. */
void ap_random_seed(struct ap_random *stream, uint64_t key);

uint64_t ap_random_bits(struct ap_random *stream);

/* In [0, 1), 53 bits. */
double ap_random_double(struct ap_random *stream);

/* In [low, high], with a bias of at most (high - low) / 2^64; low <= high. If the range has 2^63 integers or more, any
 * integer. */
int64_t ap_random_integer(struct ap_random *stream, int64_t low, int64_t high);

/* A normal deviate of mean 0 and standard deviation 1. */
double ap_random_normal(struct ap_random *stream);

#endif
