#!/bin/bash
# Fitness domains as their users see them: scores of tests, lint, a benchmark, commands and a project's own Lua; composites; staged
# evaluation; what stands after a crash; `apsis eval --domain`; and what is said of a wrong manifest.
. tests/cli/lib.sh || exit 1

part() { grep "^{.*\"experiment\":$1[,}]" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"; }

# scored NAME: a project whose manifest has FITNESS (lines below fitness:); value.txt holds a number that experiment N makes N.
scored() {
    new_project "$1"
    mkdir -p items
    for i in $(seq 1 "${ITEMS:-3}"); do echo "$i" >"items/$i"; done
    echo "${START:-0}" >value.txt
    # an item passes where its number is at most value.txt's
    echo '[ "$(cat "$1")" -le "$(cat value.txt)" ]' >try.sh
    write_fitness "$1"
    git add -A && git commit -qm scored
}

write_fitness() {
    cat >manifest.yaml <<END
version: 1
project: {name: ${1:-again}}
files:
  - {path: value.txt, mode: writable}
  - {path: propose.lua, mode: read_only}
${RULES-}
${METRIC-}
provider: {kind: lua, use: propose.lua}
fitness:
$FITNESS
${EXTRA-}
END
}

item "tests with tasks: each is an item with a row, the share that passed is the score, and the loop climbs it"
FITNESS='  {domain: tests, run: sh try.sh, tasks: ["items/*"]}' scored climb
apsis baseline --repeats 1
is "the baseline" "$code:$out" "0:baseline c0000: tests = 0 (higher is better)"
apsis run --iterations 2 -q
is "kept" "$(field 1 outcome) $(field 2 outcome)" "kept kept"
is "the value" "$(field 2 primary_metric)" 0.66666666666667
is "by item" "$(part 2 items)" '{"tests:items/1":1,"tests:items/2":1,"tests:items/3":0}'
is "its numbers" "$(part 2 secondary_metrics)" '{"tests.failed":1,"tests.passed":2,"tests.total":3}'
is "the rows" "$(tr '\n' ';' <runs/0002/fitness/tests/predictions.csv)" \
    "question_id,prediction,score,passed,total;items/1,passed,1,1,1;items/2,passed,1,1,1;items/3,failed,0,0,1;"
like "the report" "$(cat runs/0002/fitness/tests/report.json)" '"tests": 0.66666'
ok "nothing is left under way" test ! -e runs/0002/fitness/unfinished.json
apsis replay --check
is "the fold agrees" "$code" 0
end_item

item "eval scores one component or all, outside any loop"
FITNESS='  domain: composite
  components:
    - {domain: tests, weight: 0.5, run: sh try.sh, tasks: ["items/*"]}
    - {domain: benchmark, name: speed, weight: 0.5, run: "echo METRIC ops=80", metric: ops, scale: 100}' START=2 scored evaluated
apsis eval
is "all" "$code:$out" "0:composite=0.7333333333
tests=0.6666666667  (weight 0.5, failed 1, passed 2, total 3)
speed=0.8  (weight 0.5, value 80)"
apsis eval --domain speed
is "by its name" "$code:$out" "0:speed=0.8  (value 80)"
apsis eval --domain benchmark
is "by its domain" "$code:$out" "0:speed=0.8  (value 80)"
apsis eval --domain composite --samples 2 --workers 2
is "of so many items" "${out%%$'\n'*}" "composite=0.9"
echo 3 >value.txt
apsis eval --domain tests
like "of HEAD" "$err" "uncommitted change"
apsis eval --domain tests --worktree --json
like "of the files as they lie" "$out" '"value":1,'
like "with its components" "$out" '"components":\[\{.*"score":1\}\]'
ok "no journal" test ! -e logs/results.jsonl
apsis eval --domain sped
is "an unknown one" "$code:$err" "2:apsis: --domain: sped is none of the manifest's (manifest.yaml:9: composite, tests, speed); did you mean \"speed\"?"
apsis eval --samples 0
like "no items" "$code:$err" "2:apsis: --samples: must be 1 or more, or -1"
new_project plain
apsis eval --domain tests
like "without fitness" "$code:$err" "2:apsis: --domain: the manifest has no fitness; add for instance"
end_item

item "weights that do not sum to 1 are normalised, with what they became"
FITNESS='  {domain: composite, components: [{domain: tests, run: sh try.sh, tasks: ["items/*"], weight: 3}, {domain: benchmark,
    run: "echo METRIC benchmark=1", scale: 1}]}' START=1 scored weights
apsis baseline --repeats 1
is "the value" "$(field 0 primary_metric)" 0.5
like "said" "$err" "weights sum to 4, not 1; used are tests 0.75, benchmark 0.25"
like "in the breakdown" "$(cat runs/0000_baseline/fitness/report.json)" '"composite": 0.5'
end_item

item "a component without a score leaves none overall, and the reason names it"
FITNESS='  {domain: composite, components: [{domain: tests, run: sh try.sh, tasks: ["items/*"]}, {domain: benchmark, name: speed,
    run: "grep -q 0 value.txt && echo METRIC speed=1; true"}]}' scored silent
apsis baseline --repeats 1
is "the baseline has one" "$code" 0
apsis run --iterations 1 -q
is "a crash, not an error" "$code:$(field 1 outcome) $(field 1 primary_metric)" "0:skipped_verification_crash null"
like "why" "$(field 1 rollback_reason)" "^speed has no score: no METRIC speed=NUMBER in the output"
like "in the report" "$(cat runs/0001/fitness/report.json)" '"composite": null'
end_item

item "lint and a benchmark compare with the baseline candidate's numbers"
FITNESS='  {domain: composite, components: [{domain: lint, weight: 0.5, run: "for i in 1 2 3 4; do [ $i -gt $(cat value.txt) ] && echo a:$i: bad; done; true",
    pattern: "^.+:\\d+:"}, {domain: benchmark, weight: 0.5, direction: lower, run: "echo METRIC benchmark=$((10 - $(cat value.txt)))"}]}' scored compared
