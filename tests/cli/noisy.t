#!/bin/bash
# examples/noisy-benchmark: its no-ops change nothing in the machine code, its real edits make less work, in whatever order they
# come, and every version finds the same. No time is looked at here.
. tests/cli/lib.sh

example=$ROOT/examples/noisy-benchmark
compiler=${CC:-cc}
build() { $compiler -std=c11 -w -O1 -fno-inline -falign-functions=64 "$@"; }

edits=45
for seed in 1 2; do
    mkdir "$T/$seed" && cd "$T/$seed" && cp "$example/routine.h" . || exit 1
    apsis exec "$ROOT/tests/cli/noisy_edits.lua" "$example" "$seed" "$edits"
    is "seed $seed: the provider makes $edits edits in a row, the same ones for the same numbers" "$code" 0
    real=$(grep -c ' real: ' plan.txt)
    first=$(head -n 20 plan.txt | grep -c ' real: ')
    is "seed $seed: each says which kind it is" "$((real + $(grep -c ' no-op: ' plan.txt)))" "$edits"
    is "seed $seed: all 15 real ones are among them, once each" "$real" 15
    ok "seed $seed: about half of the first 20 are real ($first)" test "$first" -ge 5 -a "$first" -le 15
    is "seed $seed: no real one comes twice" "$(sort -k2 plan.txt | grep ' real: ' | cut -d' ' -f2- | sort | uniq -d)" \
        ""

    # The stages with a real edit, of seed 2 each fifth; for seed 1 also the last one before each, whose no-ops must all have
    # changed nothing.
    numbers="0 $(sed -n 's/ real: .*//p' plan.txt | awk -v "step=$((4 * seed - 3))" 'NR % step == 0' | tr '\n' ' ')"
    failed=''
    changed=''
    alike=''
    before=''
    for number in $numbers; do
        if [ -n "$before" ]; then
            last=$((number - 1))
            if [ "$seed" = 1 ] && [ "$last" != "$before" ]; then
                build -S -o no-ops.s -x c - < "$last.c" || failed="$failed $last"
                cmp -s no-ops.s "$before.s" || changed="$changed $((before + 1)) to $last;"
            fi
        fi
        build -S -o "$number.s" -x c - < "$number.c" || failed="$failed $number"
        [ -n "$before" ] && cmp -s "$number.s" "$before.s" && alike="$alike $number"
        sed "s/inspect/inspect_$number/g" "$number.s" > "named_$number.s"
        before=$number
    done
    if [ "$seed" = 1 ]; then
        build -S -o no-ops.s -x c - < "$edits.c" || failed="$failed $edits"
        cmp -s no-ops.s "$before.s" || changed="$changed $((before + 1)) to $edits;"
    fi
    is "seed $seed: every version compiles" "$failed" ""
    [ "$seed" = 1 ] && is "seed $seed: no no-op changes a byte of what the compiler makes of it" "$changed" ""
    is "seed $seed: every real edit does" "$alike" ""

    # All versions in one program, each compared with the first in inputs of many sizes.
    {
        printf '#include <stdio.h>\n#include <string.h>\n#include "routine.h"\n'
        for number in $numbers; do echo "void inspect_$number(const uint32_t *, int, struct findings *);"; done
        printf 'static void (*const versions[])(const uint32_t *, int, struct findings *) = {'
        for number in $numbers; do printf 'inspect_%s, ' "$number"; done
        cat <<'END'
};
int main(void)
{
    static uint32_t readings[2000];
    static const int counts[] = {0, 1, 2, 5, 8, 9, 12, 13, 15, 16, 17, 33, 97, 2000};
    int wrong = 0;
    for (unsigned k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        struct findings first, other;
        for (int i = 0; i < counts[k]; i++)
            readings[i] = ((uint32_t)i * 2654435761u + k * 40503u) >> i % 27;
        memset(&first, 0xa5, sizeof first);
        versions[0](readings, counts[k], &first);
        for (unsigned n = 1; n < sizeof versions / sizeof versions[0]; n++) {
            memset(&other, 0x5a, sizeof other);
            versions[n](readings, counts[k], &other);
            if (memcmp(&first, &other, sizeof first) != 0) {
                printf("version %u differs for %d readings\n", n, counts[k]);
                wrong = 1;
            }
        }
    }
    return wrong;
}
END
    } > all.c
    # shellcheck disable=SC2046
    ok "seed $seed: the versions link into one program" build -o all all.c $(for number in $numbers; do echo "named_$number.s"; done)
    is "seed $seed: after each of them the routine finds what it found at first" "$(./all 2>&1)" ""
    [ "$seed" = 1 ] || continue
    if command -v valgrind > /dev/null && command -v callgrind_annotate > /dev/null; then
        valgrind --tool=callgrind --callgrind-out-file=counts ./all > /dev/null 2>&1
        callgrind_annotate --inclusive=yes --threshold=100 counts > annotated
        counts=
        for number in $numbers; do
            counts="$counts $(sed -n "s/^ *\([0-9,]*\) .*[:]inspect_$number\( .*\)\{0,1\}$/\1/p" annotated | head -n 1 | tr -d ,)"
        done
        # shellcheck disable=SC2086
        is "seed $seed: callgrind counts all versions" "$(printf '%s\n' $counts | wc -l | tr -d ' ')" 16
        # shellcheck disable=SC2086
        is "seed $seed: each executes fewer instructions than the one before" "$(printf '%s\n' $counts | sort -rnu)" \
            "$(printf '%s\n' $counts)"
    else
        report yes "seed $seed: # SKIP no callgrind to count instructions"
    fi
