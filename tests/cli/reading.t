#!/bin/sh
# log, show, diff, best, status: what they say of a run whose every step is known (a parabola's first number: 1, 1.5,
# 0.5).
. tests/cli/lib.sh
scripted p

for command in log show\ best diff\ best best; do
    # shellcheck disable=SC2086
    apsis $command
    is "$command before a baseline exits 3" "$code" 3
    line "$command before a baseline says what to run" "$err" "apsis baseline"
done
apsis status --json
is "status before a baseline exits 0" "$code" 0
is "and has no best" "$(json best)" null

"$APSIS" baseline > /dev/null 2>&1
apsis run --iterations 3 --set patience=50 -q
is "the run ends well" "$code" 0

apsis log
line "log begins with the baseline" "$out" "^0 +c0000 +baseline"
line "an improvement is marked whatever its sign" "$out" "c0001 +kept .* -[0-9.]+ +better"
line "and so is the opposite" "$out" "c0003 +reverted_worse_metric .* \\+[0-9.]+ +worse"
no_line "no escape sequence of a provider reaches the table" "$out" "$(printf '\033')"
apsis log -n 1 --outcome kept
line "-n and --outcome choose" "$out" "c0002"
no_line "and leave out" "$out" "^ *[13] "
apsis log
is "the newest is first" "$(printf '%s\n' "$out" | grep -o '^ *[0-9]' | tr -d ' \n')" 3210
apsis log --reverse
is "but not with --reverse" "$(printf '%s\n' "$out" | grep -o '^ *[0-9]' | tr -d ' \n')" 0123
apsis log -2
is "-2 is -n 2" "$(printf '%s\n' "$out" | grep -o '^ *[0-9]' | tr -d ' \n')" 32
apsis log --json -2
is "JSON keeps the journal's order" "$out" "$(tail -n 2 logs/results.jsonl)"
apsis log --operator baseline,none
is "--operator chooses" "$(printf '%s\n' "$out" | grep -o '^ *[0-9]' | tr -d ' \n')" 0
apsis log --outcome kep
is "an unknown outcome exits 2" "$code" 2
line "with the nearest one" "$err" 'did you mean "kept"'
apsis log -n 0
is "-n 0 exits 2" "$code" 2

apsis log --format json
is "log --format json is the journal byte for byte" "$out" "$(cat logs/results.jsonl)"
apsis log --format autoresearch
is "log --format autoresearch has one line per run" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 4
all=$out
is "each with the keys of the METRIC protocol's schema, in its order" "$(printf '%s\n' "$all" | head -n 1 | sed 's/"secondary_metrics":{[^}]*}/"secondary_metrics":0/' |
    grep -o '[{,]"[a-z_]*":' | tr -d '{,":' | head -11 | paste -sd' ')" \
    "experiment status hypothesis primary_metric secondary_metrics description learned rollback_reason next_action_hint commit timestamp"
out=$(printf '%s\n' "$all" | sed -n 2p)
is "a kept one has its commit and no reason" "$(json experiment) $(json status) $(json commit) $(json rollback_reason)" \
    "1 keep $(git rev-parse refs/apsis/p/c0001) null"
is "what nobody said is null" "$(json learned) $(json next_action_hint)" "null null"
is "and what was measured is there" "$(json primary_metric) $(json description)" "$(field 1 primary_metric) $(field 1 description)"
out=$(printf '%s\n' "$all" | sed -n 4p)
is "a discarded one has no commit, and a reason" "$(json status) $(json commit) $(json rollback_reason)" \
    "discard null $(field 3 rollback_reason)"
is "timestamps are the journal's, in seconds" "$(json timestamp)" "$(field 3 timestamp)"
line "as the protocol writes them" "$out" '"timestamp":"20[0-9-]+T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"}$'
apsis log --format autoresearch -n 1 --outcome kept
is "-n and --outcome choose here, too" "$(json experiment)" 2
apsis log --format pi-autoresearch
is "log --format pi-autoresearch has a config line and one per run" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 5
all=$out
out=$(printf '%s\n' "$all" | sed -n 1p)
is "its config line names the metric" "$(json type) $(json metricName) $(json bestDirection)" "config loss lower"
out=$(printf '%s\n' "$all" | sed -n 3p)
is "runs count from 1" "$(json run) $(json status)" "2 keep"
is "a kept run has its commit" "$(json commit)" "$(git rev-parse --short=7 refs/apsis/p/c0001)"
out=$(printf '%s\n' "$all" | sed -n 5p)
is "a discarded run has null" "$(json status) $(json commit)" "discard null"
stamp=$(tail -n 1 logs/results.jsonl | sed 's/.*"timestamp":"\([^"]*\)".*/\1/')
is "timestamps are milliseconds" "$(json timestamp)" "$(date -u -d "$stamp" +%s)000"
apsis log --graph
line "log --graph marks what was kept" "$out" '^\*  c0002 kept'
line "and what was not" "$out" '^[-+|]*o  c0003 reverted'
is "and ends with the baseline" "$(printf '%s\n' "$out" | tail -n 1 | grep -c 'c0000 baseline')" 1