apsis baseline --repeats 1
is "the baseline is its own" "$(part 0 secondary_metrics)" '{"benchmark":1,"benchmark.value":10,"lint":0,"lint.count":4}'
apsis run --iterations 2 -q
is "fewer findings, less time" "$(part 2 secondary_metrics)" '{"benchmark":1.25,"benchmark.value":8,"lint":0.5,"lint.count":2}'
like "above 1 is kept as measured, and said" "$err" 'benchmark scores 1.1.*scale:'
is "the findings are items" "$(part 2 items | tr -d '{}')" "$(part 2 items | tr -d '{}' | grep '"lint:[^"]*":0,"lint:[^"]*":0$')"
apsis eval
like "so does eval" "$out" "lint=0  *\\(weight 0.5, count 4\\)"
end_item

item "a linter that fails and finds nothing is no clean one; nor is one that is not there"
FITNESS='  {domain: lint, run: "[ $(cat value.txt) = 0 ] && echo a:1: bad || exit 3", pattern: "^.+:\\d+:"}' scored stumbles
apsis baseline --repeats 1
apsis run --iterations 1 -q
like "no score" "$(field 1 primary_metric) $(field 1 rollback_reason)" "null lint has no score: exit 3, although nothing"
FITNESS='  {domain: lint, run: no-such-linter ., pattern: x}' scored absent
apsis baseline --repeats 1
like "nor this" "$code:$err" "5:.*lint has no score: exit 127"
end_item

item "staged: zero of the first items ends a candidate before the rest is measured: that is its score"
FITNESS='  {domain: tests, run: "sh try.sh", tasks: items.txt, staged: true}' ITEMS=30
export ITEMS
new_project staged
mkdir items
for i in $(seq 1 30); do echo $((i > 10 ? 1 : 5)) >"items/$i"; echo "items/$i"; done >items.txt
echo 'echo "$1" >>'"$T"'/ran.$APSIS_EXPERIMENT; [ "$(cat "$1")" -le "$(cat value.txt)" ]' >try.sh
echo 5 >value.txt
echo 'return function(proposal) return { ["value.txt"] = ({ "1\n", "7\n" })[proposal.experiment] } end' >propose.lua
write_fitness staged
git add -A && git commit -qm staged
apsis baseline --repeats 1
is "the baseline measures all" "$(field 0 primary_metric) $(field 0 stage) $(wc -l <"$T/ran.0")" "1 2 30"
apsis run --iterations 2 -q
is "ended" "$(field 1 outcome) $(field 1 primary_metric) $(field 1 stage)" "reverted_worse_metric 0 1"
is "why" "$(field 1 rollback_reason)" "stage 1: tests scores 0 on the first 10 of its 30 items"
is "after ten" "$(wc -l <"$T/ran.1")" 10
is "its numbers" "$(part 1 secondary_metrics)" '{"tests.adjusted":0,"tests.failed":10,"tests.passed":0,"tests.staged":0,"tests.total":10}'
is "the other went on, and no item was measured twice" "$(field 2 stage) $(sort -u "$T/ran.2" | wc -l) $(wc -l <"$T/ran.2")" "2 30 30"
is "all items" "$(field 2 primary_metric) $(part 2 secondary_metrics)" '1 {"tests.failed":0,"tests.passed":30,"tests.staged":1,"tests.total":30}'
apsis replay --check
is "the fold agrees" "$code" 0
unset ITEMS
end_item

# staged_project NAME: item N of 30 passes where value.txt's number is N or more; experiment N writes the Nth of NUMBERS.
staged_project() {
    new_project "$1"
    seq 1 30 >items.txt
    echo 'echo "$1" >>'"$T/$1"'.$APSIS_EXPERIMENT; [ "$1" -le "$(cat value.txt)" ]' >try.sh
    echo 13 >value.txt
    echo "return function(proposal) return { ['value.txt'] = ({ $NUMBERS })[proposal.experiment] .. '\\n' } end" >propose.lua
    write_fitness "$1"
    git add -A && git commit -qm staged
}

item "staged: who is tried on the first items only has their score as that of all, with 0 for the rest, and counts so"
FITNESS='  {domain: tests, run: "sh try.sh", tasks: items.txt, staged: true, staged_threshold: 0.5}
strategy: hyperagents' NUMBERS='4, 9, 5' staged_project adjusted
apsis baseline --repeats 1
is "the baseline" "$(field 0 primary_metric) $(field 0 stage)" "0.43333333333333 2"
apsis run --iterations 3 -q
is "4 of 10: not above 0.5, so 4 of 30" "$(field 1 outcome) $(field 1 primary_metric) $(field 1 stage) $(wc -l <"$T/adjusted.1")" \
    "kept 0.13333333333333 1 10"
is "9 of 10: measured in full, 9 of 30" "$(field 2 primary_metric) $(field 2 stage) $(wc -l <"$T/adjusted.2")" "0.3 2 30"
is "what is not above the threshold is not" "$(field 3 primary_metric) $(field 3 stage)" "0.16666666666667 1"
is "its numbers" "$(part 1 secondary_metrics)" \
    '{"tests.adjusted":0.13333333333333333,"tests.failed":6,"tests.passed":4,"tests.staged":0.4,"tests.total":10}'
apsis best
like "best is the baseline" "$out" "c0000"
apsis replay --check
is "the fold agrees" "$code" 0
apsis replay --strategy random_walk
like "another strategy sees the same values" "$out" "3 kept \\(recorded 3\\), 0 rejected .*; 0 differ"
FITNESS='  {domain: tests, run: "sh try.sh", tasks: items.txt, staged: true, staged_threshold: 0.5}' NUMBERS='4' staged_project climbed
apsis baseline --repeats 1
apsis run --iterations 1 -q
is "one that climbs says why it ended there" "$(field 1 outcome): $(field 1 rollback_reason)" \
    "reverted_worse_metric: stage 1: tests scores 0.4 on the first 10 of its 30 items"
end_item

