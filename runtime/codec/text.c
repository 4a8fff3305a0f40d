/* SPDX-License-Identifier: MIT */
/* text: how similar two texts are. A sketch is a one-permutation MinHash (Li, Owen and Zhang, 2012) of the text's
 * trigrams of tokens: each trigram's hash goes to one of 64 buckets, each bucket keeps its minimum, and 4 bits of that
 * (Li and Koenig, 2010) are a digit. Empty buckets borrow (Shrivastava and Li, 2014), so that short texts compare too.
 * Allocates nothing and never fails. Called by ltext.c. */
#include "codec/text.h"

#include <stdint.h>
#include <string.h>

#define EMPTY UINT64_MAX

enum { CHUNK = 2048, WORDS = CHUNK / 64 };

struct sketch {
    uint64_t least[AP_TEXT_DIGITS];
    uint64_t before, last; /* the hashes of the two previous tokens */
};

/* Part of a text, and where tokens begin and end in it, found by bit operations: branches would be mispredicted and
 * take three times as long. */
struct chunk {
    unsigned char bytes[CHUNK + 16]; /* allows reading sixteen bytes at once */
    uint16_t first[CHUNK], past[CHUNK];
};

static inline bool is_word(unsigned char c)
{
    return ((unsigned char)((c | 0x20) - 'a') < 26) | ((unsigned char)(c - '0') < 10) | (c == '_') | (c >= 0x80);
}

static inline bool is_blank(unsigned char c)
{
    return (c == ' ') | ((unsigned char)(c - '\t') < 5);
}

/* Little-endian on every machine. */
static inline uint64_t load(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* Packs 64 bytes of 0 and 1 into the bits of a word. */
static inline uint64_t pack(const unsigned char flags[64])
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (load(flags + 8 * i) * 0x0102040810204080 >> 56) << 8 * i;
    return bits;
}

/* Lists the positions of the set bits of a 64-byte block. Returns the next free place. */
static inline uint16_t *list(uint16_t *places, uint64_t bits, size_t base)
{
    for (; bits != 0; bits &= bits - 1)
        *places++ = (uint16_t)(base + (size_t)__builtin_ctzll(bits));
    return places;
}

/* Fills first and past; returns the number of tokens. */
static size_t find_tokens(struct chunk *chunk, size_t count)
{
    uint16_t *first = chunk->first, *past = chunk->past;
    uint64_t carry = 0, single = 0; /* whether the previous byte belongs to a word, or is a token by itself */
    for (size_t at = 0; at < count; at += 64) {
        unsigned char word[64], solid[64];
        for (int i = 0; i < 64; i++) {
            word[i] = is_word(chunk->bytes[at + i]);
            solid[i] = !is_blank(chunk->bytes[at + i]);
        }
        uint64_t words = pack(word), alone = pack(solid) & ~words;
        uint64_t before = words << 1 | carry;
        first = list(first, (words & ~before) | alone, at);
        past = list(past, (~words & before) | alone << 1 | single, at);
        carry = words >> 63;
        single = alone >> 63;
    }
    if (carry | single)
        *past++ = (uint16_t)((count + 63) / 64 * 64);
    return (size_t)(first - chunk->first);
}

static inline uint64_t hash_step(uint64_t hash, uint64_t eight)
{
    hash = (hash ^ eight) * 0x9fb21c651e98df25;
    return hash ^ hash >> 32;
}

/* Read from 16 - n on, it is a mask of n bytes. */
static const unsigned char masks[32] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

/* A token of 1 to 16 bytes, with sixteen readable. Has no branch: lengths are unpredictable. */
static inline uint64_t hash_short(const unsigned char *p, size_t count)
{
    const unsigned char *mask = masks + 16 - count;
    uint64_t first = load(p) & load(mask), second = load(p + 8) & load(mask + 8);
    return hash_step(first * 0xff51afd7ed558ccd, second);
}

/* A token of any length; same result up to 16 bytes. Not inlined: it is rare and would slow the others by a third. */
__attribute__((noinline)) static uint64_t hash_long(const unsigned char *p, size_t count)
{
    unsigned char rest[16] = {0};
    uint64_t hash = 0;
    for (; count > 16; p += 8, count -= 8)
        hash = hash_step(hash, load(p));
    memcpy(rest, p, count);
    return hash ^ hash_short(rest, count);
}

