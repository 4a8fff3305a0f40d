/* SPDX-License-Identifier: MIT */
/* metricline: reads one line byte by byte, however it is cut, in constant memory: a small state machine that knows the
 * grammar of METRIC lines and what makes a line a near miss. Keeps nothing from one line to the next. Called by
 * metric.c. */
#define _GNU_SOURCE
#include "metric/metricline.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum state {
    /* a METRIC may still come: before one, or in a segment (the text between carriage returns) that has none */
    PREFIX,
    BOM_1,
    BOM_2,
    ESCAPE,
    ESCAPE_MIDDLE,
    CSI,
    ESCAPE_STRING,
    WORD,
    DULL,
    /* after a METRIC at the line's start */
    WORD_END,
    BLANKS,
    NAME,
    NAME_MU,
    NAME_BLANK,
    VALUE,
    VALUE_BLANK,
    SIGN,
    WHOLE,
    POINT,
    FRACTION,
    E,
    E_SIGN,
    EXPONENT,
    NUMBER_BLANK,
    NUMBER_CR,
    /* a near miss; these still collect the text in place of the number; NOT_AT_ONCE: there was a blank before or
     * after =, or a carriage return */
    NO_NUMBER,
    NOT_AT_ONCE,
    MISS,
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c) /* except U+00B5, which is two bytes */
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '.';
}

static enum state miss(struct ap_metricline *line, const char *reason)
{
    memcpy(line->reason, reason, strlen(reason) + 1); /* all fit */
    return MISS;
}

/* Same, but a NUL is reported before anything else: it is invisible when the text is printed. */
static enum state miss_at(struct ap_metricline *line, char c, const char *reason)
{
    return miss(line, c == '\0' ? "NUL in line" : reason);
}

static enum state not_at_once(struct ap_metricline *line, char c, const char *reason)
{
    return miss_at(line, c, reason), c == '\0' ? MISS : NOT_AT_ONCE;
}

static enum state step_escape(const struct ap_metricline *line, char c)
{
    unsigned char byte = (unsigned char)c;
    if (c == '\033')
        return ESCAPE;
    switch (line->state) {
    case CSI:
        return byte >= 0x40 && byte <= 0x7e ? PREFIX : byte >= 0x20 && byte <= 0x3f ? CSI : DULL;
    case ESCAPE_STRING: /* ended by BEL or by ESC \, which is an escape sequence itself */
        return c == '\a' ? PREFIX : ESCAPE_STRING;
    case ESCAPE:
        if (c == '[')
            return CSI;
        if (c != '\0' && strchr("]PX^_", c) != NULL)
            return ESCAPE_STRING;
        /* fall through */
    default:
        return byte >= 0x30 && byte <= 0x7e ? PREFIX : byte >= 0x20 && byte <= 0x2f ? ESCAPE_MIDDLE : DULL;
    }
}

static enum state step_word(struct ap_metricline *line, char c)
{
    if ((c | 32) != "metric"[line->letters])
        return DULL;
    line->small |= (c & 32) != 0;
    if (++line->letters < 6)
        return WORD;
    if (line->before != NULL) {
        snprintf(line->reason, sizeof line->reason, "must start the line (before it: %s)", line->before);
        return MISS;
    }
    return line->small ? miss(line, "METRIC must be in capitals") : WORD_END;
}

/* Looks for the word in one segment of the line. */
static enum state step_segment(struct ap_metricline *line, char c)
{
    const char *before = NULL;
    enum state state = DULL;
    if (c == '\r') {
        line->before = "a carriage return";
        if (line->text_size > AP_METRICLINE_TEXT / 2) /* otherwise the stored text may lack what matters */
            line->text_size = 0;
        return PREFIX;
    }
    switch (line->state) {
    case PREFIX:
        line->letters = 0;
        line->small = false;
        if (is_blank(c))
            before = "a blank", state = PREFIX;
        else if (c == '\xef')
            before = "a byte order mark", state = BOM_1;
        else if (c == '\033')
            before = "an escape sequence", state = ESCAPE;
        else
            state = step_word(line, c);
        if (line->before == NULL)
            line->before = before;
        return state;
    case BOM_1:
        return c == '\xbb' ? BOM_2 : DULL;
    case BOM_2:
        return c == '\xbf' ? PREFIX : DULL;
    case WORD:
        return step_word(line, c);
    case DULL:
        return DULL;
    default:
        return step_escape(line, c);
    }
}

