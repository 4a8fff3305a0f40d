#!/bin/bash
# export: every experiment as CSV, JSON lines or runs of MLflow, read back by others: python3's csv and json, sqlite3, and
# MLflow's own rules (mlruns.lua).
. tests/cli/lib.sh || exit 1

# A run with a crash, a value that is not better, texts that need quotes, and a secondary metric.
new_project rich
cat >evaluate.sh <<'EVALUATOR'
value=$(cat value.txt)
[ "$value" = 3 ] && exit 1
echo "METRIC score=$value"
echo "METRIC time_us=1.5e-07"
echo "METRIC a.b=2"
EVALUATOR
cat >propose.lua <<'PROPOSER'
return function(proposal)
  local number = proposal.experiment
  local text = 'say "hi", or\nnot; ' .. number .. " \u{1F600}"
  return { ["value.txt"] = (number == 4 and 0.5 or number) .. "\n" }, { hypothesis = text, tokens = 10, cost = 0.25 }
end
PROPOSER
commit "a rich run"
apsis baseline -q
apsis run -q --iterations 4
apsis run -q --iterations 2 --strategy random_walk

item "a run to export"
is "lines" "$(lines)" 7
is "a crash" "$(field 3 outcome)" skipped_verification_crash
end_item

item "--csv: python3's csv reads it: a row for each experiment, the texts whole"
apsis export --csv out.csv
is "exit" "$code" 0
is "what it prints" "$out" "7 experiments: out.csv"
cat >"$T/read.py" <<'PYTHON'
import csv, json, sys
rows = list(csv.DictReader(open("out.csv", newline="", encoding="utf-8"), strict=True))
lines = [json.loads(line) for line in open("logs/results.jsonl", encoding="utf-8")]
assert len(rows) == len(lines), len(rows)
texts = 0
for row, line in zip(rows, lines):
    assert None not in row and None not in row.values(), row
    assert row["outcome"] == line["outcome"] and row["candidate"] == (line["candidate"] or "")
    assert row["parents"] == " ".join(line["parents"])
    for name in ("primary_metric", "best", "delta", "tokens", "cost", "seconds"):
        value = line.get(name)
        assert (row[name] == "") if value is None else float(row[name]) == value, (name, row[name], value)
    for name in ("hypothesis", "rollback_reason", "description", "commit", "timestamp"):
        assert row[name] == (line.get(name) or ""), (name, row[name])
        texts += "\n" in row[name]
    secondary = line["secondary_metrics"] or {}
    for name in ("time_us", "a.b"):
        assert row["secondary_metrics." + name] == "" or float(row["secondary_metrics." + name]) == secondary[name]
    assert json.loads(row["proposal"] or "null") == line["proposal"]
    assert row["improved"] in ("true", "false", "")
assert texts > 0
print("read", len(rows))
PYTHON
is "python3" "$(python3 "$T/read.py" 2>&1)" "read 7"
is "every line ends in CR LF (RFC 4180)" "$(head -n 1 out.csv | tail -c 2 | od -An -tx1 | tr -d ' \n')" 0d0a
apsis export --csv -
is "standard output has the same" "$(cksum <"$T/.out")" "$(cksum <out.csv)"
end_item

if command -v sqlite3 >/dev/null; then
    item "--csv: sqlite3 imports it"
    is "sqlite3" "$(sqlite3 :memory: '.mode csv' '.import out.csv runs' '.mode list' \
        "select count(*) || ' ' || max(cast(value as real)) || ' ' || sum(tokens) from runs" 2>&1)" "7 6.0 60.0"
    end_item
fi

item "--jsonl: python3's json reads it: every column in every line, null if there is nothing"
apsis export --jsonl out.jsonl
is "exit" "$code" 0
cat >"$T/read_json.py" <<'PYTHON'
import json
rows = [json.loads(line) for line in open("out.jsonl", encoding="utf-8")]
lines = [json.loads(line) for line in open("logs/results.jsonl", encoding="utf-8")]
assert len(rows) == len(lines)
for row, line in zip(rows, lines):
    assert list(row) == list(rows[0])
    for name, value in line.items():
        assert row[name] == value, (name, row[name], value)
