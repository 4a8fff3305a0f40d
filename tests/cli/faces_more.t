#!/bin/bash
# faces_more: as faces.t: several baselines, stages, noise, several metrics, what answers cost, and every outcome.
. tests/cli/lib.sh && . tests/cli/faces.sh || exit 1

values again 3 4 - 5 2 && start && "$APSIS" run -q --iterations 3 >/dev/null
echo 100 >value.txt && start && "$APSIS" run -q --iterations 1 >/dev/null
agree "another baseline, better than all before"
sed -i 's/name: score, direction: higher/name: size, direction: lower/' manifest.yaml && commit metric
"$APSIS" baseline -q --again --repeats 1 >/dev/null 2>&1
agree "and one by another metric"
values stages 3 4 5 2 && sed -i "s/^  commands: .*/  commands: [{name: first, run: sh evaluate.sh, stage: 1, threshold: 4}, {name: second, run: sh evaluate.sh, stage: 2}]/" manifest.yaml
start && live --iterations 4
agree "stages with a threshold"
values noise 3 -3 6 && sed -i 's/^echo.*//' manifest.yaml && echo 'acceptance: default' >>manifest.yaml
echo 'read -r value <value.txt; echo "METRIC score=$((value * 100 + RANDOM % 90))"' >evaluate.sh
sed -i 's/run: sh evaluate.sh/run: bash evaluate.sh/' manifest.yaml && start 5 && "$APSIS" run -q --iterations 3 >/dev/null 2>&1
agree "noise, with acceptance and the gain measured again"
values front 3 5 4 && sed -i 's/^metric:.*/metric: {pareto: [{name: score, direction: higher}, {name: size, direction: lower}]}/' manifest.yaml
start && "$APSIS" run -q --iterations 3 >/dev/null
agree "several metrics"
AGENT_EXTRA=', usage: {tokens: "took ([0-9]+)", usd: "[$]([0-9.]+)"}' agent <<'END'
echo "took 120 tokens, $0.125"
echo "$((APSIS_EXPERIMENT * 10 % 7))" >value.txt
END
sed -i 's/\$0/\\$0/' "$T"/agent-*.sh
new_project costs && start && "$APSIS" run -q --iterations 3 >/dev/null 2>&1
is "what it took is known" "$("$APSIS" status | grep -E '^(tokens|cost):' | tr -s ' \n' ' ')" "tokens: 360 cost: 0.375 USD "
agree "a provider that is paid"

new_project every
mkdir logs
cat >"$T/every.lua" <<'LUA'
local json, lines = require "apsis.json", require "apsis.core.line"
local out, best = io.open("logs/results.jsonl", "w"), 0
for _, outcome in ipairs(lines.outcomes) do print(outcome[1]) end
for round = 0, 2 do
  for at, outcome in ipairs(lines.outcomes) do
    local number, name = round * #lines.outcomes + at - 1, outcome[1]
    if name ~= "baseline" or round == 0 then
      local measured = name == "kept" or name == "baseline" or name:find "^reverted_[wtr]"
      local value = measured and (name == "kept" and number or name == "baseline" and 0 or -number) or nil
      if name == "kept" then best = number end
      out:write(json.encode(lines.for_file(lines.complete { experiment = number, outcome = name, best = best,
        candidate = name ~= "measured" and name ~= "asked" and ("c%04d"):format(number) or nil, primary_metric = value,
        operator = at % 2 == 0 and "even" or "odd", parents = number > 0 and { "c0000" } or {}, run = 1, tokens = 7,
        cost = 0.25, improved = name == "kept", rollback_reason = name ~= "kept" and "because of " .. name or nil,
        seconds = 1, strategy = "hillclimb", model = "m" .. round })), "\n")
    end
  end
end
LUA
apsis exec "$T/every.lua"
printf '%s\n' "$out" >"$T/outcomes"
is "the journal is written" "$code$err" 0
agree "every outcome"
is "every one of them is there" "$("$APSIS" log --json | grep -o '"outcome":"[a-z_]*"' | sort -u | wc -l)" \
    "$(grep -c . "$T/outcomes")"

finish