apsis exec "$ROOT/tests/cli/graph.lua"
is "merges are joined and lanes keep their place" "$out" \
    '*  i
*-.  h
+-|-*  g
| | o  f
*-|-+  e
+-o |  d
|   *  c
*---+  b
    *  a'

apsis show 2
line "show finds a candidate by its number" "$out" "candidate: +c0002 \\(best, current\\)"
line "and has the patch's extent" "$out" "settings.lua \\| \\+1 -1"
line "and the verifier's last lines" "$out" "METRIC loss="
no_line "and no escape sequences" "$out" "$(printf '\033')"
apsis show best --json
is "show --json is the journal line" "$(json candidate) $(json outcome)" "c0002 kept"
is "with the patch beside it" "$(json patch.1.path)" settings.lua
line "show without an id is the best" "$("$APSIS" show)" "candidate: +c0002"
apsis show 3
line "worse says than what" "$out" "\+[0-9.]+ \(\+[0-9]+ %\): worse than the best of its time, [0-9.]+ \(lower is better\)"
apsis show c0042
is "an unknown candidate exits 2" "$code" 2
line "and names the nearest" "$err" "c0003"
apsis show bets
line "a mistyped name has a suggestion" "$err" 'did you mean "best"'
apsis show best --prompt
is "a candidate without a prompt exits 2" "$code" 2
printf 'exact\n\n' > runs/0002/prompt.md
"$APSIS" show best --prompt > "$T/prompt"
ok "show --prompt prints it byte for byte" cmp "$T/prompt" runs/0002/prompt.md

apsis diff c0003
"$APSIS" diff c0003 > "$T/patch"
git checkout -q -b try refs/apsis/p/c0002
ok "diff is a patch that git applies" git apply --check "$T/patch"
git checkout -q main
apsis diff c0003 c0000
line "diff ID OTHER compares with another candidate" "$out" '^-return \{ 0, 0, 0 \}'
is "diff without an id is the best's" "$("$APSIS" diff)" "$("$APSIS" diff best)"
apsis diff --help
line "diff --help says what it compares" "$out" "the best with the baseline, others with their parent"
is "the best with the baseline" "$("$APSIS" diff)" "$("$APSIS" diff best baseline)"
line "--parent with its parent" "$("$APSIS" diff --parent)" '^-return \{ 1, 0, 0 \}'
apsis diff --parent best baseline
is "two ways at once are refused" "$code" 2
apsis diff best baseline
line "and that shows it" "$out" '^\+return \{ 1.5, 0, 0 \}'
apsis diff baseline
is "the baseline's diff is empty" "$code" 0
is "and prints nothing" "$out" ""

apsis best --json
is "best --json names candidate and branch" "$(json candidate) $(json branch)" "c0002 apsis/p"
is "and the commit" "$(json commit)" "$(git rev-parse refs/apsis/p/c0002)"
apsis best --apply-hint
line "best --apply-hint has the command" "$out" "^git merge apsis/p$"
ok "which works" sh -c "$(printf '%s\n' "$out" | grep merge)"
is "and brings the best here" "$(cat settings.lua)" "return { 1.5, 0, 0 }"
git update-ref refs/heads/apsis/p refs/apsis/p/c0001
apsis best --apply-hint
line "where the branch was left behind, the candidate's ref is named" "$out" "^git merge refs/apsis/p/c0002$"