assert rows[3]["value"] is None and rows[3]["primary_metric"] is None
print("read", len(rows))
PYTHON
is "python3" "$(python3 "$T/read_json.py" 2>&1)" "read 7"
end_item

item "--columns: what the columns are, all that CSV has"
apsis export --columns
is "exit" "$code" 0
line "a column" "$out" "^cost +number, USD +what its answers cost"
is "all of them" "$(awk 'NR > 1 {print $1}' <<<"$out" | grep -v NAME | tr '\n' ,)" \
    "$(head -n 1 out.csv | tr -d '\r' | tr , '\n' | grep -vE '^(secondary_metrics|phases)\.' | tr '\n' ,)"
like "how long each phase took" "$(head -n 1 out.csv)" ",phases\.COMMIT,.*,phases\.VERIFY,"
end_item

item "--json: what was written"
apsis export --csv out.csv --json
is "rows" "$(json rows) $(json file)" "7 out.csv"
end_item

item "a value that is measured again is the median of all its samples"
new_project again
cat >mine.lua <<'STRATEGY'
local mine = {}
function mine.plan(run)
  if run.experiment == 1 then return { measure = { "c0000" }, repeats = 2 } end
  return { parents = { run.best }, operator = "exploitation" }
end
return mine
STRATEGY
echo 'echo "METRIC score=$(($(cat value.txt) + APSIS_EXPERIMENT))"' >evaluate.sh
commit again
apsis baseline -q --repeats 1
apsis run -q --iterations 1 --strategy mine.lua
apsis export --jsonl -
is "the value now" "$(head -n 1 <<<"$out" | grep -oE '"(primary_metric|value)":[0-9]+' | tr '\n' ' ')" \
    '"primary_metric":0 "value":1 '
cd "$T/rich" || exit 1
end_item

# ---- MLflow ----

read_mlruns() { "$APSIS" exec "$ROOT/tests/cli/mlruns.lua" "$1" 2>&1; }

