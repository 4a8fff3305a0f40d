/* kernels: shorter branch-free programs that sort 3 or 4 numbers in registers, of x86's mov, cmp, cmovl and cmovg.
 * Looks for a correct program that is one instruction shorter than the parent, by simulated annealing: the cost is how
 * many registers end wrong over all orders of the numbers, and how many instructions read what nobody has set.
 *   kernels CHANGES SEED NUMBERS < rows of "instruction to from" > rows */
#include "../circle-packing/search.h"

enum { MOV = 1, CMP, CMOVL, CMOVG, MOST = 64, NUMBERS = 4, REGISTERS = NUMBERS + 1 };

struct instruction {
    int kind, to, from;
};

/* A set of inputs: all ways in which the numbers can be ordered, equal numbers included; 75 for four of them. */
typedef unsigned __int128 set;

static int count, orders;
/* [i][v]: where register i is v, and where it should be. */
static set input[REGISTERS][NUMBERS], sorted[NUMBERS][NUMBERS];

static void fill_orders(void)
{
    for (int code = 0; code < 1 << 2 * count; code++) {
        int used = 0, highest = 0, value[NUMBERS];
        for (int i = 0; i < count; i++) {
            value[i] = code >> 2 * i & 3;
            highest = value[i] > highest ? value[i] : highest;
            used |= 1 << value[i];
        }
        if (used != (2 << highest) - 1)
            continue;
        for (int i = 0; i < count; i++) {
            int place = 0;
            for (int k = 0; k < count; k++)
                place += value[k] < value[i] || (value[k] == value[i] && k < i);
            input[i][value[i]] |= (set)1 << orders;
            sorted[place][value[i]] |= (set)1 << orders;
        }
        orders++;
    }
}

/* How many instructions read the free register or the flags before they are set. */
static int premature(const struct instruction *program, int size)
{
    int has_free = 0, has_flags = 0, found = 0;
    for (const struct instruction *p = program; p < program + size; p++) {
        int reads_free = p->from == count || (p->to == count && p->kind != MOV);
        found += (reads_free && !has_free) || (p->kind > CMP && !has_flags);
        has_flags |= p->kind == CMP;
        has_free |= p->kind == MOV && p->to == count;
    }
    return found;
}

static int members(set inputs)
{
    return __builtin_popcountll((uint64_t)inputs) + __builtin_popcountll((uint64_t)(inputs >> 64));
}

/* That, and how many registers end wrong. Runs the program on all inputs at once. */
static int cost(const struct instruction *program, int size)
{
    set state[REGISTERS][NUMBERS], less = 0, greater = 0;
    int wrong = premature(program, size);
    memcpy(state, input, sizeof state);
    for (const struct instruction *p = program; p < program + size; p++) {
        set *to = state[p->to], *from = state[p->from], moved = ~(set)0, below = 0;
        if (p->kind == CMP) {
            less = greater = 0;
            for (int v = 0; v < count; v++) {
                greater |= to[v] & below;
                below |= from[v];
                less |= to[v] & ~below;
            }
            continue;
        }
        if (p->kind != MOV)
            moved = p->kind == CMOVL ? less : greater;
        for (int v = 0; v < count; v++)
            to[v] = (to[v] & ~moved) | (from[v] & moved);
    }
    for (int i = 0; i < count; i++)
        for (int v = 0; v < count; v++)
            wrong += members(sorted[i][v] & ~state[i][v]);
    return wrong;
}

static void change(struct instruction *program, int size)
{
    struct instruction *p = &program[random_below(size)], *q = &program[random_below(size)], other = *p;
    int kind = random_below(5);
    if (kind < 2)
        p->kind = 1 + random_below(4);
    if (kind == 0 || kind == 2)
        p->to = random_below(count + 1);
    if (kind == 0 || kind == 3)
        p->from = random_below(count + 1);
    if (kind == 4) {
        *p = *q;
        *q = other;
    }
}

/* Anneals from a random program of that size; whether it ends correct. */
static int anneal(struct instruction *program, int size, long changes)
{
    struct instruction next[MOST];
    for (int i = 0; i < size; i++)
        program[i] = (struct instruction){1 + random_below(4), random_below(count + 1), random_below(count + 1)};
    int now = cost(program, size);
    for (long i = 0; i < changes; i++) {
        double temperature = orders / 30.0 * pow(0.15, (double)i / changes);
        memcpy(next, program, size * sizeof *next);
        change(next, size);
        int then = cost(next, size);
        if (then > now && random_unit() >= exp((now - then) / temperature))
            continue;
        now = then;
        memcpy(program, next, size * sizeof *next);
        if (now == 0)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct instruction program[MOST], shorter[MOST];
    double numbers[3 * MOST];
    long changes = search_begin(argc, argv);
    count = argc > 3 ? atoi(argv[3]) : 0;
    if (count < 2 || count > NUMBERS)
        return 2;
    fill_orders();
    int size = read_numbers(numbers, 3 * MOST) / 3;
    for (int i = 0; i < size; i++)
        program[i] =
            (struct instruction){(int)numbers[3 * i], (int)numbers[3 * i + 1] - 1, (int)numbers[3 * i + 2] - 1};
    if (size > 1 && anneal(shorter, size - 1, changes))
        memcpy(program, shorter, --size * sizeof *program);
    for (int i = 0; i < size; i++)
        printf("%d %d %d\n", program[i].kind, program[i].to + 1, program[i].from + 1);
}
