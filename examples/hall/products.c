/* products: schemes that multiply two N x N matrices over Z2 with fewer products, by a random walk on the flip graph
 * (Kauers and Moosbauer, 2022; plus transitions: Arai, Ichikawa and Hukushima, 2024). A scheme is a sum of products
 * a * b * c: a and b are the entries of the two matrices that are added up (bit i * N + k: row i, column k), c those of
 * the result to which their product is added.
 *   products CHANGES SEED < rows of "a b c" > rows */
#include "../circle-packing/search.h"

enum { MOST = 128, PATIENCE = 20000 };

struct product {
    uint32_t part[3];
};

static struct product scheme[MOST], best[MOST];
static int size, best_size;

/* Pairs of products with an equal part: these can be flipped. */
static struct {
    short i, j, part;
} pairs[3 * MOST * MOST];
static int pair_count;

static void drop(int i)
{
    scheme[i] = scheme[--size];
}

/* Drops products that are zero, and joins two that differ in one part only; whether there was one. */
static int join_one(void)
{
    for (int i = 0; i < size; i++)
        if (!scheme[i].part[0] || !scheme[i].part[1] || !scheme[i].part[2]) {
            drop(i);
            return 1;
        }
    for (int i = 0; i < size; i++)
        for (int j = i + 1; j < size; j++)
            for (int part = 0; part < 3; part++)
                if (scheme[i].part[(part + 1) % 3] == scheme[j].part[(part + 1) % 3] &&
                    scheme[i].part[(part + 2) % 3] == scheme[j].part[(part + 2) % 3]) {
                    scheme[i].part[part] ^= scheme[j].part[part];
                    drop(j);
                    return 1;
                }
    return 0;
}

static void add_pairs_of(int i, int part, int from)
{
    for (int j = from; j < size; j++)
        if (j != i && scheme[j].part[part] == scheme[i].part[part]) {
            pairs[pair_count].i = (short)i;
            pairs[pair_count].j = (short)j;
            pairs[pair_count++].part = (short)part;
        }
}

static void tidy(void)
{
    while (join_one())
        ;
    pair_count = 0;
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < size; i++)
            add_pairs_of(i, part, i + 1);
}

static int can_join(int i, int part)
{
    for (int j = 0; j < size; j++) {
        int same = 0;
        for (int k = 0; k < 3; k++)
            same += scheme[j].part[k] == scheme[i].part[k];
        if (j != i && same >= 2)
            return 1;
    }
    return !scheme[i].part[part];
}

/* x(y)(z) + x(v)(w) = x(y + v)(z) + x(v)(z + w), for a random pair with an equal part x. */
static void flip(void)
{
    int chosen = random_below(pair_count), turn = random_below(4);
    int i = pairs[chosen].i, j = pairs[chosen].j, first, second;
    if (turn & 1) {
        i = pairs[chosen].j;
        j = pairs[chosen].i;
    }
    first = (pairs[chosen].part + 1 + (turn >> 1)) % 3;
    second = 3 - pairs[chosen].part - first;
    scheme[i].part[first] ^= scheme[j].part[first];
    scheme[j].part[second] ^= scheme[i].part[second];
    if (can_join(i, first) || can_join(j, second)) {
        tidy();
        return;
    }
    int kept = 0;
    for (int k = 0; k < pair_count; k++) {
        int part = pairs[k].part, has_i = pairs[k].i == i || pairs[k].j == i,
            has_j = pairs[k].i == j || pairs[k].j == j;
        if (!((part == first && has_i) || (part == second && has_j)))
            pairs[kept++] = pairs[k];
    }
    pair_count = kept;
    add_pairs_of(i, first, 0);
    add_pairs_of(j, second, 0);
}

/* Where no flip helps any more: two products become three. */
static void split(void)
{
    int i = random_below(size), j = random_below(size), x = random_below(3), y = (x + 1) % 3, z = (x + 2) % 3;
    if (size == MOST || scheme[i].part[x] == scheme[j].part[x] || scheme[i].part[y] == scheme[j].part[y] ||
        scheme[i].part[z] == scheme[j].part[z])
        return;
    struct product a = scheme[i], b = scheme[j];
    scheme[i].part[y] ^= b.part[y];
    scheme[j].part[x] = a.part[x];
    scheme[j].part[z] ^= a.part[z];
    scheme[size] = b;
    scheme[size++].part[x] ^= a.part[x];
    tidy();
}

static void remember(void)
{
    best_size = size;
    memcpy(best, scheme, sizeof best);
}

static void recall(void)
{
    size = best_size;
    memcpy(scheme, best, sizeof best);
    tidy();
}

int main(int argc, char **argv)
{
    double numbers[3 * MOST];
    long changes = search_begin(argc, argv), idle = 0;
    size = best_size = read_numbers(numbers, 3 * MOST) / 3;
    for (int i = 0; i < 3 * size; i++)
        scheme[i / 3].part[i % 3] = (uint32_t)numbers[i];
    tidy();
    remember();
    for (; changes > 0; changes--) {
        if (size < best_size) {
            remember();
            idle = 0;
        }
        if (pair_count > 0 && ++idle % PATIENCE != 0) {
            flip();
            continue;
        }
        if (size == best_size)
            remember(); /* an equal one: to walk on from there */
        else if (size > best_size + 1)
            recall();
        split();
    }
    if (size == best_size)
        remember();
    for (int i = 0; i < best_size; i++)
        printf("%u %u %u\n", best[i].part[0], best[i].part[1], best[i].part[2]);
}
