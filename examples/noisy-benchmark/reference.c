/* reference: routine.c as it is at first, which the benchmark times beside the candidate. In its sections nothing differs. */
#include "routine.h"

/* [checksum 1] bit by bit */
static uint32_t checksum(const uint32_t *v, int n)
{
    uint32_t crc = 0xffffffff;
    for (int i = 0; i < n; i += 4) {
        crc ^= v[i];
        for (int bit = 0; bit < 32; bit++)
            crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    return ~crc;
}

/* [ones 1] looks at each of the 32 bits */
static uint32_t ones(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i++) {
        uint32_t left = v[i];
        for (int bit = 0; bit < 32; bit++) {
            total += left & 1;
            left >>= 1;
        }
    }
    return total;
}

/* [digits 1] writes each number down and adds the digits that it wrote */
static uint32_t digits(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 2) {
        char text[12];
        int length = 0;
        for (uint32_t left = v[i]; left > 0; left /= 10) {
            for (int k = length; k > 0; k--)
                text[k] = text[k - 1];
            text[0] = (char)(left % 10);
            length++;
        }
        for (int k = 0; k < length; k++)
            total += (uint32_t)text[k];
    }
    return total;
}

/* [polynomial 1] makes each power from the start */
static uint32_t polynomial(const uint32_t *v, int n)
{
    static const uint32_t factor[6] = {3, 1, 4, 1, 5, 9};
    uint32_t total = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 6; k++) {
            uint32_t power = 1;
            for (int time = 0; time < k; time++)
                power *= v[i];
            total += factor[k] * power;
        }
    }
    return total;
}

/* [window 1] adds up each window of 12 readings */
static uint32_t window(const uint32_t *v, int n)
{
    uint32_t most = 0;
    for (int i = 0; i + 12 <= n; i++) {
        uint32_t sum = 0;
        for (int k = 0; k < 12; k++)
            sum += v[i + k] >> 8;
        if (sum > most)
            most = sum;
    }
    return most;
}

/* [divisors 1] greatest common divisors by subtraction */
static uint32_t divisors(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i + 1 < n; i += 4) {
        uint32_t a = (v[i] & 255) + 1;
        uint32_t b = (v[i + 1] & 255) + 1;
        while (a != b) {
            if (a > b)
                a -= b;
            else
                b -= a;
        }
        total += a;
    }
    return total;
}

/* [classes 1] goes through the readings once for each of 16 classes */
static uint32_t classes(const uint32_t *v, int n)
{
    uint32_t result = 0;
    for (uint32_t group = 0; group < 16; group++) {
        uint32_t size = 0;
        for (int i = 0; i < n; i++)
            size += (v[i] >> 7 & 15) == group;
        result = result * 31 + size;
    }
    return result;
}

/* [middle 1] sorts blocks of 16 whole, always comparing all neighbours, for the one in the middle */
static uint32_t middle(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int start = 0; start + 16 <= n; start += 64) {
        uint32_t block[16];
        for (int k = 0; k < 16; k++)
            block[k] = v[start + k];
        for (int round = 0; round < 15; round++) {
            for (int k = 0; k < 15; k++) {
                if (block[k] > block[k + 1]) {
                    uint32_t held = block[k];
                    block[k] = block[k + 1];
                    block[k + 1] = held;
                }
            }
        }
        total += block[8];
    }
    return total;
}

/* [below 1] looks for a reading's place among 128 limits from the first on */
static uint32_t below(const uint32_t *v, int n)
{
    uint32_t limit[128];
    uint32_t total = 0;
    for (int k = 0; k < 128; k++)
        limit[k] = (uint32_t)(k * k) << 8;
    for (int i = 0; i < n; i += 8) {
        int place = 0;
        while (place < 128 && limit[place] <= (v[i] & 0x3fffff))
            place++;
        total += (uint32_t)place;
    }
    return total;
}

/* [roots 1] square roots by taking off one odd number after another */
static uint32_t roots(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 4) {
        uint32_t left = v[i] & 16383;
        for (uint32_t odd = 1; left >= odd; odd += 2) {
            left -= odd;
            total++;
        }
    }
    return total;
}

/* [mixed 1] four bits after four bits, each step waiting for the one before */
static uint32_t mixed(const uint32_t *v, int n)
{
    uint32_t hash = 17;
    for (int i = 0; i < n; i++) {
        for (int shift = 0; shift < 32; shift += 4)
            hash = hash * 31 + (v[i] >> shift & 15);
    }
    return hash;
}

/* [mirrored 1] turns each reading's bits round one by one */
static uint32_t mirrored(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 3) {
        uint32_t left = v[i];
        uint32_t turned = 0;
        for (int bit = 0; bit < 32; bit++) {
            turned = turned << 1 | (left & 1);
            left >>= 1;
        }
        total ^= turned + (uint32_t)i;
    }
    return total;
}

/* [primes 1] divides by every smaller number */
static uint32_t primes(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 4) {
        uint32_t number = v[i] & 255;
        uint32_t factor = 2;
        while (factor < number && number % factor != 0)
            factor++;
        total += factor == number;
    }
    return total;
}

/* [spread 1] works out the mean of its block of 8 for every reading */
static uint32_t spread(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int start = 0; start + 8 <= n; start += 8) {
        for (int k = 0; k < 8; k++) {
            uint32_t sum = 0;
            for (int other = 0; other < 8; other++)
                sum += v[start + other] >> 3;
            uint32_t reading = v[start + k];
            total += (reading > sum ? reading - sum : sum - reading) >> 4;
        }
    }
    return total;
}

/* [inspect] all of them, one after another */
void inspect(const uint32_t *readings, int count, struct findings *found)
{
    found->checksum = checksum(readings, count);
    found->ones = ones(readings, count);
    found->digits = digits(readings, count);
    found->polynomial = polynomial(readings, count);
    found->window = window(readings, count);
    found->divisors = divisors(readings, count);
    found->classes = classes(readings, count);
    found->middle = middle(readings, count);
    found->below = below(readings, count);
    found->roots = roots(readings, count);
    found->mixed = mixed(readings, count);
    found->mirrored = mirrored(readings, count);
    found->primes = primes(readings, count);
    found->spread = spread(readings, count);
}