static enum state step_name(struct ap_metricline *line, char c, bool *failed)
{
    char reason[40];
    bool mu = line->state == NAME_MU && c == '\xb5';
    if (line->state == NAME_MU && !mu)
        return miss_at(line, c, "name has byte 0xC2");
    if (is_name(c) || c == '\xc2' || mu) {
        if (line->name.used == AP_METRICLINE_NAME)
            return miss(line, "name too long");
        *failed |= ap_buf_add(&line->name, &c, 1) != 0;
        return c == '\xc2' ? NAME_MU : NAME;
    }
    if (c == '=')
        return line->name.used > 0 ? VALUE : miss(line, "no name before =");
    if (is_blank(c))
        return NAME_BLANK;
    if (c == '\r')
        return miss(line, line->name.used > 0 ? "no = after the name" : "no name");
    bool shown = c > ' ' && c < 127;
    snprintf(reason, sizeof reason, shown ? "name has '%c'" : "name has byte 0x%02X", shown ? c : (unsigned char)c);
    return miss_at(line, c, reason);
}

static void add_token(struct ap_metricline *line, char c)
{
    if (line->token_size < AP_METRICLINE_TOKEN)
        line->token[line->token_size++] = c;
    else
        line->token_cut |= !is_blank(c) && c != '\r';
}

/* From the end of the word to the beginning of the number. */
static enum state step_head(struct ap_metricline *line, char c, bool *failed)
{
    switch (line->state) {
    case WORD_END:
        return is_blank(c) ? BLANKS : miss_at(line, c, c == '\r' ? "no name" : "no blank after METRIC");
    case BLANKS:
        return is_blank(c) ? BLANKS : step_name(line, c, failed);
    case NAME_BLANK:
        if (is_blank(c))
            return NAME_BLANK;
        return c == '=' ? not_at_once(line, c, "blank before =") : miss_at(line, c, "no = after the name");
    case VALUE_BLANK:
        if (is_blank(c))
            return VALUE_BLANK;
        add_token(line, c);
        return not_at_once(line, c, c == '\r' ? "no number after =" : "blank after =");
    default:
        return step_name(line, c, failed);
    }
}

static enum state step_number(struct ap_metricline *line, char c)
{
    enum state state = (enum state)line->state;
    struct ap_decimal *number = &line->number;
    bool whole = state == WHOLE, fraction = state == FRACTION, exponent = state == EXPONENT;
    if (state == VALUE && is_blank(c))
        return VALUE_BLANK;
    if (state == VALUE && c == '\r')
        return not_at_once(line, c, "no number after =");
    add_token(line, c);
    if (is_digit(c)) {
        if (state == E || state == E_SIGN || exponent)
            return ap_decimal_exponent(number, c), EXPONENT;
        ap_decimal_digit(number, c, state == POINT || fraction);
        return state == POINT || fraction ? FRACTION : WHOLE;
    }
    if ((c == '+' || c == '-') && state == VALUE)
        return number->negative = c == '-', SIGN;
    if ((c == '+' || c == '-') && state == E)
        return number->exponent_negative = c == '-', E_SIGN;
    if (c == '.' && (state == VALUE || state == SIGN || whole))
        return whole ? FRACTION : POINT;
    if ((c | 32) == 'e' && (whole || fraction))
        return E;
    if (whole || fraction || exponent) {
        if (is_blank(c))
            return NUMBER_BLANK;
        if (c == '\r')
            return NUMBER_CR;
    }
    return c == '\0' ? miss(line, "NUL in line") : NO_NUMBER;
}

static enum state step_tail(struct ap_metricline *line, char c)
{
    switch (line->state) {
    case NUMBER_BLANK:
        if (is_blank(c))
            return NUMBER_BLANK;
        return c == '\r' ? NUMBER_CR : miss_at(line, c, "text after the number");
    case NUMBER_CR:
        return miss_at(line, c, "carriage return in line");
    case NO_NUMBER:
        add_token(line, c);
        return c == '\0' ? miss(line, "NUL in line") : NO_NUMBER;
    case NOT_AT_ONCE:
        if (line->token_size > 0 || (!is_blank(c) && c != '\r'))
            add_token(line, c);
        return c == '\0' ? MISS : NOT_AT_ONCE;
    default:
        return MISS;
    }
}

static enum state step(struct ap_metricline *line, char c, bool *failed)
{
    if (line->state <= DULL)
        return step_segment(line, c);
    if (line->state < VALUE || line->state == VALUE_BLANK)
        return step_head(line, c, failed);
    return line->state <= EXPONENT ? step_number(line, c) : step_tail(line, c);
}