apsis status --json
is "status --json has best and baseline" "$(json best.candidate) $(json baseline.candidate)" "c0002 c0000"
is "and counts outcomes" "$(json outcomes.kept) $(json outcomes.reverted_worse_metric)" "2 1"
is "and where the loop stands" "$(json running) $(json since_kept)" "false 1"
is "and what the budget spent" "$(json budget.iterations.spent)" 3
before=$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)
for command in status log best "show best" "diff best" "log --graph"; do
    # shellcheck disable=SC2086
    "$APSIS" $command > /dev/null 2>&1
done
is "reading writes nothing" "$(find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 cksum)" "$before"

is "experiments are counted without the baseline" "$(json experiments)" 3
apsis status
line "one experiment is singular" "$out" "since kept: +1 experiment$"

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
apsis run --strategy broken.lua --iterations 100000 -q
apsis log --graph
is "log --graph shows a line without an operator" "$code" 0
line "with its reason" "$out" "c0004 skipped_strategy_error - broken.lua: hook plan: broken.lua:2: attempt"
apsis log
line "and so does log" "$out" "c0004 +skipped_strategy_error .* broken.lua: hook plan: broken.lua:2: attempt"
line "and the reason of a change that is none" "$out" "c0006 +skipped_no_change .* the edits change nothing$"
line "which is not cut for a terminal that is not there" "$out" "something 0{150}$"
if script -qec true /dev/null > /dev/null 2>&1; then
    export APSIS_PAGER=cat NO_COLOR=1
    out=$(script -qec "stty cols 140; '$APSIS' log; '$APSIS' log --graph" /dev/null | tr -d '\r')
    is "on a terminal, a line fits" "$(printf '%s\n' "$out" | wc -L)" 140
    line "the last column being cut" "$out" "~$"
    out=$(script -qec "stty cols 60; '$APSIS' log; '$APSIS' status" /dev/null | tr -d '\r')
    ok "on a narrow one too, for it does without columns" test "$(printf '%s\n' "$out" | wc -L)" -le 60
    line "and what status says goes on below, between words" "$out" "^ +[a-z_]+ [0-9]+"
    unset APSIS_PAGER NO_COLOR
fi
apsis log --graph --json
is "log --graph --json is refused" "$code" 2
line "for a graph is text" "$err" "leave it out, or --json"
apsis log --graph --format pi-autoresearch
is "with another format as well" "$code" 2
apsis status -C .
is "the project may be named with -C" "$code" 0
apsis status . -C .
is "but not twice" "$code" 2
apsis log --help
line "the help has an option's names in one line" "$out" "  -n, --count N +only"
cd ..
apsis show best p
is "show takes no directory" "$code" 2
line "and says how to name the project" "$err" "the project is named with -C DIR"
apsis diff best p
line "and so does diff" "$err" "p is a directory: name the project with -C p"
apsis setup p
line "setup names the project in what comes next, without the baseline that is there" "$out" "^next: apsis run p$"
apsis best p
is "best finds it" "$code" 0
cd p
apsis status
line "a budget is written without an exponent" "$out" "[36] of 100000 iterations"
apsis show 5
line "show says why a candidate was kept" "$out" "kept because: +because I say so"
line "and the notes" "$out" "note depth: +2"
line "all of them" "$out" "note why: +a try"
line "a mapping as names and values" "$out" "note features: +kind=b size=3$"
no_line "but not what is for programs alone" "$out" "sketch"

printf '{"experiment":4,"outc' >> logs/results.jsonl
apsis log
is "a torn last line is passed over" "$code" 0
printf 'ome":"kept"}\nnot JSON\n' >> logs/results.jsonl
apsis log
is "a broken line exits 3" "$code" 3
line "naming file and line" "$err" "results.jsonl:[0-9]+:"
mkdir sub && cd sub || exit 1
apsis status ..
is "from a folder inside, too" "$code" 3
# What the user would have lost: a unit that the manifest has and nobody shows.
MEASURE="[sh, -c, 'echo METRIC score=3; echo METRIC size=7']" EXTRA='metrics: {size: {direction: lower, unit: kB}}' new_project units
sed -i 's/^metric: {name: score,/metric: {name: score, unit: ms,/' manifest.yaml
apsis baseline
apsis status
line "status shows the metric's unit" "$out" '^best: +c0000 = 3 ms$'
apsis best
line "best, too" "$out" '^value: +score = 3 ms '
apsis show c0000
line "and show" "$out" '^value: +score = 3 ms '
line "and those of other metrics" "$out" '^metrics: +.*size=7 kB'
finish