item "staged: of several domains one that scores 0 ends it, and the others' scores count adjusted"
FITNESS='  domain: composite
  staged: true
  components:
    - {domain: tests, name: hard, weight: 0.5, run: "sh try.sh", tasks: items.txt}
    - {domain: command, name: easy, weight: 0.5, run: "echo", tasks: items.txt, expected: answers.csv}
strategy: hyperagents' NUMBERS='0' staged_project mean
{ echo question_id,answer; for i in $(seq 1 30); do echo "$i,$i"; done; } >answers.csv
apsis baseline --repeats 1
apsis run --iterations 1 -q
is "half of 10 in 30" "$(field 1 outcome) $(field 1 primary_metric) $(field 1 stage)" "kept 0.16666666666667 1"
like "in the report" "$(cat runs/0001/fitness/report.json)" '"composite": 0.16666'
FITNESS='  domain: composite
  staged: true
  components:
    - {domain: tests, name: hard, weight: 0.5, run: "sh try.sh", tasks: items.txt}
    - {domain: benchmark, name: speed, weight: 0.5, run: "echo METRIC speed=1", scale: 1}' NUMBERS='0' staged_project without
apsis baseline --repeats 1
apsis run --iterations 1 -q
is "where one has no items there is no score overall" "$(field 1 outcome) $(field 1 primary_metric)" "reverted_stage_failure null"
end_item

item "staged_threshold goes with staged"
FITNESS='  {domain: tests, run: "sh try.sh", tasks: items.txt, staged_threshold: 0.5}' NUMBERS='0' staged_project alone
apsis baseline --repeats 1
like "refused" "$code:$err" "2:.*manifest.yaml:[0-9]+: fitness.staged_threshold: goes with staged: true"
end_item

item "what was measured before a crash is not measured again, of the same files only"
FITNESS='  {domain: tests, run: "sh try.sh", tasks: ["items/*"]}' ITEMS=4 scored resumed
cat >try.sh <<END
echo "\$1" >>$T/tried
[ -e $T/stand ] && [ "\$1" = items/3 ] && sleep 60
exit 0
END
git commit -qam tried
apsis baseline --repeats 1
: >"$T/tried"
: >"$T/stand"
"$APSIS" run --iterations 1 -q >/dev/null 2>&1 &
for _ in $(seq 2400); do grep -q items/3 "$T/tried" && break; nap 0.05; done
disown
kill -9 $!
for _ in $(seq 2400); do kill -0 $! 2>/dev/null || break; nap 0.05; done
rm "$T/stand"
is "it was killed" "$(tr '\n' ' ' <"$T/tried") $(lines)" "items/1 items/2 items/3  1"
ok "it says what the rows are of" test -e runs/0001/fitness/unfinished.json
apsis run --iterations 1 -q
is "two rows stood" "$(sed -n 4,5p "$T/tried" | tr '\n' ' ')" "items/3 items/4 "
is "all are in the measurement" "$(part 1 items)" '{"tests:items/1":1,"tests:items/2":1,"tests:items/3":1,"tests:items/4":1}'
printf 'question_id,prediction,score,passed,total\nitems/1,failed,0,0,1\n' >runs/0001/fitness/tests/predictions.csv
next=$(printf '%04d' "$(lines)")
mkdir -p "runs/$next/fitness/tests" && cp runs/0001/fitness/tests/predictions.csv "runs/$next/fitness/tests/"
echo '{"tree":"another"}' >"runs/$next/fitness/unfinished.json"
apsis run --iterations 1 -q
is "rows of other files do not stand" "$(field "$((10#$next))" primary_metric)" 1
end_item

item "items run side by side, as many as workers says"
FITNESS='  {domain: tests, run: "sh try.sh", tasks: ["items/*"], workers: 3}' ITEMS=3 scored parallel
# each waits until all three are there: only side by side do they pass
echo "touch $T/here.\$(basename \$1); for i in \$(seq 200); do [ \$(ls $T/here.* | wc -l) = 3 ] && exit 0; sleep 0.05; done; exit 1" >try.sh
git commit -qam meet
apsis eval
is "eval" "$out" "tests=1  (failed 0, passed 3, total 3)"
rm -f "$T"/here.*
apsis baseline --repeats 1
is "and the loop" "$(field 0 primary_metric)" 1
end_item

item "command: what is printed for each item against the expected answers, which are not taken from the workspace"
FITNESS='  {domain: command, run: [sh, ask.sh], tasks: ids.txt, expected: answers.csv}' \
    RULES='  - {path: ask.sh, mode: writable}' scored asked
printf '# ids\none\ntwo words\n\nthree\n' >ids.txt
printf 'question_id,answer\none,1\ntwo words,"2, or so"\nthree,3\n' >answers.csv
printf 'case $1 in one) echo " 1 ";; "two words") echo "2, or so";; *) exit 4;; esac\n' >ask.sh
echo 'return function() return { ["ask.sh"] = "printf \"question_id,answer\\none,x\\ntwo words,x\\nthree,x\\n\" >answers.csv; echo x\n" } end' >propose.lua
git add -A && git commit -qm asked
apsis baseline --repeats 1
is "the share" "$(field 0 primary_metric)" 0.66666666666667
is "rows" "$(tr '\n' ';' <runs/0000_baseline/fitness/command/predictions.csv)" \
    'question_id,prediction,score;one,1,1;two words,"2, or so",1;three,,0;'
apsis run --iterations 1 -q
is "a candidate that writes its own answers" "$(field 1 outcome) $(part 1 secondary_metrics.command)" "skipped_verification_crash "
echo three >ids.txt
apsis eval
is "the committed ids count" "$out" "command=0.6666666667  (correct 2, total 3)"
git checkout -q ids.txt
sed -i 's/path: ask.sh/path: answers.csv/' manifest.yaml
apsis baseline --again --repeats 1
like "nor may it change them" "$code:$err" "2:.*manifest.yaml:10: fitness.expected: answers.csv is writable"
end_item

item "expected answers outside git are out of reach of what runs in the checkout"
FITNESS='  {domain: composite, components: [{domain: benchmark, scale: 1, run: "printf \"question_id,answer\\n1,x\\n\" >answers.csv; echo METRIC benchmark=1"},
    {domain: command, run: "cat answers.csv >&2; echo x;:", tasks: ids.txt, expected: answers.csv}]}' scored reach
