/* SPDX-License-Identifier: MIT */
/* test_metric: what is a METRIC line, why others are not, what is stored, and that cutting the bytes anywhere changes
 * nothing. */
#define _GNU_SOURCE
#include "metric/metric.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metric/decimal.h"
#include "tap.h"

static char *dump(struct ap_metric *metric)
{
    struct ap_metric_report report;
    struct ap_err err;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || ap_metric_finish(&report, metric, &err) != 0)
        abort();
    for (size_t i = 0; i < report.sample_count; i++) {
        const struct ap_metric_name *name = &report.names[report.samples[i].name];
        fprintf(out, "%.*s=%.17g ", (int)name->size, report.name_bytes + name->at, report.samples[i].value);
    }
    fputc('|', out);
    for (size_t i = 0; i < report.name_count; i++)
        fprintf(out, "%.17g ", report.names[i].last);
    fputc('|', out);
    for (size_t i = 0; i < report.miss_count; i++) {
        const struct ap_metric_miss *miss = &report.misses[i];
        fprintf(out, "%llu:%s:%.*s;", (unsigned long long)miss->line, miss->reason, (int)miss->size, miss->text);
    }
    fprintf(out, "|%llu %llu %llu %llu", (unsigned long long)report.near_misses,
        (unsigned long long)report.dropped_names, (unsigned long long)report.dropped_samples,
        (unsigned long long)report.lines);
    fclose(out);
    return text;
}

/* Feeds each piece from an allocation of its size, so that a sanitizer notices a read beyond it. */
static void feed(struct ap_metric *metric, const char *bytes, size_t count)
{
    char *copy = malloc(count > 0 ? count : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, bytes, count);
    ap_metric_feed(metric, copy, count);
    free(copy);
}

static struct ap_metric *open_metric(void)
{
    struct ap_metric *metric;
    if (ap_metric_open(&metric, NULL) != 0)
        abort();
    return metric;
}

static char *scan(const char *bytes, size_t count)
{
    struct ap_metric *metric = open_metric();
    feed(metric, bytes, count);
    char *text = dump(metric);
    ap_metric_close(metric);
    return text;
}

/* The reason of line 1, or its value in %.17g, or "" if the line is neither. */
static void fed_line_is(const char *line, size_t count, const char *expected, bool whole)
{
    struct ap_metric *metric = open_metric();
    struct ap_metric_report report;
    char got[200] = "";
    char block[1000];
    memcpy(block, line, count);
    block[count] = '\n';
    feed(metric, block, whole ? count + 1 : count);
    if (!whole)
        feed(metric, "\n", 1);
    if (ap_metric_finish(&report, metric, NULL) != 0)
        abort();
    if (report.sample_count > 0)
        snprintf(got, sizeof got, "%.17g", report.samples[0].value);
    if (report.near_misses > 0)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s", report.misses[0].reason);
    char shown[100] = ""; /* control sequences of a terminal are not printed */
    for (size_t i = 0; i < count && i + 1 < sizeof shown; i++)
        shown[i] = line[i] >= ' ' && line[i] < 127 ? line[i] : '?';
    ok(strcmp(got, expected) == 0, "%s%s: is %s%s%s", shown, whole ? "" : ", in two parts", expected,
        strcmp(got, expected) != 0 ? ", not " : "", strcmp(got, expected) != 0 ? got : "");
    ap_metric_close(metric);
}

static void line_is(const char *line, size_t count, const char *expected)
{
    fed_line_is(line, count, expected, false);
    fed_line_is(line, count, expected, true);
}

#define IS(line, expected) line_is("" line "", sizeof(line) - 1, expected)

