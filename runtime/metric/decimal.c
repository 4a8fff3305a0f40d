/* SPDX-License-Identifier: MIT */
/* decimal: converts decimal digits to the nearest double, correctly rounded, in constant memory. Two ways: digit by
 * digit as they come, or ap_decimal_read for a whole number. strtod needs the locale C, which the host keeps. Leaf.
 * Called by metric and metricline, which know the grammar. */
#include "metric/decimal.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
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

double ap_decimal_value(struct ap_decimal *decimal)
{
    int64_t exponent = decimal->shift + (decimal->exponent_negative ? -decimal->exponent : decimal->exponent);
    if (decimal->more) { /* a digit other than 0 comes later: any digit here rounds the same */
        decimal->digits[decimal->count++] = '1';
        exponent--;
    }
    long long bounded = exponent > 99999 ? 99999 : exponent < -99999 ? -99999 : exponent;
    snprintf(decimal->digits + decimal->count, 32, "e%lld", bounded);
    double value = strtod(decimal->digits, NULL); /* 0 has no digits here: strtod reads "e0" as 0 */
    return decimal->negative ? -value : value;
}

/* Beyond 19 digits the mantissa is wrong, and the caller does not use it. */
static const char *read_digits(uint64_t *mantissa, const char *p, const char *end)
{
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
    for (; p < end && is_digit(*p); p++)
        power = power < 10000 ? power * 10 + (*p - '0') : power;
    *exponent += negative ? -power : power;
    return p == digits ? NULL : p;
}

/* Powers of ten that a double has exactly: of an exact mantissa and one of them there is one rounding. */
static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

const char *ap_decimal_read(double *value, const char *p, const char *end)
{
    const char *start = p;
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
    p = count > 0 ? read_exponent(&exponent, p, end) : NULL;
    if (p == NULL || p == end) /* no number, or no byte after it, at which strtod would stop */
        return NULL;
    if (FLT_EVAL_METHOD == 0 && count <= 19 && mantissa <= 1ull << 53 && exponent >= -22 && exponent <= 22) {
        *value = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
        *value = negative ? -*value : *value;
        return p;
    }
    char *stop;
    *value = strtod(start, &stop);
    return stop == p && isfinite(*value) ? p : NULL;
}