echo 1 >ids.txt
printf 'question_id,answer\n1,y\n' >answers.csv
echo answers.csv >>.gitignore
git add -A && git commit -qm reach
apsis baseline --repeats 1
is "they are the user's" "$code:$(part 0 secondary_metrics.command)" "0:0"
end_item

item "harness and report may be commands, which are told what to do by their environment"
FITNESS='  {domain: command, name: chess, tasks: ["items/*"], samples: 2, workers: 2, harness: {run: sh harness.sh}, report: {run: sh report.sh}}' scored outside
cat >harness.sh <<'END'
cd "$FITNESS_AGENT" && [ -f value.txt ] || exit 9
echo question_id,prediction,score >"$FITNESS_OUTPUT/predictions.csv"
head -n "$FITNESS_SAMPLES" "$FITNESS_TASKS" | while read -r id; do echo "$id,w$FITNESS_WORKERS,0.5"; done >>"$FITNESS_OUTPUT/predictions.csv"
END
echo 'echo "{\"chess\": 0.25, \"metrics\": {\"elo\": 1200}}" >"$FITNESS_OUTPUT/report.json"' >report.sh
git add -A && git commit -qm outside
apsis baseline --repeats 1
is "its score, named for it" "$code:$out" "0:baseline c0000: chess = 0.25 (higher is better)"
is "its items" "$(part 0 items)" '{"chess:items/1":0.5,"chess:items/2":0.5}'
is "its numbers" "$(part 0 secondary_metrics)" '{"chess.elo":1200}'
like "the workers" "$(cat runs/0000_baseline/fitness/chess/predictions.csv)" "items/2,w2,0.5"
echo 'echo "{\"ches\": 0.25}" >"$FITNESS_OUTPUT/report.json"' >report.sh && git commit -qam typo
apsis eval
like "a report without the key" "$code:$err" '5:.*chess has no score: chess/report.json has no key "chess"'
echo 'exit 3' >report.sh && git commit -qam fails
apsis eval
like "a report that fails" "$code:$err" '5:.*chess has no score: report: exit 3'
end_item

item "a domain of the project's own, in Lua: harness and report with what a shipped one has"
FITNESS='  {domain: own.lua, name: mine, tasks: ["items/*"], options: {bonus: 0.5}, workers: 2}' START=2 scored lua
cat >own.lua <<'END'
local fs = require "apsis.fs"
local json = require "apsis.json"
return {
  name = "own",
  harness = function(context, task_list, agent_path, output_dir, num_samples, num_workers)
    local lines = {}
    assert(fs.read(agent_path .. "/value.txt") == context.read("value.txt"))
    local ok, message = context.each(task_list, num_workers, function(id, index)
      local result = assert(context.run { run = "sh try.sh", argument = id })
      lines[index] = ("%s,%s,%d\n"):format(id, result.status, result.status == "ok" and 1 or 0)
      return true
    end)
    assert(ok, message)
    assert(num_samples == 3)
    return fs.write(output_dir .. "/predictions.csv", "question_id,prediction,score\n" .. table.concat(lines))
  end,
  report = function(context, output_dir)
    return fs.write(output_dir .. "/report.json", json.encode { own = context.options.bonus, metrics = { x = 1 } })
  end,
}
END
git add -A && git commit -qm own
apsis baseline --repeats 1
is "its score" "$code:$out" "0:baseline c0000: mine = 0.5 (higher is better)"
is "its items" "$(part 0 items) $(part 0 secondary_metrics)" '{"mine:items/1":1,"mine:items/2":1,"mine:items/3":0} {"mine.x":1}'
sed -i 's/return fs.write(output_dir .. "\/report.*/error "no idea"/' own.lua
apsis eval
like "what it raises is no score, with where" "$code:$err" "5:.*mine has no score: own.lua: report: own.lua:18: no idea"
echo 'return { name = "own", harness = function() end }' >own.lua
apsis eval
like "a part is missing" "$code:$err" "2:.*manifest.yaml:10: fitness.domain: own.lua has no function report; add it, or report: \{run: COMMAND\} here"
echo 'return 3' >own.lua
apsis eval
like "no domain at all" "$code:$err" "2:.*fitness.domain: own.lua must return \{ name =, harness =, report = \}, not number"
echo 'return {' >own.lua
apsis eval
like "no Lua" "$code:$err" "2:.*fitness.domain: own.lua:"
end_item

item "what is measured again is measured anew, and the first predictions stay"
FITNESS='  {domain: tests, run: sh try.sh, tasks: ["items/*"]}' STRATEGY=again scored again
sed -i 's/^fitness:/strategy: again.lua\n&/' manifest.yaml
cat >again.lua <<'END'
return { accept = function(run, candidate)
  if #candidate.samples < 3 then return "measure", { ids = { candidate.id, "c0000" }, repeats = 2 } end
  return run.metric:better(candidate, run.best)
end }
END
# the first two tries of an item fail, later ones pass: samples 0, 1, 1
echo "echo \"\$1\" >>$T/again.\$APSIS_EXPERIMENT.\$APSIS_CANDIDATE; [ \$(grep -c \"\$1\" $T/again.\$APSIS_EXPERIMENT.\$APSIS_CANDIDATE) -gt 1 ]" >try.sh
git add -A && git commit -qm again
apsis baseline --repeats 1
apsis run --iterations 1 -q
is "three of its own" "$(part 1 samples) $(field 1 primary_metric) $(field 1 outcome)" "[0,1,1] 1 kept"
is "and those asked for" "$(part 1 trace)" '[{"id":"c0001","value":1},{"id":"c0000","value":0},{"id":"c0001","value":1},{"id":"c0000","value":1}]'
is "its first predictions" "$(grep -c failed runs/0001/fitness/tests/predictions.csv)" 3
is "no other folder" "$(ls runs/0001/fitness) $(ls -d runs/0001/*/fitness-again* 2>/dev/null)" "tests "
end_item