static inline void add_token(struct sketch *sketch, uint64_t token)
{
    uint64_t before = sketch->before, last = sketch->last;
    uint64_t hash = (before ^ (last << 21 | last >> 43) ^ (token << 43 | token >> 21)) * 0xd6e8feb86659fd93;
    hash ^= hash >> 32;
    uint64_t least = sketch->least[hash >> 58];
    sketch->least[hash >> 58] = hash < least ? hash : least;
    sketch->before = last;
    sketch->last = token;
}

/* Adds the tokens that begin in a chunk of the text at p. The last may end after it; returns where. */
static const unsigned char *add_chunk(
    struct sketch *sketch, struct chunk *chunk, const unsigned char *p, const unsigned char *end)
{
    size_t count = (size_t)(end - p) < CHUNK ? (size_t)(end - p) : CHUNK;
    memcpy(chunk->bytes, p, count);
    memset(chunk->bytes + count, ' ', sizeof chunk->bytes - count);
    size_t tokens = find_tokens(chunk, count);
    const unsigned char *next = p + count;
    bool cut = next < end && is_word(next[-1]) && is_word(*next);
    tokens -= cut;
    for (size_t i = 0; i < tokens; i++) {
        size_t length = (size_t)(chunk->past[i] - chunk->first[i]);
        const unsigned char *token = chunk->bytes + chunk->first[i];
        add_token(sketch, length <= 16 ? hash_short(token, length) : hash_long(token, length));
    }
    if (cut) {
        while (next < end && is_word(*next))
            next++;
        const unsigned char *token = p + chunk->first[tokens];
        add_token(sketch, hash_long(token, (size_t)(next - token)));
    }
    return next;
}

void ap_text_sketch(char digits[AP_TEXT_DIGITS], const char *bytes, size_t count)
{
    struct sketch sketch = {.before = 1, .last = 2}; /* hashes that no token has: the first token makes a trigram */
    memset(sketch.least, 0xff, sizeof sketch.least);
    struct chunk chunk;
    const unsigned char *p = (const unsigned char *)bytes, *end = p + count;
    while (p < end)
        p = add_chunk(&sketch, &chunk, p, end);
    if (sketch.before == 1 && sketch.last == 2)
        add_token(&sketch, 3);        /* a text without tokens gets its own sketch */
    unsigned lender = AP_TEXT_DIGITS; /* the next bucket that is not empty, cyclically */
    while (sketch.least[lender % AP_TEXT_DIGITS] == EMPTY)
        lender++;
    for (unsigned bucket = AP_TEXT_DIGITS; bucket-- > 0;) {
        lender = sketch.least[bucket] == EMPTY ? lender : bucket;
        uint64_t value = sketch.least[lender % AP_TEXT_DIGITS];
        if (lender > bucket) /* a digit borrowed from another distance must differ */
            value = hash_step(value, lender - bucket);
        digits[bucket] = "0123456789abcdef"[value & 15];
    }
}

/* No early exit, so that the compiler can process many bytes at once; same below. */
bool ap_text_is_sketch(const char *bytes, size_t count)
{
    unsigned char wrong = 0;
    if (count != AP_TEXT_DIGITS)
        return false;
    for (int i = 0; i < AP_TEXT_DIGITS; i++)
        wrong |= !(((unsigned char)(bytes[i] - '0') < 10) | ((unsigned char)(bytes[i] - 'a') < 6));
    return wrong == 0;
}

/* Digits of unrelated texts are equal once in 16; the excess is similarity. */
double ap_text_similarity(const char a[AP_TEXT_DIGITS], const char b[AP_TEXT_DIGITS])
{
    unsigned char equal = 0;
    for (int i = 0; i < AP_TEXT_DIGITS; i++)
        equal = (unsigned char)(equal + (a[i] == b[i]));
    double similarity = (equal / (double)AP_TEXT_DIGITS - 1.0 / 16) / (1 - 1.0 / 16);
    return similarity > 0 ? similarity : 0;
}
