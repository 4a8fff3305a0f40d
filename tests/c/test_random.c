/* SPDX-License-Identifier: MIT */
/* test_random: the generators give the first values of their authors' own programs, and spans work at the limits of 64
 * bits. */
#include "random/random.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tap.h"

static void is_fnv(void)
{
    /* FNV-1a of "a" and of "foobar", then of the NUL that ends a part. */
    const uint64_t prime = UINT64_C(0x100000001b3);
    ok(ap_random_key(AP_RANDOM_KEY, "", 0) == AP_RANDOM_KEY * prime, "an empty part is its NUL");
    ok(ap_random_key(AP_RANDOM_KEY, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c) * prime, "a key is hashed by FNV-1a: a");
    ok(ap_random_key(AP_RANDOM_KEY, "foobar", 6) == UINT64_C(0x85944171f73967e8) * prime, "and foobar");
    ok(ap_random_key(AP_RANDOM_KEY, "\xff", 1) == (AP_RANDOM_KEY ^ 0xff) * prime * prime, "bytes have no sign");
}

static void is_splitmix(void)
{
    static const uint64_t words[4] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423), UINT64_C(4593380528125082431)};
    struct ap_random stream;
    ap_random_seed(&stream, 1234567);
    for (int i = 0; i < 4; i++)
        ok(stream.words[i] == words[i], "seeding is splitmix64: word %d is %" PRIu64, i, stream.words[i]);
}

static void is_xoshiro(void)
{
    static const uint64_t drawn[6] = {11520, 0, 1509978240, UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360), UINT64_C(607988272756665600)};
    struct ap_random stream = {{1, 2, 3, 4}};
    for (int i = 0; i < 6; i++) {
        uint64_t bits = ap_random_bits(&stream);
        ok(bits == drawn[i], "the generator is xoshiro256**: draw %d is %" PRIu64, i, bits);
    }
}

static void stays_within(void)
{
    static const struct {
        int64_t low, high;
    } spans[] = {{0, 0}, {INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MAX}, {INT64_MAX - 1, INT64_MAX}, {-1, 1},
        {INT64_MIN, -2}, {1, INT64_MAX}, {INT64_MIN / 2, INT64_MAX / 2 - 1}, {0, INT64_MAX / 2 + 1},
        {0, INT64_MAX - 1}};
    struct ap_random stream;
    ap_random_seed(&stream, 1);
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        int within = 1;
        for (int draw = 0; draw < 10000; draw++) {
            int64_t value = ap_random_integer(&stream, spans[i].low, spans[i].high);
            within = within && value >= spans[i].low && value <= spans[i].high;
        }
        ok(within, "an integer from %" PRId64 " to %" PRId64 " is there", spans[i].low, spans[i].high);
    }
}

static void is_spread(void)
{
    struct ap_random stream;
    ap_random_seed(&stream, 2);
    double sum = 0, squares = 0, low = 1, high = 0;
    const int draws = 100000;
    for (int i = 0; i < draws; i++) {
        double u = ap_random_double(&stream), z = ap_random_normal(&stream);
        low = u < low ? u : low;
        high = u > high ? u : high;
        sum += z;
        squares += z * z;
    }
    ok(low >= 0 && low < 0.001 && high < 1 && high > 0.999, "floats fill [0, 1): %g to %g", low, high);
    ok(sum / draws > -0.02 && sum / draws < 0.02, "normal deviates have the mean 0: %g", sum / draws);
    ok(squares / draws > 0.97 && squares / draws < 1.03, "and the variance 1: %g", squares / draws);
}

int main(void)
{
    is_fnv();
    is_splitmix();
    is_xoshiro();
    stays_within();
    is_spread();
    return done();
}
