#!/bin/bash
# A staged composite of tests, predictions, lint and a judge, from its baseline to a kill and what stands after it: the score of each
# component; the item that a candidate regresses and the hunk that does it; what stops early, with adjusted scores; eval.
# The project is tests/data/composite.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

export JUDGE_KEY=sk-judge/0123456789abcdef TRIED=$T/tried
json() { "$APSIS" exec "$ROOT/tests/cli/json.lua" "$1"; }
part() { grep "^{.*\"experiment\":$1[,}]" logs/results.jsonl | json "$2"; }
breakdown() { json "$2" <"runs/$1/fitness/report.json"; }
tried() { wc -l <"$TRIED.$1" | tr -d ' '; }


VERDICT='"content": "{\"correctness\": 9, \"quality\": 8, \"safety\": 8, \"improvement\": 5, \"reason\": \"so\"}"'
start_server - <<END
{"match": "[+]# 5", "times": 1, "stall_s": 60, $VERDICT}
{$VERDICT}
END
mkdir "$T/judged" && cd "$T/judged" || exit 1
git init -q .
cp -r "$ROOT/tests/data/composite/." . && mv ignored .gitignore
sed -i "s|@URL@|$URL|" manifest.yaml
echo 'verification: {pass_env: [TRIED]}' >>manifest.yaml
git add -A && git commit -qm start

item "the baseline has every item, and the judge is not asked what a change of nothing is worth"
apsis baseline --repeats 1
is "exit" "$code:$out" "0:baseline c0000: composite = 0.4904761905 (higher is better)" # 0.4 x 9/14 + 0.1 x 10/12 + 0.2 x 0 + 0.3 x 0.5
is "items" "$(part 0 items | grep -o '"units:[^"]*"\|"numbers:[^"]*"' | wc -l)" 26
is "nobody asked" "$(requests)" 0
end_item

item "the loop: better is kept, worse and what stops early is not, and the best is the best of all components"
apsis run --iterations 4
is "exit" "$code" 0
is "outcomes" "$(for i in 1 2 3 4; do field $i outcome; done | tr '\n' ' ')" "kept reverted_worse_metric reverted_stage_failure kept "
is "values" "$(for i in 1 2 3 4; do field $i primary_metric; done | tr '\n' ' ')" "0.72183333333333 0.6932619047619 null 0.9385 "
is "the judge was asked for those that went on" "$(requests)" 3
is "no item twice" "$(tried 4) $(sort -u "$TRIED.4" | wc -l)" "27 27"
end_item

item "report.json breaks the score down, and its parts make it"
is "a component" "$(breakdown 0001 components.numbers.domain) $(breakdown 0001 components.numbers.metrics)" 'command {"correct":10,"total":12}'
is "scores" "$(for one in units numbers lint review; do breakdown 0001 components.$one.score; done | tr '\n' ' ')" "1 0.83333333333333 0 0.795 "
is "weights" "$(for one in units numbers lint review; do breakdown 0001 components.$one.weight; done | tr '\n' ' ')" "0.4 0.1 0.2 0.3 "
is "together" "$(breakdown 0001 composite)" "$(python3 -c '
import json, sys
parts = json.load(sys.stdin)["components"].values()
print("%.14g" % sum(part["score"] * part["weight"] for part in parts))' <runs/0001/fitness/report.json)"
is "the judge's raw scores" "$(breakdown 0001 components.review.metrics | tr -d '{}')" \
    '"review.correctness":9,"review.improvement":5,"review.quality":8,"review.safety":8'
end_item