static void reasons_are_precise(void)
{
    IS("METRIC", "no name");
    IS("METRIC \r", "no name");
    IS("METRIC =1", "no name before =");
    IS("METRIC a", "no = after the name");
    IS("METRIC a 1", "no = after the name");
    IS("METRIC a\r", "no = after the name");
    IS("METRIC a =1", "blank before =");
    IS("METRIC a= 1", "blank after =");
    IS("METRIC a= \r", "no number after =");
    IS("METRIC a=", "no number after =");
    IS("METRIC a=12ms", "not a number: 12ms");
    IS("METRIC a=12ms  \r", "not a number: 12ms");
    IS("METRIC a=1\0", "NUL in line");
    IS("METRIC a\0=1", "NUL in line");
    IS("METRIC a=1x\0", "NUL in line");
    IS("METRIC a-b=1", "name has '-'");
    IS("METRIC a\xc3\xa9=1", "name has byte 0xC3");
    IS("METRIC a\xc2\xb6=1", "name has byte 0xC2");
    IS("METRIC a\xc2", "name has byte 0xC2");
    IS("METRIC a=1e400", "not finite: 1e400");
    IS("METRIC a=-Infinity", "not finite: -Infinity");
    IS("METRIC a=nan", "not finite: nan");
    IS("METRIC a=0x10", "not a number: 0x10");
    IS("METRIC a=1e", "not a number: 1e");
    IS("METRIC a=.", "not a number: .");
    IS("METRIC a=+", "not a number: +");
    IS("METRIC a=1 b=2", "text after the number");
    IS("METRIC a=1\rx", "carriage return in line");
    IS("METRIC a=1\r\r", "carriage return in line");
    IS("METRIC: a=1", "no blank after METRIC");
    IS("Metric a=1", "METRIC must be in capitals");
    IS(" METRIC a=1", "must start the line (before it: a blank)");
    IS("\xef\xbb\xbf METRIC a=1", "must start the line (before it: a byte order mark)");
    IS("\033[1;32mMETRIC a=1", "must start the line (before it: an escape sequence)");
    IS("\033]0;title\033\\\033(B \tmetric", "must start the line (before it: an escape sequence)");
    IS("\033]0;title\aMETRIC", "must start the line (before it: an escape sequence)");
    IS("50%\r\033[KMETRIC a=1", "must start the line (before it: a carriage return)");
    IS("METRIC a=<0123456789012345678901234567890123456789>",
        "not a number: <012345678901234567890123456789012345678...");
    IS("METRIC a=\x01\x7f", "not a number: ??");
    IS("METRIC a\xc2x=1", "name has byte 0xC2");
    IS("METRIC a-\xb5=1", "name has '-'");
    IS("METRIC aAzZ_.90=x", "not a number: x");
    IS("METRIC a\xb5=1", "name has byte 0xB5");
    IS("METRIC a\xc2\xb0=1", "name has byte 0xC2");
    IS("METRIC a\xc2=1", "name has byte 0xC2");
    IS("METRIC a\xc2\xb5=1", "1");
    IS("METRIC \xc2\xb5=1", "1");
    IS("METRIC a@=x", "name has '@'");
    IS("METRIC a[=x", "name has '['");
    IS("METRIC a`=x", "name has '`'");
    IS("METRIC a{=x", "name has '{'");
    IS("METRIC a/=x", "name has '/'");
    IS("METRIC a:=x", "name has ':'");
    IS("METRIC a@=1", "name has '@'");
    IS("METRIC a[=1", "name has '['");
    IS("METRIC a`=1", "name has '`'");
    IS("METRIC a{=1", "name has '{'");
    IS("METRIC a/=1", "name has '/'");
    IS("METRIC a:=1", "name has ':'");
    IS("METRIC a\x7f=1", "name has byte 0x7F");
    IS("METRIC a  =1", "blank before =");
    IS("METRIC a  1", "no = after the name");
    IS("METRIC a=  1", "blank after =");
    IS("METRIC a=\r", "no number after =");
    IS("METRIC a=  \r", "no number after =");
    IS("METRIC a=nan(ind)", "not finite: nan(ind)");
    IS("METRIC a=+inf ms", "not finite: +inf ms");
    IS("METRIC a=nano", "not a number: nano");
    IS("METRIC a=nonesuch", "not a number: nonesuch");
    IS("METRIC a=NaN ()", "not finite: NaN ()");
    IS("METRIC a = \tNaN  \r", "blank before =");
    IS("METRIC a = \0", "blank before =");
    IS("METRIC a= \0", "NUL in line");
    IS("METRIC a=inf_", "not a number: inf_");
    IS("METRIC a=infinit", "not a number: infinit");
    IS("METRIC a=infinite", "not a number: infinite");
    IS("METRIC a=1.2.3", "not a number: 1.2.3");
    IS("METRIC a=.e1", "not a number: .e1");
    IS("METRIC a=1e+-1", "not a number: 1e+-1");
    IS("METRIC a=1+1", "not a number: 1+1");
    IS("METRIC a=+-1", "not a number: +-1");
    IS("METRIC a=1e1.", "not a number: 1e1.");
    IS("METRIC a=1e1e1", "not a number: 1e1e1");
    IS("METRIC a=-.5 \t", "-0.5");
    IS("METRIC a=1.\t\r", "1");
}

