/* SPDX-License-Identifier: MIT */
/* decimal: [+-]? (digits [. digits*] | . digits) ([eE] [+-]? digits)? as the nearest double. Leaf. */
#ifndef AP_DECIMAL_H
#define AP_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

enum { AP_DECIMAL_DIGITS = 800 }; /* 767, and whether more follow, decide the rounding of any double */

struct ap_decimal {
    bool negative, more, exponent_negative; /* more: a digit other than 0 was left out at the end */
    int count;
    int64_t shift, exponent;             /* value = digits * 10^shift * 10^exponent */
    char digits[AP_DECIMAL_DIGITS + 32]; /* with room for the exponent that strtod reads */
};

void ap_decimal_begin(struct ap_decimal *decimal);
void ap_decimal_digit(struct ap_decimal *decimal, char c, bool fraction);
void ap_decimal_exponent(struct ap_decimal *decimal, char c);

/* Infinite if the number is too large. */
double ap_decimal_value(struct ap_decimal *decimal);

/* The short way: returns where the number at p ends. NULL, and the long way must be taken, if there is no number, no
 * byte after it before `end`, or it is too large. */
const char *ap_decimal_read(double *value, const char *p, const char *end);

#endif
