/* program: a small text statistic, and what this example makes cheaper. It writes itself a text of 3000 words from a
 * fixed seed, counts the words in a hash table, sorts them by how often they occur, looks some of them up in the text
 * again, and multiplies two matrices made of the counts. Its output must stay as it is; how it gets there is chosen in
 * params.h (algorithms and sizes) and flags.txt (the compiler's flags). choices.txt says what each may be. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "params.h"

enum { WORDS = 3000, WORD_MAX = 8, TEXT_MAX = WORDS * (WORD_MAX + 1), TABLE = 1 << HASH_BITS, SIDE = 32 };

struct word {
    const char *start;
    uint32_t length, count;
    int next; /* in its bucket; -1 at the end */
};

static char text[TEXT_MAX + 1];
static int text_length;
static struct word words[WORDS];
static int word_count, bucket[TABLE];

static uint32_t next_random(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return state >> 16;
}

/* Short words over few letters, so that many occur again. */
static void write_text(void)
{
    for (int w = 0; w < WORDS; w++) {
        int length = 1 + (int)(next_random() % WORD_MAX);
        for (int k = 0; k < length; k++)
            text[text_length++] = (char)('a' + next_random() % (k < 2 ? 6 : 2));
        text[text_length++] = ' ';
    }
}

static uint32_t hash_of(const char *start, uint32_t length)
{
#if HASH == 0 /* the sum of the letters */
    uint32_t hash = 0;
    for (uint32_t k = 0; k < length; k++)
        hash += (unsigned char)start[k];
#elif HASH == 1 /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (uint32_t k = 0; k < length; k++)
        hash = (hash ^ (unsigned char)start[k]) * 16777619u;
#else /* multiply and add */
    uint32_t hash = length;
    for (uint32_t k = 0; k < length; k++)
        hash = hash * 31u + (unsigned char)start[k];
#endif
    return (hash ^ (hash >> 13)) & (TABLE - 1);
}

static int same(const struct word *word, const char *start, uint32_t length)
{
#if COMPARE == 0 /* letter by letter, the length last */
    uint32_t k = 0;
    while (k < length && k < word->length && word->start[k] == start[k])
        k++;
    return k == length && k == word->length;
#elif COMPARE == 1 /* the length first, then letter by letter */
    if (word->length != length)
        return 0;
    for (uint32_t k = 0; k < length; k++)
        if (word->start[k] != start[k])
            return 0;
    return 1;
#else /* the length first, then the library's comparison */
    return word->length == length && memcmp(word->start, start, length) == 0;
#endif
}

static void count_word(const char *start, uint32_t length)
{
    uint32_t slot = hash_of(start, length);
    for (int i = bucket[slot]; i >= 0; i = words[i].next)
        if (same(&words[i], start, length)) {
            words[i].count++;
            return;
        }
    words[word_count] = (struct word){start, length, 1, bucket[slot]};
    bucket[slot] = word_count++;
}

static void count_words(void)
{
    for (int i = 0; i < TABLE; i++)
        bucket[i] = -1;
    for (int at = 0; at < text_length;) {
        int start = at;
        while (text[at] != ' ')
            at++;
        count_word(text + start, (uint32_t)(at - start));
        at++;
    }
}

/* The more frequent first; among equals the one that occurs first in the text. */
static int before(const struct word *a, const struct word *b)
{
    return a->count != b->count ? a->count > b->count : a->start < b->start;
}

static void insertion_sort(struct word *list, int count, int step)
{
    for (int i = step; i < count; i++) {
        struct word word = list[i];
        int k = i;
        for (; k >= step && before(&word, &list[k - step]); k -= step)
            list[k] = list[k - step];
        list[k] = word;
    }
}

#if SORT == 2
static struct word scratch[WORDS / 2];

static void merge_sort(struct word *list, int count)
{
    if (count <= SORT_CUTOFF) {
        insertion_sort(list, count, 1);
        return;
    }
    int half = count / 2, a = 0, b = half, k = 0;
    merge_sort(list, half);
    merge_sort(list + half, count - half);
    memcpy(scratch, list, (size_t)half * sizeof *list);
    while (a < half)
        list[k++] = b < count && before(&list[b], &scratch[a]) ? list[b++] : scratch[a++];
}
#endif

static void sort_words(void)
{
#if SORT == 0 /* insertion */
    insertion_sort(words, word_count, 1);
#elif SORT == 1 /* shell */
    for (int step = SHELL_FIRST; step > 1; step /= SHELL_FACTOR)
        insertion_sort(words, word_count, step);
    insertion_sort(words, word_count, 1);
#else /* merge */
    merge_sort(words, word_count);
#endif
}

/* How often `length` letters occur in the text, overlaps counted. */
static int occurrences(const char *wanted, int length)
{
    int found = 0;
#if SEARCH == 0 /* everywhere, letter by letter */
    for (int at = 0; at + length <= text_length; at++) {
        int k = 0;
        while (k < length && text[at + k] == wanted[k])
            k++;
        found += k == length;
    }
#elif SEARCH == 1 /* the library's memcmp everywhere */
    for (int at = 0; at + length <= text_length; at++)
        found += memcmp(text + at, wanted, (size_t)length) == 0;
#else /* skip by the letter under the last place (Horspool) */
    int skip[256];
    for (int c = 0; c < 256; c++)
        skip[c] = length;
    for (int k = 0; k < length - 1; k++)
        skip[(unsigned char)wanted[k]] = length - 1 - k;
    for (int at = 0; at + length <= text_length; at += skip[(unsigned char)text[at + length - 1]])
        found += memcmp(text + at, wanted, (size_t)length) == 0;
#endif
    return found;
}

static uint32_t left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

static void multiply(void)
{
#if MATRIX == 0 /* row by column */
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < SIDE; k++)
                product[i][j] += left[i][k] * right[k][j];
#elif MATRIX == 1 /* row by row: the innermost loop runs along memory */
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            for (int j = 0; j < SIDE; j++)
                product[i][j] += left[i][k] * right[k][j];
#else /* row by row, in blocks */
    for (int from = 0; from < SIDE; from += MATRIX_BLOCK)
        for (int i = 0; i < SIDE; i++)
            for (int k = from; k < SIDE && k < from + MATRIX_BLOCK; k++)
                for (int j = 0; j < SIDE; j++)
                    product[i][j] += left[i][k] * right[k][j];
#endif
}

static uint32_t matrix_sum(void)
{
    for (int i = 0; i < word_count; i++) {
        left[i % SIDE][words[i].length] += words[i].count;
        right[words[i].length][(unsigned char)words[i].start[0] % SIDE] += 1 + words[i].count;
        right[i % SIDE][i / SIDE % SIDE] ^= words[i].length;
    }
    uint32_t sum = 0;
    multiply();
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            sum = sum * 33u + product[i][j];
    return sum;
}

int main(void)
{
    write_text();
    count_words();
    sort_words();
    printf("%d words, %d different\n", WORDS, word_count);
    for (int i = 0; i < 10; i++)
        printf("%-8.*s %u\n", (int)words[i].length, words[i].start, (unsigned)words[i].count);
    uint32_t order = 0;
    for (int i = 0; i < word_count; i++)
        order = order * 31u + (uint32_t)(words[i].start - text);
    printf("order %08x\n", (unsigned)order);
    for (int i = 0; i < word_count; i += word_count / 3) {
        int length = (int)words[i].length;
        printf("%.*s occurs %d times\n", length, words[i].start, occurrences(words[i].start, length));
    }
    printf("matrix %08x\n", (unsigned)matrix_sum());
    return 0;
}
