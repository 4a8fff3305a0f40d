#!/bin/bash
# examples/noisy-benchmark: its no-ops change nothing in the machine code, its real edits make less work, in whatever order they
# come, and every version finds the same. No time is looked at here.
. "$(dirname "$0")/transcript.sh"

example=$top/examples/noisy-benchmark
compiler=${CC:-cc}
build() { $compiler -std=c11 -w -O1 -fno-inline "$@"; }

edits=45
for seed in 1 2; do
    mkdir "$work/$seed" && cd "$work/$seed" && cp "$example/routine.h" . || exit 1
    run exec "$here/noisy_edits.lua" "$example" "$seed" "$edits"
    is "$code" 0 "seed $seed: the provider makes $edits edits in a row, the same ones for the same numbers"
    real=$(grep -c ' real: ' plan.txt)
    first=$(head -n 20 plan.txt | grep -c ' real: ')
    is "$((real + $(grep -c ' no-op: ' plan.txt)))" "$edits" "seed $seed: each says which kind it is"
    is "$real" 15 "seed $seed: all 15 real ones are among them, once each"
    ok "seed $seed: about half of the first 20 are real ($first)" test "$first" -ge 5 -a "$first" -le 15
    is "$(sort -k2 plan.txt | grep ' real: ' | cut -d' ' -f2- | sort | uniq -d)" "" "seed $seed: no real one comes twice"

    # Seed 1: all stages, each compared with the one before; seed 2, another order: those with a real edit.
    numbers="0 $(sed -n 's/ real: .*//p' plan.txt | tr '\n' ' ')"
    stages=$numbers
    [ "$seed" = 1 ] && stages=$(seq 0 "$edits")
    failed=
    for number in $stages; do # the same file name for all, since objects hold it
        cp "$number.c" routine.c && build -c -o routine.o routine.c && strip --strip-unneeded -o "$number.bare" routine.o &&
            objcopy --redefine-sym "inspect=inspect_$number" routine.o "$number.o" || failed="$failed $number"
    done
    is "$failed" "" "seed $seed: every version compiles"
    if [ "$seed" = 1 ]; then
        differing=
        alike=
        while read -r number kind what; do
            if cmp -s "$((number - 1)).bare" "$number.bare"; then
                [ "$kind" = real: ] && alike="$alike $number $what;"
            else
                [ "$kind" = no-op: ] && differing="$differing $number $what;"
            fi
        done < plan.txt
        is "$differing" "" "seed $seed: no no-op changes a byte of the machine code"
        is "$alike" "" "seed $seed: every real edit does"
    fi

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
    ok "seed $seed: the versions link into one program" build -o all all.c $(for number in $numbers; do echo "$number.o"; done)
    is "$(./all 2>&1)" "" "seed $seed: after every real edit the routine finds what it found at first"
    [ "$seed" = 1 ] || continue
    if command -v valgrind > /dev/null && command -v callgrind_annotate > /dev/null; then
        valgrind --tool=callgrind --callgrind-out-file=counts ./all > /dev/null 2>&1
        callgrind_annotate --inclusive=yes --threshold=100 counts > annotated
        counts=
        for number in $numbers; do
            counts="$counts $(sed -n "s/^ *\([0-9,]*\) .*[:]inspect_$number\( .*\)\{0,1\}$/\1/p" annotated | head -n 1 | tr -d ,)"
        done
        # shellcheck disable=SC2086
        is "$(printf '%s\n' $counts | wc -l | tr -d ' ')" 16 "seed $seed: callgrind counts all versions"
        # shellcheck disable=SC2086
        is "$(printf '%s\n' $counts | sort -rnu)" "$(printf '%s\n' $counts)" "seed $seed: each executes fewer instructions than the one before"
    else
        result 0 "seed $seed: # SKIP no callgrind to count instructions"
    fi
done

# The judge: what it lets through, and what not.
mkdir "$work/judge" && cd "$work/judge" && cp "$example"/* . || exit 1
judge() { sh evaluate.sh "$1" > "$work/out" 2> "$work/err"; code=$?; out=$(cat "$work/out"); err=$(cat "$work/err"); }
judge check
is "$code" 0 "the routine as it is passes the check"
cp "$work/1/$edits.c" routine.c
judge check
is "$code" 0 "and with all edits"
judge time
like "$out" '^METRIC ns_per_reading=[0-9.]+$' "its time is a METRIC line, and nothing else"
is "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 1 "one of them"
sed -i 's/found->window = window/found->window = 1 + window/' routine.c
judge check
is "$code $out" "1 " "another finding: refused"
judge time
is "$code $out" "1 " "and not timed"
like "$err" "does not find what it did before" "with the reason"
{ cat "$example/routine.c"; echo 'int clock_gettime(int which, void *now) { return 0; }'; } > routine.c
judge check
is "$code $out" "1 " "a clock of its own: refused"
like "$err" "not allowed: clock_gettime" "by its name"
{ cat "$example/routine.c"; echo 'int puts(const char *); static int say(void) { return puts("METRIC ns_per_reading=0"); }';
    echo 'int (*const hidden)(void) = say;'; } > routine.c
judge check
is "$code $out" "1 " "a call of the library: refused"
echo 'int inspect(' > routine.c
judge check
is "$code $out" "1 " "what is no C: refused"
[ -z "$(find . -name 'build.*')" ]
is "$?" 0 "and nothing is left lying about"

# Both ways side by side, two experiments long.
cp -r "$example" "$work/compare" && cd "$work/compare" || exit 1
mkdir "$work/tmp" logs && echo '{}' > logs/results.jsonl # somebody's own run here is not touched
TMPDIR=$work/tmp run exec compare.lua 2 1 2
is "$code" 0 "compare runs two experiments of each"
like "$out" "^2 experiments each, seed 1, preset default; " "says what it did"
for row in 'measurements, in all +3 +[0-9]{2,}$' '  of them for the baseline +1 +20$' \
    'real: kept of those proposed +[0-9] of [0-9] +[0-9] of [0-9]$' 'no-op: kept of those proposed +[0-9] of [0-9] +[0-9] of [0-9]$' \
    'gain as it is told +[-0-9.]+ % +' 'gain measured anew +.* % \(.* to .*\)'; do
    like "$out" "^$row" "prints ${row%% +*}"
done
is "$(ls "$work/tmp")$(cat logs/results.jsonl)" "{}" "leaves nothing behind, and the folder as it was"
run exec compare.lua 2 1 2 none
is "$code" 2 "compare wants a preset that there is"
like "$err" "^usage: apsis exec compare.lua" "and says so"
done_testing
