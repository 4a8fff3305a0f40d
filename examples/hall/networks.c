/* networks: shorter sorting networks. Adds, drops, changes and exchanges comparators at random; comparators that never
 * exchange anything are dropped. A network sorts everything if it sorts all sequences of 0 and 1 (Knuth), which are
 * tried 64 at a time. The first layer is fixed: wire i with its mirror image; that excludes no smallest network.
 *   networks CHANGES SEED WIRES < rows of "i j" > rows */
#include "../circle-packing/search.h"

enum { MOST = 400, WIRES = 16, WORDS = 1 << 10 };

struct comparator {
    int low, high;
};

static int wires, words;
static uint64_t inputs[WIRES][WORDS], state[WIRES][WORDS];

/* All sequences of 0 and 1 that the first layer leaves as they are. */
static void fill_inputs(void)
{
    int count = 0;
    for (int bits = 0; bits < 1 << wires; bits++) {
        int is_possible = 1;
        for (int i = 0; i < wires / 2; i++)
            is_possible &= !((bits >> i & 1) && !(bits >> (wires - 1 - i) & 1));
        if (!is_possible)
            continue;
        for (int i = 0; i < wires; i++)
            inputs[i][count / 64] |= (uint64_t)(bits >> i & 1) << count % 64;
        count++;
    }
    words = (count + 63) / 64;
}

/* Drops the comparators without effect; returns how many are left, or MOST if the network does not sort. */
static int tidy(struct comparator *network, int size)
{
    int useful = 0;
    for (int i = 0; i < wires; i++)
        memcpy(state[i], inputs[i], words * sizeof **state);
    for (int i = 0; i < size; i++) {
        uint64_t *a = state[network[i].low], *b = state[network[i].high], exchanged = 0;
        for (int w = 0; w < words; w++) {
            uint64_t low = a[w] & b[w], high = a[w] | b[w];
            exchanged |= a[w] ^ low;
            a[w] = low;
            b[w] = high;
        }
        if (exchanged)
            network[useful++] = network[i];
    }
    for (int i = 0; i + 1 < wires; i++)
        for (int w = 0; w < words; w++)
            if (state[i][w] & ~state[i + 1][w])
                return MOST;
    return useful;
}

static struct comparator any(void)
{
    int a = random_below(wires), b = (a + 1 + random_below(wires - 1)) % wires;
    return a < b ? (struct comparator){a, b} : (struct comparator){b, a};
}

static int change(struct comparator *network, int size)
{
    int kind = random_below(10), i = random_below(size), j = random_below(size);
    if (kind < 3) {
        memmove(network + i, network + i + 1, (--size - i) * sizeof *network);
    } else if (kind < 5) {
        memmove(network + i + 1, network + i, (size++ - i) * sizeof *network);
        network[i] = any();
    } else if (kind < 8) {
        network[i] = any();
    } else {
        struct comparator other = network[i];
        network[i] = network[j];
        network[j] = other;
    }
    return size;
}

int main(int argc, char **argv)
{
    struct comparator network[MOST], next[MOST];
    double numbers[2 * MOST];
    long changes = search_begin(argc, argv);
    wires = argc > 3 ? atoi(argv[3]) : 0;
    if (wires < 2 || wires > WIRES)
        return 2;
    fill_inputs();
    int size = read_numbers(numbers, MOST) / 2;
    for (int i = 0; i < size; i++)
        network[i] = (struct comparator){(int)numbers[2 * i] - 1, (int)numbers[2 * i + 1] - 1};
    size = tidy(network, size); /* the first layer is left out here */
    while (changes-- > 0 && size < MOST) {
        memcpy(next, network, size * sizeof *network);
        int changed = size;
        for (int times = 1 + random_below(4); times > 0 && changed > 1; times--)
            changed = change(next, changed);
        changed = tidy(next, changed);
        if (changed <= size) {
            size = changed;
            memcpy(network, next, size * sizeof *network);
        }
    }
    for (int i = 0; i < wires / 2; i++)
        printf("%d %d\n", i + 1, wires - i);
    for (int i = 0; i < size; i++)
        printf("%d %d\n", network[i].low + 1, network[i].high + 1);
}