item "repeats: each a measurement of its own, the value their median"
FITNESS='  {domain: benchmark, scale: 10, run: sh bench.sh}' EXTRA='verification: {repeats: 3}' scored repeated
echo "echo x >>$T/runs; echo METRIC benchmark=\$(wc -l <$T/runs)" >bench.sh
git add -A && git commit -qm bench
apsis baseline --repeats 1
is "samples" "$(part 0 samples) $(field 0 primary_metric)" "[0.1,0.2,0.3] 0.2"
end_item

item "outputs of test runners and linters are read by their formats, from standard output or a file"
FITNESS='  domain: composite
  components:
    - {domain: tests, name: tap, run: "printf \"1..3\\nok 1 - a\\nnot ok 2 - b\\nok 3 - c\\n\"; exit 1"}
    - {domain: tests, name: xml, format: junit, file: out.xml, run: "echo \"<testsuite><testcase name=\\\"x\\\"/></testsuite>\" >out.xml"}
    - {domain: tests, name: counted, format: command, pattern: "(?<passed>\\d+)/(?<total>\\d+)", run: "echo 1/9; echo 3/4; exit 1"}
    - {domain: lint, name: listed, format: json, json_pointer: /found, run: "echo \"{\\\"found\\\": [{\\\"file\\\": \\\"a\\\", \\\"line\\\": 3}]}\"", baseline: 2}' scored formats
apsis eval
is "each" "$code:$(sed 's/  .*//' <<<"$out" | tail -n +2 | tr '\n' ' ')" "0:tap=0.6666666667 xml=1 counted=0.75 listed=0.5 "
sed -i 's/ok 3 - c//' manifest.yaml
apsis eval
like "a plan that is not kept is no score" "$code:$err" "5:.*tap has no score: "
like "and why" "$err" "3"
sed -i 's,2/4; exit 1,4/4; exit 1,; s,3/4; exit 1,4/4; exit 1,' manifest.yaml
apsis eval --domain counted
like "a runner that fails although no test did" "$code:$err" "5:.*counted has no score: exit 1.*none of its 4 tests"
sed -i 's/\(name: xml.*run: "\)\(.*\)"}/\1[ -e '"${T//\//\\/}"'\/once ] || { touch '"${T//\//\\/}"'\/once; \2; }"}/' manifest.yaml
sed -i 's/^fitness:/verification: {repeats: 2}\n&/' manifest.yaml
apsis eval --domain xml
like "nor does the file of an earlier run count" "$code:$err" "5:.*xml has no score: out.xml was not written"
sed -i 's/\(name: xml.*run: "\).*/\1true"}/' manifest.yaml
apsis eval --domain xml
like "a report that was not written" "$code:$err" "5:.*xml has no score: out.xml was not written"
end_item

item "rubric: dimensions on their own scales, raw scores kept"
FITNESS='  {domain: rubric, run: sh rate.sh, dimensions: [{name: clarity, scale_max: 10, weight: 0.75}, {name: depth, scale_max: 5, weight: 0.25}]}' scored rated
echo 'echo "METRIC clarity=8"; echo "METRIC depth=$(cat value.txt)"; echo "METRIC other=3"' >rate.sh
git add -A && git commit -qm rated
apsis baseline --repeats 1
apsis run --iterations 6 -q
is "the sum of shares" "$(field 5 primary_metric) $(part 5 secondary_metrics)" '0.85 {"rubric.clarity":8,"rubric.depth":5}'
like "off the scale is refused" "$(field 6 primary_metric) $(field 6 rollback_reason)" "null rubric has no score: depth is 6, which is not from 0 to 5"
sed -i 's/run: sh rate.sh,/run: sh rate.sh, tasks: ["items\/*"],/' manifest.yaml
git commit -qam each
echo 'echo "METRIC clarity=$(cat "$1")"; echo "METRIC depth=5"' >rate.sh && git commit -qam each
apsis eval
is "over items their mean" "$out" "rubric=0.4  (clarity 2, depth 5)"
end_item

item "commands of a domain see no key of the judge, and run in the cage"
FITNESS='  {domain: composite, components: [{domain: tests, run: "[ -z \"$JUDGE_KEY\" ] && [ -z \"$(cat /proc/1/environ | tr \"\\0\" \"\\n\" | grep JUDGE_KEY)\" ]", format: command},
    {domain: review, base_url: "http://127.0.0.1:9/v1", api_key_env: JUDGE_KEY, models: [m]}]}' scored secret
JUDGE_KEY=sk-very-secret-key apsis eval --domain tests
is "none" "$code:$out" "0:tests=1  (failed 0, passed 1, skipped 0, total 1)"
end_item

item "a score above 1 of a report or of a project's own domain is divided as the warning says"
FITNESS='  domain: composite
  components:
    - {domain: own.lua, name: mine}
    - {domain: command, name: elo, tasks: ["items/*"], harness: {run: sh harness.sh}, report: {run: sh report.sh}}' scored divided
echo 'echo question_id,prediction >"$FITNESS_OUTPUT/predictions.csv"' >harness.sh
echo 'echo "{\"elo\": -7.5}" >"$FITNESS_OUTPUT/report.json"' >report.sh
cat >own.lua <<'END'
local fs = require "apsis.fs"
return { harness = function(_, _, _, dir) return fs.write(dir .. "/predictions.csv", "question_id,prediction\na,1\n") end,
  report = function(_, dir) return fs.write(dir .. "/report.json", '{"mine": 73}') end }
