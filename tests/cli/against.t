#!/bin/bash
# show --against: two candidates item by item, the hunks between them, and (--bisect) which of them, taken back, make good what regressed.
# The project is a calculator of three functions, each a case; every experiment does what propose.lua says of its number, and is kept.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh || exit 1

json() { printf '%s\n' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$@" 2>/dev/null; }

# calculator NAME: the project, with what propose.lua does after `text` (calc.sh's) and `n` (the experiment's number) from stdin.
calculator() {
    mkdir -p "$T/$1/cases" && cd "$T/$1" || exit 1
    git init -q .
    echo 1 2 >cases/add && echo 6 2 >cases/div && echo 9 1 >cases/mul
    # shellcheck disable=SC2016
    {
        echo 'add() { echo $(($1 + $2)); }' && seq -f '# pad %g' 20
        echo 'div() { echo $(($1 / $2)); }' && seq -f '# pad %g' 20
        echo 'mul() { echo $(($1 * $2)); }'
    } >calc.sh
    cat >evaluate.sh <<'END'
. ./calc.sh || exit 1
if [ $# = 0 ]; then # no cases: all at once
    [ "$(add 1 2)$(div 6 2)" = 33 ] || exit 1
    mul 9 1 >product || exit 7
    echo "METRIC score=$(cat product)"
    exit
fi
case_of=${1##*/}
read -r a b <"$1"
case $case_of in add) want=$((a + b)) ;; div) want=$((a / b)) ;; mul) want=$((a * b)) ;; esac
echo "METRIC length=$(wc -l <calc.sh)"
if [ "$($case_of "$a" "$b")" = "$want" ]; then echo "METRIC score=1"; else echo "METRIC score=0"; fi
END
    {
        echo 'return function(proposal, workspace)'
        echo 'local text, n = workspace:read "calc.sh", proposal.experiment'
        cat
        echo 'return { ["calc.sh"] = text }'
        echo end
    } >propose.lua
    cat >always.lua <<'END'
return { plan = function(run) return { parents = { run.current }, operator = "x" } end, accept = function() return true end }
END
    printf '%s\n' logs/ runs/ .apsis/ >.gitignore
    cat >manifest.yaml <<END
version: 1
project: {name: calc}
files:
  - {path: calc.sh, mode: writable}
  - {path: "*.txt", mode: writable}
  - {path: evaluate.sh, mode: hidden}
  - {path: "cases/**", mode: hidden}
verification:
  commands: [{name: measure, run: sh evaluate.sh, timeout_sec: 20}]
${CASES-  cases: ["cases/*"]}
metric: {name: score, direction: higher}
provider: {kind: lua, use: propose.lua}
strategy: {use: always.lua}
END
    git add -A && git commit -qm start
    apsis baseline
    apsis run --iterations "$2" -q
}

left_behind() { find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'apsis-bisect-*' -newer "$T/home" 2>/dev/null; }

calculator calc 3 <<'END'
if n == 1 then text = text:gsub("# pad 10\n", "", 1) end
if n == 2 then
  text = text:gsub("# pad 1\n", "# pad one\n", 1):gsub("%$1 / %$2", "$1 / $2 + 1"):gsub("%$1 %* %$2", "$1*$2")
  return { ["calc.sh"] = text, ["new.txt"] = "new\n" }
end
if n == 3 then text = text:gsub("%$1 / %$2 %+ 1", "$1 / $2"):gsub("%$1%*%$2", "0"):gsub("%$1 %+ %$2", "0") end
END

item "what regressed is named, with both values, and what to go back to"
apsis show c0002 --against c0001
is "exit" "$code" 0
like "value" "$out" 'score = 0.6666666667, c0001 has 1: -0.333333, worse \(higher is better\)'
like "its parent" "$out" 'c0001 \(kept, its parent\)'
like "regressed" "$out" $'regressed: 1 item\n  cases/div: 1 -> 0\n'
like "unchanged" "$out" 'unchanged: 2 items'
like "hunks" "$out" 'from c0001 to c0002: 4 hunks'
like "a hunk as it is applied" "$out" $'hunk 2 of 4: calc.sh\n@@ -21 [+]21 @@'
like "a new file" "$out" $'hunk 4 of 4: new file new.txt\n'
like "not known" "$out" 'revert: not known.*--bisect measures'
like "go back" "$out" 'go back to: c0001 \(its parent, 1\): the nearest ancestor that passes the item that regressed'
is "nothing said" "$err" ""
end_item

