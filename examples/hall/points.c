/* points: points in space whose largest distance is small beside their smallest. Moves points at random, then all of
 * them to the nearest best place: the largest squared distance becomes least, none may be less than 1.
 *   points CHANGES SEED < rows of "x y z" > rows */
enum { MOST = 32, MOST_VARIABLES = 3 * MOST + 1, MOST_CONSTRAINTS = MOST * (MOST - 1) };

#include "../circle-packing/search.h"
#include "../circle-packing/minimise.h"

static int count;
static double cost[MOST_VARIABLES];
static struct {
    short a, b;
} pairs[MOST_CONSTRAINTS];

/* Variables: the coordinates, then the largest squared distance. Of each pair: not too far apart, not too near. */
static double limit(int i, const double *x, struct slope *slopes)
{
    int a = 3 * pairs[i / 2].a, b = 3 * pairs[i / 2].b, is_near = i % 2;
    double squared = 0, sign = is_near ? -1 : 1;
    for (int axis = 0; axis < 3; axis++) {
        double d = x[a + axis] - x[b + axis];
        squared += d * d;
        if (slopes) {
            slopes[2 * axis] = (struct slope){a + axis, 2 * sign * d};
            slopes[2 * axis + 1] = (struct slope){b + axis, -2 * sign * d};
        }
    }
    if (slopes) {
        slopes[6] = (struct slope){is_near ? -1 : 3 * count, -1};
        slopes[7].of = -1;
    }
    return is_near ? 1 - squared : squared - x[3 * count];
}

static void prepare(void)
{
    cost[3 * count] = 1;
    task.cost = cost;
    task.limit = limit;
    task.variables = 3 * count + 1;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++, task.constraints += 2) {
            pairs[task.constraints / 2].a = (short)a;
            pairs[task.constraints / 2].b = (short)b;
        }
}

static double ratio(const double *x)
{
    double least = 1e300, most = 0;
    for (int i = 0; i < task.constraints; i += 2) {
        double squared = limit(i, x, NULL) + x[3 * count];
        least = fmin(least, squared);
        most = fmax(most, squared);
    }
    return most / fmax(least, 1e-12);
}

static void change(double *x)
{
    double reach = random_unit() < 0.5 ? 0.3 * random_unit() : 0;
    if (random_unit() < 0.2)
        for (int i = 0; i < 3 * count; i++)
            x[i] = random_normal();
    for (int i = 0; i < 3 * count; i++)
        x[i] += reach * random_normal();
    for (int moved = reach > 0 ? 0 : 1 + random_below(2); moved > 0; moved--) {
        double *point = &x[3 * random_below(count)];
        for (int axis = 0; axis < 3; axis++)
            point[axis] = random_normal();
    }
    x[3 * count] = 4;
}

int main(int argc, char **argv)
{
    double x[MOST_VARIABLES] = {0}, next[MOST_VARIABLES], best[MOST_VARIABLES] = {0}, least = 1e300;
    long changes = search_begin(argc, argv);
    count = read_numbers(x, 3 * MOST) / 3;
    prepare();
    memcpy(best, x, sizeof best);
    while (changes-- > 0) {
        memcpy(next, x, sizeof x);
        change(next);
        minimise_limited(next, 6, 100, 3e3, 1e-6);
        if (ratio(next) < least) {
            least = ratio(next);
            memcpy(best, next, sizeof best);
            memcpy(x, next, sizeof x);
        }
    }
    minimise_limited(best, 15, 300, 3e4, 1e-12);
    print_rows(best, count, 3);
}
