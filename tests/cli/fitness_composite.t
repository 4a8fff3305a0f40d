#!/bin/bash
# A staged composite of tests, lint and a judge in a live run: a candidate that regresses one item is found, and named by
# `show --against`; one that passes none of the first items is stopped before the linter and the judge are asked.
. tests/cli/lib.sh
. tests/cli/server.sh

part() { grep "^{.*\"experiment\":$1[,}]" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"; }

start_server - <<'END'
{"content": "{\"correctness\": 8, \"quality\": 8, \"safety\": 8, \"improvement\": 8, \"reason\": \"it fixes more\"}"}
{"content": "{\"correctness\": 6, \"quality\": 6, \"safety\": 6, \"improvement\": 6, \"reason\": \"it breaks one\"}"}
{"content": "{\"correctness\": 9, \"quality\": 9, \"safety\": 9, \"improvement\": 9, \"reason\": \"all pass\"}"}
END

mkdir -p "$T/judged/t" && cd "$T/judged" || exit 1
git init -q .
# test N passes where program.txt has a line N; a line of `bad` is a finding
for i in $(seq -w 20); do echo "grep -qx $i program.txt" >"t/$i.sh"; done
cat >lint.sh <<'END'
grep -n bad program.txt | sed 's/^/program.txt:/'
true
END
cat >propose.lua <<'END'
local function lines(first, last, without, more)
  local list = {}
  for i = first, last do
    if i ~= without then list[#list + 1] = ("%02d"):format(i) end
  end
  return table.concat(list, "\n") .. "\n" .. more
end
local programs = { lines(1, 15, nil, "bad\n"), lines(1, 16, 7, ""), "nothing\n", lines(1, 20, nil, "") }
return function(proposal) return { ["program.txt"] = programs[proposal.experiment] } end
END
printf '%s\n' 01 02 bad bad bad bad >program.txt
printf '%s\n' 'logs/' 'runs/' '.apsis/' >.gitignore
cat >manifest.yaml <<END
version: 1
project: {name: judged}
files:
  - {path: program.txt, mode: writable}
  - {path: "t/**", mode: hidden}
fitness:
  domain: composite
  staged: true
  workers: 2
  components:
    - {domain: tests, weight: 0.5, run: sh, tasks: ["t/*.sh"]}
    - {domain: lint, weight: 0.2, run: sh lint.sh, pattern: "^.+:\\\\d+:"}
    - {domain: review, weight: 0.3, base_url: "$URL", models: [judge]}
provider: {kind: lua, use: propose.lua}
END
git add -A && git commit -qm start

item "each component counts by its weight, and the best is what is best by all"
apsis baseline
is "the baseline" "$code:$(field 0 primary_metric)" "0:0.2"
apsis run --iterations 4 -q
is "the run" "$code" 0
is "outcomes" "$(for i in 1 2 3 4; do field $i outcome; done | tr '\n' ' ')" \
    "kept reverted_worse_metric reverted_stage_failure kept "
is "values" "$(for i in 1 2 3 4; do field $i primary_metric; done | tr '\n' ' ')" "0.765 0.755 null 0.97 "
is "in parts" "$(part 1 secondary_metrics.tests) $(part 1 secondary_metrics.lint) $(part 1 secondary_metrics.review)" "0.75 0.75 0.8"
like "in its report" "$(tr -d ' \n' <runs/0001/fitness/report.json)" '"composite":0.765'
end_item

item "none of the first items stops a candidate before the linter and the judge"
is "why" "$(field 3 rollback_reason)" "stage 1: tests scores 0 on the first 10 of its 20 items"
is "ten rows" "$(grep -c '^t/' runs/0003/fitness/tests/predictions.csv) $(ls runs/0003/fitness)" "10 tests"
is "the judge was asked for the others" "$(requests)" 3
end_item

item "the judge is shown the patch against the parent, and no hidden file"
like "the patch" "$(request 2 body.messages.1.content)" "-07"
unlike "no test" "$(cat "$SERVER_LOG")" "grep -qx"
end_item

item "show --against names the item that regressed"
apsis show c0002 --against c0001
is "exit" "$code" 0
like "the item" "$out" "tests:t/07\.sh"
like "what was fixed" "$out" "tests:t/16\.sh"
unlike "not the others" "$out" "t/08\.sh"
end_item

item "a rubric without a command asks the judge about the files as they stand, each dimension on its own scale"
start_server - <<'END'
{"content": "{\"clarity\": 8, \"depth\": 6, \"reason\": \"deep\"}"}
{"content": "{\"clarity\": 8, \"depth\": 2, \"reason\": \"so\"}"}
END
sed -i '/^fitness:/,/^provider:/c fitness: {domain: rubric, base_url: "'"$URL"'", models: [judge], dimensions: [{name: clarity, weight: 0.75}, {name: depth, scale_max: 4, weight: 0.25, what: how deep it goes}]}' manifest.yaml
git commit -qam rubric
apsis eval
is "the second answer counts, the first being off its scale" "$code:$out" "0:rubric=0.725  (clarity 8, depth 2)"
like "it was told" "$(request 2 body.messages.-1.content)" "depth is 6, which is not from 0 to 4"
like "it was shown the file and the scale" "$(request 1 body.messages.1.content)" "bad.*depth, a number from 0 to 4: how deep it goes"
unlike "and no hidden file" "$(cat "$SERVER_LOG")" "grep -qx"
end_item

finish