item "what was fixed, the metrics that changed and the nearest ancestor that passes, which is not the other one"
apsis show c0003 --against c0002
like "regressed" "$out" $'regressed: 2 items\n  cases/add: 1 -> 0\n  cases/mul: 1 -> 0\nfixed: 1 item\n  cases/div: 0 -> 1\n'
unlike "a metric that did not change" "$out" 'length'
apsis show c0001 --against c0000
like "a metric that did" "$out" $'1 other metric changed\n  length: 42, was 43 \\(-1\\)\n'
like "nothing regressed" "$out" 'revert: nothing; neither an item nor score is worse'
unlike "no parent to go back to" "$out" 'go back'
apsis show c0000 --against c0001
unlike "the oldest has no ancestor, and needs none" "$out" 'go back'
end_item

before=$(git for-each-ref && cat logs/results.jsonl && find runs | sort)
item "--bisect measures without each hunk and says which one to revert"
apsis show c0002 --against c0001 --bisect
is "exit" "$code" 0
like "count" "$out" 'bisect: 5 measurements of at most 16'
like "control" "$out" 'nothing +0 of 1  0.6666666667'
like "the culprit" "$out" '2 +1 of 1  1'
like "found" "$out" 'revert hunk 2: that restores the item that regressed; score would be 1 \(c0002 has 0.6666666667, c0001 1\)'
like "progress" "$err" 'measuring c0002 without hunk 4 \(5 of at most 16\)'
unlike "no guess beside the measurement" "$out" 'not known'
git switch -q --detach refs/apsis/calc/c0002
eval "$(printf '%s\n' "$out" | grep 'git apply -R')"
is "the line that takes it back works" "$(git diff --numstat)" "1	1	calc.sh"
like "and takes back the mistake" "$(git diff)" '[+]div.. .*1 / .2..; '
git checkout -q -- . && git switch -q main
end_item

item "--bisect on a terminal"
out=$(script -qec "stty cols 80 rows 24; TERM=xterm '$APSIS' show c0002 --against c0001 --bisect" /dev/null </dev/null | tr -d '\r')
like "the table" "$out" $'without hunk +restores +score\n  nothing '
like "the answer" "$out" 'revert hunk 2: that restores the item that regressed'
end_item

item "--bisect leaves no line, ref, run or scratch folder behind, and works while another process holds the lock"
is "project" "$(git for-each-ref && cat logs/results.jsonl && find runs | sort)" "$before"
is "scratch" "$(left_behind)" ""
cat >"$T/locked.lua" <<'END'
local state, process = require "apsis.state", require "apsis.process"
local lock <close> = assert(state.lock ".apsis/lock")
local result = assert(process.run { argv = { os.getenv "APSIS", "show", "2", "--against", "1", "--bisect", "--json" } })
assert(result.code == 0, result.stderr.head)
END
ok "locked" env "APSIS=$APSIS" "$APSIS" exec "$T/locked.lua"
end_item

item "--json has all of it"
apsis show 2 --against 1 --bisect --json
is "no progress" "$code $err" "0 "
is "ids" "$(json candidate.id) $(json against.id) $(json mark)" "c0002 c0001 worse"
is "regressed" "$(json regressed.1.item) $(json regressed.1.value) $(json regressed.1.against)" "cases/div 0 1"
is "hunks" "$(json hunks.4.kind) $(json hunks.4.path) $(json hunks.2.number)" "new file new.txt 2"
is "go back" "$(json go_back.candidate) $(json go_back.passes)" "c0001 true"
is "bisect" "$(json bisect.take_back.1) $(json bisect.value) $(json bisect.measurements) $(json bisect.minimal)" "2 1 5 true"
like "patch" "$(json bisect.patch)" '^diff --git a/calc.sh'
end_item

