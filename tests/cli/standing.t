#!/bin/bash
# examples/standing-goals: its three programs under a clock of the test's own, until two have their targets; what the commands of
# `on:` made of it: a bare repository that has everything, and a stand-in for gh that was told everything once. Then a command that
# fails, and a fresh clone that goes on.
. tests/cli/lib.sh

example=$ROOT/examples/standing-goals
goals=$T/goals
origin=$T/goals.git
PATH=$(dirname "$APSIS"):$PATH # for the commands of `on:` that are tried by hand
export PATH

day=0
# tick ARGUMENTS: a tick a day after the last one; leaves $chosen.
tick() {
    day=$((day + 1))
    APSIS_NOW=$(date -u -d "2026-01-01 + $day days" +%Y-%m-%dT12:00:00Z) && export APSIS_NOW
    apsis tick "$@"
    err=$(printf '%s' "$err" | grep -v '^ *[0-9]*:[0-9][0-9]  experiment') # the progress line
    chosen=$(printf '%s\n' "$out" | sed -n 's/^chosen  *//p')
}
state() { git --git-dir="${2:-$goals/.git}" show "memory/autoloop:$1.md"; }                  # PROGRAM [GIT_DIR]
row() { state "$1" "${3:-}" | sed -n "s/^| *$2 *| *\(.*[^ ]\) *|\$/\1/p"; }                  # PROGRAM FIELD [GIT_DIR]
journal() { git --git-dir="${2:-$goals/.git}" show "memory/autoloop:$1.jsonl"; }             # PROGRAM [GIT_DIR]
refs() { git --git-dir="$1" for-each-ref --format='%(refname) %(objectname)' refs/apsis refs/heads/autoloop refs/heads/memory; } # GIT_DIR
told() { grep -c -- "$1" "$goals/gh.log"; }                                                  # PATTERN
home() { case $1 in speed) echo "$goals/speed" ;; *) echo "$goals/.autoloop/programs/$1" ;; esac; } # PROGRAM

start() { "$example/start.sh" "$goals" > "$T/out" 2>&1; }
start
code=$?
for _ in ${BESIDE_GC:+1 2 3 4}; do # its git is disturbed by git's own gc (lib.sh)
    [ "$code" != 0 ] || [ -s "$T/out" ] || break
    rm -rf "$goals" "$goals.git"
    start
    code=$?
done
is "start.sh puts the example into a repository of its own" "$code" 0
is "and has nothing to say" "$(cat "$T/out")" ""
"$example/start.sh" "$goals" > "$T/out" 2>&1
is "it does so once" "$?" 2
cd "$goals" || exit 1
is "all of it is committed" "$(git status --short)" ""

# Until nothing is left but the goal without an end.
while [ "$day" -lt 30 ]; do
    tick --experiments 3
    [ "$code" = 0 ] || { is "$code" 0 "tick $day"; break; }
    [ "$(row tests-pass Completed) $(row size Completed)" != "true true" ] || break
done
is "two programs are completed" "$(row tests-pass Completed) $(row size Completed)" "true true"
no_line "the one without an end is not" "$(row speed Completed)" true
line "the reason says the target" "$(row tests-pass 'Completed Reason')" "8"
is "higher by >=, lower by <=" "$(row tests-pass 'Best Metric') $(row size 'Best Metric')" "8 247"
line "the rows that were there are there" "$(row tests-pass Issue) $(row size Issue) $(row speed Issue)" "^#1 #2 #3$"
is "nothing of the user's was touched" "$(git status --short)" ""

# What was pushed.
is "the bare repository has every branch, every candidate and the state" "$(refs "$origin")" "$(refs "$goals/.git")"
line "those of all three" "$(refs "$origin" | cut -d' ' -f1 | tr '\n' ' ')" \
    "refs/apsis/size/c0007 .*refs/apsis/tests-pass/c0006 .*heads/autoloop/size .*heads/autoloop/speed .*heads/autoloop/tests-pass .*heads/memory/autoloop"
is "its branch has what is smallest" "$(git --git-dir="$origin" show autoloop/size:page/style.css | wc -c)" 247
git --git-dir="$origin" show autoloop/tests-pass:lib/slug.lua > "$T/slug.lua"
no_line "rejected work is not on the branch" "$(cat "$T/slug.lua")" "upper|sub\(1"
no_line "nor what the gate refused" "$(cat "$T/slug.lua")" "$(printf '\t')"
is "the journal went with it" "$(journal tests-pass | tail -n 1)" \
    "$(tail -n 1 "$(home tests-pass)/logs/results.jsonl")"