item "show --against names the one item that regressed, and --bisect the hunk that did it"
cp logs/results.jsonl "$T/before"
apsis show c0002 --against c0001
is "exit" "$code" 0
like "the item" "$out" $'regressed: 1 item\n  units:cases/11-lower: 1 -> 0, prediction "passed" -> "failed"\n'
like "three hunks" "$out" "from c0001 to c0002: 3 hunks"
like "where to go back to" "$out" "go back to: c0001"
apsis show c0002 --against c0001 --bisect
is "exit" "$code" 0
like "without the first" "$out" $'\n  1 +0 of 1  0.6932619048\n'
like "without the second" "$out" $'\n  2 +1 of 1  0.7218333333\n'
like "found" "$out" "revert hunk 2: that restores the item that regressed; composite would be 0.7218333333 \(c0002 has 0.6932619048"
like "which is the mistake" "${out##*which takes this back:}" '[+] +echo "\$\{1%% \*\}" \| tr A-Z a-z'
ok "no line is written" cmp -s logs/results.jsonl "$T/before"
apsis show c0004 --against c0002
like "what was fixed since" "$out" "fixed: 3 items"
unlike "nothing regressed" "$out" "regressed:"
end_item

item "a candidate that has nothing right of the first items of one component is stopped, with adjusted scores, and is never best"
is "why" "$(field 3 rollback_reason)" "stage 1: units scores 0 on the first 10 of its 14 items"
is "adjusted" "$(part 3 secondary_metrics.units.adjusted)$(part 3 secondary_metrics | grep -o '"[a-z]*.\(adjusted\|staged\)":[0-9.]*' | tr '\n' ' ')" \
    '"numbers.adjusted":0.6666666666666667 "numbers.staged":0.8 "units.adjusted":0 "units.staged":0 ' # 0.8 x 10/12
is "no more than that was measured" "$(tried 3) $(ls runs/0003/fitness | tr '\n' ' ')" "20 numbers units "
apsis status --json
is "the best" "$(printf '%s' "$out" | json best.candidate)" c0004
is "the next one's parent" "$(field 4 parents)" '["c0001"]'
end_item

item "eval scores the composite or a part of it from outside, with each component, and writes nothing"
cp logs/results.jsonl "$T/before"
cd /
apsis eval --domain composite "$T/judged"
is "all" "$code:$out" "0:composite=0.4904761905
units=0.6428571429  (weight 0.4, failed 5, passed 9, total 14)
numbers=0.8333333333  (weight 0.1, correct 10, total 12)
lint=0  (weight 0.2, count 3)
review=0.5  (weight 0.3, review.correctness 5, review.improvement 5, review.quality 5, review.safety 5)"
apsis eval --domain lint "$T/judged"
is "one" "$code:$out" "0:lint=0  (count 3)"
cd "$T/judged" || exit 1
ok "no line" cmp -s logs/results.jsonl "$T/before"
end_item

item "killed while the judge thinks: no item, prediction or finding is measured again, the judge is asked again, and all count"
: >"$TRIED.5"
asked=$(requests)
"$APSIS" run --iterations 1 -q >"$T/killed" 2>&1 &
for _ in $(seq 2400); do [ "$(requests)" -gt "$asked" ] && break; nap 0.05; done
disown
kill -9 $!
for _ in $(seq 2400); do kill -0 $! 2>/dev/null || break; nap 0.05; done
is "killed" "$(lines) $(tried 5)" "5 27"
ok "under way" test -e runs/0005/fitness/unfinished.json
is "its rows stand" "$(grep -c '^cases/' runs/0005/fitness/units/predictions.csv) $(wc -l <runs/0005/fitness/numbers/predictions.csv)" "14 13"
apsis run -q
is "nothing again" "$code:$(tried 5) $(lines)" "0:27 6"
is "but the judge" "$(requests)" $((asked + 2))
is "the value" "$(field 5 outcome) $(field 5 primary_metric)" "kept 0.9385" # tied, with fewer changed lines
is "of all items" "$(part 5 items | grep -o '"units:[^"]*":1\|"numbers:[^"]*":1' | wc -l)" 26
ok "no longer under way" test ! -e runs/0005/fitness/unfinished.json
apsis replay --check
is "the fold plans the same" "$code" 0
end_item

item "the judge never saw a hidden file, and its key is nowhere"
is "cases" "$(grep -c '|ab c' "$SERVER_LOG")" 0
like "sent" "$(request 1 headers.authorization)" "sha256:"
is "key" "$(grep -c sk-judge "$SERVER_LOG") $(grep -rl sk-judge . "$XDG_CACHE_HOME" "$HOME")" "0 "
end_item

finish
