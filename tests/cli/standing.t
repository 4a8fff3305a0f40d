#!/bin/bash
# examples/standing-goals: its three programs under a clock of the test's own, until two have their targets; what the commands of
# `on:` made of it: a bare repository that has everything, and a stand-in for gh that was told everything once. Then a command that
# fails, and a fresh clone that goes on.
. "$(dirname "$0")/transcript.sh"

example=$top/examples/standing-goals
goals=$work/goals
origin=$work/goals.git
PATH=$(dirname "$APSIS"):$PATH # for the commands of `on:` that are tried by hand
export PATH

day=0
# tick ARGUMENTS: a tick a day after the last one; leaves $chosen.
tick() {
    day=$((day + 1))
    APSIS_NOW=$(date -u -d "2026-01-01 + $day days" +%Y-%m-%dT12:00:00Z) && export APSIS_NOW
    run tick "$@"
    err=$(printf '%s' "$err" | grep -v '^ *[0-9]*:[0-9][0-9]  experiment') # the progress line
    chosen=$(printf '%s\n' "$out" | sed -n 's/^chosen  *//p')
}
state() { git --git-dir="${2:-$goals/.git}" show "memory/autoloop:$1.md"; }                  # PROGRAM [GIT_DIR]
row() { state "$1" "${3:-}" | sed -n "s/^| *$2 *| *\(.*[^ ]\) *|\$/\1/p"; }                  # PROGRAM FIELD [GIT_DIR]
journal() { git --git-dir="${2:-$goals/.git}" show "memory/autoloop:$1.jsonl"; }             # PROGRAM [GIT_DIR]
refs() { git --git-dir="$1" for-each-ref --format='%(refname) %(objectname)' refs/apsis refs/heads/autoloop refs/heads/memory; } # GIT_DIR
told() { grep -c -- "$1" "$goals/gh.log"; }                                                  # PATTERN
home() { case $1 in speed) echo "$goals/speed" ;; *) echo "$goals/.autoloop/programs/$1" ;; esac; } # PROGRAM

"$example/start.sh" "$goals" > "$work/out" 2>&1
is "$?" 0 "start.sh puts the example into a repository of its own"
is "$(cat "$work/out")" "" "and has nothing to say"
"$example/start.sh" "$goals" > "$work/out" 2>&1
is "$?" 2 "it does so once"
cd "$goals" || exit 1
is "$(git status --short)" "" "all of it is committed"

# Until nothing is left but the goal without an end.
while [ "$day" -lt 30 ]; do
    tick --experiments 3
    [ "$code" = 0 ] || { is "$code" 0 "tick $day"; break; }
    [ "$(row tests-pass Completed) $(row size Completed)" != "true true" ] || break
done
is "$(row tests-pass Completed) $(row size Completed)" "true true" "two programs are completed"
unlike "$(row speed Completed)" true "the one without an end is not"
like "$(row tests-pass 'Completed Reason')" "8" "the reason says the target"
is "$(row tests-pass 'Best Metric') $(row size 'Best Metric')" "8 247" "higher by >=, lower by <="
like "$(row tests-pass Issue) $(row size Issue) $(row speed Issue)" "^#1 #2 #3$" "the rows that were there are there"
is "$(git status --short)" "" "nothing of the user's was touched"

# What was pushed.
is "$(refs "$origin")" "$(refs "$goals/.git")" "the bare repository has every branch, every candidate and the state"
like "$(refs "$origin" | cut -d' ' -f1 | tr '\n' ' ')" \
    "refs/apsis/size/c0007 .*refs/apsis/tests-pass/c0006 .*heads/autoloop/size .*heads/autoloop/speed .*heads/autoloop/tests-pass .*heads/memory/autoloop" \
    "those of all three"
is "$(git --git-dir="$origin" show autoloop/size:page/style.css | wc -c)" 247 "its branch has what is smallest"
git --git-dir="$origin" show autoloop/tests-pass:lib/slug.lua > "$work/slug.lua"
unlike "$(cat "$work/slug.lua")" "upper|sub\(1" "rejected work is not on the branch"
unlike "$(cat "$work/slug.lua")" "$(printf '\t')" "nor what the gate refused"
is "$(journal tests-pass | tail -n 1)" "$(tail -n 1 "$(home tests-pass)/logs/results.jsonl")" "the journal went with it"

