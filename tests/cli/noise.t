#!/bin/bash
# noise: a baseline measured several times, what is told of its noise, and guards in a live run.
. tests/cli/lib.sh || exit 1

json() { printf '%s' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$1"; }

# The verifier prints the next line of a list each time: its place is kept outside the workspace.
listed() { # listed LINES...
    printf '%s\n' "$@" >"$T/list"
    echo 0 >"$T/at"
    cat >evaluate.sh <<END
at=\$((\$(cat $T/at) + 1)); echo \$at >$T/at
sed -n "\${at}p" $T/list
END
    git commit -q --allow-empty -am "another list"
}
scores() { listed $(printf 'METRIC_score=%s ' "$@"); sed -i 's/_/ /' "$T/list"; }

new_project tiny
scores 10 14 9 13 11 8 12

item "baseline --repeats 7: the samples in order, their median the value, each counted"
apsis baseline --repeats 7
is "exit code" "$code" 0
is "samples" "$(field 0 samples)" "[10,14,9,13,11,8,12]"
is "value" "$(field 0 primary_metric)" 11
is "measurements" "$(field 0 measurements)" 7
is "verifications" "$(cat "$T/at")" 7
# successive differences 4 5 4 2 3 4, mean 22/6, times sqrt(pi)/2
like "sd" "$out" $'\nnoise: sd 3\\.249 \\(30 %\\) over 7 measurements'
like "the noise in the line" "$(field 0 notes)" '"noise":\{"score":3\.249'
like "both presets" "$out" "default: kept.*sensitive: kept"
like "what is detectable" "$out" "an improvement of [0-9.]+ % needs about [0-9]+ measurements a candidate"
unlike "no drift" "$out" "drift"
end_item

item "--json has the samples, the noise, and what would be found"
scores 10 14 9 13 11
apsis baseline --again --repeats 5 --json
is "exit code" "$code" 0
is "values" "$(json values)" "[10,14,9,13,11]"
like "sd" "$(json noise.sd)" '^3\.323'
is "drift" "$(json noise.drift)" false
is "effect" "$(json noise.power.1.rows.4.effect)" 2
like "kept" "$(json noise.power.1.rows.4.kept)" '^0\.9'
is "presets" "$(json noise.power.1.preset) $(json noise.power.2.preset)" "default sensitive"
end_item

item "as many measurements as were asked for, also of a metric that does not vary"
scores 3 3 3 3 3 3 3 3
apsis baseline --again --repeats 8
is "exit code" "$code" 0
is "verifications" "$(cat "$T/at")" 8
like "said" "$out" "8 equal measurements: the metric has no spread"
end_item

item "five equal ones after another are not"
scores 4 3 3 3 3 3 3
apsis baseline --again --repeats 6
is "verifications" "$(cat "$T/at")" 6
end_item

item "values that climb slowly: drift is asked about"
scores 10 11 12 13 14 15 16 17
apsis baseline --again --repeats 8
like "said" "$out" "drift\\? The ordinary sd is 2\\.449"
end_item

item "two measurements: too few to rely on, and no table"
scores 10 11
apsis baseline --again --repeats 2
is "exit code" "$code" 0
like "said" "$out" "too few to rely on"
unlike "no table" "$out" "sensitive"
end_item

item "values around 0 have no percentage"
scores -2 1 0 3 -1
apsis baseline --again --repeats 5
is "exit code" "$code" 0
like "sd" "$out" "noise: sd 2\\.437 over 5"
unlike "no percentage" "$out" "%|inf|nan"
end_item

item "values at the end of what a number holds"
scores 1e308 1e308 -1e308 1e308 1.5e308
apsis baseline --again --repeats 5 --json
is "exit code" "$code" 0
is "value" "$(json value)" 1e+308
end_item

item "one measurement says nothing of noise"
scores 10
apsis baseline --again
is "out" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 1
is "notes" "$(field 8 notes)" "(no field)"
end_item

item "a measurement that fails in between: no value, exit 5, and which it was"
listed "METRIC score=1" "METRIC score=2" "METRIC scor=3"
apsis baseline --again --repeats 4
is "exit code" "$code" 5
like "reason" "$err" "measurement 3 of 4: no METRIC score"
is "value" "$(field 9 primary_metric)" null
end_item

item "--repeats below 1 or no number: exit 2, and no line"
before=$(lines)
for bad in 0 -1 1.5 many; do
    apsis baseline --again --repeats=$bad
    is "exit code of $bad" "$code" 2
    like "message of $bad" "$err" "--repeats"
done
is "lines" "$(lines)" "$before"
end_item

item "an interrupt in between leaves no line"
cat >evaluate.sh <<END
at=\$((\$(cat $T/at) + 1)); echo \$at >$T/at
[ \$at = 3 ] && { touch $T/third; sleep 60; }
echo METRIC score=\$at
END
echo 0 >"$T/at"
git commit -qam slow
before=$(lines)
"$APSIS" baseline --again --repeats 9 -q >/dev/null 2>"$T/.err" &
pid=$!
for _ in $(seq 1200); do [ -e "$T/third" ] && break; nap 0.1; done
kill -INT $pid
wait $pid
is "exit code" "$?" 130
is "lines" "$(lines)" "$before"
end_item

item "with acceptance in the manifest a baseline is of its measurements"
EXTRA='acceptance: {baseline: 6}' new_project accepting
scores 10 14 9 13 11 8 12
apsis baseline
is "measurements" "$(field 0 measurements)" 6
end_item

item "a replay with another strategy is not told what was shown of another best"
EXTRA='acceptance: {baseline: 6}' new_project shown
cat >evaluate.sh <<END
at=\$((\$(cat $T/at) + 1)); echo \$at >$T/at
echo "METRIC score=\$((\$(cat value.txt) * 100 + at * 7 % 5))"
END
echo 'return function(proposal) return { ["value.txt"] = ({ "1\n", "2\n", "3\n" })[proposal.experiment] } end' >propose.lua
git add -A && git commit -qm noisy
apsis baseline
apsis run --iterations 4 -q
is "recorded" "$(field 1 outcome) $(field 2 outcome) $(field 3 outcome)" "kept kept kept"
cat >first.lua <<'END'
return { accept = function(run, candidate)
  return candidate.experiment > 1 and run.metric:better(candidate, run.best)
end }
END
apsis replay --strategy first.lua
like "it says so" "$out" "from experiment 2 on it asked twice for what the recording cannot answer \(measurements, or what was shown of another best\); the recorded decision stands there"
like "and decides by nothing else" "$out" "3 decisions: 2 kept \(recorded 3\), 1 rejected \(recorded 0\); 1 differ"
end_item

# A project whose metric is the file's first number and whose latency its second.
guarded() { # guarded NAME GUARDS
    EXTRA="metrics: {ms: {direction: lower}}
guards: $2" new_project "$1"
    echo '0 100' >value.txt
    echo 'read -r a b <value.txt; echo "METRIC score=$a"; echo "METRIC ms=$b"' >evaluate.sh
    cat >propose.lua <<'END'
local list = { "1 104\n", "2 120\n", "3 108\n", "4 105\n" }
return function(proposal) return { ["value.txt"] = list[proposal.experiment] } end
END
    git add -A && git commit -qm guarded
}

item "guards: an improvement that spoils another metric is reverted, against the best and against the baseline"
guarded guarded '[{metric: ms, max_regression: 5%}]'
apsis baseline
apsis run --iterations 4 -q
is "exit code" "$code" 0
is "outcomes" "$(field 1 outcome) $(field 2 outcome) $(field 3 outcome) $(field 4 outcome)" \
    "kept reverted_threshold_failure reverted_threshold_failure kept"
is "reason" "$(field 2 rollback_reason)" "guard ms: 15.4 % worse than c0001, at most 5 % allowed"
is "reason" "$(field 3 rollback_reason)" "guard ms: 8 % worse than the baseline c0000 was, at most 5 % allowed"
end_item

item "with acceptance a noisy guard is measured again until it is clear, though the metric itself has no noise"
guarded noisy '[{metric: ms, max_regression: 5%}]'
cat >evaluate.sh <<END
at=\$((\$(cat $T/at) + 1)); echo \$at >$T/at
read -r a b <value.txt; echo "METRIC score=\$a"
awk -v at=\$at -v b=\$b 'BEGIN { print "METRIC ms=" b + (at * 7) % 5 - 2 }'
END
echo 0 >"$T/at"
cat >propose.lua <<'END'
local list = { "1 100\n", "2 112\n" }
return function(proposal) return { ["value.txt"] = list[proposal.experiment] } end
END
echo 'acceptance: {max_repeats: 32}' >>manifest.yaml
git add -A && git commit -qm noisy
apsis baseline
is "baseline: the median of ms" "$(field 0 secondary_metrics)" '{"ms":100}'
like "its noise" "$(field 0 notes)" '"ms":[1-9]'
like "said" "$out" $'guard ms: 100, sd [1-9.]+ \\([0-9.]+ %\\); at most 5% worse is allowed'
apsis run --iterations 2 -q
is "exit code" "$code" 0
is "outcomes" "$(field 1 outcome) $(field 2 outcome)" "kept reverted_threshold_failure"
like "reason" "$(field 2 rollback_reason)" "^guard ms: 1[0-9.]+ % worse than c0001 \\[[0-9.]+..[0-9.]+ %\\], at most 5 % allowed"
like "measured again" "$(field 2 measurements)" '^([4-9]|[1-6][0-9])$'
end_item

item "what is within the limit of the best and not of the original is reverted: that one is measured anew, and counted"
cat >propose.lua <<'END'
local list = { "1 103\n", "2 106\n", "3 103.5\n", "4 103\n" }
return function(proposal) return { ["value.txt"] = list[proposal.experiment - 4] } end
END
git add -A && git commit -qm climbing
apsis baseline --again
apsis run --iterations 3 -q
is "exit code" "$code" 0
is "outcomes" "$(field 5 outcome) $(field 6 outcome) $(field 7 outcome)" "kept reverted_threshold_failure kept"
like "reason" "$(field 6 rollback_reason)" "^guard ms: [567][0-9.]* % worse than the original c0004 \\[[0-9.]+..[0-9.]+ %\\]"
like "in the trace" "$(field 6 trace)" '"id":"c0004"'
is "metrics.json is the candidate's own" "$(grep -ho '"score": [0-9]*' runs/000[1267]/metrics.json | tr -dc '0-9\n' | paste -sd' ')" \
    "1 2 2 3"
like "the part of the error that it has taken" "$(field 6 acceptance)" '"guards":1'
apsis replay --check
is "replay" "$code" 0
like "same plans" "$out" "0 differ"
end_item

item "a budget of measurements that does not cover it reverts, with the reason"
sed -i 's/proposal.experiment - 4/4/' propose.lua
echo 'budget: {measurements: 8}' >>manifest.yaml
apsis run -q
is "outcome" "$(field 9 outcome)" reverted_threshold_failure
like "reason" "$(field 9 rollback_reason)" "^guard ms: .*; budget: 2 measurements are asked for, [01] are left"
end_item

item "a limit in the metric's own unit"
guarded units '[{metric: ms, max_regression: 3.5}]'
apsis baseline
apsis run --iterations 1 -q
is "outcome" "$(field 1 outcome)" reverted_threshold_failure
is "reason" "$(field 1 rollback_reason)" "guard ms: 4 worse than c0000, at most 3.5 allowed"
end_item

item "a baseline without a guard's metric: exit 5, and run refuses, naming the line"
sed -i '/METRIC ms/s/; echo "METRIC ms=$b"//' evaluate.sh
git commit -qam without
apsis baseline --again
is "exit code" "$code" 5
like "message" "$err" "manifest.yaml:[0-9]+: guards\\[1\\].metric: the baseline c0002 has no METRIC ms=NUMBER"
apsis run --iterations 1
is "exit code of run" "$code" 3
like "message of run" "$err" "guards\\[1\\].metric: the baseline c0002 has no METRIC ms"
end_item

# wrong GUARDS REGEX: exit 2 with the message.
wrong() {
    item "guards: $1: exit 2"
    sed -i "s/^guards: .*/guards: $1/" manifest.yaml
    apsis eval
    is "exit code" "$code" 2
    like "message" "$err" "manifest.yaml:[0-9]+: $2"
    end_item
}
wrong '[{metric: mss, max_regression: 5%}]' "guards\\[1\\].metric: 'mss' has no direction, .*did you mean 'ms'.*add metrics: \\{mss: \\{direction: lower\\}\\}"
wrong '[{metric: score, max_regression: 5%}]' "guards\\[1\\].metric: 'score' is the metric that is optimised"
wrong '[{metric: ms, max_regression: 5%}, {metric: ms, max_regression: 3}]' "guards\\[2\\].metric: 'ms' is guarded at manifest.yaml:[0-9]+ too"
wrong '[{metric: ms, max_regression: 0}]' "guards\\[1\\].max_regression: must be a percentage such as 5%, or a number"
wrong '[{metric: ms, max_regression: -5%}]' "guards\\[1\\].max_regression: must be a percentage"
wrong '[{metric: ms, max_regression: "5"}]' "guards\\[1\\].max_regression: .*a number stands without quotes"
wrong '[{metric: ms}]' "guards\\[1\\].max_regression: is required"
wrong '[{max_regression: 5%}]' "guards\\[1\\].metric: is required"
wrong '[{metric: ms, max_regresion: 5%}]' "unknown key|guards\\[1\\]"
wrong '{metric: ms, max_regression: 5%}' "guards: must be a list"

item "of its own accord it ends after five equal ones"
scores 3 3 3 3 3 3 3 3
sed -i 's/^guards: .*/acceptance: default/' manifest.yaml
apsis baseline --again
is "verifications" "$(cat "$T/at")" 5
like "said" "$out" "5 equal measurements, so it stopped after 5 of 20: the metric has no spread"
end_item

item "a tie-break is refused beside acceptance, which keeps no tie"
sed -i 's/^metric: .*/metric: {name: score, tie_breaker: changed_loc}/' manifest.yaml
apsis status
like "said" "$code $err" "^2 .*manifest.yaml:[0-9]+: metric.tie_breaker: has no effect with acceptance \(manifest.yaml:[0-9]+\), .*remove it"
end_item

item "once the minutes are used up a decision measures no more"
new_project minutes
cat >evaluate.sh <<END
at=\$((\$(cat $T/at) + 1)); echo \$at >$T/at
[ \$at -le 10 ] || sleep 0.3
echo "METRIC score=\$((\$(cat value.txt) * 60 + at * 37 % 101))"
END
echo 0 >"$T/at"
echo 'return function() return { ["value.txt"] = "1\n" } end' >propose.lua
write_manifest
echo 'acceptance: {baseline: 10, final: 0}' >>manifest.yaml
commit minutes
apsis baseline
apsis run -q --iterations 1 --minutes 0.03
is "outcome" "$(field 1 outcome)" reverted_worse_metric
like "reason" "$(field 1 rollback_reason)" "^budget: minutes used up"
end_item

item "with stages, values are measured again at the stage that they are of, also in the final comparison"
new_project stages
cat >evaluate.sh <<'END'
echo "METRIC score=$(($1 * 1000 + $(cat value.txt)))"
END
cat >manifest.yaml <<'END'
version: 1
project: {name: tiny}
files: [{path: value.txt, mode: writable}]
provider: {kind: lua, use: propose.lua}
verification:
  commands: [{name: quick, run: sh evaluate.sh 1, stage: 1}, {name: full, run: sh evaluate.sh 2, stage: 2}]
metric: {name: score, direction: higher}
acceptance: {baseline: 5}
budget: {iterations: 3}
END
commit stages
apsis baseline
is "baseline" "$(field 0 primary_metric) $(field 0 samples)" "2000 [2000,2000,2000,2000,2000]"
apsis run
like "kept at the last stage" "$(grep '"outcome":"kept"' logs/results.jsonl | grep -o '"primary_metric":[0-9]*' | tail -1)" ':20[0-9]*$'
unlike "no value is of another stage" "$(grep -o '"samples":\[[^]]*\]' logs/results.jsonl)" '[[,]1[0-9][0-9][0-9][],]'
unlike "nothing changed" "$err" "is not the same when it is measured again"
like "the final comparison" "$out" "gained"
end_item

finish
