/* steps: step functions f >= 0 for the second autocorrelation inequality: the largest |f*f|_2^2 / (|f*f|_1 |f*f|_oo).
 * Changes heights at random, then all of them towards a better place: the logarithm of the ratio by L-BFGS, with the
 * maximum made smooth, less and less so. A height is a square, so that it cannot be negative.
 *   steps CHANGES SEED < heights > heights */
enum { MOST = 128, MOST_VARIABLES = MOST, MOST_CONSTRAINTS = 1 };

#include "../circle-packing/search.h"
#include "../circle-packing/minimise.h"

static int count;
static double sharpness;

/* The values of f*f where it bends; between them it is straight, and before the first and after the last it is 0. */
static void convolve(const double *height, double *value)
{
    memset(value, 0, (2 * count + 1) * sizeof *value);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            value[i + k + 1] += height[i] * height[k];
}

/* Minus the logarithm of the ratio, and its slopes in the roots of the heights. */
static double loss(const double *root, double *gradient)
{
    double height[MOST], value[2 * MOST + 1], slope[2 * MOST + 1], square = 0, sum = 0, most = 0, weights = 0;
    for (int i = 0; i < count; i++)
        height[i] = root[i] * root[i];
    convolve(height, value);
    for (int i = 0; i < 2 * count; i++) {
        square += value[i] * value[i] + value[i] * value[i + 1] + value[i + 1] * value[i + 1];
        sum += value[i];
        most = fmax(most, value[i]);
    }
    for (int i = 1; i < 2 * count; i++)
        weights += slope[i] = exp(sharpness * (value[i] / most - 1));
    for (int i = 1; i < 2 * count; i++)
        slope[i] = slope[i] / weights / most + 1 / sum - (4 * value[i] + value[i - 1] + value[i + 1]) / square;
    for (int i = 0; i < count; i++) {
        gradient[i] = 0;
        for (int k = 0; k < count; k++)
            gradient[i] += 4 * root[i] * height[k] * slope[i + k + 1];
    }
    return log(most) + log(weights) / sharpness + log(sum) - log(square);
}

static double ratio(const double *root)
{
    double gradient[MOST];
    sharpness = 1e9;
    return exp(-loss(root, gradient));
}

static void change(double *root)
{
    double kind = random_unit(), largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, root[i]);
    for (int i = 0; i < count; i++)
        if (kind < 0.2)
            root[i] = sqrt(0.3 + random_unit());
        else if (random_unit() < 0.3)
            root[i] = fabs(root[i] + largest * (kind < 0.6 ? 0.3 : 0.05) * random_normal());
}

int main(int argc, char **argv)
{
    double x[MOST] = {0}, next[MOST], best[MOST];
    long changes = search_begin(argc, argv);
    count = read_numbers(x, MOST);
    for (int i = 0; i < count; i++)
        x[i] = sqrt(x[i]);
    memcpy(best, x, sizeof best);
    double reached = ratio(x);
    while (changes-- > 0) {
        memcpy(next, x, sizeof x);
        change(next);
        for (double level = 30; level < 1e5; level *= 3) {
            sharpness = level;
            minimise(loss, next, count, 300, 1e-9);
        }
        double now = ratio(next);
        if (now > reached) {
            reached = now;
            memcpy(best, next, sizeof best);
            memcpy(x, next, sizeof x);
        }
    }
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, best[i]);
    for (int i = 0; i < count; i++)
        best[i] = best[i] * best[i] / largest / largest;
    print_rows(best, count, 1);
}
