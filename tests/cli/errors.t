#!/bin/sh
# What goes wrong: each has its exit code, and says what to do.
. tests/cli/lib.sh

commands=$("$APSIS" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    apsis "$command" --help
    is "$command --help exits 0" "$code" 0
    line "$command --help has an example" "$out" "example:"
done

for command in run log metrics exec; do
    "$APSIS" "$command" --help > "$T/expected"
    apsis help "$command"
    is "help $command is $command --help" "$code $out" "0 $(cat "$T/expected")"
done
apsis help statsu
is "help for an unknown command exits 2" "$code" 2
line "with the nearest one" "$err" 'did you mean "status"'
apsis help
is "help alone exits 0" "$code" 0
line "with the commands" "$out" "usage: apsis COMMAND"

cd "$T" || exit 1
for command in setup baseline run step eval status log best pause resume replay "show best" "diff best" \
    "direct --list"; do
    # shellcheck disable=SC2086
    apsis $command
    is "$command outside a project exits 2" "$code" 2
    line "$command outside a project says how to make one" "$out$err" "apsis init"
done
for command in setup baseline run eval status log show diff best direct pause strategies doctor init; do
    apsis "$command" --no-such-option
    is "$command with an unknown option exits 2" "$code" 2
    line "$command with an unknown option has an example" "$err" "example: "
done
apsis show best extra
is "show with two ids exits 2" "$code" 2
apsis statsu
is "an unknown command exits 2" "$code" 2
line "with the nearest one" "$err" 'did you mean "status"'
apsis
is "no command exits 2" "$code" 2
apsis status "$T/nowhere"
is "a folder that does not exist exits 2" "$code" 2

mkdir plain && cd plain && "$APSIS" init --example > /dev/null
for command in setup baseline eval; do
    apsis "$command"
    is "$command outside a repository exits 3" "$code" 3
    line "$command outside a repository says what to run" "$out$err" "git init"
done

project p
apsis run
is "run without a baseline exits 3" "$code" 3
line "and says so" "$err" "apsis baseline"
sed -i '/^provider:/d' manifest.yaml
commit 'no provider'
apsis baseline
is "a baseline needs no provider" "$code" 0
apsis run
is "a run does: exit 4" "$code" 4
apsis setup
is "setup does not fail, as submit needs none" "$code" 0
line "but notes it" "$out" "^note  provider .*no provider"
sed -i 's/direction: lower/direction: sideways/' manifest.yaml
line=$(grep -n sideways manifest.yaml | cut -d: -f1)
apsis run
is "a wrong manifest exits 2" "$code" 2
line "naming file, line and key" "$err" "manifest.yaml:$line: metric.direction: "

project q
echo 'print "METRIC  loss = high"' > evaluate.lua
commit 'no metric'
apsis eval
is "eval without a metric exits 5" "$code" 5
line "and says so" "$err" "no metric"
apsis baseline
is "as does a baseline" "$code" 5
# What the user would have lost: journal and state.json looked like a success.
is "its line is a crash" "$(field 0 status)" crash
line "with the reason" "$(field 0 rollback_reason)" "no METRIC loss=NUMBER"
line "state.json has it, too" "$(cat logs/state.json)" '"last_status":"crash".*"reason":"the baseline has no metric: '
apsis best
is "and then there is no best" "$code" 5
apsis status
is "status exits 0 even so" "$code" 0
line "and is not ready" "$out" "^loop: +not ready: the baseline has no metric"
mv logs/state.json "$T/state.json"
is "without state.json, status goes by the journal" "$("$APSIS" status --json | grep -o '"status":"[a-z ]*"')" '"status":"stopped"'
mv "$T/state.json" logs/state.json
line "and shows the near miss" "$out" "near misses: +experiment 0, line 1"

# Numbers: negative ones are no options, and what is none names its option.
number() { # MESSAGE ARGUMENTS...
    message=$1
    shift
    apsis "$@"
    is "$* exits 2" "$code" 2
    line "$* says: $message" "$err" "$message"
    no_line "$* is not taken for an option" "$err" "unknown option"
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
apsis run -q -3
is "a negative number after a flag exits 2" "$code" 2
line "as an option that does not exist" "$err" "unknown option '-3'"
apsis direct --message -3
is "a text may be a negative number" "$code" 0

# Standard output that takes nothing. Every command here has something to print.
project full
"$APSIS" baseline > /dev/null 2>&1
"$APSIS" run --iterations 1 -q > /dev/null 2>&1
for command in status "status --json" log "log --json" "log --graph" "show c0000" "diff c0001" best "best --json" setup \
    strategies help --help --version "run --help" "run --iterations 1 --json"; do
    # shellcheck disable=SC2086
    "$APSIS" $command > /dev/full 2> "$T/err" < /dev/null
    is "$command > /dev/full exits 3" "$?" 3
    line "$command > /dev/full says why" "$(cat "$T/err")" "^apsis: cannot write to standard output: No space left"
done
{ "$APSIS" status; echo $? > "$T/piped"; } 2> "$T/err" | true
is "a reader that stops early is told nothing" "$(cat "$T/err")" ""

project r
echo 'broken(' > own.lua
apsis run --strategy own.lua
is "a strategy that does not load exits 2" "$code" 2
line "naming file and line" "$err" "own.lua:[0-9]+:"
finish
