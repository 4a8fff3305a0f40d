/* SPDX-License-Identifier: MIT */
/* text: how similar two texts are, by sketches of fixed size. Knows no Lua and keeps no state. Called by ltext.c. */
#ifndef AP_TEXT_H
#define AP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { AP_TEXT_DIGITS = 64 }; /* hexadecimal digits of a sketch, one per bucket */

/* The sketch of a text, without a final NUL: the same for the same bytes on every machine. */
void ap_text_sketch(char digits[AP_TEXT_DIGITS], const char *bytes, size_t count);

/* Whether these bytes can be a sketch: AP_TEXT_DIGITS digits of 0-9 and a-f. */
bool ap_text_is_sketch(const char *bytes, size_t count);

/* The estimated Jaccard similarity, 0 to 1, of the texts behind two sketches. */
double ap_text_similarity(const char a[AP_TEXT_DIGITS], const char b[AP_TEXT_DIGITS]);

#endif
