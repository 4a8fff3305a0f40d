/* triangles: Heilbronn's problem in a triangle: points whose smallest triangle is large. Moves points at random, then
 * all of them to the nearest best place. Coordinates are those of the triangle (0,0), (1,0), (0,1): there the area of
 * three points is their determinant, as a share of the whole triangle.
 *   triangles CHANGES SEED < rows of "x y" > rows */
enum { MOST = 16, MOST_VARIABLES = 2 * MOST + 1, MOST_CONSTRAINTS = MOST * MOST * MOST };

#include "../circle-packing/search.h"
#include "../circle-packing/minimise.h"

static int count;
static double cost[MOST_VARIABLES];
static struct {
    short a, b, c, turn;
} triples[MOST_CONSTRAINTS];

/* Variables: the coordinates, then the smallest area. The first 3 * count constraints keep points inside, the others
 * keep the area of a triple, with the turn that it has, at least that large. */
static double limit(int i, const double *x, struct slope *slopes)
{
    if (i < 3 * count) {
        int p = 2 * (i / 3), side = i % 3;
        if (slopes) {
            slopes[0] = (struct slope){side == 1 ? p + 1 : p, side < 2 ? -1 : 1};
            slopes[1] = (struct slope){side < 2 ? -1 : p + 1, 1};
            slopes[2].of = -1;
        }
        return side == 0 ? -x[p] : side == 1 ? -x[p + 1] : x[p] + x[p + 1] - 1;
    }
    int a = 2 * triples[i].a, b = 2 * triples[i].b, c = 2 * triples[i].c, turn = triples[i].turn;
    double bx = x[b] - x[a], by = x[b + 1] - x[a + 1], cx = x[c] - x[a], cy = x[c + 1] - x[a + 1];
    if (slopes) {
        slopes[0] = (struct slope){2 * count, 1};
        slopes[1] = (struct slope){a, -turn * (by - cy)};
        slopes[2] = (struct slope){a + 1, -turn * (cx - bx)};
        slopes[3] = (struct slope){b, -turn * cy};
        slopes[4] = (struct slope){b + 1, turn * cx};
        slopes[5] = (struct slope){c, turn * by};
        slopes[6] = (struct slope){c + 1, -turn * bx};
        slopes[7].of = -1;
    }
    return x[2 * count] - turn * (bx * cy - by * cx);
}

static void prepare(void)
{
    cost[2 * count] = -1;
    task.cost = cost;
    task.limit = limit;
    task.variables = 2 * count + 1;
    task.constraints = 3 * count;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++)
            for (int c = 0; c < b; c++, task.constraints++) {
                triples[task.constraints].a = (short)a;
                triples[task.constraints].b = (short)b;
                triples[task.constraints].c = (short)c;
            }
}

/* Notes how each triple turns; the smallest area. */
static double look(double *x)
{
    double least = 1;
    x[2 * count] = 0;
    for (int i = 3 * count; i < task.constraints; i++) {
        triples[i].turn = 1;
        double area = -limit(i, x, NULL);
        triples[i].turn = area < 0 ? -1 : 1;
        least = fmin(least, fabs(area));
    }
    return least;
}

/* Inside, by moving the points that are not. */
static double enclose(double *x)
{
    for (int i = 0; i < count; i++) {
        double *p = &x[2 * i], sum;
        p[0] = fmax(0, p[0]);
        p[1] = fmax(0, p[1]);
        sum = p[0] + p[1];
        if (sum > 1 - 1e-15) {
            p[0] *= (1 - 1e-15) / sum;
            p[1] *= (1 - 1e-15) / sum;
        }
    }
    return look(x);
}

static double settle(double *x, int rounds, int iterations, double stiffest, double tolerance)
{
    x[2 * count] = look(x);
    minimise_limited(x, rounds, iterations, stiffest, tolerance);
    return enclose(x);
}

static void change(double *x)
{
    double kind = random_unit(), reach = pow(10, -2 + 1.3 * random_unit());
    for (int i = 0; i < 2 * count; i++)
        x[i] += kind < 0.1 ? 2 * random_unit() - 1 : kind < 0.5 ? reach * random_normal() : 0;
    for (int moved = kind < 0.5 ? 0 : 1 + random_below(2); moved > 0; moved--) {
        double *point = &x[2 * random_below(count)];
        point[0] = random_unit();
        point[1] = random_unit() * (1 - point[0]);
    }
    enclose(x);
}

int main(int argc, char **argv)
{
    double x[MOST_VARIABLES] = {0}, next[MOST_VARIABLES], best[MOST_VARIABLES] = {0};
    long changes = search_begin(argc, argv);
    count = read_numbers(x, 2 * MOST) / 2;
    prepare();
    if (random_unit() < 0.3) /* now and then from elsewhere */
        for (int i = 0; i < 2 * count; i++)
            x[i] = random_unit();
    double area = 0, best_area = 0;
    while (changes-- > 0) {
        memcpy(next, x, sizeof x);
        change(next);
        double settled = settle(next, 6, 80, 1e4, 1e-7);
        if (settled > best_area) {
            best_area = settled;
            memcpy(best, next, sizeof best);
        }
        if (settled > area - (random_unit() < 0.05 ? 0.002 : 0)) {
            area = settled;
            memcpy(x, next, sizeof x);
        }
    }
    settle(best, 15, 300, 1e5, 1e-13);
    print_rows(best, count, 2);
}