item "two hunks that are both at fault are taken back together"
apsis show 3 --against 2 --bisect
like "each helps" "$out" $'  1 +1 of 2 '
like "both" "$out" 'revert hunks 1 and 3: that restores all 2 items that regressed; score would be 1 '
end_item

item "no more measurements than --most, and it is said what was left"
apsis show 3 --against 2 --bisect --most 3
is "exit" "$code" 0
like "count" "$out" 'bisect: 3 measurements of at most 3'
like "what is known" "$out" 'revert (hunks|nothing: without) .*restore|no answer within 3 measurements: --most 6 allows more'
like "where more would help" "$out" '--most 6 allows more'
end_item

item "nothing that regressed: nothing is measured"
apsis show 1 --against 0 --bisect
is "exit" "$code" 0
like "said" "$out" 'bisect: nothing regressed, so nothing was measured'
apsis show 1 --against 0 --bisect --json
is "json" "$code $(json mark) $(json unchanged) $(json bisect)" "0 equal 3 "
end_item

item "options that do not go together, and candidates that are not there"
apsis show 2 --bisect
is "no other" "$code" 2
like "remedy" "$err" 'bisect needs --against OTHER'
apsis show 2 --most 4
is "--most alone" "$code" 2
apsis show 2 --against 1 --most 4
is "--most without --bisect" "$code" 2
apsis show 2 --against 1 --bisect --most 1
is "too few" "$code" 2
apsis show 2 --against 1 --prompt
is "--prompt" "$code" 2
apsis show 2 --against 2
is "itself" "$code" 2
apsis show 2 --against c0099
is "unknown" "$code" 2
like "names the option" "$err" '--against: no candidate "c0099"; nearest: c0003'
end_item

# Predictions that a fitness left beside the candidates.
for n in 0001 0002; do mkdir -p runs/$n/fitness/tests; done
printf 'question_id,prediction\ncases/div,3\n' >runs/0001/fitness/tests/predictions.csv
printf 'question_id,prediction\r\ncases/div,"wrong, \033[31mat calc.sh:22"\r\n' >runs/0002/fitness/tests/predictions.csv
sed -i 's#"cases/div":{[^}]*}#"tests:cases/div":{"score":1}#' logs/results.jsonl
sed -i '3s#"tests:cases/div":{"score":1}#"tests:cases/div":{"score":0}#' logs/results.jsonl
item "predictions stand beside what regressed, made safe, and the hunk they name is suspected"
apsis show 2 --against 1
like "predictions" "$out" 'tests:cases/div: 1 -> 0, prediction "3" -> "wrong, .?\[31mat calc.sh:22"'
unlike "no escape sequence" "$(printf '%s' "$out" | grep prediction)" $'\033'
like "suspected" "$out" 'revert: perhaps hunk 2: what regressed names it; --bisect measures'
apsis show 2 --against 1 --json
is "json" "$(json suspects.1) $(json suspects.2) $(json regressed.1.against_prediction)" "2  3"
end_item

item "what does not regress when measured again is called chance, and no hunk is blamed"
apsis show 2 --against 1 --bisect # the items that the journal names are none that the verification has: the metric, then
sed -i '3s#"cases/add":{[^}]*}#"cases/add":{"score":0}#' logs/results.jsonl
apsis show 2 --against 1 --bisect --json
is "left out" "$code $(json bisect.not_repeated.1.item) $(json bisect.to_restore.1.item)" "0 cases/add tests:cases/div"
sed -i '3s#"tests:cases/div":{"score":0}#"tests:cases/div":{"score":1}#' logs/results.jsonl
apsis show 2 --against 1 --bisect
is "exit" "$code" 0
like "chance" "$out" "measured again, c0002 does not regress: the journal's value was chance"
like "one measurement" "$out" 'bisect: 1 measurement of at most 16'
end_item