item "--mlflow: a run for each run, by the rules of MLflow's file store"
apsis export --mlflow mlruns
is "exit" "$code" 0
found=$(read_mlruns mlruns)
no_line "nothing is wrong" "$found" "^wrong|error"
line "the experiment" "$found" "^experiment.tiny"
line "MLflow's own first experiment" "$found" "^experiment.Default.0$"
line "the first run" "$found" "^run.tiny run 1, hillclimb.3"
line "the second run" "$found" "^run.tiny run 2, random_walk.3"
is "no others" "$(grep -c ^run <<<"$found")" 2
run=$(awk '/run 1/ {print $NF}' <<<"$found")
cd mlruns/*/"$run" || exit 1
is "the metric: a step for each value" "$(cut -d' ' -f2,3 metrics/score | tr '\n' ,)" "0 0,1 1,2 2,0.5 4,"
is "the best so far" "$(cut -d' ' -f2,3 metrics/apsis/best | tr '\n' ,)" "0 0,1 1,2 2,2 3,2 4,"
is "a secondary metric" "$(tail -n 1 metrics/time_us | cut -d' ' -f2-)" "1.5e-07 4"
is "parameters" "$(cat params/strategy params/metric params/baseline | tr '\n' ' ')" "hillclimbscore0"
is "the commit" "$(cat tags/mlflow.source.git.commit)" "$(git -C "$T/rich" rev-parse HEAD)"
cd "$T/rich" || exit 1
ok "the manifest is an artifact" cmp manifest.yaml "$(find mlruns -name manifest.yaml)"
end_item

item "--mlflow again: the same runs, no line twice, what others added stays; new runs come along"
echo 'a note' >"mlruns/$(ls mlruns | grep -v ^0)/$run/tags/mlflow.note.content"
before=$(find mlruns -type f ! -name meta.yaml -exec cksum {} + | sort)
metas=$(find mlruns -name meta.yaml -exec cksum {} + | sort)
apsis export --mlflow mlruns
is "exit" "$code" 0
is "files" "$(find mlruns -type f ! -name meta.yaml -exec cksum {} + | sort)" "$before"
is "meta.yaml" "$(find mlruns -name meta.yaml -exec cksum {} + | sort)" "$metas"
apsis run -q --iterations 1
apsis export --mlflow mlruns
is "three runs" "$(read_mlruns mlruns | grep -c ^run)" 3
is "the first is as it was" "$(cut -d' ' -f2,3 "mlruns/$(ls mlruns | grep -v ^0)/$run/metrics/score" | tr '\n' ,)" "0 0,1 1,2 2,0.5 4,"
no_line "nothing is wrong" "$(read_mlruns mlruns)" "^wrong"
end_item

item "--mlflow: an experiment of that name that MLflow made is used"
mkdir -p theirs/7 && cat >theirs/7/meta.yaml <<'META'
artifact_location: s3://bucket/7
creation_time: 1700000000000
experiment_id: '7'
last_update_time: 1700000000000
lifecycle_stage: active
name: tiny
META
cp theirs/7/meta.yaml "$T/meta"
apsis export --mlflow theirs --json
is "exit" "$code" 0
is "its id" "$(json experiment)" 7
ok "it is as it was" cmp theirs/7/meta.yaml "$T/meta"
no_line "nothing is wrong" "$(read_mlruns theirs)" "^wrong"
end_item

item "--mlflow: names of metrics that the store does not take are changed, and no two become one"
new_project names
cat >evaluate.sh <<'EVALUATOR'
echo "METRIC score=$(cat value.txt)"
printf 'METRIC %s=1\n' 'µs' 'a:b' 'a_b' apsis "$(printf 'x%.0s' {1..240})" >>"$APSIS_METRICS"
echo "METRIC score=$(cat value.txt)" >>"$APSIS_METRICS"
EVALUATOR
commit names
apsis baseline -q && apsis run -q --iterations 1
apsis export --mlflow out
is "exit" "$code" 0
found=$(read_mlruns out)
no_line "nothing is wrong" "$found" "^wrong|error"
is "as many metrics as there are" "$(find out -path '*/metrics/*' -type f ! -path '*/apsis/*' | wc -l)" \
    "$(($(head -n 1 logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" secondary_metrics | tr , '\n' | grep -c :) + 1))"
cd "$T/rich" || exit 1
end_item

# ---- what is refused ----

# refused WHAT CODE REGEX ARGUMENTS...
refused() {
    local what=$1 wanted=$2 regex=$3
    shift 3
    apsis export "$@"
    is "$what: exit" "$code" "$wanted"
    like "$what: message" "$err" "$regex"
}

item "bad: no form, two forms, an empty name, --json with the rows, a form that is none"
refused "no form" 2 "what form\? --csv FILE"
refused "two" 2 "--csv and --jsonl: one at a time" --csv a --jsonl b
refused "empty" 2 "--csv: the name is empty" --csv ""
refused "--json" 2 "leave one out" --json --csv -
refused "unknown" 2 "unknown option '--xml'" --xml a
refused "no value" 2 "option '--csv' requires an argument" --csv
is "no file came" "$(ls a b 2>/dev/null)" ""
end_item

item "bad: a folder of something else is no mlruns, and nothing is written there"
mkdir -p src/lib && echo x >src/lib/a.c
refused "a folder" 2 "src is a folder of something else, not of MLflow; .* src/mlruns" --mlflow src
is "it is as it was" "$(find src | sort | tr '\n' ' ')" "src src/lib src/lib/a.c "
refused "the project" 2 "is a folder of something else" --mlflow .
refused "a file" 2 "value.txt is no folder" --mlflow value.txt
mkdir empty && apsis export --mlflow empty
is "an empty one becomes one" "$code" 0
end_item

item "bad: the experiment is deleted in MLflow"
cp -r mlruns deleted && id=$(ls deleted | grep -v ^0) && mv "deleted/$id" deleted/.trash/
refused "deleted" 3 "is deleted in deleted; .mlflow experiments restore -x $id." --mlflow deleted
end_item

item "bad: a destination that cannot be written"
refused "a folder" 2 "--csv: src is a folder" --csv src
refused "no such folder" 2 "--csv: cannot write nowhere/out.csv" --csv nowhere/out.csv
refused "mlruns below a file" 3 "cannot write" --mlflow value.txt/mlruns
end_item

item "bad: the disk is full: the old file stays, and no half one is left"
echo old >full.csv
capture bash -c "ulimit -f 1; trap '' XFSZ; exec '$APSIS' export --csv full.csv"
is "exit" "$code" 3
like "message" "$err" "--csv: cannot write"
is "the old one" "$(cat full.csv)" old
is "no half one" "$(ls | grep -c tmp-)" 0
capture bash -c "'$APSIS' export --csv - >/dev/full"
is "standard output: exit" "$code" 3
like "standard output: message" "$err" "No space left"
end_item

item "bad: the reader goes away: no message, and no hang"
capture bash -c "'$APSIS' export --csv - | head -n 1 | wc -l; echo \${PIPESTATUS[0]}"
is "one line" "$(head -n 1 <<<"$out" | tr -d ' ')" 1
is "no message" "$err" ""
end_item

item "bad: a device and a pipe are written to, not replaced"
apsis export --csv /dev/null
is "exit" "$code" 0
ok "/dev/null is a device" test -c /dev/null
mkfifo pipe && cat pipe >piped.csv & apsis export --csv pipe
wait
ok "the pipe has it all" cmp piped.csv <("$APSIS" export --csv -)
ok "it is a pipe" test -p pipe
ln -s target.csv link.csv && touch target.csv
apsis export --csv link.csv
ok "a link stays one" test -L link.csv
ok "what it leads to has it" cmp target.csv piped.csv
end_item

item "bad: no experiments, only a baseline, no project"
new_project fresh
refused "none" 3 "no experiments yet: run .apsis baseline. first" --csv out.csv
ok "no file" test ! -e out.csv
apsis baseline -q
apsis export --csv out.csv
is "a baseline is a row" "$code" 0
refused "only a baseline" 3 "only a baseline yet" --mlflow mlruns
ok "no folder" test ! -e mlruns
mkdir "$T/nothing" && cd "$T/nothing" || exit 1
refused "no project" 2 "no manifest.yaml" --csv out.csv
cd "$T/rich" || exit 1
end_item

item "bad: a damaged line is named, and the old file stays"
cp -r "$T/rich" "$T/torn" && cd "$T/torn" || exit 1
echo old >out.csv && sed -i '3s/.*/rubbish/' logs/results.jsonl
refused "damaged" 3 "results.jsonl:3: " --csv out.csv
is "the old one" "$(cat out.csv)" old
cd "$T/rich" || exit 1
end_item