/* The line after the newest value of the only name that has no finite number; 0 if there is none. */
static uint64_t not_finite_at(const char *text)
{
    struct ap_metric *metric = open_metric();
    struct ap_metric_report report;
    feed(metric, text, strlen(text));
    if (ap_metric_finish(&report, metric, NULL) != 0 || report.name_count != 1)
        abort();
    uint64_t line = report.names[0].not_finite;
    ap_metric_close(metric);
    return line;
}

/* A value that was printed before such a line is not the newest any more. */
static void words_for_no_number(void)
{
    static const char *const words[] = {"=None", "=null", "=Null\r", "=nil", "=NA", "=N/A", "=undefined", "=", "=\r",
        "= \t", "=1.#QNAN", "=1.#INF00", "=-1.#IND", "=\u221e", "=-\u221e", " = NaN", " =", "= none", "\t=\tinf\r"};
    static const char *const others[] = {
        "=12,5", "=nonesuch", "=N", "=NAME", "= 2", " = 2", " = 2 nan", " nan", "=+", "=nullable"};
    char line[64];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(line, sizeof line, "METRIC a=1\nMETRIC a%s", words[i]);
        ok(not_finite_at(line) == 2, "METRIC a%s is no value", words[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(line, sizeof line, "METRIC a=1\nMETRIC a%s", others[i]);
        ok(not_finite_at(line) == 0, "METRIC a%s says nothing of the value", others[i]);
    }
}

#define LONG "0123456789012345678901234567890123456x" /* two bytes less than what a reason shows */

/* A character of several bytes that does not fit is left out as a whole, and one that just fits may be. */
static void long_tokens_are_cut(void)
{
    IS("METRIC a=" LONG "yz  \r", "not a number: " LONG "yz");
    IS("METRIC a=" LONG "yz  !", "not a number: " LONG "yz...");
    IS("METRIC a=" LONG "yz!", "not a number: " LONG "yz...");
    IS("METRIC a=" LONG "y\xc3\xa4", "not a number: " LONG "y...");
    IS("METRIC a=" LONG "\xc3\xa4!", "not a number: " LONG "...");
    IS("METRIC a=" LONG "\xe2\x82\xac", "not a number: " LONG "...");
    IS("METRIC a=" LONG "\xc3\xa4", "not a number: " LONG "\xc3\xa4");
    static const char lines[] = "METRIC a=" LONG "yz!\nMETRIC b=xx\nMETRIC c= \n";
    static const char both[] = "||1:not a number: " LONG "yz...:METRIC a=" LONG "yz!;2:not a number: xx:METRIC b=xx;";
    char *text = scan(lines, sizeof lines - 1);
    ok(strncmp(text, both, sizeof both - 1) == 0, "which is over with the line: %s", text);
    free(text);
}

static void other_lines_are_neither(void)
{
    IS("", "");
    IS("\r", "");
    IS("the METRIC a=1", "");
    IS("symmetric", "");
    IS("-metric", "");
    IS("METRI", "");
    IS("MET\rRIC", "");
    IS("\033[METRIC a=1", ""); /* the M ends the sequence */
    IS("\033]0;METRIC a=1", "");
    IS("\xef\xbbMETRIC a=1", "");
    IS("\0METRIC a=1", "");
}

static void numbers_are_the_nearest_doubles(void)
{
    IS("METRIC a=0.1", "0.10000000000000001");
    IS("METRIC a=-0.25\r", "-0.25");
    IS("METRIC a=9007199254740993", "9007199254740992");
    IS("METRIC a=9007199254740993.0000000000000000000000000000001", "9007199254740994");
    IS("METRIC a=9007199254740995e0", "9007199254740996");
    IS("METRIC a=0.84372648293746529", "0.84372648293746533");
    IS("METRIC a=18446744073709551615", "1.8446744073709552e+19");
    IS("METRIC a=1.7976931348623157e308", "1.7976931348623157e+308");
    IS("METRIC a=1.7976931348623159e308", "not finite: 1.7976931348623159e308");
    IS("METRIC a=4.9e-324", "4.9406564584124654e-324");
    IS("METRIC a=2.2250738585072011e-308", "2.2250738585072009e-308");
    IS("METRIC a=1e-400", "0");
    IS("METRIC a=0e99999999999999999999999", "0");
    IS("METRIC a=1e99999999999999999999999", "not finite: 1e99999999999999999999999");
    IS("METRIC a=1e-99999999999999999999999", "0");
    IS("METRIC a=1e0000000000000000000000002", "100");
    IS("METRIC a=123456789012345678901234567890", "1.2345678901234568e+29");
}

static void random_numbers_are_what_strtod_says(void)
{
    uint64_t seed = 42;
    int wrong = 0;
    for (int i = 0; i < 60000; i++) {
        char number[80], line[100];
        double value;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = seed ^ seed >> 29;
        int digits = (int)(bits % 25), shift = (int)(bits >> 8 & 63) - 32;
        memcpy(&value, &bits, sizeof value);
        if (i % 3 == 0)
            snprintf(number, sizeof number, "%.*e", digits, value);
        else if (i % 3 == 1) /* with all that 64 bits can represent: one in two thousand lies on a tie, or beside it */
            snprintf(
                number, sizeof number, "%llue-%d", (unsigned long long)bits % 10000000000000000000u, 1 + digits % 19);
        else
            snprintf(number, sizeof number, "%llu.%llue%d", (unsigned long long)(bits >> (bits & 63)),
                (unsigned long long)(seed >> 20), shift);
        if (strchr("-0123456789", number[strspn(number, "-")]) == NULL)
            continue;
        struct ap_metric *metric = open_metric();
        struct ap_metric_report report;
        int size = snprintf(line, sizeof line, "METRIC a=%s\nMETRIC a=%s", number, number);
        feed(metric, line, (size_t)size);
        ap_metric_finish(&report, metric, NULL); /* once read by whole_line, once by the machine */
        wrong += report.sample_count != 2 || report.samples[0].value != strtod(number, NULL) ||
                 report.samples[1].value != strtod(number, NULL);
        ap_metric_close(metric);
    }
    ok(wrong == 0, "60000 random numbers are read as strtod reads them, by both readers (%d are not)", wrong);
}

/* The fast reader takes what is common and leaves the rest to the slow one, which would hide a fault of it. */
static void common_numbers_are_read_at_once(void)
{
    static const struct {
        const char *text;
        int size; /* that is read; -1: none */
    } cases[] = {{"0", 1}, {"-0", 2}, {"+7", 2}, {"12 x", 2}, {"1.", 2}, {".5", 2}, {"-.25;", 4}, {"1.5.5", 3},
        {"1e5", 3}, {"1E+5", 4}, {"25e-1,", 5}, {"1.5e0003", 8}, {"1e00003", 7}, {"9007199254740993e0000003", 24},
        {"12345678", 8}, {"123456789.12345678", 18}, {"36893488147419103233", 20}, {"1234567890123456789", 19},
        {"0.123456789012345678", 20}, {"-12345678901234567.89", 21}, {"0e9999", 6}, {"1e22", 4}, {"1e-22", 5},
        {"9007199254740992e22", 19}, {"9007199254740992e-22", 20}, {"9999999999999999999e19", 22},
        {"9999999999999999999e-19", 23}, {"9007199254740993e19", 19}, {"9007199254740993e20", 19},
        {"9007199254740993e-20", 20}, {"1e23", 4}, {"1e-23", 5}, {"12.5e24", 7}, {"12345678901234567890", 20},
        {"1234567890.1234567890", 21}, {"", -1}, {"-", -1}, {".", -1}, {"x", -1}, {"e5", -1}, {"1e", -1}, {"1e+", -1},
        {"1e-x", -1}, {"--1", -1}, {"1e999", -1}, {"0x10", 1}, {"inf", -1}, {"nan", -1}};
    int wrong = 0;
    char which[100] = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 0.5;
        const char *text = cases[i].text, *stop = ap_decimal_read(&value, text, text + strlen(text) + 1);
        char number[40];
        snprintf(number, sizeof number, "%.*s", cases[i].size, text);
        if (stop == NULL ? cases[i].size >= 0 : stop - text != cases[i].size || value != strtod(number, NULL)) {
            snprintf(which, sizeof which, ": %s, %d", text, stop == NULL ? -1 : (int)(stop - text));
            wrong++;
        }
    }
    ok(wrong == 0, "the fast reader reads common numbers up to their end, and declines others%s", which);
    static const char *const longer[] = {
        "17", "1.57", "1e57", "1e+57", "-.57", "1e007", "9007199254740993", "9007199254740993e00000012"};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        double value = 0.5;
        ok(ap_decimal_read(&value, longer[i], longer[i] + strlen(longer[i]) - 1) == NULL,
            "a number that may go on is left alone: %s", longer[i]);
    }
}

