/* SPDX-License-Identifier: MIT */
/* decimal: converts decimal digits to the nearest double, correctly rounded, in constant memory, independent of the
 * locale. Two ways: digit by digit for numbers of any length, or ap_decimal_read for common ones at once. Leaf. Called
 * by metric and metricline, which know the grammar. */
#include "metric/decimal.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#ifdef __SIZEOF_INT128__
static const uint64_t tens[20] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};

/* The double nearest to mantissa * 10^exponent, by integers only; mantissa > 0, |exponent| <= 19. */
static double nearest_double(uint64_t mantissa, int64_t exponent)
{
    unsigned __int128 wide;
    uint64_t high, rest = 0;
    int scale = 0;
    if (exponent >= 0) {
        wide = (unsigned __int128)mantissa * tens[exponent];
        if (wide >> 64 != 0) {
            scale = 64 - __builtin_clzll((uint64_t)(wide >> 64));
            rest = (wide & (((unsigned __int128)1 << scale) - 1)) != 0;
        }
        high = (uint64_t)(wide >> scale);
    } else {
        int up = __builtin_clzll(mantissa), down = __builtin_clzll(tens[-exponent]);
        uint64_t divisor = tens[-exponent] << down; /* both with their top bit set: a quotient of 63 or 64 bits */
        wide = (unsigned __int128)(mantissa << up) << 63;
        high = (uint64_t)(wide / divisor);
        rest = (uint64_t)wide - high * divisor;
        scale = down - up - 63;
    }
    int spare = 11 - __builtin_clzll(high);
    if (spare > 0) {
        uint64_t half = 1ull << (spare - 1), low = high & (2 * half - 1);
        high = (high >> spare) + (low > half || (low == half && (rest != 0 || (high >> spare & 1))));
        scale += spare;
    }
    return ldexp((double)high, scale);
}
#endif

/* 0 and the correctly rounded value, or -1 if this method cannot tell. */
static int quick_double(double *value, uint64_t mantissa, int64_t exponent)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
        1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (mantissa == 0)
        *value = 0;
    else if (FLT_EVAL_METHOD == 0 && mantissa <= 1ull << 53 && exponent >= -22 && exponent <= 22)
        *value = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
#ifdef __SIZEOF_INT128__
    else if (exponent >= -19 && exponent <= 19)
        *value = nearest_double(mantissa, exponent);
#endif
    else
        return -1;
    return 0;
}

void ap_decimal_begin(struct ap_decimal *decimal)
{
    decimal->negative = decimal->more = decimal->exponent_negative = false;
    decimal->count = 0;
    decimal->shift = decimal->exponent = 0;
}

void ap_decimal_digit(struct ap_decimal *decimal, char c, bool fraction)
{
    if (decimal->count < AP_DECIMAL_DIGITS) {
        if (decimal->count > 0 || c != '0')
            decimal->digits[decimal->count++] = c;
        decimal->shift -= fraction;
    } else {
        decimal->more |= c != '0';
        decimal->shift += !fraction;
    }
}

void ap_decimal_exponent(struct ap_decimal *decimal, char c)
{
    if (decimal->exponent < INT64_MAX / 100) /* beyond what any stream of digits can bring back */
        decimal->exponent = decimal->exponent * 10 + (c - '0');
}

/* strtod sees digits and an exponent, no point: independent of the locale. */
double ap_decimal_value(struct ap_decimal *decimal)
{
    int64_t exponent = decimal->shift + (decimal->exponent_negative ? -decimal->exponent : decimal->exponent);
    uint64_t mantissa = 0;
    double value;
    if (decimal->count <= 19)
        for (int i = 0; i < decimal->count; i++)
            mantissa = mantissa * 10 + (uint64_t)(decimal->digits[i] - '0');
    if (decimal->count > 19 || quick_double(&value, mantissa, exponent) != 0) {
        if (decimal->more) { /* at this position any digit breaks a tie */
            decimal->digits[decimal->count++] = '1';
            exponent--;
        }
        long long bounded = exponent > 99999 ? 99999 : exponent < -99999 ? -99999 : exponent;
        snprintf(decimal->digits + decimal->count, 32, "e%lld", bounded);
        value = strtod(decimal->digits, NULL);
    }
    return decimal->negative ? -value : value;
}

/* Eight digits at once, if there are eight. */
static bool eight_digits(uint64_t *mantissa, const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word;
    if (end - p < 8)
        return false;
    memcpy(&word, p, sizeof word);
    if ((((word + 0x4646464646464646u) | (word - 0x3030303030303030u)) & 0x8080808080808080u) != 0)
        return false;
    word -= 0x3030303030303030u; /* add neighbours: pairs, then fours, then all */
    word = word * 10 + (word >> 8);
    word = ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
               (word >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
           32;
    *mantissa = *mantissa * 100000000 + word;
    return true;
#else
    (void)mantissa, (void)p, (void)end;
    return false;
#endif
}

static const char *read_digits(uint64_t *mantissa, const char *p, const char *end)
{
    while (eight_digits(mantissa, p, end))
        p += 8;
    for (; p < end && is_digit(*p); p++)
        *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
    return p;
}

/* Adds the exponent of ten at p, if there is one, to *exponent. NULL if it is malformed. */
static const char *read_exponent(int64_t *exponent, const char *p, const char *end)
{
    int64_t power = 0;
    if (p == end || (*p | 32) != 'e')
        return p;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *digits = p;
    while (p < end && is_digit(*p) && p - digits < 4)
        power = power * 10 + (*p++ - '0');
    *exponent += negative ? -power : power;
    return p == digits ? NULL : p;
}

const char *ap_decimal_read(double *value, const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *digits = p;
    p = read_digits(&mantissa, p, end);
    ptrdiff_t count = p - digits;
    if (p < end && *p == '.') {
        digits = p + 1;
        p = read_digits(&mantissa, digits, end);
        exponent = digits - p;
        count += p - digits;
    }
    if (count == 0 || count > 19) /* nothing, or more than mantissa can represent */
        return NULL;
    p = read_exponent(&exponent, p, end);
    if (p == NULL || quick_double(value, mantissa, exponent) != 0)
        return NULL;
    *value = negative ? -*value : *value;
    return p;
}
