#!/usr/bin/env bash
# The change test: a command, a strategy, a world of the lab, a kind of provider, an executor and a field of the journal are one file
# each to add, or one entry. Each is added to a copy of lua/ and strategies/ and works there; no other file knows its name.
. tests/cli/lib.sh || exit 1

house=$T/house
mkdir -p "$house" && cp -r "$ROOT/lua" "$ROOT/strategies" "$house"
with() { APSIS_HOME=$house apsis "$@"; }
reasons() { sed -nE 's/.*"rollback_reason": *"([^"]*)".*/\1/p' logs/results.jsonl | tail -1; }

item "the help, which reads the text of the files, shows what the commands are"
cat >"$T/commands.lua" <<'END'
for _, command in ipairs(require "apsis.cli.declared".commands()) do
  print(("  %-11s %s"):format(command.name, command.summary))
end
END
is "each command" "$("$APSIS" --help | grep '^  ')" "$("$APSIS" exec "$T/commands.lua")"
cat >"$house/lua/apsis/cli/commands/odd.lua" <<'END'
local BASE = 1000
return { place = BASE + 1, summary = 'in other ' .. "quotes", example = "apsis odd", options = function() end,
  run = function() return 0 end }
END
with --help
line "one that computes them" "$out" "^  odd +in other quotes$"
rm "$house/lua/apsis/cli/commands/odd.lua"
end_item

item "a command is one file: it is listed, helped and run"
cat >"$house/lua/apsis/cli/commands/hello.lua" <<'END'
local hello = { place = 999, summary = "greet somebody", example = "apsis hello you" }
function hello.options(parser) parser:argument("name", "whom") end
function hello.run(args)
  print("hello " .. args.name)
  return 0
end
return hello
END
with hello you
is "run" "$code $out" "0 hello you"
with --help
like "listed, last" "$(printf '%s\n' "$out" | grep '^  [a-z]' | tail -1)" "hello +greet somebody"
with hello --help
like "its example" "$out" "example: apsis hello you"
with helo
like "suggested" "$err" "did you mean \"hello\""
apsis hello you
is "not without the file" "$code" 2
end_item

item "a strategy is one file: it is listed, compared in the lab and used in a project"
sed 's/hillclimb/patient/g' "$house/strategies/hillclimb.lua" >"$house/strategies/patient.lua"
with strategies
like "listed" "$out" "patient"
with lab patient --world onemax:n=8 --seeds 1 --evaluations 20 --quiet
is "in the lab" "$code" 0
new_project patient
STRATEGY=patient write_manifest && commit more
with baseline
with run --iterations 1
is "run" "$code" 0
like "journalled" "$(tail -1 logs/results.jsonl)" '"strategy": *"patient"'
end_item

item "a world of the lab is one file"
cat >"$house/lua/apsis/lab/worlds/line.lua" <<'END'
local world = { direction = "higher", metric = "length", description = "a number that grows" }
function world.baseline() return 1 end
function world.propose(_, _, parents) return parents[1] + 1 end
world.evaluate = function(_, genome) return genome end
return world
END
with lab --worlds
like "listed" "$out" "line: a number that grows \\(higher is better\\)"
with lab hillclimb --world line --seeds 1 --evaluations 10 --csv - --quiet
like "run" "$out" "hillclimb,line,1,10,"
end_item

item "a kind of provider is one file: its keys are known, its need is checked, its prompt is its own"
cat >"$house/lua/apsis/live/provider/fixed.lua" <<'END'
local nodes = require "apsis.project.node"
local fixed = { place = 40, doc = "a fixed number", wants_prompt = true, reads_answers = true, shown_by = { "number" }, needs = { "number" },
  keys = { { "number", nodes.node("integer", "fixed: the number to write", { min = 1 }) } } }
function fixed.open(_, spec)
  return { propose = function() return { { edits = { ["value.txt"] = spec.number .. "\n" }, text = "fixed", tokens = 0, cost = 0 } } end }
end
return fixed
END
new_project fixed
PROVIDER='provider: {number: 7}' write_manifest && commit provider
with baseline
with run --iterations 1
is "run" "$code" 0
is "what it proposed" "$(git show apsis/tiny:value.txt)" 7
like "asked as one that sees only the prompt" "$(cat runs/0001/prompt.md)" "then give the change itself"
PROVIDER='provider: {kind: fixed}' write_manifest
with setup
like "what it needs" "$out" "provider.number: is required if kind is fixed: the number to write"
PROVIDER='provider: {kind: fixed, number: 1, run: ls}' write_manifest
with setup
like "what is another's" "$out" "provider.run: does not belong to kind fixed"
apsis setup
like "not without the file" "$out" "provider.kind: must be one of lua, command, chat"
end_item

item "an executor is one file: the manifest names it, and verification runs there"
cat >"$house/lua/apsis/live/executor/beside.lua" <<END
local here = require "apsis.live.executor.here"
local nodes = require "apsis.project.node"
local beside = { keys = { { "mark", nodes.node("string", "beside: what is noted") } } }
function beside.open(world, info)
  local made, message, code = here.open(world, info)
  if not made then return nil, message, code end
  local prepare = made.prepare
  function made.prepare(self, wanted)
    require("apsis.fs").append("$T/prepared", ("%s %s\n"):format(world.manifest.execution.mark, wanted.commit or "nothing"))
    return prepare(self, wanted)
  end
  return made
end
return beside
END
new_project beside
EXTRA='execution: {target: beside, mark: seen}' write_manifest && commit executor
with baseline
is "baseline" "$code" 0
like "of the baseline's commit" "$(cat "$T/prepared")" "seen $(git rev-parse HEAD)"
with run --iterations 2
is "run" "$code" 0
is "each candidate's too" "$(sort -u "$T/prepared" | grep -c 'seen [0-9a-f]\{40\}')" 3
with eval
is "eval" "$code $out" "0 score=0"
apsis setup
like "not without the file" "$out" "execution.target: must be one of [a-z, ]*local"
end_item

item "a field of the journal is one entry: it is written, folded and shown, also after a resume"
sed -i 's/^line.fields = {$/&\n  { "mood", "string", "me", "a mood", of = "\\"fine \\" .. slot.number", folded = true, shown = true },/' \
    "$house/lua/apsis/core/line.lua"
echo 'return { accept = function(run) return false, "the best was " .. tostring(run.best.mood) end }' >"$house/strategies/moody.lua"
new_project moody
STRATEGY=moody write_manifest && commit field
with baseline
like "written" "$(tail -1 logs/results.jsonl)" '"mood": *"fine 0"'
with run --iterations 1
is "shown" "$(reasons)" "the best was fine 0"
with run --iterations 1
is "after a resume" "$(reasons)" "the best was fine 0"
with log --json
like "in log --json" "$out" '"mood": *"fine 2"'
end_item

finish
