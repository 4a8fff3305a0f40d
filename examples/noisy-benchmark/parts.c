/* parts: the sections of routine.c, from the plainest to the quickest. mutate.lua puts the next one of a kind in place of
 * the one that is there. Each says what it does that the one before it does not. Not compiled. */

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

/* [checksum 2] takes four bits at a time from a table of 16 */
static uint32_t checksum(const uint32_t *v, int n)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278,
        0xbdbdf21c};
    uint32_t crc = 0xffffffff;
    for (int i = 0; i < n; i += 4) {
        crc ^= v[i];
        for (int part = 0; part < 8; part++)
            crc = crc >> 4 ^ table[crc & 15];
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

/* [ones 2] adds all bits side by side, without a loop */
static uint32_t ones(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i++) {
        uint32_t left = v[i];
        left = left - (left >> 1 & 0x55555555);
        left = (left & 0x33333333) + (left >> 2 & 0x33333333);
        left = (left + (left >> 4)) & 0x0f0f0f0f;
        total += left * 0x01010101 >> 24;
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

/* [digits 2] adds the digits as they come, with no text between */
static uint32_t digits(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 2) {
        for (uint32_t left = v[i]; left > 0; left /= 10)
            total += left % 10;
    }
    return total;
}

/* [digits 3] divides once for two digits, whose sums it makes beforehand */
static uint32_t digits(const uint32_t *v, int n)
{
    unsigned char both[100];
    uint32_t total = 0;
    for (int k = 0; k < 100; k++)
        both[k] = (unsigned char)(k / 10 + k % 10);
    for (int i = 0; i < n; i += 2) {
        for (uint32_t left = v[i]; left > 0; left /= 100)
            total += both[left % 100];
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

/* [polynomial 2] makes each power from the one before */
static uint32_t polynomial(const uint32_t *v, int n)
{
    static const uint32_t factor[6] = {3, 1, 4, 1, 5, 9};
    uint32_t total = 0;
    for (int i = 0; i < n; i++) {
        uint32_t power = 1;
        for (int k = 0; k < 6; k++) {
            total += factor[k] * power;
            power *= v[i];
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

/* [window 2] slides: adds the reading that comes, takes off the one that goes */
static uint32_t window(const uint32_t *v, int n)
{
    uint32_t most = 0;
    uint32_t sum = 0;
    for (int i = 0; i < n; i++) {
        sum += v[i] >> 8;
        if (i >= 12)
            sum -= v[i - 12] >> 8;
        if (i >= 11 && sum > most)
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

/* [divisors 2] greatest common divisors by remainders */
static uint32_t divisors(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i + 1 < n; i += 4) {
        uint32_t a = (v[i] & 255) + 1;
        uint32_t b = (v[i + 1] & 255) + 1;
        while (b != 0) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
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

/* [classes 2] goes through the readings once, with 16 counters */
static uint32_t classes(const uint32_t *v, int n)
{
    uint32_t result = 0;
    uint32_t size[16] = {0};
    for (int i = 0; i < n; i++)
        size[v[i] >> 7 & 15] += 1;
    for (int k = 0; k < 16; k++)
        result = result * 31 + size[k];
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

/* [middle 2] sorts by insertion */
static uint32_t middle(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int start = 0; start + 16 <= n; start += 64) {
        uint32_t block[16];
        for (int k = 0; k < 16; k++) {
            uint32_t held = v[start + k];
            int at = k;
            for (; at > 0 && block[at - 1] > held; at--)
                block[at] = block[at - 1];
            block[at] = held;
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

/* [below 2] halves the limits that are left */
static uint32_t below(const uint32_t *v, int n)
{
    uint32_t limit[128];
    uint32_t total = 0;
    for (int k = 0; k < 128; k++)
        limit[k] = (uint32_t)(k * k) << 8;
    for (int i = 0; i < n; i += 8) {
        int place = 0;
        for (int half = 64; half > 0; half /= 2)
            place += half * (limit[place + half - 1] <= (v[i] & 0x3fffff));
        total += (uint32_t)(place + (limit[place] <= (v[i] & 0x3fffff)));
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

/* [roots 2] square roots bit by bit */
static uint32_t roots(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 4) {
        uint32_t left = v[i] & 16383;
        uint32_t root = 0;
        for (uint32_t bit = 4096; bit > 0; bit >>= 2) {
            uint32_t next = root + bit;
            root >>= 1;
            if (left >= next) {
                left -= next;
                root += bit;
            }
        }
        total += root;
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

/* [mixed 2] unrolled: four steps in one, so that only one product in four waits for the one before */
static uint32_t mixed(const uint32_t *v, int n)
{
    uint32_t hash = 17;
    for (int i = 0; i < n; i++) {
        for (int shift = 0; shift < 32; shift += 16) {
            uint32_t part = v[i] >> shift;
            uint32_t early = (part & 15) * 29791 + (part >> 4 & 15) * 961;
            uint32_t late = (part >> 8 & 15) * 31 + (part >> 12 & 15);
            hash = hash * 923521 + (early + late);
        }
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

/* [mirrored 2] swaps halves, quarters, bytes and so on: five steps for 32 bits */
static uint32_t mirrored(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int i = 0; i < n; i += 3) {
        uint32_t turned = v[i];
        turned = turned << 16 | turned >> 16;
        turned = (turned & 0x00ff00ff) << 8 | (turned >> 8 & 0x00ff00ff);
        turned = (turned & 0x0f0f0f0f) << 4 | (turned >> 4 & 0x0f0f0f0f);
        turned = (turned & 0x33333333) << 2 | (turned >> 2 & 0x33333333);
        turned = (turned & 0x55555555) << 1 | (turned >> 1 & 0x55555555);
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

/* [primes 2] looks up what a sieve found */
static uint32_t primes(const uint32_t *v, int n)
{
    unsigned char composite[256] = {1, 1};
    uint32_t total = 0;
    for (int factor = 2; factor < 16; factor++) {
        if (composite[factor])
            continue;
        for (int k = factor * factor; k < 256; k += factor)
            composite[k] = 1;
    }
    for (int i = 0; i < n; i += 4)
        total += !composite[v[i] & 255];
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

/* [spread 2] hoists the mean out of the loop: once for a block */
static uint32_t spread(const uint32_t *v, int n)
{
    uint32_t total = 0;
    for (int start = 0; start + 8 <= n; start += 8) {
        uint32_t sum = 0;
        for (int other = 0; other < 8; other++)
            sum += v[start + other] >> 3;
        for (int k = 0; k < 8; k++) {
            uint32_t reading = v[start + k];
            total += (reading > sum ? reading - sum : sum - reading) >> 4;
        }
    }
    return total;
}