/* Each chunk ends where memory ends: who reads on is killed. */
static void nothing_behind_a_chunk_is_read(void)
{
    static const char *const lines[] = {"METRIC a=1e00231\n", "METRIC a=1e-00231 \n",
        "METRIC a=9007199254740993e0000001\n", "METRIC a=12345678901234567890123.5e00005\r\n", "METRIC a=1e99999\n",
        "METRIC a=0x10\n", "METRIC a=-inf\n"};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + page, page, PROT_NONE);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t cut = 1, size = strlen(lines[i]); cut <= size; cut++) {
            struct ap_metric *metric = open_metric();
            feed(metric, "METRIC a=1\n", 11);
            memcpy(memory + page - cut, lines[i], cut);
            ap_metric_feed(metric, memory + page - cut, cut);
            feed(metric, lines[i] + cut, size - cut);
            ap_metric_close(metric);
        }
    munmap(memory, 2 * page);
    ok(true, "nothing behind a chunk is read");
}

static const char *const streams[] = {
    "METRIC a=1\nMETRIC b=2.5\r\nMETRIC a=3\nnoise\n METRIC a=1\nMETRIC c=0.1",
    "50%\r\033[KMETRIC a=1\n\033]0;t\aMETRIC x\nMETRIC t_\xc2\xb5s=142 \t\r\nmetric\nprose on METRIC a=1\nMETRIC "
    "a=1\rb\n",
    "\xef\xbb\xbf"
    "METRIC a=1\nMETRIC a=12345678901234567890.5e-3\nMETRIC =\nMETRIC a=1e400\nMETRIC a=nan\n\n\nMETRIC a=1_0\n",
    "xmetric xmetric \r xmetric \rx METRIC \r METRIC a=1\n"
    "a line that is longer than any block in which a search is made at once, with the word metric in it, and then "
    "even more of it, so that what is cut may lie before, in and after it \r \t\033[0m\033[1mMeTrIc is here\nMETRIC "
    "end=1\n",
};