item "bad: more names of metrics than columns"
new_project many
echo 'for i in $(seq 1200); do echo "METRIC m$i=$i"; done; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit many
apsis baseline -q --repeats 1
refused "CSV" 2 "secondary_metrics has 1200 names, .* use --jsonl" --csv out.csv
apsis export --jsonl out.jsonl
is "JSON lines" "$code" 0
cd "$T/rich" || exit 1
end_item

item "bad: killed in the middle of --mlflow: the next one puts it right"
rm -rf mlruns && apsis export --mlflow mlruns
whole=$(find mlruns -type f ! -name meta.yaml -exec cksum {} + | sort)
if command -v strace >/dev/null; then
    for at in 1 2 5 9 14 20; do
        rm -rf mlruns
        capture "${TRACED[@]}" -f -o /dev/null -e trace=rename -e inject=rename:signal=SIGKILL:when=$at "$APSIS" export --mlflow mlruns
        is "$at: killed" "$code" 137
        apsis export --mlflow mlruns
        is "$at: exit" "$code" 0
        is "$at: all is there" "$(find mlruns -type f ! -name meta.yaml ! -name '*.tmp-*' -exec cksum {} + | sort)" "$whole"
    done
fi
end_item

item "marks that show text in another order, C1 controls and DEL are raw in no JSON, CSV, page, picture or run of MLflow"
new_project marks
cat >propose.lua <<'PROPOSER'
return function(proposal)
  local text = "a \u{202E}b\u{2069} c\u{200F}\u{61C}\u{9B}\127\27[31m d"
  return { ["value.txt"] = proposal.experiment .. "\n" }, { hypothesis = text, description = text, learned = text }