END
git add -A && git commit -qm own
apsis eval
like "which line, where" "$err" 'mine scores 73, above 1: .*"scale: 100".*apsis baseline --again.* \(manifest.yaml:12\)'
like "below 0" "$err" 'elo scores -7.5, below 0: .*"span: \[-7.5, 1\]".* \(manifest.yaml:13\)'
sed -i 's/name: mine/&, scale: 100/; s/name: elo/&, span: [-10, 0]/' manifest.yaml
apsis eval
is "divided" "$(sed 's/  .*(/ (/' <<<"$out" | tr '\n' ';')" "composite=0.49;mine=0.73 (weight 1, raw 73);elo=0.25 (weight 1, raw -7.5);"
unlike "nothing to say" "$err" "kept as measured"
sed -i 's/scale: 100/scale: 50/; s/-10, 0/-10, -8/' manifest.yaml
apsis eval
like "still too small" "$err" 'mine scores 1.46, above 1.*divided by 50.*"scale: 73"'
like "nor the span" "$err" "elo scores 1.25, above 1.*the manifest's span goes from -10 to -8.*\"span: \[-10, -7.5\]\""
end_item

item "what a candidate's code writes into the reports of its own measurement counts for nothing"
FITNESS='  domain: composite
  components:
    - {domain: tests, run: sh try.sh, tasks: ["items/*"]}
    - {domain: tests, name: whole, run: "echo 1..1; echo not ok 1 - a; exit 1"}
    - {domain: benchmark, name: speed, scale: 1, run: sh forge.sh}
    - {domain: lint, run: "echo a:1: bad", pattern: bad, baseline: 1}' scored forged
cat >forge.sh <<END
for d in $T/forged/runs/*/fitness; do
    for n in tests whole speed lint; do
        mkdir -p "\$d/\$n"
        echo '{"passed":9,"total":9,"count":0}' >"\$d/\$n/summary.json"
        printf 'question_id,prediction,score\nspeed,1,1\n' >"\$d/\$n/predictions.csv"
        echo '{"tests":1,"whole":1,"speed":1,"lint":1}' >"\$d/\$n/report.json"
    done
done
echo METRIC speed=0
END
cp forge.sh try.sh && echo 'exit 1' >>try.sh
git add -A && git commit -qm forge
apsis baseline --repeats 1
is "all are as measured" "$code:$out" "0:baseline c0000: composite = 0 (higher is better)"
ok "they are not there to write" test ! -e runs/0000_baseline/fitness/tests/summary.json
echo 'sandbox: off' >>manifest.yaml
git commit -qam open
apsis baseline --again --repeats 1
is "and so without a sandbox" "$code:$(tail -1 <<<"$out")" "0:baseline c0001: composite = 0 (higher is better)"
ok "it has tried" test -e runs/0001_baseline/fitness/tests/summary.json
end_item

item "a candidate whose tests are fewer than the baseline's is scored over the baseline's, and it is said"
FITNESS='  {domain: tests, run: "sh tests.sh"}' START=2 scored vanish
echo 'n=$(cat value.txt); echo "ok 1 - a"; case $n in 2) echo "not ok 2 - b" ;; 1) echo "ok 2 - b # SKIP gone" ;; 3) echo "ok 2 - b"; echo "ok 3 - c" ;; esac; echo 1..$((n == 3 ? 3 : 2)); [ $n != 2 ]' >tests.sh
echo 'return function(proposal) return { ["value.txt"] = ({ "1\n", "3\n" })[proposal.experiment] } end' >propose.lua
git add -A && git commit -qm vanish
apsis baseline --repeats 1
apsis run --iterations 2 -q
is "not better" "$(field 0 primary_metric) $(field 1 primary_metric) $(field 2 primary_metric)" "0.5 0.5 1"
is "as it ran" "$(part 1 secondary_metrics)" '{"tests.failed":0,"tests.passed":1,"tests.skipped":1,"tests.total":1}'
like "said" "$err" "tests: 1 tests ran, and the baseline's were 2: the score is divided by the baseline.s"
like "nor are more unseen" "$err" "tests: 3 tests ran, and the baseline's were 2: easy tests"
end_item

item "files that a candidate adds are no items, whatever the globs"
FITNESS='  {domain: tests, run: sh try.sh, tasks: ["items/*"]}' RULES='  - {path: "items/new-*", mode: writable}' START=1 scored added
echo 'return function() return { ["items/new-1"] = "0\n" } end' >propose.lua && git commit -qam add
apsis baseline --repeats 1
apsis run --iterations 1 -q
is "the same three" "$(part 1 secondary_metrics)" '{"tests.failed":2,"tests.passed":1,"tests.total":3}'
end_item

item "a harness that is a command, before a domain's own report: its rows stand as they are, and what is missing is no score"
FITNESS='  {domain: command, tasks: ["items/*"], expected: answers.csv, harness: {run: sh harness.sh}}' scored harnessed
printf 'question_id,answer\nitems/1,a\nitems/2,b\nitems/3,c\n' >answers.csv
echo 'printf "question_id,prediction\nitems/1,a\nitems/2,x\nitems/3,c" >"$FITNESS_OUTPUT/predictions.csv"' >harness.sh
git add -A && git commit -qm harness
apsis baseline --repeats 1
is "two columns, no last line end, by the expected answers" "$code:$out" "0:baseline c0000: command = 0.6666666667 (higher is better)"
is "they stand" "$(tr '\n' ';' <runs/0000_baseline/fitness/command/predictions.csv)" "question_id,prediction;items/1,a;items/2,x;items/3,c"
sed -i 's/.nitems.2,x//' harness.sh && git commit -qam fewer
apsis eval
like "a row too few" "$code:$err" "5:.*command has no score: predictions.csv has 2 rows for 3 items"
harness='harness: {run: "echo question_id,prediction,score >$FITNESS_OUTPUT/predictions.csv"}'
for one in "benchmark, scale: 1, $harness:predictions.csv has no number for benchmark" "tests, $harness:no test ran" \
    "rubric, dimensions: [depth], $harness:depth has no score"; do
    FITNESS="  {domain: ${one%:*}}" write_fitness
    apsis eval
    like "$one" "$code:$err" "5:.*has no score.*${one##*:}"
done
FITNESS="  {domain: lint, $harness}" write_fitness
apsis eval
is "of a linter its rows are the findings" "$code:$out" "0:lint=1  (count 0)"
FITNESS='  {domain: own.lua, name: mine}' write_fitness
echo 'return { harness = function() end, report = function() end }' >own.lua
apsis eval
like "nor one in Lua that wrote nothing" "$code:$err" "5:.*mine has no score: its harness wrote no predictions.csv"
end_item

item "a finding keeps its name when lines above it come or go, and wherever the checkout lies"
FITNESS='  domain: composite
  components:
    - {domain: lint, run: "grep -n BAD $PWD/value.txt /dev/null", pattern: BAD}
    - {domain: lint, name: sarif, format: sarif, run: sh sarif.sh}' START=0 scored shifted
printf 'a\nBAD 1\nBAD 2\nBAD 3\n' >value.txt
cat >sarif.sh <<'END'
grep -n BAD value.txt | sed "s,^\([0-9]*\):\(.*\),{\"ruleId\":\"R1\"\,\"message\":{\"text\":\"\2\"}\,\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"file://$PWD/value.txt\"}\,\"region\":{\"startLine\":\1}}}]}," |
    paste -sd, | sed 's/.*/{"version":"2.1.0","runs":[{"results":[&]}]}/'
