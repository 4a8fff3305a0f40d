#!/bin/bash
# lab_hostile: strategies that are wrong, mad or greedy, in the lab: each is refused or stopped with its file and what it did, or
# does no harm. A part of a run is not enough: nothing of what failed is printed as if it had been a result.
. tests/cli/lib.sh || exit 1
mkdir -p "$T/lab" && cd "$T/lab" || exit 1

# strategy NAME SOURCE: what is absent is as shipped; none halts.
strategy() { printf 'local made = (function() %s end)()\nmade.halt = made.halt or function() end\nreturn made\n' "$2" >"$1.lua"; }

# lab NAME ARGUMENTS...: one seed of it on a small world, as CSV.
lab() {
    local name=$1
    shift
    apsis lab "$name.lua" --world onemax:n=12 --seeds 1 --evaluations 30 --jobs 1 --csv - "$@"
}

# column NAME: of the one trial in $out.
column() {
    printf '%s\n' "$out" | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[name] }'
}

refused() { # refused NAME PATTERN
    lab "$1"
    is "exit code of $1" "$code" 2
    like "message of $1" "$err" "$2"
    unlike "no part of apsis itself in the message of $1" "$err" '/apsis/|\[C\]'
    is "nothing printed for $1" "$out" ""
}

# ---- files that are no strategies ----

item "a file that is no strategy is refused, by its name"
mkdir dir.lua && : >empty.lua && printf '\001\377\000\033binary' >binary.lua && ln -s nowhere dangling.lua && echo text >file.lua
printf 'return function() end\n' >function.lua
printf '\033Lua\124\000\031\223\r\n\032\n' >bytecode.lua
refused empty '^apsis: empty.lua: a strategy file returns a table of hooks, not nil'
refused function '^apsis: function.lua: a strategy file returns a table of hooks, not function'
refused binary '^apsis: binary.lua:1: unexpected symbol'
refused bytecode '^apsis: bytecode.lua: attempt to load a binary chunk'
refused dangling 'dangling.lua: No such file or directory'
refused file.lua/in 'file.lua/in.lua: Not a directory'
lab dir
is "exit code of a directory" "$code" 2
is "nothing printed for a directory" "$out" ""
if [ "$(id -u)" != 0 ]; then # root may read everything
    echo 'return {}' >secret.lua && chmod 0 secret.lua
    refused secret 'secret.lua: Permission denied'
fi
end_item

# ---- hooks that fail ----

item "an error in a hook ends the trial with strategy, world, seed, hook and line; in one that the lab does not ask it does not"
for hook in init plan select stage accept learn halt; do
    printf 'return {\n  %s = function() error("no luck today") end }\n' $hook >err_$hook.lua
    refused err_$hook "^apsis: err_$hook.lua on onemax:n=12, seed 1: .*err_$hook.lua: hook $hook: err_$hook.lua:2: no luck today"
done
printf 'return {\n  prompt = function() error("no luck today") end }\n' >err_prompt.lua
lab err_prompt
is "prompt" "$code $(column evaluations)" "0 30"
end_item

item "what a hook must not return is refused, with what it must"
strategy number 'return { plan = function() return 7 end }'
strategy key 'return { plan = function(run) return { parent = { run.best } } end }'
strategy nobody 'return { plan = function() return { parents = { "c9999" } } end }'
strategy accepts 'return { accept = function() return 3 end }'
strategy halts 'return { halt = function() return 3 end }'
strategy selects 'return { select = function() return 9 end }'
strategy group 'return { plan = function(run) local one = { parents = { run.best } }; return { one, one, one } end }'
refused number 'number.lua: plan returned a wrong proposal: a proposal must be a table, not number'
refused key 'unknown key "parent" in a proposal; did you mean "parents"'
refused nobody 'parents\[1\] is no candidate: c9999'
refused accepts 'hook accept returned 3: expected true or false and a reason'
refused halts 'hook halt returned 3: expected nil, or the reason as text'
refused selects "hook select returned 9, which is no answer's index"
refused group 'plan returned a group of 3 with run.free 1'
end_item

