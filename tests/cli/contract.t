# The strategy contract in the world of git and processes: groups, measure, ask, edits with two parents, extend.
. "$(dirname "$0")/transcript.sh"

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$here/json.lua" "$2"
}

mkdir "$work/live" && cd "$work/live" && git init -q . && printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore
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
run baseline
run run
is "$code" 0 "a scripted strategy runs to its end"
like "$out" "the strategy plans nothing more" "and the run says why it ended"
is "$(field 2 outcome) $(field 3 outcome)" "reverted_rejected kept" "of a group the best sibling is kept"
is "$(field 4 outcome) $(field 4 primary_metric)" "kept 3" "edits are verified without a provider"
is "$(git rev-list --parents -n 1 refs/apsis/live/c0003 | wc -w)" 3 "a candidate of two parents is a merge commit"
is "$(field 5 outcome) $(field 5 candidate)" "measured null" "measure takes a number and no candidate"
is "$(field 5 trace.4.id)" c0002 "its samples are interleaved"
is "$(field 6 outcome) $(field 6 answer)" "asked an answer to what next" "ask puts the answer into the line"
is "$(git show apsis/live:a.txt)$(git show apsis/live:b.txt)" 12 "the branch holds the merge"
run replay --check
is "$code" 0 "the fold plans the same again"

# What plan may have seen is what replay gives it: free workers, the budget, directions; and resampled proposals.
mkdir "$work/again" && cd "$work/again" && git init -q . && printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore && cp ../live/manifest.yaml . && echo 0 > a.txt
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
run baseline
run run --workers 3 --iterations 4
run direct --message "go on"
run run --workers 3 --iterations 3
run replay --check
is "$code" 0 "replay --check gives a plan what it saw: workers, budget, directions, before a resample"

# A verifier that turns APSIS_METRICS into a directory; a baseline that failed; hidden files and a lua provider.
sed -i 's/^strategy:.*/strategy: hillclimb/; s/run: .echo/run: '"'"'[ $(cat a.txt) = 9 ] \&\& mkdir "$APSIS_METRICS"; echo/; s/mode: writable}\]/mode: writable}, {path: secret.txt, mode: hidden}]/' manifest.yaml
echo 'return function(p, w) return { ["a.txt"] = "9" }, { hypothesis = tostring(p.parents[1]:read("secret.txt")), tokens = 7 } end' > provider.lua
rm -rf logs runs && git for-each-ref --format='delete %(refname)' refs/apsis | git update-ref --stdin
echo top > secret.txt && commit && run baseline
is "$code" 0 "a baseline beside a hidden file"
run run --iterations 1
is "$(field 2 outcome) $(field 2 tokens)" "skipped_verification_crash 7" "APSIS_METRICS as a directory is a crash; a provider's tokens are counted"
is "$(field 2 hypothesis)" nil "a provider cannot read a hidden file of a parent"
sed -i 's/\[ $(cat a.txt) = 9 ] && mkdir "$APSIS_METRICS"/echo 77 > a.txt/' manifest.yaml
run baseline --again
is "$code $(tail -n 1 logs/results.jsonl | "$APSIS" exec "$here/json.lua" primary_metric)" "5 null" "a baseline whose verification failed has no value"
run run --iterations 1
is "$code" 3 "and no run goes on from it"

cd "$work/live"
for name in hillclimb random_walk annealing; do
    sed "s/name: sum, direction/name: sum, direction/; s/^strategy:.*/strategy: $name/; s/^version: 1/version: 1\nproject: {name: $name}/" manifest.yaml > m && mv m manifest.yaml
    printf 'return function(p, w) return { ["a.txt"] = tostring(w.rng:integer(-9, 9)) } end\n' > provider.lua
    rm -rf logs runs && commit $name && run baseline && run run --iterations 6
    is "$code" 0 "$name runs live"
    git checkout -q HEAD~1 -- manifest.yaml && commit back
done
done_testing