END
echo 'return function() return { ["value.txt"] = "BAD 2\nBAD 3\nBAD 4\n" } end' >propose.lua
echo 'return { accept = function() return true end }' >always.lua
sed -i 's/^fitness:/strategy: always.lua\n&/' manifest.yaml
git add -A && git commit -qm shifted
apsis baseline --repeats 1
is "no path of the checkout" "$(cat runs/0000_baseline/fitness/*/predictions.csv | grep -c "$T")" 0
is "names" "$(cut -d, -f1 runs/0000_baseline/fitness/*/predictions.csv | tr '\n' ' ')" \
    "question_id value.txt:BAD 1 value.txt:BAD 2 value.txt:BAD 3 question_id value.txt:R1:BAD 1 value.txt:R1:BAD 2 value.txt:R1:BAD 3 "
apsis run --iterations 1 -q
apsis show 1 --against 0
like "one is new, one is gone" "$out" 'new findings: 2 items
  lint: value.txt:3:BAD 4
  sarif: value.txt:3: BAD 4
findings that are gone: 2 items
  lint: value.txt:2:BAD 1
  sarif: value.txt:2: BAD 1
unchanged: 4 items'
end_item

# refused WHAT REGEX FITNESS: what is said of a manifest.
refused() { FITNESS=$3 write_fitness; apsis setup; like "$1" "$code:$out$err" "2:.*$2"; }

item "a wrong manifest is refused with its line, key and remedy"
new_project wrong
mkdir t && echo 1 >t/1 && git add t && git commit -qm t
refused "an unknown domain" "manifest.yaml:10: fitness.domain: 'test' is no domain; did you mean 'tests'" '  {domain: test, run: x}'
refused "a composite in a composite" "components\[1\].domain: cannot be composite" '  {domain: composite, components: [{domain: composite}]}'
refused "no run" "manifest.yaml:9: fitness.run: is required if domain is tests" '  {domain: tests}'
refused "no components" "fitness.components: is required if domain is composite" '  {domain: composite}'
refused "empty ones" "fitness.components: at least one is needed" '  {domain: composite, components: []}'
refused "a weight of nothing" "components\[1\].weight: must be a number above 0; got 0" '  {domain: composite, components: [{domain: tests, run: x, weight: 0}]}'
refused "a format" "fitness.format: must be one of auto, tap,.* got 'junt'; did you mean 'junit'" '  {domain: tests, run: x, format: junt}'
refused "a pattern" "fitness.pattern: '\(' is not a regular expression" '  {domain: lint, run: x, pattern: "("}'
refused "no pattern" "fitness.pattern: is required, to know which lines" '  {domain: lint, run: x}'
refused "a pattern that names nothing" "fitness.pattern: must name what it counts" '  {domain: tests, run: x, format: command, pattern: "(\\d+)"}'
refused "no items" "fitness.samples: must be 1 or more" '  {domain: tests, run: x, tasks: [a], samples: 0}'
refused "staged without items" "fitness.staged: needs a component with items" '  {domain: tests, run: x, staged: true}'
refused "a key of another domain" "fitness.pattern: does not belong to domain benchmark" '  {domain: benchmark, run: x, pattern: y}'
refused "a key of a harness command's" "fitness.format: has no effect with harness:" '  {domain: tests, format: tap, harness: x}'
refused "a key of a report command's" "fitness.baseline: has no effect with report:" '  {domain: lint, run: x, pattern: y, baseline: 3, report: x}'
refused "a name for a report that no command writes" "fitness.score_key: names a key of the report.json that a report: command writes" \
    '  {domain: tests, run: x, score_key: y}'
refused "a judge's keys for a command" "fitness.instructions: is for a judge, and run: a command scores here" \
    '  {domain: rubric, run: x, instructions: y, dimensions: [a]}'
refused "items that no command scores" "fitness.tasks: needs run: the command that scores each item" \
    '  {domain: rubric, base_url: "http://h", models: [m], tasks: [a], dimensions: [a]}'
refused "a composite's own command" "fitness.env: has no effect on a composite" '  {domain: composite, env: {A: b}, components: [{domain: tests, run: x}]}'
METRIC='metric: {samples: all}' refused "samples of METRIC lines" "metric.samples: conflicts with fitness" '  {domain: tests, run: x}'
refused "workers without items" "fitness.workers: needs a component with items" '  {domain: tests, run: x, workers: 2}'
refused "one name twice" "manifest.yaml:10: fitness.components\[2\].name: 'lint' is the name of the component at manifest.yaml:10 too" \
    '  {domain: composite, components: [{domain: lint, run: x, pattern: y}, {domain: lint, run: x, pattern: y}]}'