CASES='' calculator whole 2 <<'END'
if n == 1 then text = text:gsub("# pad 10\n", "", 1) end
if n == 2 then text = text:gsub("# pad 1\n", "# pad one\n", 1):gsub("echo (%S+ %* %S+)", "return 3;") end
END
item "without items the metric alone is compared, and a crash is made good without the hunk that caused it"
is "the last one has no value" "$(field 2 outcome)" "skipped_verification_crash"
apsis show 2 --against 1 --bisect
is "exit" "$code" 0
like "no items" "$out" 'items: neither candidate has any; only the metric is compared'
like "crash" "$out" 'nothing +0 of 1  measure: exit 7'
like "found" "$out" 'revert hunk 2: that restores the metric; score would be 9 .c0002 has -, c0001 9.'
end_item

CASES='' calculator siblings 0 </dev/null
echo 'echo "METRIC score=0.$(grep -c . calc.sh)"' >evaluate.sh && sed -i 's/run.current/run:get "c0000"/' always.lua
echo 'return function(proposal) return { ["calc.sh"] = ("x\n"):rep(proposal.experiment == 2 and 90 or 10) } end' >propose.lua
seq 40 >calc.sh && commit "two from one parent" && apsis baseline --again && sed -i 's/c0000/c0001/' always.lua
apsis run --iterations 2
item "of two from one parent, the better one is the one to go on from"
apsis show 3 --against 2
like "the other" "$out" 'go back to: c0002 .0.9, no ancestor.: it is better than the ancestor c0001'
apsis show 3 --against 2 --json
is "and in JSON" "$(json go_back.candidate) $(json go_back.value) $(json go_back.instead_of)" "c0002 0.9 c0001"
end_item

mkdir "$T/plain" && cd "$T/plain" && git init -q .
cat >manifest.yaml <<'END'
version: 1
project: {name: plain}
files: [{path: value.txt, mode: writable}]
fitness: {domain: command, name: chess, tasks: ids.txt, harness: {run: sh harness.sh}, report: {run: sh report.sh}}
provider: {kind: lua, use: propose.lua}
strategy: {use: always.lua}
END
printf 'a\nb\n' >ids.txt && echo 1 >value.txt
echo 'printf "question_id,prediction\na,%s\nb,same\n" "$(cat value.txt)" >"$FITNESS_OUTPUT/predictions.csv"' >harness.sh
echo 'echo "{\"chess\": 0.$(cat value.txt)}" >"$FITNESS_OUTPUT/report.json"' >report.sh
echo 'return function() return { ["value.txt"] = "3\n" } end' >propose.lua
cp ../calc/always.lua ../calc/.gitignore .
git add -A && git commit -qm start
item "predictions without a score are compared by what they say"
apsis baseline
apsis run --iterations 1 -q
apsis show 1 --against 0
like "changed" "$out" $'changed: 1 item\n  chess:a: "1" -> "3"\nunchanged: 1 item\n'
apsis show 1 --against 0 --json
is "and in JSON" "$(json changed.1.item) $(json changed.1.prediction) $(json unchanged)" "chess:a 3 1"
end_item

mkdir "$T/judged" && cd "$T/judged" && git init -q .
# shellcheck disable=SC2016
{ echo 'add() { echo $(($1 + $2)); }' && seq -f '# pad %g' 20 && echo 'sub() { echo $(($1 - $2)); }'; } >calc.sh
cat >tests.sh <<'END'
. ./calc.sh
[ "$(add 1 2)" = 3 ] || echo -n 'not '
echo 'ok 1 - adds'
[ "$(sub 3 2)" = 1 ] || echo -n 'not '
echo 'ok 2 - subtracts'
echo 1..2
END
cat >manifest.yaml <<'END'
version: 1
project: {name: judged}
files: [{path: calc.sh, mode: writable}, {path: tests.sh, mode: hidden}]
fitness:
  domain: composite
  components:
    - {domain: tests, run: bash tests.sh, format: tap, weight: 0.5}
    - {domain: lint, run: "grep -n FIXUP calc.sh | sed 's/^/calc.sh:/'", pattern: FIXUP, weight: 0.5}