static void no_cut_changes_the_report(void)
{
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        const char *stream = streams[i];
        size_t size = strlen(stream);
        char *whole = scan(stream, size);
        int differ = 0;
        for (size_t round = 0; round < size + 300; round++) {
            struct ap_metric *metric = open_metric();
            for (size_t at = 0, step; at < size; at += step) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                if (round < size) /* one cut, everywhere; then bytes one by one; then at random */
                    step = at == 0 && round > 0 ? round : size - at;
                else
                    step = round == size ? 1 : (seed >> 33) % (round % 17 + 1) + 1;
                step = step < size - at ? step : size - at;
                feed(metric, stream + at, step);
            }
            char *cut = dump(metric);
            differ += strcmp(cut, whole) != 0;
            free(cut);
            ap_metric_close(metric);
        }
        ok(differ == 0, "stream %zu gives one report however it is cut (%d cuts do not)", i, differ);
        free(whole);
    }
}

/* Every offset of the word within the search's blocks, with newlines around it to count. */
static void a_word_is_found_and_lines_are_counted_at_any_offset(void)
{
    char text[700];
    int wrong = 0;
    for (size_t at = 0; at < 400; at++) {
        memset(text, 'x', sizeof text);
        for (size_t i = 3; i < sizeof text; i += 7)
            text[i] = '\n';
        memcpy(text + at, "\n METRic\n", 9);
        unsigned long long line = 2, lines = 1;
        for (size_t i = 0; i < sizeof text; i++) {
            lines += text[i] == '\n' && i + 1 < sizeof text;
            line += text[i] == '\n' && i < at;
        }
        struct ap_metric *metric = open_metric();
        struct ap_metric_report report;
        feed(metric, text, sizeof text);
        ap_metric_finish(&report, metric, NULL);
        wrong += report.near_misses != 1 || report.misses[0].line != line || report.lines != lines;
        ap_metric_close(metric);
    }
    ok(wrong == 0, "a word is found and lines are counted at any offset (%d wrong)", wrong);
}