static void add_text(struct ap_metricline *line, const char *bytes, size_t count)
{
    size_t room = sizeof line->text - line->text_size;
    if (count > room)
        count = room;
    memcpy(line->text + line->text_size, bytes, count);
    line->text_size += count;
}

void ap_metricline_begin(struct ap_metricline *line)
{
    line->state = PREFIX;
    line->before = NULL;
    line->text_size = line->token_size = line->name.used = 0;
    line->token_cut = false;
    ap_decimal_begin(&line->number);
}

int ap_metricline_feed(struct ap_metricline *line, const char *bytes, size_t count)
{
    const char *p = bytes, *end = bytes + count;
    bool failed = false;
    while (p < end) {
        if (line->state == DULL || line->state == MISS) { /* long lines spend their time here */
            const char *stop = line->state == DULL ? memchr(p, '\r', (size_t)(end - p)) : NULL;
            stop = stop != NULL ? stop : end;
            add_text(line, p, (size_t)(stop - p));
            p = stop;
            if (p == end)
                break;
        }
        char c = *p++;
        add_text(line, &c, 1);
        line->state = (int)step(line, c, &failed);
    }
    return failed ? -1 : 0;
}

/* The reason, with the text in place of the number, made printable. */
static void miss_token(struct ap_metricline *line, const char *what)
{
    char *token = line->token;
    size_t size = line->token_size;
    while (!line->token_cut && size > 0 && (is_blank(token[size - 1]) || token[size - 1] == '\r'))
        size--;
    while (line->token_cut && size > 0 && (token[size - 1] & 0xc0) == 0x80)
        size--;
    if (line->token_cut && size > 0 && (token[size - 1] & 0x80) != 0)
        size--; /* a multi-byte character may have been cut */
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)token[i] < ' ' || token[i] == 127)
            token[i] = '?';
    token[size] = '\0';
    snprintf(line->reason, sizeof line->reason, "%s: %s%s", what, token, line->token_cut ? "..." : "");
}

static enum ap_metricline_is not_finite(struct ap_metricline *line)
{
    miss_token(line, "not finite");
    return AP_METRICLINE_NOT_FINITE;
}

/* How programs write that there is no finite number; what begins with 1.# is of older C libraries for Windows. */
static const char *const no_numbers[] = {
    "nan", "inf", "infinity", "none", "null", "nil", "na", "n/a", "undefined", "\u221e", "1.#"};

/* Whether nothing is in place of the number, or such a word, whatever follows it but a letter or digit: "-nan(ind)" and
 * "nan ms", too. */
static bool is_no_number(struct ap_metricline *line)
{
    const char *word = line->token + (line->token[0] == '+' || line->token[0] == '-');
    line->token[line->token_size] = '\0';
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        size_t size = strlen(no_numbers[i]);
        if (strncasecmp(word, no_numbers[i], size) == 0 &&
            (no_numbers[i][size - 1] == '#' || !(isalnum((unsigned char)word[size]) || word[size] == '_')))
            return true;
    }
    return line->token_size == 0;
}

enum ap_metricline_is ap_metricline_end(struct ap_metricline *line, double *value)
{
    switch (line->state) {
    case WORD_END:
    case BLANKS:
        miss(line, "no name");
        return AP_METRICLINE_MISS;
    case NAME_MU:
        miss(line, "name has byte 0xC2");
        return AP_METRICLINE_MISS;
    case NAME:
    case NAME_BLANK:
        miss(line, "no = after the name");
        return AP_METRICLINE_MISS;
    case VALUE:
    case VALUE_BLANK:
        miss(line, "no number after =");
        return AP_METRICLINE_NOT_FINITE;
    case WHOLE:
    case FRACTION:
    case EXPONENT:
    case NUMBER_BLANK:
    case NUMBER_CR:
        *value = ap_decimal_value(&line->number);
        return isfinite(*value) ? AP_METRICLINE_VALUE : not_finite(line);
    case SIGN:
    case POINT:
    case E:
    case E_SIGN:
    case NO_NUMBER:
        if (is_no_number(line))
            return not_finite(line);
        miss_token(line, "not a number");
        return AP_METRICLINE_MISS;
    case NOT_AT_ONCE:
        return is_no_number(line) ? AP_METRICLINE_NOT_FINITE : AP_METRICLINE_MISS;
    case MISS:
        return AP_METRICLINE_MISS;
    default:
        return AP_METRICLINE_DULL;
    }
}

void ap_metricline_dispose(struct ap_metricline *line)
{
    ap_buf_dispose(&line->name);
}