provider: {kind: lua, use: propose.lua}
strategy: {use: always.lua}
END
cp ../calc/always.lua ../calc/.gitignore .
cat >propose.lua <<'END'
return function(_, workspace)
  return { ["calc.sh"] = workspace:read("calc.sh"):gsub("# pad 20\n", "# FIXUP\n"):gsub("%$1 %+ %$2", "$1") }
end
END
git add -A && git commit -qm start
item "of a fitness, the failing test and the component with new findings are named, with their hunks, and measured again"
apsis baseline
apsis run --iterations 1 -q
apsis show 1 --against 0 --bisect
is "exit" "$code" 0
like "test" "$out" $'regressed: 1 item\n  tests:adds: 1 -> 0, prediction "passed" -> "failed"\nnew findings'
like "finding" "$out" $'new findings: 1 item\n  lint: calc.sh:21:# FIXUP\n'
like "its line's hunk" "$out" 'revert: perhaps hunk 2: what regressed names it'
like "a finding counts as regressed" "$out" '  2 +1 of 2  0.75'
like "all of the change is not advised" "$out" 'revert nothing: only without hunks 1 and 2, which is all that was changed since c0000, all 2 that'
unlike "nor is a worse part of it" "$out" 'best of what|git apply'
is "scratch" "$(left_behind)" ""
end_item

