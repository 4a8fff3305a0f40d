#!/bin/sh
# tests/bench/compare.lua: strategies on the same seeds, in copies of a project.
. tests/cli/lib.sh
project p
before=$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)
export TMPDIR="$T/tmp"
mkdir "$TMPDIR"
compare() { apsis exec "$ROOT/tests/bench/compare.lua" "$@"; }

compare . 2 4 hillclimb:patience=50 random_walk
is "two strategies, two seeds" "$code" 0
line "what was compared" "$out" '^p: loss, lower is better; baseline [0-9.]+; 4 experiments, seeds 1 to 2$'
is "a row for each seed with both strategies' final best" "$(printf '%s\n' "$out" | grep -Ec '^[12]( +[0-9.e-]+\*?){2}$')" \
    2
line "then quartiles" "$out" '^final best +best +quarter +median +quarter +worst$'
line "of each strategy, with its options in its name" "$out" '^hillclimb:patience=50( +[0-9.e-]+){5}$'
line "and which is better" "$out" '^lower is better: the median of [a-z_:=0-9]+ (is better than|equals) that of '
line "each run is told as it ends" "$err" 'random_walk, seed 2: [0-9.e-]+ after 4 experiments \(budget'
first=$out
compare . 2 4 hillclimb:patience=50 random_walk
is "the same seeds give the same again" "$out" "$first"
is "the project is left as it is" "$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)" \
    "$before"
is "and no scratch folder stays" "$(ls -A "$TMPDIR")" ""

printf 'return { halt = function() return "enough" end }\n' > mine.lua
compare . 1 4 mine.lua
is "a strategy of one's own" "$code" 0
line "by its file's name, and why it ended" "$err" "mine.lua, seed 1: [0-9.]+ after 0 experiments \(.*enough"
compare . 1 4 nosuch
is "an unknown strategy fails" "$code" 1
line "and is named" "$err" "no strategy|nosuch"
is "and no scratch folder stays after that either" "$(ls -A "$TMPDIR")" ""
for wrong in "" ". 0 1 hillclimb" ". 1 x hillclimb" ". 1 1" "nosuch 1 1 hillclimb"; do
    # shellcheck disable=SC2086
    compare $wrong
    is "compare '$wrong' is refused" "$code" 2
done
line "with how it is used" "$err" "usage: "
finish
