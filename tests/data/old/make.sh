#!/bin/bash
# make: how the two projects here were made, by apsis 6dada4b: make.sh APSIS OUT. climb: hill climbing, then openevolve,
# every kind of outcome that a Lua provider gives, and a run killed while experiment 46 was being measured. noisy:
# acceptance under noise, with samples and traces. tests/cli/old_project.t reads them.
set -eu
apsis=$1 out=$2
export GIT_AUTHOR_NAME=old GIT_AUTHOR_EMAIL=old@localhost GIT_COMMITTER_NAME=old GIT_COMMITTER_EMAIL=old@localhost
export HOME=$out/home GIT_CONFIG_NOSYSTEM=1
mkdir -p "$out/home"

project() { # NAME
    mkdir "$out/$1" && cd "$out/$1"
    git init -q -b main
    printf '/logs/\n/runs/\n/.apsis/\n' >.gitignore
    echo "5 5" >point.txt
}

start() { git add -A && git commit -qm start; }

# What the program prints of a project that has no folders in runs/ but the one in flight, and the project itself.
keep() { # NAME IDS
    local to=$out/kept/$1 id
    mkdir -p "$to"
    find runs -mindepth 1 -maxdepth 1 ! -name 0046 -exec rm -rf {} +
    rm -f logs/apsis.log
    mv .apsis "$out/apsis.$1"
    git gc -q --prune=now
    git bundle create -q "$to/repository.bundle" --all
    mkdir "$to/logs" && cp logs/*.json* "$to/logs/" # without the .gitignore there
    [ ! -e runs/0046 ] || cp -r runs "$to/"
    "$apsis" status --json | sed 's,"directory":"[^"]*","directory":".",' >"$to/status.json"
    "$apsis" log --json >"$to/log.json"
    "$apsis" best --json >"$to/best.json"
    "$apsis" report --json >"$to/report.json"
    "$apsis" replay --check --json >"$to/replay.json"
    for id in $2; do
        "$apsis" show "$id" --json >"$to/show-$id.json"
        "$apsis" diff "$id" >"$to/diff-$id.patch"
    done
}

project climb
cat >manifest.yaml <<'END'
version: 1
project: {name: climb}
files: [{path: point.txt, mode: writable}, {path: measure.sh, mode: hidden}]
verification: {commands: [{name: measure, run: sh measure.sh, timeout_sec: 10}]}
metric: {name: loss, direction: lower}
metrics: {steps: {direction: higher}}
strategy: {use: again.lua, options: {patience: 1000}}
provider: {kind: lua, use: provider.lua}
sandbox: off
seed: 7
END
cat >again.lua <<'END'
-- Hill climbing that measures the best again after every sixth experiment.
local strategy = require "apsis.strategy"
return strategy.extend("hillclimb", { plan = function(run)
  if run.experiment % 7 == 0 then return { measure = { run.best.id }, repeats = 2 } end
  return { parents = { run.best }, operator = "exploitation", notes = { turn = run.experiment % 7 } }
end })
END
cat >provider.lua <<'END'
return function(proposal, workspace)
  local number, rng = proposal.experiment, workspace.rng
  if number % 19 == 11 then error "out of ideas" end
  if number % 13 == 5 then return {} end
  if number % 23 == 13 then return { ["again.lua"] = "return {}\n" } end
  if number % 11 == 8 then return { ["point.txt"] = "crash\n" } end
  local x, y = workspace:read "point.txt":match "(%S+) (%S+)"
  return { ["point.txt"] = ("%.3f %.3f\n"):format(tonumber(x) + rng:normal(), tonumber(y) + rng:normal()) },
    { hypothesis = "move it, turn " .. number, learned = number % 2 == 0 and "it moves" or nil }
end
END
cat >measure.sh <<'END'
[ "${APSIS_EXPERIMENT:-0}" != 46 ] || sleep 1
read -r x y <point.txt
[ "$x" != crash ] || exit 3
awk "BEGIN { printf \"METRIC loss=%.6f\nMETRIC steps=%d\n\", ($x - 3)^2 + ($y + 1)^2, $x * 10 }"
END
start
"$apsis" baseline -q
"$apsis" run -q --iterations 25
"$apsis" run -q --strategy openevolve --iterations 10 --workers 2
"$apsis" run -q --iterations 20 &
pid=$!
while [ ! -e runs/0046/proposal.json ]; do sleep 0.01; done
sleep 0.3
kill -9 "$pid"
keep climb "c0001 c0008 c0034 best"

project noisy
cat >manifest.yaml <<'END'
version: 1
project: {name: noisy}
files: [{path: point.txt, mode: writable}, {path: measure.sh, mode: hidden}]
verification: {commands: [{name: measure, run: sh measure.sh, timeout_sec: 10}]}
metric: {name: loss, direction: lower}
acceptance: {preset: default}
strategy: {use: hillclimb, options: {patience: 1000}}
provider: {kind: lua, use: provider.lua}
sandbox: off
END
cat >provider.lua <<'END'
return function(_, workspace)
  local x, y = workspace:read "point.txt":match "(%S+) (%S+)"
  local rng = workspace.rng
  return { ["point.txt"] = ("%.3f %.3f\n"):format(tonumber(x) - rng:normal(), tonumber(y) - rng:normal()) }
end
END
cat >measure.sh <<'END'
read -r x y <point.txt
noise=$(od -An -N2 -tu2 /dev/urandom)
awk "BEGIN { printf \"METRIC loss=%.6f\n\", ($x - 3)^2 + ($y + 1)^2 + $noise / 65536 }"
END
start
"$apsis" baseline -q
"$apsis" run -q --iterations 12
keep noisy "c0001 best"