item "what would make a run impossible to do again is refused, with what to use instead"
strategy random 'return { plan = function(run) return { parents = { run.best }, notes = { x = math.random() } } end }'
strategy clock 'return { plan = function(run) return { parents = { run.best }, notes = { x = os.clock() } } end }'
strategy memory 'return { plan = function(run) run.memory.x = 1; return { parents = { run.best } } end }'
strategy writes 'return { accept = function(run) run.memory.x = 1; return true end }'
strategy sleeps 'local wait = require "apsis.wait"; return { learn = function() wait.sleep(0.01) end }'
strategy starts 'local process = require "apsis.process"; return { learn = function() process.run { "true" } end }'
strategy yields 'return { plan = function() coroutine.yield("for ever") end }'
strategy exits 'return { plan = function() os.exit(0) end }'
refused random 'math.random is not for strategies.*use run.rng'
refused clock 'os.clock is not for strategies.*use run.now'
refused memory 'hook plan: .*only init and learn may write run.memory'
refused writes 'hook accept: .*only init and learn may write run.memory'
refused sleeps 'hook learn: .*learn may not wait'
refused starts 'hook learn: .*learn may not wait, read clocks, or touch git, processes'
refused yields 'a hook may wait for a handle, but not yield anything else'
refused exits 'hook plan: '
end_item

item "notes that JSON cannot hold are refused with their place; a megabyte of notes is not"
strategy functions 'return { plan = function(run) return { parents = { run.best }, notes = { deep = { here = print } } } end }'
strategy cycle 'return { plan = function(run) local t = {}; t.t = t; return { parents = { run.best }, notes = t } end }'
strategy infinite 'return { plan = function(run) return { parents = { run.best }, notes = { x = 1 / 0 } } end }'
strategy huge 'return { plan = function(run) return { parents = { run.best }, notes = { big = ("x"):rep(1 << 20) } } end }'
strategy plain 'return {}'
refused functions 'notes: cannot encode as JSON: \$.deep.here: a function'
refused cycle 'notes: cannot encode as JSON: \$.t: the table contains itself'
refused infinite 'notes: cannot encode as JSON: \$.x: inf'
lab plain
usual=${out#*plain.lua}
lab huge
is "with huge notes all is as without" "$code ${out#*huge.lua}" "0 $usual"
end_item

# ---- hooks that never come to an end ----

# What a trial with small limits of a hook comes to: FILE SECONDS MB.
cat >limited.lua <<LUA
require("apsis.guard").limits { cpu_s = tonumber(arg[2]), memory_mb = tonumber(arg[3]) }
local definition = require "apsis.lab.definition"
print(select(2, require("apsis.lab.trial").run { strategy = { use = arg[1], dir = "." }, definition = assert(definition.load "onemax:n=12"),
  seed = 1, evaluations = 30 }))
LUA

limited() { capture "$APSIS" exec limited.lua "$1.lua" "${2-$HOOK_CPU}" "${3-4096}"; }

item "a hook without an end is stopped at its limit of processor time or memory, wherever it is"
hooks="plan accept learn"
[ -n "${APSIS_SANITIZED:-}" ] && hooks=plan
for hook in $hooks; do
    strategy loop_$hook "return { $hook = function() while true do end end }"
    limited loop_$hook
    like "$hook" "$out" "loop_$hook.lua: hook $hook: .*stopped: over its limit of [0-9.]+ s of CPU"
done
strategy loop_catches 'return { plan = function() while true do pcall(function() while true do end end) end end }'
limited loop_catches
like "one that catches it" "$out" "stopped: over its limit of [0-9.]+ s of CPU"
echo 'while true do end' >loop_loads.lua
limited loop_loads
like "one that does not get as far as its hooks" "$out" "loop_loads.lua:1: stopped: over its limit of [0-9.]+ s of CPU"
lab loop_loads
like "apsis lab: found while it loads, after a second" "$code $err" "^2 .*loop_loads.lua:1: stopped: over its limit of 1(\.0+)? s of CPU"
# What the user would have lost: a minute, for three tries of ten seconds and more.
lab loop_plan
is "apsis lab: exit" "$code" 2
like "apsis lab: stopped at once, after a second" "$err" "the strategy failed: .*stopped: over its limit of 1(\.0+)? s of CPU"
strategy hog 'return { plan = function() local all = {}; while true do all[#all + 1] = ("x"):rep(1 << 10):rep(1 << 10) .. #all end end }'
limited hog 30 64
like "memory" "$out" "hog.lua: hook plan: .*stopped: over its limit of [0-9]+ MB of memory"
strategy deep 'local function deeper(n) return 1 + deeper(n + 1) end; return { plan = function() return deeper(1) end }'
limited deep 30
like "the stack" "$out" "deep.lua: hook plan: .*(stack overflow|stopped: over)"
end_item

item "what asks for ever comes to an end with its budget: answers anew, measurements, questions, nothing at all"
strategy resamples 'return { select = function(run) return "resample", { parents = { run.best } } end }'
strategy measures 'return { plan = function(run) return { measure = { run.best } } end }'
strategy asks 'return { plan = function(run) return run.experiment % 2 == 0 and { ask = "why" } or { parents = { run.best } } end }'
strategy silent 'return { plan = function() end }'
lab resamples
is "resample, of which nothing is measured" "$code $(column evaluations) $(column kept)" "0 1 0"
like "and why it ended" "$out" 'budget: iterations used up'
lab measures
is "measure" "$code $(column evaluations) $(column kept)" "0 30 0"
like "and why it ended" "$out" 'budget: measurements used up'
lab asks
is "ask" "$code $(column evaluations)" "0 16"
lab silent
is "a plan that plans nothing" "$code $(column evaluations)" "0 1"
like "and why it ended" "$out" 'the strategy plans nothing more'
strategy accepts_more 'return { accept = function(run, candidate) return "measure", { ids = { candidate.id } } end }'
lab accepts_more
is "an accept that never decides" "$code $(column kept)" "0 0"
end_item

item "groups and workers: a group as large as what is free, and one that waits for room that never comes"
strategy group4 'return { plan = function(run) if run.free < 4 then return nil end
  local list = {}
  for index = 1, 4 do list[index] = { parents = { run.best }, operator = index % 2 == 0 and "exploration" or nil } end
  return list end }'
