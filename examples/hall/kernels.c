/* kernels: shorter branch-free programs that sort 3 or 4 numbers in registers, of x86's mov, cmp, cmovl and cmovg. Looks
 * for a correct program that is one instruction shorter than the parent, by simulated annealing: the cost is how many
 * registers end wrong over all orders of the numbers.
 *   kernels CHANGES SEED NUMBERS < rows of "instruction to from" > rows */
#include "../circle-packing/search.h"

enum { MOV = 1, CMP, CMOVL, CMOVG, MOST = 64, MOST_ORDERS = 128 };

struct instruction {
    int kind, to, from;
};

static int count, orders, different;
static signed char order[MOST_ORDERS][4], sorted[MOST_ORDERS][4];

/* All ways in which the numbers can be ordered: first those without equal numbers, then the others. */
static void fill_orders(int with_equal)
{
    for (int code = 0; code < 1 << 2 * count; code++) {
        int used = 0, highest = 0, equal = 0, value[4];
        for (int i = 0; i < count; i++) {
            value[i] = code >> 2 * i & 3;
            highest = value[i] > highest ? value[i] : highest;
            equal |= used >> value[i] & 1;
            used |= 1 << value[i];
        }
        if (equal != with_equal || used != (2 << highest) - 1)
            continue;
        for (int i = 0; i < count; i++) {
            int place = 0;
            for (int k = 0; k < count; k++)
                place += value[k] < value[i] || (value[k] == value[i] && k < i);
            order[orders][i] = sorted[orders][place] = (signed char)(value[i] + 1);
        }
        orders++;
    }
}

/* How many registers end wrong, over the orders from `first` on. */
static int cost(const struct instruction *program, int size, int first, int last)
{
    int wrong = 0;
    for (int i = first; i < last; i++) {
        int registers[5] = {0}, flags = 0;
        for (int k = 0; k < count; k++)
            registers[k] = order[i][k];
        for (const struct instruction *p = program; p < program + size; p++) {
            if (p->kind == CMP)
                flags = registers[p->to] - registers[p->from];
            else if (p->kind == MOV || (p->kind == CMOVL && flags < 0) || (p->kind == CMOVG && flags > 0))
                registers[p->to] = registers[p->from];
        }
        for (int k = 0; k < count; k++)
            wrong += registers[k] != sorted[i][k];
    }
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
    int now = cost(program, size, 0, different);
    for (long i = 0; i < changes; i++) {
        double temperature = 1.5 * pow(0.15, (double)i / changes);
        memcpy(next, program, size * sizeof *next);
        change(next, size);
        int then = cost(next, size, 0, different);
        if (then > now && random_unit() >= exp((now - then) / temperature))
            continue;
        now = then;
        memcpy(program, next, size * sizeof *next);
        if (now == 0 && cost(program, size, different, orders) == 0)
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
    if (count < 2 || count > 4)
        return 2;
    fill_orders(0);
    different = orders;
    fill_orders(1);
    int size = read_numbers(numbers, 3 * MOST) / 3;
    for (int i = 0; i < size; i++)
        program[i] = (struct instruction){(int)numbers[3 * i], (int)numbers[3 * i + 1] - 1, (int)numbers[3 * i + 2] - 1};
    if (size > 1 && anneal(shorter, size - 1, changes))
        memcpy(program, shorter, --size * sizeof *program);
    for (int i = 0; i < size; i++)
        printf("%d %d %d\n", program[i].kind, program[i].to + 1, program[i].from + 1);
}