# What GitHub was told.
for program in tests-pass size speed; do
    number=$(row $program Issue)
    experiments=$(journal $program | grep -vc '"outcome":"baseline"')
    completed=0
    [ "$(row $program Completed)" != true ] || completed=1
    is "$(told "^issue comment ${number#\#}\$")" $((experiments + completed)) "$program: a comment for each experiment, and one for its end"
    is "$(told "^issue edit ${number#\#} -autoloop-program +autoloop-completed\$")" $completed "$program: labels are swapped once, if completed"
    is "$(told "^pr create [0-9]* autoloop/$program\$")" 1 "$program: one draft pull request"
done
like "$(cat gh.log)" "Experiment 1\*\*: reverted worse metric" "a comment says what came of it"
like "$(cat gh.log)" "Change: small letters" "what was changed"
like "$(cat gh.log)" "Metric: 2 \(best 2\)" "and what that was worth"
is "$(told "Repairs that the gate asked for: 1")" 1 "and what the gate had mended"
like "$(cat "$(home tests-pass)/runs/0003/gate.log")" "lib/slug.lua: error: a tab" "of which it tells"
for kind in kept rejected; do
    ok "what the command wrote is in on-$kind.log" test -f "$(find "$(home size)/runs" -name "on-$kind.log" | head -n 1)"
done

# A goal that is completed is let be, and nothing is told twice.
before=$(wc -l < gh.log)
tick --json
is "$(json selected)" speed "the goal without an end goes on"
like "$out" '"reason": *"completed: target metric reached' "the others are skipped, with the reason"
is "$(told '^issue edit')" 2 "no label is swapped again"
ok "but the experiment is told of" test "$(wc -l < gh.log)" -gt "$before"

# Commands that fail: origin is gone.
git remote set-url origin "$work/nowhere.git"
lines=$(journal speed | wc -l)
tick
is "$code" 0 "where the command fails the tick has done its work all the same"
like "$err" "on: (kept|rejected): the command ended with exit 128: .*/on-(kept|rejected)\.log\); the experiment stands" "which is said"
is "$(journal speed | wc -l)" $((lines + 1)) "the experiment stands"
unlike "$(row speed 'Consecutive Errors')" "[1-9]" "and it is no error of the program's"
like "$(cat speed/logs/apsis.log)" "WARN|warn +on: " "the log has it"
unlike "$(refs "$origin")" "$(git rev-parse memory/autoloop)" "origin does not know of it"
git remote set-url origin "$origin"
tick
is "$code:$err" "0:" "the next one is pushed again"
is "$(refs "$origin")" "$(refs "$goals/.git")" "with all that was missing"

# A fresh clone, as in CI, goes on where that stopped.
readme() { sed -n "s/^ .*run: \(git $1 .*\)/\1/p" README.md; } # WORD: a line of the workflow in the example's README
git clone -q "$origin" "$work/clone" && cd "$work/clone" || exit 1
ok "the fetch that the README has for CI" eval "$(readme fetch)"
ok "its push, where there is nothing to push" eval "$(readme push)"
git config user.name other # so that its commits are others, in the same second, too
lines=$(journal speed | wc -l)
tips=$(refs "$origin" | grep -v -e speed -e memory)
tick
is "$code" 0 "a fresh clone ticks"
is "$chosen" speed "the program that is due"
like "$out" "skipped +size: completed" "and knows which are completed"
is "$(wc -l < speed/logs/results.jsonl)" $((lines + 1)) "it goes on where the last tick stopped"
is "$(head -n "$lines" speed/logs/results.jsonl)" "$(journal speed)" "with the lines that were there"
is "$(journal speed "$origin")" "$(cat speed/logs/results.jsonl)" "and what it found is pushed"
is "$(refs "$origin" | grep -v -e speed -e memory)" "$tips" "nothing else moves"
is "$(grep -c '^issue comment 3$' gh.log)" 1 "and told, once"
git commit-tree -p memory/autoloop -m later 'memory/autoloop^{tree}' | xargs git update-ref refs/heads/memory/autoloop
ok "the push that the README has for CI" eval "$(readme push)"
is "$(refs "$origin" | tail -n 1)" "refs/heads/memory/autoloop $(git rev-parse memory/autoloop)" "brings the state there"

# The first one has not fetched: what it does stands here, and takes nothing from origin.
cd "$goals" || exit 1
there=$(refs "$origin")
tick
is "$code:$chosen" "0:speed" "the first clone, behind origin, ticks"
like "$err" "on: [a-z]*: the command ended with exit 1: .*rejected.* memory/autoloop" "its push is refused, and that is said"
is "$(refs "$origin")" "$there" "as a whole: candidates of the other clone are left as they are"

# Once it has fetched the two disagree. It takes origin's, as it is told to.
git fetch -q
tick
is "$code:$chosen" "2:" "nothing is done where the two have diverged"
like "$err" "speed.*: memory/autoloop and origin/memory/autoloop have diverged" "which is said"
git branch -qf memory/autoloop origin/memory/autoloop
tick
is "$code" 3 "nor where its journal has other lines than origin's"
like "$err" "logs/results.jsonl and speed.jsonl on the branch memory/autoloop differ from line $((lines + 1)) on" "which is said"
mv speed/logs/results.jsonl speed/logs/results.jsonl.old && git branch -qf autoloop/speed origin/autoloop/speed
git fetch -q origin '+refs/apsis/*:refs/apsis/*'
tick
is "$code:$chosen:$err" "0:speed:" "with origin's it goes on"
is "$(journal speed "$origin" | wc -l)" $((lines + 2)) "from what the other clone has found"
is "$(journal speed "$origin" | grep -o '"experiment":[0-9]*' | sort | uniq -d)" "" "no experiment twice"
is "$(refs "$origin")" "$(refs "$goals/.git")" "and all is pushed"

# A provider that fails pauses its program, which is told once.
echo "return function() error 'out of ideas' end" > speed/mutate.lua
tick --experiments 5
is "$(row speed Paused)" true "three errors in a row pause a program"
is "$(told '^  Paused: ')" 1 "which its issue hears of"
like "$(grep '^  Paused: ' gh.log)" "error" "with the reason"
is "$(row speed Paused "$origin")" true "and origin too"
git checkout -q speed/mutate.lua
tick
is "$chosen" "" "it is let be"
like "$out" "skipped +speed: paused: 3 consecutive errors" "and says why"
is "$(told '^  Paused: ')" 1 "and not told of again"

# The stand-in refuses what it does not know, so that a slip in tell.sh is seen here.
for words in "issue comment x --body-file -" "issue comment 1" "issue close 1" "issue edit 1 --add-label a --remove-label b" "pr create"; do
    # shellcheck disable=SC2086
    echo text | GH_LOG=$work/gh.log bin/gh $words > "$work/out" 2>&1
    is "$?" 1 "the stand-in refuses: gh $words"
done
done_testing