done

# The judge: what it lets through, and what not.
mkdir "$T/judge" && cd "$T/judge" && cp "$example"/* . || exit 1
judge() { sh evaluate.sh "$1" > "$T/out" 2> "$T/err"; code=$?; out=$(cat "$T/out"); err=$(cat "$T/err"); }
sections() { sed -e '1,/^#include/d' "$1"; }
is "the reference is the routine as it is at first" "$(diff <(sections "$example/reference.c") <(sections "$example/routine.c"))" \
    ""
judge check
is "the routine as it is passes the check" "$code" 0
cp "$T/1/$edits.c" routine.c
judge check
is "and with all edits" "$code" 0
judge time
line "its time by that of the reference is a METRIC line" "$out" '^METRIC relative_time=[0-9.]+$'
line "its time in ns as well" "$out" '^METRIC ns_per_reading=[0-9.]+$'
is "and nothing else" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 2
sed -i 's/found->window = window/found->window = 1 + window/' routine.c
judge check
is "another finding: refused" "$code $out" "1 "
judge time
is "and not timed" "$code $out" "1 "
line "with the reason" "$err" "does not find what it did before"
{ cat "$example/routine.c"; echo 'int clock_gettime(int which, void *now) { return 0; }'; } > routine.c
judge check
is "a clock of its own: refused" "$code $out" "1 "
line "by its name" "$err" "not allowed: clock_gettime"
{ cat "$example/routine.c"; echo 'int puts(const char *); static int say(void) { return puts("METRIC relative_time=0"); }';
    echo 'int (*const hidden)(void) = say;'; } > routine.c
judge check
is "a call of the library: refused" "$code $out" "1 "
echo 'int inspect(' > routine.c
judge check
is "what is no C: refused" "$code $out" "1 "
[ -z "$(find . -name 'build.*')" ]
is "and nothing is left lying about" "$?" 0

# Both ways side by side, two experiments long, with a judge that is quick and counts the real edits.
cp -r "$example" "$T/compare" && cd "$T/compare" || exit 1
cat > evaluate.sh <<'END'
[ "$1" = check ] && exit
real=$(grep -c '^/\* \[[a-z]* [2-9]' routine.c)
noise=$(od -An -N1 -tu1 /dev/urandom)
echo "METRIC relative_time=$(awk "BEGIN { print 1 - 0.05 * $real + 0.00004 * $noise }")"
END
mkdir "$T/tmp" logs && echo '{}' > logs/results.jsonl # somebody's own run here is not touched
TMPDIR=$T/tmp apsis exec compare.lua 2 1 2
is "compare runs two experiments of each" "$code" 0
line "says what it did" "$out" "^2 experiments each, seed 1, preset default; "
for row in 'measurements, in all +3 +[0-9]{2,}$' '  of them for the baseline +1 +20$' \
    'noise of the baseline, sd +unknown +[0-9.]+ %$' \
    'real: kept of those proposed +[0-9] of [0-9] +[0-9] of [0-9]$' 'no-op: kept of those proposed +[0-9] of [0-9] +[0-9] of [0-9]$' \
    'reported gain +[-0-9.]+ % +' 'gain measured again +.* % \(.* to .*\)'; do
    line "prints ${row%% +*}" "$out" "^$row"
done
is "leaves nothing behind, and the folder as it was" "$(ls "$T/tmp")$(cat logs/results.jsonl)" "{}"
apsis exec compare.lua 2 1 2 none
is "compare wants a preset that there is" "$code" 2
line "and says so" "$err" "^usage: apsis exec compare.lua"
TMPDIR=$T/tmp "$APSIS" exec compare.lua 1000 > "$T/out" 2> "$T/err" < /dev/null &
comparing=$!
for _ in $(seq 200); do
    [ -n "$(find "$T/tmp" -name results.jsonl)" ] && break
    sleep 0.1
done
kill -INT "$comparing"
for _ in $(seq 200); do
    kill -0 "$comparing" 2> "$T/gone" || break
    sleep 0.1
done
kill -KILL "$comparing" 2> "$T/gone"
wait "$comparing"
is "an interrupt ends it" "$? $(cat "$T/err")" "130 compare: interrupted"
is "and leaves nothing behind either" "$(ls "$T/tmp")" ""
finish
