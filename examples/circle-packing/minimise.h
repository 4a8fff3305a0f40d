/* minimise: smooth functions of many variables by L-BFGS (Liu and Nocedal, 1989), and linear ones under constraints by
 * augmented Lagrangians (Hestenes and Powell, 1969). Include search.h first; MOST_VARIABLES and MOST_CONSTRAINTS are
 * the program's. */
enum { MEMORY = 8, MOST_SLOPES = 8 };

/* A function's value at x, and its gradient. */
typedef double function(const double *x, double *gradient);

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add(double *a, double factor, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] += factor * b[i];
}

/* The last steps, and how the gradient changed over each. */
static double steps[MEMORY][MOST_VARIABLES], changes[MEMORY][MOST_VARIABLES];
static int newest, remembered;

/* The direction in which to go: the gradient, corrected by the curvature that the last steps met. */
static void correct(double *direction, int n)
{
    double share[MEMORY];
    if (remembered == 0)
        add(direction, 1e-3 - 1, direction, n);
    for (int age = 0; age < remembered; age++) {
        int k = (newest - age + MEMORY) % MEMORY;
        share[k] = dot(steps[k], direction, n) / dot(steps[k], changes[k], n);
        add(direction, -share[k], changes[k], n);
    }
    for (int age = remembered - 1; age >= 0; age--) {
        int k = (newest - age + MEMORY) % MEMORY;
        double curvature = dot(steps[k], changes[k], n);
        if (age == remembered - 1) {
            double scale = dot(steps[newest], changes[newest], n) / dot(changes[newest], changes[newest], n);
            add(direction, scale - 1, direction, n);
        }
        add(direction, share[k] - dot(changes[k], direction, n) / curvature, steps[k], n);
    }
}

/* Goes downhill from x for at most `iterations` steps, or until no slope is above `flat`. */
static void minimise(function *f, double *x, int n, int iterations, double flat)
{
    static double gradient[MOST_VARIABLES], direction[MOST_VARIABLES], next[MOST_VARIABLES], slopes[MOST_VARIABLES];
    double value = f(x, gradient);
    remembered = 0;
    while (iterations-- > 0) {
        double steepest = 0, moved, descent, step = 1;
        for (int i = 0; i < n; i++)
            steepest = fmax(steepest, fabs(gradient[i]));
        if (steepest < flat)
            return;
        memcpy(direction, gradient, sizeof direction);
        correct(direction, n);
        descent = dot(direction, gradient, n);
        for (;; step /= 2) { /* until it goes down far enough */
            memcpy(next, x, sizeof next);
            add(next, -step, direction, n);
            moved = f(next, slopes);
            if (descent > 0 && moved <= value - 1e-4 * step * descent)
                break;
            if (descent <= 0 || step < 1e-7) {
                if (remembered == 0)
                    return;
                remembered = 0; /* once more, straight down */
                memcpy(direction, gradient, sizeof direction);
                correct(direction, n);
                descent = dot(direction, gradient, n);
                step = 2;
            }
        }
        int k = remembered ? (newest + 1) % MEMORY : 0;
        for (int i = 0; i < n; i++) {
            steps[k][i] = next[i] - x[i];
            changes[k][i] = slopes[i] - gradient[i];
        }
        if (dot(steps[k], changes[k], n) > 1e-18) {
            newest = k;
            remembered += remembered < MEMORY;
        }
        memcpy(x, next, sizeof next);
        memcpy(gradient, slopes, sizeof gradient);
        value = moved;
    }
}

/* ---- under constraints ---- */

/* The slope of a constraint in one of the variables. */
struct slope {
    int of;
    double by;
};

/* The value of constraint i at x, which must not be above 0; fills in its slopes, at most MOST_SLOPES and one of -1,
 * unless slopes is NULL. */
typedef double constraint(int i, const double *x, struct slope *slopes);

static struct {
    const double *cost; /* the sum of cost[i] * x[i] is minimised */
    constraint *limit;
    int variables, constraints;
    double price[MOST_CONSTRAINTS], stiffness;
} task;

/* The cost, and a penalty for each constraint that is broken or has a price. */
static double penalised(const double *x, double *gradient)
{
    double sum = dot(task.cost, x, task.variables);
    memcpy(gradient, task.cost, task.variables * sizeof *gradient);
    for (int i = 0; i < task.constraints; i++) {
        struct slope slopes[MOST_SLOPES + 1];
        double price = task.price[i], force = price + task.stiffness * task.limit(i, x, NULL);
        if (force > 0) {
            task.limit(i, x, slopes);
            sum += (force * force - price * price) / (2 * task.stiffness);
            for (struct slope *slope = slopes; slope->of >= 0; slope++)
                gradient[slope->of] += force * slope->by;
        } else {
            sum -= price * price / (2 * task.stiffness);
        }
    }
    return sum;
}

/* By how much x breaks the worst constraint. */
static double violation(const double *x)
{
    double worst = 0;
    for (int i = 0; i < task.constraints; i++)
        worst = fmax(worst, task.limit(i, x, NULL));
    return worst;
}

/* Minimises the cost from x in at most `rounds` of `iterations`, until no constraint is broken by more than
 * `tolerance`. After each round a constraint costs more the more it is broken, and nothing if it is slack. */
static inline void minimise_limited(double *x, int rounds, int iterations, double stiffest, double tolerance)
{
    memset(task.price, 0, sizeof task.price);
    task.stiffness = 10;
    for (int round = 0; round < rounds; round++) {
        minimise(penalised, x, task.variables, iterations, fmin(1e-5, tolerance));
        if (violation(x) < tolerance)
            return;
        for (int i = 0; i < task.constraints; i++)
            task.price[i] = fmax(0, task.price[i] + task.stiffness * task.limit(i, x, NULL));
        task.stiffness = fmin(stiffest, 5 * task.stiffness);
    }
}
