#!/bin/sh
# What goes wrong: each has its exit code, and says what to do.
. "$(dirname "$0")/transcript.sh"

commands=$("$APSIS" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    run "$command" --help
    is "$code" 0 "$command --help exits 0"
    like "$out" "example:" "$command --help has an example"
done

for command in run log metrics exec; do
    "$APSIS" "$command" --help > "$work/expected"
    run help "$command"
    is "$code $out" "0 $(cat "$work/expected")" "help $command is $command --help"
done
run help statsu
is "$code" 2 "help for an unknown command exits 2"
like "$err" 'did you mean "status"' "with the nearest one"
run help
is "$code" 0 "help alone exits 0"
like "$out" "usage: apsis COMMAND" "with the commands"

cd "$work" || exit 1
for command in setup baseline run step eval status log best pause resume replay "show best" "diff best" \
    "direct --list"; do
    # shellcheck disable=SC2086
    run $command
    is "$code" 2 "$command outside a project exits 2"
    like "$out$err" "apsis init" "$command outside a project says how to make one"
done
for command in setup baseline run eval status log show diff best direct pause strategies doctor init; do
    run "$command" --no-such-option
    is "$code" 2 "$command with an unknown option exits 2"
    like "$err" "example: " "$command with an unknown option has an example"
done
run show best extra
is "$code" 2 "show with two ids exits 2"
run statsu
is "$code" 2 "an unknown command exits 2"
like "$err" 'did you mean "status"' "with the nearest one"
run
is "$code" 2 "no command exits 2"
run status "$work/nowhere"
is "$code" 2 "a folder that does not exist exits 2"

mkdir plain && cd plain && "$APSIS" init > /dev/null
for command in setup baseline eval; do
    run "$command"
    is "$code" 3 "$command outside a repository exits 3"
    like "$out$err" "git init" "$command outside a repository says what to run"
done

project p
run run
is "$code" 3 "run without a baseline exits 3"
like "$err" "apsis baseline" "and says so"
sed -i '/^provider:/d' manifest.yaml
commit 'no provider'
run baseline
is "$code" 0 "a baseline needs no provider"
run run
is "$code" 4 "a run does: exit 4"
run setup
is "$code" 4 "setup sees it, too"
sed -i 's/direction: lower/direction: sideways/' manifest.yaml
line=$(grep -n sideways manifest.yaml | cut -d: -f1)
run status
is "$code" 2 "a wrong manifest exits 2"
like "$err" "manifest.yaml:$line: metric.direction: " "naming file, line and key"

project q
echo 'print "METRIC  loss = high"' > evaluate.lua
commit 'no metric'
run eval
is "$code" 5 "eval without a metric exits 5"
like "$err" "no metric" "and says so"
run baseline
is "$code" 5 "as does a baseline"
run best
is "$code" 5 "and then there is no best"
run status
is "$code" 0 "status exits 0 even so"
like "$out" "near misses: +experiment 0, line 1" "and shows the near miss"

# Numbers: negative ones are no options, and what is none names its option.
number() { # MESSAGE ARGUMENTS...
    message=$1
    shift
    run "$@"
    is "$code" 2 "$* exits 2"
    like "$err" "$message" "$* says: $message"
    unlike "$err" "unknown option" "$* is not taken for an option"
}
number "^apsis: --iterations: must be 1 or more, not -3$" run --iterations -3
number "^apsis: --iterations: must be 1 or more, not -3$" run --iterations=-3
number "^apsis: --workers: must be 1 or more, not -1$" run --workers -1
number "^apsis: --minutes: must be above 0, not -0.5$" run --minutes -.5
number "^apsis: -n: must be 1 or more, not -3$" log -n -3
number "^apsis run: --iterations: 'abc' is not a whole number$" run --iterations abc
number "^apsis run: --iterations: '-1.5' is not a whole number$" run --iterations -1.5
number "^apsis run: --workers: 'two' is not a whole number$" run --workers two
number "^apsis run: --minutes: 'long' is not a number$" run --minutes long
number "^apsis log: --count: 'x' is not a whole number$" log -n x
run run -q -3
is "$code" 2 "a negative number after a flag exits 2"
like "$err" "unknown option '-3'" "as an option that does not exist"
run direct --message -3
is "$code" 0 "a text may be a negative number"

# Standard output that takes nothing. Every command here has something to print.
project full
"$APSIS" baseline > /dev/null 2>&1
"$APSIS" run --iterations 1 -q > /dev/null 2>&1
for command in status "status --json" log "log --json" "log --graph" "show c0000" "diff c0001" best "best --json" setup \
    strategies help --help --version "run --help" "run --iterations 1 --json"; do
    # shellcheck disable=SC2086
    "$APSIS" $command > /dev/full 2> "$work/err" < /dev/null
    is "$?" 3 "$command > /dev/full exits 3"
    like "$(cat "$work/err")" "^apsis: cannot write to standard output: No space left" "$command > /dev/full says why"
done
{ "$APSIS" status; echo $? > "$work/piped"; } 2> "$work/err" | true
is "$(cat "$work/err")" "" "a reader that stops early is told nothing"

project r
echo 'broken(' > own.lua
run run --strategy own.lua
is "$code" 2 "a strategy that does not load exits 2"
like "$err" "own.lua:[0-9]+:" "naming file and line"
done_testing
