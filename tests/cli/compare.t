#!/bin/sh
# tests/bench/compare.lua: strategies on the same seeds, in copies of a project.
. "$(dirname "$0")/transcript.sh"
project p
before=$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
compare() { run exec "$top/tests/bench/compare.lua" "$@"; }

compare . 2 4 hillclimb:patience=50 random_walk
is "$code" 0 "two strategies, two seeds"
like "$out" '^p: loss, lower is better; baseline [0-9.]+; 4 experiments, seeds 1 to 2$' "what was compared"
is "$(printf '%s\n' "$out" | grep -Ec '^[12]( +[0-9.e-]+\*?){2}$')" 2 "a row for each seed with both strategies' final best"
like "$out" '^final best +best +quarter +median +quarter +worst$' "then quartiles"
like "$out" '^hillclimb:patience=50( +[0-9.e-]+){5}$' "of each strategy, with its options in its name"
like "$out" '^lower is better: the median of [a-z_:=0-9]+ (is better than|equals) that of ' "and which is better"
like "$err" 'random_walk, seed 2: [0-9.e-]+ after 4 experiments \(budget' "each run is told as it ends"
first=$out
compare . 2 4 hillclimb:patience=50 random_walk
is "$out" "$first" "the same seeds give the same again"
is "$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)" "$before" "the project is left as it is"
is "$(ls -A "$TMPDIR")" "" "and no scratch folder stays"

printf 'return { halt = function() return "enough" end }\n' > mine.lua
compare . 1 4 mine.lua
is "$code" 0 "a strategy of one's own"
like "$err" "mine.lua, seed 1: [0-9.]+ after 0 experiments \(.*enough" "by its file's name, and why it ended"
compare . 1 4 nosuch
is "$code" 1 "an unknown strategy fails"
like "$err" "no strategy|nosuch" "and is named"
is "$(ls -A "$TMPDIR")" "" "and no scratch folder stays after that either"
for wrong in "" ". 0 1 hillclimb" ". 1 x hillclimb" ". 1 1" "nosuch 1 1 hillclimb"; do
    # shellcheck disable=SC2086
    compare $wrong
    is "$code" 2 "compare '$wrong' is refused"
done
like "$err" "usage: " "with how it is used"
done_testing
