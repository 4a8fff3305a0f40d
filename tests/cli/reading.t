#!/bin/sh
# log, show, diff, best, status: what they say of a run whose every step is known (a parabola's first number: 1, 1.5,
# 0.5).
. "$(dirname "$0")/transcript.sh"
scripted p

for command in log show\ best diff\ best best; do
    # shellcheck disable=SC2086
    run $command
    is "$code" 3 "$command before a baseline exits 3"
    like "$err" "apsis baseline" "$command before a baseline says what to run"
done
run status --json
is "$code" 0 "status before a baseline exits 0"
is "$(json best)" null "and has no best"

"$APSIS" baseline > /dev/null 2>&1
run run --iterations 3 --set patience=50 -q
is "$code" 0 "the run ends well"

run log
like "$out" "^0 +c0000 +baseline" "log begins with the baseline"
like "$out" "c0001 +kept .* -[0-9.]+ +better" "an improvement is marked whatever its sign"
like "$out" "c0003 +reverted_worse_metric .* \\+[0-9.]+ +worse" "and so is the opposite"
unlike "$out" "$(printf '\033')" "no escape sequence of a provider reaches the table"
run log -n 1 --outcome kept
like "$out" "c0002" "-n and --outcome choose"
unlike "$out" "^ *[13] " "and leave out"
run log --outcome kep
is "$code" 2 "an unknown outcome exits 2"
like "$err" 'did you mean "kept"' "with the nearest one"
run log -n 0
is "$code" 2 "-n 0 exits 2"

run log --format json
is "$out" "$(cat logs/results.jsonl)" "log --format json is the journal byte for byte"
run log --format autoresearch
is "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 5 "log --format autoresearch has a config line and one per run"
all=$out
out=$(printf '%s\n' "$all" | sed -n 1p)
is "$(json type) $(json metricName) $(json bestDirection)" "config loss lower" "its config line names the metric"
out=$(printf '%s\n' "$all" | sed -n 3p)
is "$(json run) $(json status)" "2 keep" "runs count from 1"
is "$(json commit)" "$(git rev-parse --short=7 refs/apsis/p/c0001)" "a kept run has its commit"
out=$(printf '%s\n' "$all" | sed -n 5p)
is "$(json status) $(json commit)" "discard null" "a discarded run has null"
stamp=$(tail -n 1 logs/results.jsonl | sed 's/.*"timestamp":"\([^"]*\)".*/\1/')
is "$(json timestamp)" "$(date -u -d "$stamp" +%s)000" "timestamps are milliseconds"
run log --graph
like "$out" '^\*  c0002 kept' "log --graph marks what was kept"
like "$out" '^[-+|]*o  c0003 reverted' "and what was not"
is "$(printf '%s\n' "$out" | tail -n 1 | grep -c 'c0000 baseline')" 1 "and ends with the baseline"

run exec "$here/graph.lua"
is "$out" '*  i
*-.  h
+-|-*  g
| | o  f
*-|-+  e
+-o |  d
|   *  c
*---+  b
    *  a' "merges are joined and lanes keep their place"

run show 2
like "$out" "candidate: +c0002 \\(best, current\\)" "show finds a candidate by its number"
like "$out" "settings.lua \\| \\+1 -1" "and has the patch's extent"
like "$out" "METRIC loss=" "and the verifier's last lines"
unlike "$out" "$(printf '\033')" "and no escape sequences"
run show best --json
is "$(json candidate) $(json outcome)" "c0002 kept" "show --json is the journal line"
is "$(json patch.1.path)" settings.lua "with the patch beside it"
like "$("$APSIS" show)" "candidate: +c0002" "show without an id is the best"
run show 3
like "$out" "\+[0-9.]+: worse than the best of its time, [0-9.]+ \(lower is better\)" "worse says than what"
run show c0042
is "$code" 2 "an unknown candidate exits 2"
like "$err" "c0003" "and names the nearest"
run show bets
like "$err" 'did you mean "best"' "a mistyped name has a suggestion"
run show best --prompt
is "$code" 2 "a candidate without a prompt exits 2"
printf 'exact\n\n' > runs/0002/prompt.md
"$APSIS" show best --prompt > "$work/prompt"
ok "show --prompt prints it byte for byte" cmp "$work/prompt" runs/0002/prompt.md

run diff c0003
"$APSIS" diff c0003 > "$work/patch"
git checkout -q -b try refs/apsis/p/c0002
ok "diff is a patch that git applies" git apply --check "$work/patch"
git checkout -q main
run diff c0003 c0000
like "$out" '^-return \{ 0, 0, 0 \}' "diff ID OTHER compares with another candidate"
is "$("$APSIS" diff)" "$("$APSIS" diff best)" "diff without an id is the best's"
run diff --help
like "$out" "apsis diff best baseline" "diff --help says how to see all"
run diff best baseline
like "$out" '^\+return \{ 1.5, 0, 0 \}' "and that shows it"
run diff baseline
is "$code" 0 "the baseline's diff is empty"
is "$out" "" "and prints nothing"