static void feed_line(struct ap_metric *metric, const char *format, int i)
{
    char line[100];
    feed(metric, line, (size_t)snprintf(line, sizeof line, format, i));
}

static void what_is_beyond_the_limits_is_counted(void)
{
    struct ap_metric *metric = open_metric();
    struct ap_metric_report report;
    for (int i = 0; i < AP_METRIC_NAMES + 3; i++)
        feed_line(metric, "METRIC n%d=1\n", i);
    for (int i = 0; i < AP_METRIC_MISSES + 4; i++)
        feed_line(metric, "METRIC x-%d\n", i);
    for (int i = 0; i < AP_METRIC_SAMPLES - AP_METRIC_NAMES + 5; i++)
        feed_line(metric, "METRIC n7=%d\n", i);
    ap_metric_finish(&report, metric, NULL);
    ok(report.name_count == AP_METRIC_NAMES && report.dropped_names == 3, "names beyond 10,000 are counted");
    ok(report.miss_count == AP_METRIC_MISSES && report.near_misses == AP_METRIC_MISSES + 4, "near misses too");
    ok(report.sample_count == AP_METRIC_SAMPLES && report.dropped_samples == 5, "samples too");
    ok(report.names[7].last == AP_METRIC_SAMPLES - AP_METRIC_NAMES + 4,
        "the last value wins also where no sample is kept");
    ap_metric_close(metric);
}

static long peak_kb(void)
{
    char line[200];
    long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = strtol(line + 6, NULL, 10);
    if (file != NULL)
        fclose(file);
    return peak;
}

/* 60 MB each, without a newline. */
static void a_line_without_end_is_not_kept(void)
{
    static char chunk[64 * 1024];
    static const char *const heads[] = {"", "METRIC a=0.", "METRIC ", "METRIC a=x", "METRIC a=1", " metric"};
    static const char fills[] = {'x', '0', 'n', 'x', '0', '\r'};
    long before = peak_kb();
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct ap_metric *metric = open_metric();
        feed(metric, heads[i], strlen(heads[i]));
        memset(chunk, fills[i], sizeof chunk);
        for (int j = 0; j < 1000; j++)
            ap_metric_feed(metric, chunk, i == 1 ? sizeof chunk / 16 : sizeof chunk);
        feed(metric, i == 0 ? "\rMETRIC z=1" : "e65", i == 0 ? 11 : 3);
        char *text = dump(metric);
        const char *expected[] = {
            "||1:must start the line (before it: a carriage return):METRIC z=1;|1 0 0 1",
            "a=0 |0 ||0 0 0 1",
            "||1:name too long:",
            "||1:not a number: xxx",
            "||1:not finite: 1000",
            "||1:must start the line",
        };
        ok(strncmp(text, expected[i], strlen(expected[i])) == 0, "a line without end that begins '%s': %.90s", heads[i],
            text);
        free(text);
        ap_metric_close(metric);
    }
    ok(peak_kb() - before < 8 * 1024, "lines without end take no memory (%ld KB)", peak_kb() - before);
}