lab group4 --workers 4
is "as large as what is free" "$code $(column evaluations)" "0 29"
lab group4 --workers 3
is "larger" "$code $(column evaluations)" "0 1"
like "which is said" "$out" 'the strategy plans nothing more'
end_item

# ---- what a hook does to what it is given ----

item "what accept writes into its candidate is not recorded: all is as if it had not"
strategy keeps 'return { accept = function() return true end }'
lab keeps
usual=${out#*keeps.lua}
number=0
for change in 'c.value = 1e9' 'c.id = "c9999"' 'c.samples = { 1e9 }' 'c.samples[1] = 1e9' 'c.metrics.ones = 1e9' 'c.parents = { "c9999" }' \
    'c.outcome, c.retained, c.primary_metric = "kept", true, 1e9'; do
    number=$((number + 1))
    strategy over$number "return { accept = function(run, c) $change; return true end }"
    lab over$number
    is "$change" "$code ${out#*over$number.lua}" "0 $usual"
done
end_item

item "what a strategy prints is not among the results"
strategy prints 'return { plan = function(run) print("hello"); io.write("hello\n"); return { parents = { run.best } } end }'
lab plain
usual=${out#*plain.lua}
lab prints
is "standard output" "$code ${out#*prints.lua}" "0 $usual"
like "it goes to stderr" "$err" hello
end_item

item "of several strategies the bad one is named, with one job or two"
for jobs in 1 2; do
    apsis lab plain.lua number.lua --world onemax:n=12 --seeds 2 --evaluations 30 --jobs $jobs
    is "exit code with $jobs" "$code" 2
    like "named with $jobs" "$err" 'number.lua on onemax:n=12, seed 1: .*a proposal must be a table, not number'
done
end_item

finish
