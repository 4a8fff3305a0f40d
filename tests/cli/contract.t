# The strategy contract in the world of git and processes: groups, measure, ask, edits with two parents, extend.
. tests/cli/lib.sh

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"
}

mkdir "$T/live" && cd "$T/live" && git init -q . && printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore
echo 0 > a.txt && echo 0 > b.txt
cat > manifest.yaml <<'YAML'
version: 1
files: [{path: "?.txt", mode: writable}]
verification: {commands: [{name: sum, run: 'echo "METRIC sum=$(($(cat a.txt) + $(cat b.txt)))"'}]}
metric: {name: sum, direction: higher}
strategy: script.lua
provider: {kind: lua, use: provider.lua}
execution: {workers: 2}
YAML
cat > provider.lua <<'LUA'
return function(proposal, workspace)
  if proposal.ask then return "an answer to " .. proposal.prompt end
  local path = proposal.title
  return { [path] = tostring(tonumber(workspace:read(path)) + proposal.experiment) }, { hypothesis = "add to " .. path }
end
LUA
cat > script.lua <<'LUA'
-- Two at once from the baseline, a merge of both, both measured again, a question.
local script = {}

function script.plan(run)
  local number = run.experiment
  if number == 1 and run.free == 2 then
    return { { parents = { run.baseline }, title = "a.txt" }, { parents = { run.baseline }, title = "b.txt" } }
  elseif number == 3 and #run.pending == 0 then
    local one, two = run.get("c0001"), run.get("c0002")
    return { parents = { one, two }, operator = "crossover", edits = { ["a.txt"] = one:read("a.txt"), ["b.txt"] = two:read("b.txt") } }
  elseif number == 4 and #run.pending == 0 then
    return { measure = { "c0001", "c0002" }, repeats = 2 }
  elseif number == 5 and #run.pending == 0 then
    return { ask = "what next" }
  end
end

function script.accept(run, candidate)
  if candidate.siblings then return run.metric:best_of(candidate.siblings).id == candidate.id end
  return run.metric:better(candidate, run.best), { notes = { diff = #candidate:diff() } }
end

return script
LUA
commit
apsis baseline
apsis run
is "a scripted strategy runs to its end" "$code" 0
line "and the run says why it ended" "$out" "the strategy plans nothing more"
is "of a group the best sibling is kept" "$(field 2 outcome) $(field 3 outcome)" "reverted_rejected kept"
is "edits are verified without a provider" "$(field 4 outcome) $(field 4 primary_metric)" "kept 3"
is "a candidate of two parents is a merge commit" "$(git rev-list --parents -n 1 refs/apsis/live/c0003 | wc -w)" 3
is "measure takes a number and no candidate" "$(field 5 outcome) $(field 5 candidate)" "measured null"
is "its samples are interleaved" "$(field 5 trace.4.id)" c0002
is "ask puts the answer into the line" "$(field 6 outcome) $(field 6 answer)" "asked an answer to what next"
is "the branch holds the merge" "$(git show apsis/live:a.txt)$(git show apsis/live:b.txt)" 12
apsis replay --check
is "the fold plans the same again" "$code" 0

# What plan may have seen is what replay gives it: free workers, the budget, directions; and resampled proposals.
mkdir "$T/again" && cd "$T/again" && git init -q . && printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore && cp ../live/manifest.yaml . && echo 0 > a.txt
cat > script.lua <<'LUA'
local script = {}
function script.plan(run)
  return { parents = { run.best }, title = ("%d %s %s"):format(run.free, run.budget.iterations.left, run.directions[1] or "-"),
    notes = { project = run.project.name } }
end
function script.select(run, proposal, answers)
  if not proposal.k then return "resample", { parents = { run.best }, k = 1, title = "again" } end
  return 1
end
return script
LUA
echo 'return function(p, w) return { ["a.txt"] = tostring(w.rng:integer(1, 1e6 // 1 | 0)) } end' > provider.lua
echo 0 > b.txt && commit
apsis baseline
apsis run --workers 3 --iterations 4
apsis direct --message "go on"
apsis run --workers 3 --iterations 3
apsis replay --check
is "replay --check gives a plan what it saw: workers, budget, directions, before a resample" "$code" 0

# A verifier that turns APSIS_METRICS into a directory; a baseline that failed; hidden files and a lua provider.
sed -i 's/^strategy:.*/strategy: hillclimb/; s/run: .echo/run: '"'"'[ $(cat a.txt) = 9 ] \&\& mkdir "$APSIS_METRICS"; echo/; s/mode: writable}\]/mode: writable}, {path: secret.txt, mode: hidden}]/' manifest.yaml
echo 'return function(p, w) return { ["a.txt"] = "9" }, { hypothesis = tostring(p.parents[1]:read("secret.txt")), tokens = 7 } end' > provider.lua
rm -rf logs runs && git for-each-ref --format='delete %(refname)' refs/apsis | git update-ref --stdin
echo top > secret.txt && commit && apsis baseline
is "a baseline beside a hidden file" "$code" 0
apsis run --iterations 1
is "APSIS_METRICS as a directory is a crash; a provider's tokens are counted" "$(field 2 outcome) $(field 2 tokens)" \
    "skipped_verification_crash 7"
is "a provider cannot read a hidden file of a parent" "$(field 2 hypothesis)" nil
sed -i 's/\[ $(cat a.txt) = 9 ] && mkdir "$APSIS_METRICS"/echo 77 > a.txt/' manifest.yaml
apsis baseline --again
is "a baseline whose verification failed has no value" "$code $(tail -n 1 logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" primary_metric)" \
    "5 null"
apsis run --iterations 1
is "and no run goes on from it" "$code" 3

cd "$T/live"
for name in hillclimb random_walk annealing adaptive; do
    sed "s/name: sum, direction/name: sum, direction/; s/^strategy:.*/strategy: $name/; s/^version: 1/version: 1\nproject: {name: $name}/" manifest.yaml > m && mv m manifest.yaml
    printf 'return function(p, w) return { ["a.txt"] = tostring(w.rng:integer(-9, 9)) } end\n' > provider.lua
    rm -rf logs runs && commit $name && apsis baseline && apsis run --iterations 6
    is "$name runs live" "$code" 0
    git checkout -q HEAD~1 -- manifest.yaml && commit back
done
finish
