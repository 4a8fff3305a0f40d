/* search: packings of circles with a larger sum of radii, in the unit square or in any rectangle of perimeter 4. Moves
 * circles at random, then all of them to the nearest best place; the best packing of `changes` such moves is printed.
 *   search CHANGES SEED [rectangle] < rows of "x y radius" > rows */
enum { MOST = 64, MOST_VARIABLES = 3 * MOST + 1, MOST_CONSTRAINTS = MOST * (MOST - 1) / 2 + 4 * MOST };

#include "search.h"
#include "minimise.h"

static int count, is_rectangle;
static double cost[MOST_VARIABLES];

/* The pair of circles of each constraint; the first 4 * count ones are of a circle and a wall. */
static struct {
    short a, b;
} pairs[MOST_CONSTRAINTS];

/* Variables: x, y and radius of each circle, then the rectangle's width; its height is 2 - width. */
static double limit(int i, const double *x, struct slope *slopes)
{
    if (i < 4 * count) {
        int wall = i % 4, circle = 3 * (i / 4), axis = circle + wall / 2, width = 3 * count;
        double size = !is_rectangle ? 1 : wall < 2 ? x[width] : 2 - x[width];
        if (slopes) {
            slopes[0] = (struct slope){circle + 2, 1};
            slopes[1] = (struct slope){axis, wall % 2 ? 1 : -1};
            slopes[2] = (struct slope){is_rectangle && wall % 2 ? width : -1, wall < 2 ? -1 : 1};
            slopes[3].of = -1;
        }
        return wall % 2 ? x[axis] + x[circle + 2] - size : x[circle + 2] - x[axis];
    }
    int a = 3 * pairs[i].a, b = 3 * pairs[i].b;
    double dx = x[a] - x[b], dy = x[a + 1] - x[b + 1], distance = sqrt(dx * dx + dy * dy) + 1e-300;
    if (slopes) {
        slopes[0] = (struct slope){a, -dx / distance};
        slopes[1] = (struct slope){a + 1, -dy / distance};
        slopes[2] = (struct slope){b, dx / distance};
        slopes[3] = (struct slope){b + 1, dy / distance};
        slopes[4] = (struct slope){a + 2, 1};
        slopes[5] = (struct slope){b + 2, 1};
        slopes[6].of = -1;
    }
    return x[a + 2] + x[b + 2] - distance;
}

static void prepare(void)
{
    task.cost = cost;
    task.limit = limit;
    task.variables = 3 * count + is_rectangle;
    task.constraints = 4 * count;
    for (int a = 0; a < count; a++) {
        cost[3 * a + 2] = -1;
        for (int b = 0; b < a; b++) {
            pairs[task.constraints].a = a;
            pairs[task.constraints++].b = b;
        }
    }
}

/* The sum of the radii, each made smaller by the worst violation, so that the packing is valid. */
static double valid_sum(double *x)
{
    double excess = violation(x), sum = 0;
    for (int i = 0; i < count; i++) {
        double *radius = &x[3 * i + 2];
        *radius = fmax(0, *radius - excess - 1e-15);
        sum += *radius;
    }
    return sum;
}

static double settle(double *x)
{
    minimise_limited(x, 5, 60, 3e3, 1e-6);
    return valid_sum(x);
}

static double settle_finely(double *x)
{
    minimise_limited(x, 12, 300, 3e4, 1e-11);
    return valid_sum(x);
}

static void place(double *circle, double radius)
{
    circle[0] = random_unit();
    circle[1] = random_unit();
    circle[2] = radius;
}

static void scatter(double *x)
{
    for (int i = 0; i < count; i++)
        place(&x[3 * i], 0.05);
    if (is_rectangle)
        x[3 * count] = 0.8 + 0.4 * random_unit();
}

/* One to three circles elsewhere, or all of them a little, or two radii exchanged. */
static void change(double *x)
{
    double kind = random_unit();
    if (kind < 0.5) {
        for (int moved = 1 + random_below(3); moved > 0; moved--)
            place(&x[3 * random_below(count)], 0.01);
    } else if (kind < 0.8) {
        double reach = 0.02 + 0.1 * random_unit();
        for (int i = 0; i < 3 * count; i++)
            if (i % 3 != 2)
                x[i] += reach * random_normal();
    } else {
        double *a = &x[3 * random_below(count) + 2], *b = &x[3 * random_below(count) + 2], radius = *a;
        *a = *b;
        *b = radius;
    }
}

int main(int argc, char **argv)
{
    double x[MOST_VARIABLES] = {0}, next[MOST_VARIABLES], best[MOST_VARIABLES] = {0};
    long changes = search_begin(argc, argv);
    is_rectangle = argc > 3;
    count = read_numbers(x, 3 * MOST) / 3;
    prepare();
    if (is_rectangle)
        for (int i = 0; i < count; i++)
            x[3 * count] = fmax(x[3 * count], x[3 * i] + x[3 * i + 2]);
    double sum = 0, best_sum = 0, parents_sum = 0;
    for (int i = 0; i < count; i++)
        parents_sum += x[3 * i + 2];
    if (random_unit() < 0.5) /* from elsewhere */
        scatter(x);
    while (changes-- > 0) {
        memcpy(next, x, sizeof x);
        change(next);
        double settled = settle(next);
        if (settled > best_sum) {
            best_sum = settled;
            memcpy(best, next, sizeof best);
        }
        if (settled > sum - (random_unit() < 0.02 ? 0.003 : 0)) {
            sum = settled;
            memcpy(x, next, sizeof x);
        }
    }
    if (best_sum > parents_sum - 1e-4)
        settle_finely(best);
    print_rows(best, count, 3);
}