# What GitHub was told.
for program in tests-pass size speed; do
    number=$(row $program Issue)
    experiments=$(journal $program | grep -vc '"outcome":"baseline"')
    completed=0
    [ "$(row $program Completed)" != true ] || completed=1
    is "$program: a comment for each experiment, and one for its end" "$(told "^issue comment ${number#\#}\$")" \
        $((experiments + completed))
    is "$program: labels are swapped once, if completed" "$(told "^issue edit ${number#\#} -autoloop-program +autoloop-completed\$")" \
        $completed
    is "$program: one draft pull request" "$(told "^pr create [0-9]* autoloop/$program\$")" 1
done
line "a comment says what came of it" "$(cat gh.log)" "Experiment 1\*\*: reverted worse metric"
line "what was changed" "$(cat gh.log)" "Change: small letters"
line "and what that was worth" "$(cat gh.log)" "Metric: 2 \(best 2\)"
is "and what the gate had mended" "$(told "Repairs that the gate asked for: 1")" 1
line "of which it tells" "$(cat "$(home tests-pass)/runs/0003/gate.log")" "lib/slug.lua: error: a tab"
for kind in kept rejected; do
    ok "what the command wrote is in on-$kind.log" test -f "$(find "$(home size)/runs" -name "on-$kind.log" | head -n 1)"
done

# A goal that is completed is let be, and nothing is told twice.
before=$(wc -l < gh.log)
tick --json
is "the goal without an end goes on" "$(json selected)" speed
line "the others are skipped, with the reason" "$out" '"reason": *"completed: target metric reached'
is "no label is swapped again" "$(told '^issue edit')" 2
ok "but the experiment is told of" test "$(wc -l < gh.log)" -gt "$before"

# Commands that fail: origin is gone.
git remote set-url origin "$T/nowhere.git"
lines=$(journal speed | wc -l)
tick
is "where the command fails the tick has done its work all the same" "$code" 0
line "which is said" "$err" \
    "on: (kept|rejected): the command ended with exit 128: .*/on-(kept|rejected)\.log\); the experiment is not affected"
is "the experiment stands" "$(journal speed | wc -l)" $((lines + 1))
no_line "and it is no error of the program's" "$(row speed 'Consecutive Errors')" "[1-9]"
line "the log has it" "$(cat speed/logs/apsis.log)" "WARN|warn +on: "
no_line "origin does not know of it" "$(refs "$origin")" "$(git rev-parse memory/autoloop)"
git remote set-url origin "$origin"
tick
is "the next one is pushed again" "$code:$err" "0:"
is "with all that was missing" "$(refs "$origin")" "$(refs "$goals/.git")"

# A fresh clone, as in CI, goes on where that stopped.
readme() { sed -n "s/^ .*run: \(git $1 .*\)/\1/p" README.md; } # WORD: a line of the workflow in the example's README
git clone -q "$origin" "$T/clone" && cd "$T/clone" || exit 1
ok "the fetch that the README has for CI" eval "$(readme fetch)"
ok "its push, where there is nothing to push" eval "$(readme push)"
git config user.name other # so that its commits are others, in the same second, too
lines=$(journal speed | wc -l)
tips=$(refs "$origin" | grep -v -e speed -e memory)
tick
is "a fresh clone ticks" "$code" 0
is "the program that is due" "$chosen" speed
line "and knows which are completed" "$out" "skipped +size: completed"
is "it goes on where the last tick stopped" "$(wc -l < speed/logs/results.jsonl)" $((lines + 1))
is "with the lines that were there" "$(head -n "$lines" speed/logs/results.jsonl)" "$(journal speed)"
is "and what it found is pushed" "$(journal speed "$origin")" "$(cat speed/logs/results.jsonl)"
is "nothing else moves" "$(refs "$origin" | grep -v -e speed -e memory)" "$tips"
is "and told, once" "$(grep -c '^issue comment 3$' gh.log)" 1
git commit-tree -p memory/autoloop -m later 'memory/autoloop^{tree}' | xargs git update-ref refs/heads/memory/autoloop
ok "the push that the README has for CI" eval "$(readme push)"
is "brings the state there" "$(refs "$origin" | tail -n 1)" \
    "refs/heads/memory/autoloop $(git rev-parse memory/autoloop)"

# The first one has not fetched: what it does stands here, and takes nothing from origin.
cd "$goals" || exit 1
there=$(refs "$origin")
tick
is "the first clone, behind origin, ticks" "$code:$chosen" "0:speed"
line "its push is refused, and that is said" "$err" \
    "on: [a-z]*: the command ended with exit 1: .*rejected.* memory/autoloop"
is "as a whole: candidates of the other clone are left as they are" "$(refs "$origin")" "$there"

# Once it has fetched the two disagree. It takes origin's, as it is told to.
git fetch -q
tick
is "nothing is done where the two have diverged" "$code:$chosen" "2:"
line "which is said" "$err" "speed.*: memory/autoloop and origin/memory/autoloop have diverged"
git branch -qf memory/autoloop origin/memory/autoloop
tick
is "nor where its journal has other lines than origin's" "$code" 3
line "which is said" "$err" \
    "logs/results.jsonl and speed.jsonl on the branch memory/autoloop differ from line $((lines + 1)) on"
mv speed/logs/results.jsonl speed/logs/results.jsonl.old && git branch -qf autoloop/speed origin/autoloop/speed
git fetch -q origin '+refs/apsis/*:refs/apsis/*'
tick
is "with origin's it goes on" "$code:$chosen:$err" "0:speed:"
is "from what the other clone has found" "$(journal speed "$origin" | wc -l)" $((lines + 2))
is "no experiment twice" "$(journal speed "$origin" | grep -o '"experiment":[0-9]*' | sort | uniq -d)" ""
is "and all is pushed" "$(refs "$origin")" "$(refs "$goals/.git")"

# A provider that fails pauses its program, which is told once.
echo "return function() error 'out of ideas' end" > speed/mutate.lua
tick --experiments 5
is "three errors in a row pause a program" "$(row speed Paused)" true
is "which its issue hears of" "$(told '^  Paused: ')" 1
line "with the reason" "$(grep '^  Paused: ' gh.log)" "error"
is "and origin too" "$(row speed Paused "$origin")" true
git checkout -q speed/mutate.lua
tick
is "it is let be" "$chosen" ""
line "and says why" "$out" "skipped +speed: paused: 3 consecutive errors"
is "and not told of again" "$(told '^  Paused: ')" 1

# The stand-in refuses what it does not know, so that a slip in tell.sh is seen here.
for words in "issue comment x --body-file -" "issue comment 1" "issue close 1" "issue edit 1 --add-label a --remove-label b" "pr create"; do
    # shellcheck disable=SC2086
    echo text | GH_LOG=$T/gh.log bin/gh $words > "$T/out" 2>&1
    is "the stand-in refuses: gh $words" "$?" 1
done
finish
