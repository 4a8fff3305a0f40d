#!/bin/bash
# The report of a run and `apsis log` agree on every number, over recorded runs and runs of shipped examples: crashes, ties, noise,
# lower and higher, gates, guards, several strategies, several baselines. agree.lua works each number out again.
. tests/cli/lib.sh || exit 1

# agrees NAME [EPSILON]: the report and the log of the project here, and what best and status say.
agrees() {
    "$APSIS" report --out "$T/page.html" >/dev/null && "$APSIS" report --json >"$T/report.json"
    "$APSIS" log --json >"$T/log.jsonl" && "$APSIS" log --reverse >"$T/log.txt"
    apsis exec "$ROOT/tests/cli/agree.lua" "$T/page.html" "$T/report.json" "$T/log.jsonl" "$T/log.txt" "${2:-0}"
    is "$1" "$code:$out$err" 0:
    ok "$1: it ran" test "$(wc -l <"$T/log.jsonl")" -gt 4
    for command in best status; do
        apsis $command --json
        local best="best."
        [ $command = status ] || best=
        is "$1: $command" "$(json "${best}candidate") $(json "${best}value")" \
            "$(out=$(cat "$T/report.json") json best.id) $(out=$(cat "$T/report.json") json best.value)"
    done
}

for name in climb noisy; do
    mkdir "$T/$name" && cd "$T/$name" && git init -q . || exit 1
    git fetch -q "$ROOT/tests/data/old/$name/repository.bundle" 'refs/*:refs/*' --update-head-ok
    git reset -q --hard && cp -r "$ROOT/tests/data/old/$name/logs" .
    agrees "recorded: $name"
done

# example NAME: a copy of a shipped one, with its baseline.
example() {
    cp -r "$ROOT/examples/$1" "$T/$2" && cd "$T/$2" && rm -rf logs runs .apsis && git init -q . || exit 1
    printf '%s\n' logs/ runs/ .apsis/ >.gitignore && git add -A && git commit -qm start
    "$APSIS" baseline >/dev/null 2>&1
}

seed=0
for strategy in adaptive hillclimb annealing openevolve random_walk hyperagents; do
    for example in function-minimization circle-packing; do
        seed=$((seed + 1))
        example $example "$example-$strategy"
        apsis run --strategy $strategy --seed $seed --iterations 8 -q
        agrees "$example, $strategy, seed $seed" "$(sed -n 's/^ *epsilon: *\([^ ]*\).*/\1/p' manifest.yaml)"
    done
done

example function-minimization several
for strategy in hillclimb random_walk openevolve; do apsis run --strategy $strategy --iterations 4 -q; done
agrees "several strategies"
is "each is named" "$(json_of() { out=$(cat "$T/report.json") json "strategies.$1"; }; json_of 1; json_of 2; json_of 3)" \
    "$(printf '%s\n' hillclimb random_walk openevolve)"

example noisy-benchmark noise
apsis run --iterations 5 -q
agrees "acceptance under noise"

# Values of numbered experiments: VALUE..., "-" is a crash.
values() {
    local number=0
    printf '%s\n' "$@" >list.txt
    cat >propose.lua <<'END'
return function(proposal, workspace)
  local number = 0
  for value in workspace:read("list.txt"):gmatch "%S+" do
    number = number + 1
    if number == proposal.experiment then return { ["value.txt"] = value .. "\n" .. ("x\n"):rep(number) } end
  end
end
END
    echo 'read -r value <value.txt; [ "$value" != - ] && echo "METRIC score=$value" && echo "METRIC size=$(wc -l <value.txt)"' >evaluate.sh
    write_manifest
    commit "$*"
}

new_project crashes && values 3 - 4 4 - 5 1 && apsis baseline && apsis run --iterations 8 -q
agrees "crashes, and a proposal that fails"

new_project falls && DIRECTION=lower values -3 -2 -5 -5 7 - -6 && apsis baseline && apsis run --iterations 7 -q
agrees "lower is better, below 0"

new_project tied && values $(seq 30 | sed 's/.*/7.12345678&/') && sed -i 's/direction: higher/direction: higher, epsilon: 0.001, tie_breaker: changed_loc/' manifest.yaml
echo 'return { accept = function(run, candidate) return run.metric:better(candidate, run.best) or run.metric:tied(candidate, run.best) end }' >ties.lua
sed -i 's/^strategy:.*/strategy: ties.lua/' manifest.yaml && commit ties && apsis baseline && apsis run --iterations 30 -q
agrees "thirty that are tied" 0.001

new_project gated && EXTRA='gate: sh gate.sh' values 3 4 5 6 && echo '! grep -q "^[46]$" value.txt' >gate.sh && commit gate && apsis baseline
for _ in 1 2 3; do apsis run --iterations 2 -q; done
agrees "a gate that fails"

new_project guarded && EXTRA=$'metrics: {size: {direction: lower}}\nguards: [{metric: size, max_regression: 3}]' values 3 4 5 6 7 && apsis baseline && apsis run --iterations 5 -q
agrees "guards"

new_project bounded && values 3 40 5 60 7 && sed -i 's/direction: higher/direction: higher, max_pass: 10/' manifest.yaml && commit bounds && apsis baseline && apsis run --iterations 5 -q
agrees "thresholds"

new_project again && values 3 4 - 5 5 2 9 && apsis baseline && apsis run --iterations 3 -q
echo 100 >value.txt && commit another && apsis baseline --again && apsis run --iterations 2 -q
agrees "baseline --again of another tree, better than all before"
echo 1 >value.txt && commit worse && apsis baseline --again && apsis run --iterations 1 -q
agrees "and of one that is worse than all before"
sed -i 's/name: score, direction: higher/name: size, direction: lower/' manifest.yaml && commit metric && apsis baseline --again
agrees "and by another metric"

new_project twice && values 3 4 && apsis baseline && apsis baseline --again && apsis run --iterations 3 -q
agrees "baseline --again before anything was kept"

finish