mkdir -p "$T/switches/cases" && cd "$T/switches" && git init -q .
printf 'a=0\n:\nb=0\n:\nd=1\n' >switches.sh
cat >evaluate.sh <<'END'
. ./switches.sh
case ${1##*/} in on) v=$a ;; off) v=$((1 - a)) ;; too) v=$a ;; both) v=$((a * d)) ;; esac
echo "METRIC score=$v"
echo "METRIC size=$((3 + d * 2 + b))"
END
for name in on off too both; do echo >cases/$name; done
cat >manifest.yaml <<'END'
version: 1
project: {name: switches}
files: [{path: switches.sh, mode: writable}, {path: evaluate.sh, mode: hidden}, {path: "cases/**", mode: hidden}]
verification: {commands: [{name: measure, run: sh evaluate.sh}], cases: ["cases/*"]}
metric: {name: score, direction: higher}
metrics: {size: {direction: lower}}
guards: [{metric: size, max_regression: 2}]
provider: {kind: lua, use: propose.lua}
strategy: {use: always.lua}
END
cp ../calc/always.lua ../calc/.gitignore .
cat >propose.lua <<'END'
local made = { "a=1\n:\nb=0\n:\nd=0\n", "a=0\n:\nb=0\n:\nd=0\n", "a=1\n:\nb=5\n:\nd=1\n" }
return function(proposal) return { ["switches.sh"] = made[proposal.experiment] } end
END
git add -A && git commit -qm start
apsis baseline
apsis run --iterations 3 -q
item "changes that are near each other are hunks of their own; what costs more than it restores is not advised, the best row is"
apsis show 1 --against 0 --bisect
is "exit" "$code" 0
like "near each other" "$out" $'2 hunks\nhunk 1 of 2: switches.sh\n@@ -1 [+]1 @@\n-a=0\n[+]a=1\nhunk 2 of 2: switches.sh\n@@ -5 '
like "costs" "$out" 'taking back hunk 1 restores the item that regressed, but costs more than it restores: score would be 0.25, and is 0.5 with it'
like "best" "$out" 'best of what was measured: without hunk 2, score is 0.75 .as it is: 0.5., and 0 of 1 restored'
like "how" "$out" $'which takes this back:\n.*\n-d=1\n[+]d=0$'
unlike "no advice" "$out" 'revert hunk'
apsis show 1 --against 0 --bisect --json
is "json" "$(json bisect.take_back) $(json bisect.restores.1) $(json bisect.costs_more) $(json bisect.best.without.1)" "null 1 true 2"
end_item

item "a single hunk that is the whole change is not advised, and nothing is measured"
apsis show 2 --against 1 --bisect
is "exit" "$code" 0
like "said" "$out" 'revert: no part of it: hunk 1 is everything changed since c0001, so go back, or fix it'
like "not measured" "$out$err" 'bisect: there is no part to leave out, so nothing was measured'
unlike "no advice" "$out" 'git apply|measuring'
end_item

item "a guard that was not held is what is to be restored, measured against those that the reason names"
apsis show 3 --against 1
like "the reason" "$out" 'reason: +guard size: 7 worse than c0001, at most 2 allowed'
unlike "not nothing" "$out" 'revert: nothing'
like "an ancestor holds it" "$out" 'go back to: c0002 .its parent, 0.25.: the nearest ancestor that holds the guard size'
apsis show 3 --against 1 --bisect --json
is "json" "$(json bisect.to_restore.1.guard) $(json bisect.to_restore.1.value) $(json bisect.take_back.1) $(json bisect.take_back.2)" "size 3 1 "
end_item

item "a changed file that the reason names is suspected, and where it tells a line the nearest change"
sed -i '4s#"rollback_reason":"[^"]*"#"rollback_reason":"exit 1: syntax error at switches.sh line 3, near x"#' logs/results.jsonl
sed -i '4s#"value":[0-9.]*#"value":null#; 4s#"primary_metric":[0-9.]*#"primary_metric":null#; 4s#"items":{[^}]*}[^}]*}[^}]*}[^}]*}}#"items":{}#' logs/results.jsonl
apsis show 3 --against 1
like "named" "$out" 'revert: perhaps hunk 1: the reason names it; --bisect measures'
unlike "nothing that regressed is spoken of" "$out" 'what regressed names'
sed -i '4s#switches.sh line 3#other.sh line 3#' logs/results.jsonl
apsis show 3 --against 1
like "not named" "$out" 'revert: not known, for the reason names no file that was changed: --bisect measures'
end_item
mkdir "$T/either" && cp -r cases evaluate.sh manifest.yaml always.lua propose.lua .gitignore "$T/either" && cd "$T/either" && git init -q .
rm cases/* && touch cases/either cases/first && printf 'f=0\n:\ne=0\n' >switches.sh
# shellcheck disable=SC2016
printf '%s\n' '. ./switches.sh' 'case ${1##*/} in either) v=$((1 - e * f)) ;; first) v=$f ;; esac' 'echo "METRIC score=$v"' >evaluate.sh
sed -i '/^guards\|^metrics/d' manifest.yaml
echo 'return function() return { ["switches.sh"] = "f=1\n:\ne=1\n" } end' >propose.lua
git add -A && git commit -qm start
item "of several hunks that each restore all the one with the best value is advised"
apsis baseline
apsis run --iterations 1 -q
apsis show 1 --against 0 --bisect
like "the better one" "$out" $'revert hunk 2: that restores the item that regressed; score would be 1 [^\n]*\nor only hunk 1, which restores as much'
unlike "and no better row" "$out" 'best of what'
end_item
cd "$T/whole" || exit 1

item "Ctrl-C ends the measuring, leaves nothing behind and exits 130"
printf '%s\n' 'echo $$ >>"'"$T"'/started"' 'sleep 30' >"$T/slow.sh"
sed -i "s#run: sh evaluate.sh#run: sh $T/slow.sh#" manifest.yaml
timeout -k 5 60 "$APSIS" show 2 --against 1 --bisect >"$T/.out" 2>"$T/.err" </dev/null &
pid=$!
for _ in $(seq 1200); do { [ -s "$T/started" ] || ! kill -0 $pid; } 2>/dev/null && break; nap 0.1; done
kill -INT "$(pgrep -P $pid | head -n 1)"
wait $pid
is "exit" "$?" 130
like "said" "$(cat "$T/.err")" 'interrupted'
is "scratch" "$(left_behind)" ""
end_item

finish