static void digits_of_any_number_are_read(void)
{
    struct ap_metric *metric = open_metric();
    struct ap_metric_report report;
    feed(metric, "METRIC a=0.", 11);
    for (int i = 0; i < 300; i++)
        feed(metric, "00000000000000000000000000000000000000000000000000", 50);
    feed(metric, "25e15000\nMETRIC b=1", 19);
    for (int i = 0; i < 300; i++)
        feed(metric, "00000000000000000000000000000000000000000000000000", 50);
    feed(metric, "e-15000\nMETRIC c=9007199254740993.", 34);
    for (int i = 0; i < 300; i++)
        feed(metric, "00000000000000000000000000000000000000000000000000", 50);
    feed(metric, "1", 1);
    ap_metric_finish(&report, metric, NULL);
    ok(report.sample_count == 3 && report.samples[0].value == 0.25 && report.samples[1].value == 1 &&
            report.samples[2].value == 9007199254740994.0,
        "15,000 zeros do not change a number, and a digit beyond them decides a tie");
    ap_metric_close(metric);
}

static void files_and_pipes_are_read(void)
{
    static struct ap_metric *metric; /* static: otherwise a checker of the child reports a leak */
    char path[] = "/tmp/test_metric.XXXXXX";
    metric = open_metric();
    struct ap_err err;
    int fd = mkstemp(path), probe = dup(fd);
    close(probe);
    if (fd < 0 || write(fd, "METRIC a=1\n", 11) != 11)
        abort();
    ok(ap_metric_file(metric, path, &err) == 0, "a file is read");
    unlink(path);
    close(fd);
    ok(ap_metric_file(metric, path, &err) == -1 && strcmp(err.code, "ENOENT") == 0, "a missing file is ENOENT: %s",
        err.message);
    ok(ap_metric_file(metric, "/tmp", &err) == -1 && strcmp(err.code, "EISDIR") == 0, "a directory is EISDIR");
    if (mkfifo(path, 0600) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        int out = open(path, O_WRONLY);
        for (int i = 0; i < 3; i++)
            if (write(out, "METRIC b=2\n", 11) != 11)
                _exit(1);
        _exit(0);
    }
    ok(ap_metric_file(metric, path, &err) == 0, "a pipe is read to its end");
    waitpid(child, NULL, 0);
    unlink(path);
    char *text = dump(metric);
    ok(strcmp(text, "a=1 b=2 b=2 b=2 |1 2 ||0 0 0 4") == 0, "all of it is in one report: %s", text);
    free(text);
    ap_metric_close(metric);
    int after = open("/dev/null", O_RDONLY);
    ok(after == fd, "no descriptor is left open");
    close(after);
}

static void feeding_goes_on_after_finish(void)
{
    struct ap_metric *metric = open_metric();
    feed(metric, "METRIC a=1", 10);
    free(dump(metric));
    feed(metric, "METRIC a=2", 10);
    char *text = dump(metric);
    ok(strcmp(text, "a=1 a=2 |2 ||0 0 0 2") == 0, "after finish a new line begins: %s", text);
    free(text);
    ap_metric_close(metric);
    ap_metric_feed(NULL, "METRIC a=1\n", 11);
    ok(1, "a scanner that is gone takes nothing");
}

int main(void)
{
    reasons_are_precise();
    words_for_no_number();
    long_tokens_are_cut();
    other_lines_are_neither();
    numbers_are_the_nearest_doubles();
    random_numbers_are_what_strtod_says();
    common_numbers_are_read_at_once();
    nothing_behind_a_chunk_is_read();
    no_cut_changes_the_report();
    a_word_is_found_and_lines_are_counted_at_any_offset();
    what_is_beyond_the_limits_is_counted();
    a_line_without_end_is_not_kept();
    digits_of_any_number_are_read();
    files_and_pipes_are_read();
    feeding_goes_on_after_finish();
    return done();
}