end
PROPOSER
commit "marks"
apsis baseline -q
apsis run -q --iterations 2
raw() { LC_ALL=C.UTF-8 grep -lrP '[\x{202A}-\x{202E}\x{2066}-\x{2069}\x{200E}\x{200F}\x{061C}]' "$@"; }
control() { LC_ALL=C.UTF-8 grep -lrP '[\x{80}-\x{9F}\x{7F}\x{1B}]' "$@"; }
mkdir faces
faces() {
    apsis export --csv faces/rows.csv
    apsis export --jsonl faces/rows.jsonl
    apsis export --mlflow faces/mlruns
    apsis report --out faces/page.html
    apsis report --svg --out faces/curve.svg
    "$APSIS" report --json >faces/page.json
    "$APSIS" log --json >faces/log.json
    "$APSIS" log --format autoresearch >faces/autoresearch.json
    "$APSIS" log --format pi-autoresearch >faces/pi.json
    "$APSIS" show c0001 --json >faces/show.json
    "$APSIS" status --json >faces/status.json
    "$APSIS" best --json >faces/best.json
    "$APSIS" log >faces/log.txt
    "$APSIS" show c0001 >faces/show.txt
    "$APSIS" replay --strategy annealing --json >faces/replay.json
}
faces
is "marks" "$(raw faces logs/results.jsonl runs --include='*.json*' --include='*.csv' --include='*.html' --include='*.txt')" ""
is "controls in JSON" "$(control faces/*.json faces/*.jsonl logs/results.jsonl)" ""
like "escaped in JSON" "$(cat faces/log.json)" 'a \\u202eb\\u2069 c\\u200f\\u061c\\u009b\\u007f\\u001b\[31m d'
line "named in CSV" "$(cat faces/rows.csv)" 'a <U\+202E>b<U\+2069> c<U\+200F><U\+061C><U\+009B><U\+007F><U\+001B>\[31m d'
is "the text is whole when it is read" "$("$APSIS" exec "$ROOT/tests/cli/field.lua" faces/log.json 1 learned)" \
    $'a \xe2\x80\xaeb\xe2\x81\xa9 c\xe2\x80\x8f\xd8\x9c\xc2\x9b\x7f\x1b[31m d'
# A journal from elsewhere may have them raw.
sed -i $'s/\\\\u202e/\xe2\x80\xae/g; s/\\\\u2069/\xe2\x81\xa9/g; s/\\\\u009b/\xc2\x9b/g' logs/results.jsonl
rm -f .apsis/digests
is "a raw journal" "$(raw logs/results.jsonl)" logs/results.jsonl
rm -rf faces/*
faces
is "marks of a raw journal" "$(raw faces)" ""
is "controls in JSON of a raw journal" "$(control faces/*.json faces/*.jsonl)" ""
end_item

finish