run best --json
is "$(json candidate) $(json branch)" "c0002 apsis/p" "best --json names candidate and branch"
is "$(json commit)" "$(git rev-parse refs/apsis/p/c0002)" "and the commit"
run best --apply-hint
like "$out" "^git merge apsis/p$" "best --apply-hint has the command"
ok "which works" sh -c "$(printf '%s\n' "$out" | grep merge)"
is "$(cat settings.lua)" "return { 1.5, 0, 0 }" "and brings the best here"
git update-ref refs/heads/apsis/p refs/apsis/p/c0001
run best --apply-hint
like "$out" "^git merge refs/apsis/p/c0002$" "where the branch was left behind, the candidate's ref is named"

run status --json
is "$(json best.candidate) $(json baseline.candidate)" "c0002 c0000" "status --json has best and baseline"
is "$(json outcomes.kept) $(json outcomes.reverted_worse_metric)" "2 1" "and counts outcomes"
is "$(json running) $(json since_kept)" "false 1" "and where the loop stands"
is "$(json budget.iterations.spent)" 3 "and what the budget spent"
before=$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)
for command in status log best "show best" "diff best" "log --graph"; do
    # shellcheck disable=SC2086
    "$APSIS" $command > /dev/null 2>&1
done
is "$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)" "$before" "reading writes nothing"

is "$(json experiments)" 3 "experiments are counted without the baseline"
run status
like "$out" "since kept: +1 experiment$" "one experiment is singular"

cat > broken.lua <<'LUA'
return {
  plan = function(run) if run.experiment == 4 then return nil + 1 end return { parents = { run.best } } end,
  accept = function() return true, "because I say so", { notes = { depth = 2, why = "a try", sketch = ("0f"):rep(32),
    features = { size = 3, kind = "b" } } } end,
  halt = function(run) return run.experiment > 6 and "enough" or nil end,
}
LUA
printf '0.25 never asked for\n0.25 something %s\n1.5 a change\n' "$(printf '%0150d' 0)" >> edits.txt
git add edits.txt && git commit -qm 'more edits'
run run --strategy broken.lua --iterations 100000 -q
run log --graph
is "$code" 0 "log --graph shows a line without an operator"
like "$out" "c0004 skipped_strategy_error - broken.lua: hook plan: broken.lua:2: attempt" "with its reason"
run log
like "$out" "c0004 +skipped_strategy_error .* broken.lua: hook plan: broken.lua:2: attempt" "and so does log"
like "$out" "c0006 +skipped_no_change .* the edits change nothing$" "and the reason of a change that is none"
like "$out" "something 0{150}$" "which is not cut for a terminal that is not there"
if script -qec true /dev/null > /dev/null 2>&1; then
    out=$(script -qec "stty cols 140; '$APSIS' log; '$APSIS' log --graph" /dev/null | tr -d '\r')
    is "$(printf '%s\n' "$out" | wc -L)" 140 "on a terminal, a line fits"
    like "$out" "~$" "the last column being cut"
    out=$(script -qec "stty cols 60; '$APSIS' log; '$APSIS' status" /dev/null | tr -d '\r')
    ok "on a narrow one too, for it does without columns" test "$(printf '%s\n' "$out" | wc -L)" -le 60
    like "$out" "^ +[a-z_]+ [0-9]+" "and what status says goes on below, between words"
fi
run log --graph --json
is "$code" 2 "log --graph --json is refused"
like "$err" "leave it out, or --json" "for a graph is text"
run log --graph --format autoresearch
is "$code" 2 "with another format as well"
run status -C .
is "$code" 0 "the project may be named with -C"
run status . -C .
is "$code" 2 "but not twice"
run log --help
like "$out" "  -n, --count N +only" "the help has an option's names in one line"
cd ..
run show best p
is "$code" 2 "show takes no directory"
like "$err" "the project is named with -C DIR" "and says how to name the project"
run diff best p
like "$err" "p is a directory: name the project with -C p" "and so does diff"
run setup p
like "$out" "^next: apsis run p$" "setup names the project in what comes next, without the baseline that is there"
run best p
is "$code" 0 "best finds it"
cd p
run status
like "$out" "[36] of 100000 iterations" "a budget is written without an exponent"
run show 5
like "$out" "kept because: +because I say so" "show says why a candidate was kept"
like "$out" "note depth: +2" "and the notes"
like "$out" "note why: +a try" "all of them"
like "$out" "note features: +kind=b size=3$" "a mapping as names and values"
unlike "$out" "sketch" "but not what is for programs alone"

printf '{"experiment":4,"outc' >> logs/results.jsonl
run log
is "$code" 0 "a torn last line is passed over"
printf 'ome":"kept"}\nnot JSON\n' >> logs/results.jsonl
run log
is "$code" 3 "a broken line exits 3"
like "$err" "results.jsonl:[0-9]+:" "naming file and line"
mkdir sub && cd sub || exit 1
run status ..
is "$code" 3 "from a folder inside, too"
done_testing