refused "no expected answers" "fitness.expected: is required" '  {domain: command, run: x, tasks: [a]}'
refused "nobody to judge" "fitness.models: is required, as there is no chat provider" '  {domain: review}'
refused "a task file that is not there" "fitness.tasks: ids.txt is neither committed" '  {domain: tests, run: x, tasks: ids.txt}'
refused "globs that match nothing" "fitness.tasks: no committed file matches" '  {domain: tests, run: x, tasks: ["none/*"]}'
EXTRA='verification: {commands: [{run: x}]}' refused "both" \
    "manifest.yaml:11: verification.commands: conflicts with fitness \(manifest.yaml:9\)" '  {domain: tests, run: x}'
METRIC='metric: {direction: lower}' refused "a score that is to go down" \
    "manifest.yaml:7: metric.direction: is lower, but a score is better the higher it is \(fitness: manifest.yaml:9\); remove it, and of a benchmark" \
    '  {domain: benchmark, direction: lower, run: x}'
METRIC='metrics: {speed: {direction: lower}}' refused "nor a component's" "manifest.yaml:7: metrics.speed.direction: is lower, but a score" \
    '  {domain: composite, components: [{domain: benchmark, name: speed, run: x}]}'
METRIC='metric: {target: 20, min_pass: 2, max_pass: 0.5}' refused "limits that no score has" "metric.target: must be above 0 and at most 1, for a score.*
.*metric.min_pass: must be from 0 to 1.*metric.max_pass: must not be below 1" '  {domain: tests, run: x}'
refused "a scale where no score is above 1" "fitness.scale: does not belong to domain tests" '  {domain: tests, run: x, scale: 10}'
refused "a span of one number" "fitness.span: must be two numbers" '  {domain: command, name: x, tasks: [a], harness: {run: x}, report: {run: x}, span: [1]}'
refused "nothing below it" "manifest.yaml:9: fitness: is empty; it must be a name, or a mapping .KEY: VALUE.apsis" ''
RULES='  - {path: "t/**", mode: writable}' refused "items that a candidate may write" \
    "fitness.tasks: t/1 is writable, so that a candidate could add, change or delete what it is judged by; give it mode: hidden or read_only" \
    '  {domain: tests, run: x, tasks: ["t/*"]}'
METRIC='metric: {extractor: {type: stdout_json, json_pointer: /x}}' refused "an extractor" "metric.extractor: conflicts with fitness" '  {domain: tests, run: x}'
end_item

# hostile NAME: a project of two components; a candidate's own.sh, which the first one runs, is from standard input.
hostile() {
    cat >"$T/own.sh"
    FITNESS="  domain: composite
  components:
    - {domain: tests, name: own, weight: 0.5, run: 'echo 1..1; echo ok 1 - a; sh own.sh', format: tap}
$SECOND"
    RULES="  - {path: own.sh, mode: writable}" EXTRA="${OWN_EXTRA-}" scored "$1"
    echo : >own.sh
    printf '%s\n' "${SCRIPT-}" >second.sh
    agent <<END
cp '$T/own.sh' own.sh && echo "\$APSIS_EXPERIMENT" >value.txt
END
    sed -i "s|^provider: .*|$PROVIDER|" manifest.yaml
    git add -A && git commit -qm hostile
    apsis baseline --repeats 5
    is "the baseline" "$code" 0
    apsis run --iterations 1
}

item "a candidate writes what another component's command will print, or its METRIC lines"
SECOND="    - {domain: benchmark, name: bench, weight: 0.5, run: 'echo METRIC speed=2', metric: speed}"
hostile metrics <<'END'
for i in 1 2 3 4 5 6; do
    echo METRIC speed=1000 | tee "$APSIS_RUN_DIR/fitness-bench-$i.metrics" >"$APSIS_RUN_DIR/fitness-bench-$i.out"
done
mkdir -p "$APSIS_RUN_DIR/fitness/own" && echo forged >"$APSIS_RUN_DIR/fitness/own/predictions.csv"
END
like "its value" "$(part 1 secondary_metrics)" '"bench.value":2,'
unlike "nor the rows of its own" "$(cat runs/0001/fitness/own/predictions.csv)" forged
end_item

item "a candidate makes its output a link to the user's file: apsis does not read it"
printf '1..2\nok 1 - a\nnot ok 2 - SECRET of the user\n' >"$HOME/secret"
SECOND="    - {domain: tests, name: file, weight: 0.5, run: sh second.sh, format: tap, file: out/report.tap}"
SCRIPT='mkdir -p out; printf "1..1\nok 1 - a\n" >out/report.tap; sh own.sh report' hostile linked <<END
for i in 1 2 3 4 5 6; do ln -sf '$HOME/secret' "\$APSIS_RUN_DIR/fitness-own-\$i.out"; done
END
is "standard output" "$(grep -rl SECRET logs runs)" ''
echo "[ \"\$1\" != report ] || ln -sf '$HOME/secret' out/report.tap" >"$T/own.sh"
apsis run --iterations 1
is "the report" "$(grep -rl SECRET logs runs)" ''
like "why there is none" "$(field 2 rollback_reason)" "out/report.tap leads out of the workspace"
end_item

item "a candidate that is measured again makes its results' folder a link to one of the user's"
mkdir -p "$T/users" && echo mine >"$T/users/predictions.csv"
SECOND="    - {domain: tests, name: second, weight: 0.5, run: sh second.sh, format: tap}"
SCRIPT='echo 1..2; echo ok 1 - a; [ "$(cat value.txt)" != 0 ] || printf "not "; echo ok 2 - b' \
    OWN_EXTRA='acceptance: sensitive' hostile relinked <<END
for i in 1 2 3 4 5 6; do
    mkdir -p "\$APSIS_RUN_DIR/fitness-again-\$i" && rm -rf "\$APSIS_RUN_DIR/fitness-again-\$i/second"
    ln -s '$T/users' "\$APSIS_RUN_DIR/fitness-again-\$i/second"
done
END
is "it is measured again" "$(field 1 samples)" "[1,1,1]"
is "it is as it was" "$(ls "$T/users") $(cat "$T/users/predictions.csv")" "predictions.csv mine"
end_item

finish
