/* rulers: shorter Golomb rulers, whose marks have no distance twice. Keeps some first marks of the parent and looks for
 * the others by depth-first search, on a ruler that is shorter than the parent; gives up after some steps and begins
 * with other marks.
 *   rulers CHANGES SEED < marks > marks */
#include "../circle-packing/search.h"

enum { MOST = 32, LONGEST = 4096, STEPS = 3000000 };

static int count, length, mark[MOST], steps_left;
static char measured[LONGEST];

/* Adds a mark after `size` others, if all distances to them are new. */
static int add(int size, int place)
{
    for (int i = 0; i < size; i++)
        if (measured[place - mark[i]]) {
            while (i-- > 0)
                measured[place - mark[i]] = 0;
            return 0;
        } else {
            measured[place - mark[i]] = 1;
        }
    mark[size] = place;
    return 1;
}

static void take_back(int size)
{
    for (int i = 0; i < size; i++)
        measured[mark[size] - mark[i]] = 0;
}

/* Completes a ruler of `size` marks within the length; the k marks that are missing take at least k * (k + 1) / 2. */
static int complete(int size)
{
    if (size == count)
        return 1;
    int missing = count - size - 1, last = length - missing * (missing + 1) / 2;
    for (int place = mark[size - 1] + 1; place <= last && steps_left-- > 0; place++) {
        if (!add(size, place))
            continue;
        if (complete(size + 1))
            return 1;
        take_back(size);
    }
    return 0;
}

int main(int argc, char **argv)
{
    double numbers[MOST];
    int best[MOST];
    long changes = search_begin(argc, argv);
    count = read_numbers(numbers, MOST);
    for (int i = 0; i < count; i++)
        best[i] = (int)numbers[i];
    while (changes-- > 0 && count > 1 && best[count - 1] < LONGEST) {
        int size = 1, kept = 1 + random_below(count - 1), fresh = random_below(2) * random_below(count / 2);
        memset(measured, 0, sizeof measured);
        mark[0] = 0;
        length = best[count - 1] - 1;
        steps_left = STEPS;
        if (fresh > 0)
            kept = 1;
        while (size < kept && add(size, best[size]))
            size++;
        for (int tries = 50; fresh > 0 && tries > 0; tries--) /* or some marks at random */
            if (add(size, mark[size - 1] + 1 + random_below(length / count))) {
                size++;
                fresh--;
            }
        if (mark[size - 1] < length && complete(size))
            memcpy(best, mark, sizeof best);
    }
    for (int i = 0; i < count; i++)
        printf("%d\n", best[i]);
}
