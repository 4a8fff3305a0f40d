#!/bin/bash
# bad_strategy: what a strategy file that is wrong gets: exit 2 at load, or a journalled failed experiment with the
# traceback, after which the run goes on or stops cleanly.
. tests/cli/lib.sh || exit 1

STRATEGY=mine.lua
# What a hook may take: little of one or of the other, so that a slow machine does not mistake one for the other.
LITTLE_MEMORY='limits: {hook_memory_mb: 32}' LITTLE_TIME="limits: {hook_cpu_sec: $HOOK_CPU}"
EXTRA=$LITTLE_MEMORY

# strategy [NAME]: a new, measured project whose mine.lua is read from stdin.
strategy() {
    new_project "s$count"
    printf '%s\n' 'return function(proposal) local _ = proposal.prompt; return { ["value.txt"] = proposal.experiment .. "\n" } end' >propose.lua
    git commit -qam "a provider that reads its prompt"
    echo 'return {}' >mine.lua
    apsis baseline
    is "baseline" "$code" 0
    cat >mine.lua
}

# at_load NAME REGEX...: mine.lua from stdin is refused before anything is done.
at_load() {
    item "strategy with $1: exit 2 at load"
    strategy
    shift
    apsis run --iterations 2
    is "exit code" "$code" 2
    for pattern in "$@"; do like "message" "$err" "$pattern"; done
    is "no experiment" "$(lines)" 1
    ok "no run folder" test ! -e runs/0001
    end_item
}

# fails NAME REASON: mine.lua goes wrong in experiment 1 only: a journalled failed experiment with REASON; the run goes
# on. The item stays open.
fails() {
    item "strategy with $1"
    strategy
    apsis run --iterations 2
    is "run" "$code" 0
    is "outcome" "$(field 1 outcome)" skipped_strategy_error
    is "status" "$(field 1 status)" crash
    like "reason" "$(field 1 rollback_reason)" "mine\.lua"
    like "reason" "$(field 1 rollback_reason)" "$2"
    is "the next experiment" "$(field 2 outcome)" kept
}

at_load "a syntax error" "mine\.lua:2:" "unexpected|expected" <<'END'
local mine = {}
function mine.plan(run return nil end
return mine
END

at_load "an unknown hook" 'mine\.lua: unknown hook "acept"; did you mean "?accept|accept' "accept" <<'END'
return { acept = function() return true end }
END

at_load "unbounded memory while it loads" "memory" <<'END'
local all = {}
while true do all[#all + 1] = {} end
END

at_load "an error while it loads" "mine\.lua:1: not today" <<'END'
error("not today")
END

EXTRA=$LITTLE_TIME
at_load "an endless loop while it loads" "mine\.lua.*limit" <<'END'
while true do end
END
EXTRA=$LITTLE_MEMORY

at_load "no table to return" "mine\.lua.*table" <<'END'
return 7
END

at_load "a hook that is no function" 'mine\.lua.*"?plan"?.*function' <<'END'
return { plan = "best" }
END

at_load "binary chunk" "mine\.lua" < <(printf '\033LuaT\0\031\223')

at_load "a require of the machinery" "apsis\.core\.loop" <<'END'
require "apsis.core.loop"
return {}
END

at_load "init that raises" "mine\.lua:1: no init" <<'END'
return { init = function() error("no init") end }
END

item "strategy file that is missing: exit 2 naming it"
strategy <<<''
rm mine.lua
apsis run
is "exit code" "$code" 2
like "name" "$err" "mine\.lua"
end_item

item "strategy of an unknown name: exit 2 with the shipped ones and the nearest"
apsis run --strategy hilclimb
is "exit code" "$code" 2
like "nearest" "$err" "hillclimb"
like "shipped" "$err" "annealing"
end_item

item "strategy option that is unknown: exit 2 with the nearest"
apsis run --strategy hillclimb --set patence=5
is "exit code" "$code" 2
like "nearest" "$err" "patience"
end_item

item "strategy option of the wrong type: exit 2"
apsis run --strategy hillclimb --set patience=long
is "exit code" "$code" 2
like "type" "$err" "patience must be a number"
end_item

fails "a wrong return of plan" "plan returned a wrong proposal" <<'END'
return { plan = function(run) return run.experiment == 1 and { prents = { run.best } } or { parents = { run.best }, operator = "x" } end }
END
end_item

fails "a plan that returns no table" "plan" <<'END'
return { plan = function(run) return run.experiment == 1 and 7 or { parents = { run.best }, operator = "x" } end }
END
end_item

fails "a plan with a parent that does not exist" "plan returned a wrong proposal" <<'END'
return { plan = function(run) return { parents = { run.experiment == 1 and "c0099" or run.best }, operator = "x" } end }
END
end_item

fails "a wrong return of accept" "hook accept returned maybe: expected true or false" <<'END'
return { accept = function(run, candidate) return candidate.experiment == 1 and "maybe" or true end }
END
ok "its commit is kept by its ref" git rev-parse -q --verify refs/apsis/tiny/c0001
end_item

fails "a wrong return of select" "select returned 7" <<'END'
return { select = function(run) return run.experiment == 1 and 7 or 1 end }
END
end_item

fails "a wrong return of prompt" "prompt returned boolean" <<'END'
return { prompt = function(run) return run.experiment == 1 or "text" end }
END
end_item

fails "a plan whose notes are no plain data, a function" "." <<'END'
return { plan = function(run) return { parents = { run.best }, operator = "x", notes = { f = run.experiment == 1 and print or 1 } } end }
END
end_item

fails "a plan whose notes hold themselves" "." <<'END'
return { plan = function(run)
  local notes = {}
  if run.experiment == 1 then notes.notes = notes end
  return { parents = { run.best }, operator = "x", notes = notes }
end }
END
end_item

fails "a plan whose notes have NaN" "." <<'END'
return { plan = function(run) return { parents = { run.best }, operator = "x", notes = { n = run.experiment == 1 and 0/0 or 1 } } end }
END
end_item

fails "an accept whose notes are no plain data" "." <<'END'
return { accept = function(run, candidate) return true, nil, { notes = { f = candidate.experiment == 1 and print or 1 } } end }
END
end_item

fails "an accept whose learned is a table that JSON cannot carry" "." <<'END'
return { accept = function(run, candidate) return true, "good", { learned = candidate.experiment == 1 and { print } or "x" } end }
END
end_item

fails "an accept whose reason is a function" "." <<'END'
return { accept = function(run, candidate) return false or candidate.experiment ~= 1, candidate.experiment == 1 and print or "y" end }
END
end_item

fails "an accept whose last value is no table" "table" <<'END'
return { accept = function(run, candidate) return true, "good", candidate.experiment == 1 and 5 or nil end }
END
end_item

fails "an accept that measures a wrong number of times" "repeats" <<'END'
return { accept = function(run, candidate)
  if candidate.experiment == 1 then return "measure", { ids = { candidate.id }, repeats = "many" } end
  return true
end }
END
end_item

fails "a stage that asks for no stage" "stage must be" <<'END'
return { stage = function(run, candidate) return candidate.experiment ~= 1 or { stage = "next" } end }
END
end_item

item "strategy with a plan whose edits are no text: refused as a change that may not be made, and the run goes on"
strategy <<'END'
return { plan = function(run)
  return { parents = { run.best }, operator = "x", edits = run.experiment == 1 and { ["value.txt"] = print } or { ["value.txt"] = "9" } }
end }
END
apsis run --iterations 2
is "run" "$code" 0
is "outcome" "$(field 1 outcome)" reverted_scope_violation
like "reason" "$(field 1 rollback_reason)" "value\.txt: an edit is the new text"
is "the next experiment" "$(field 2 outcome)" kept
end_item

fails "an error at run time in plan, with the traceback" "mine\.lua:1: a run has no field .*traceback" <<'END'
return { plan = function(run) return run.experiment == 1 and run.nothing.at.all or { parents = { run.best }, operator = "x" } end }
END
end_item

fails "an error at run time in accept, with the traceback" "accept: .*mine\.lua:2: broken.*traceback" <<'END'
local function inner()
  error("broken") end
return { accept = function(run, candidate) if candidate.experiment == 1 then inner() end return true end }
END
end_item

item "an error in the prompt hook, every time: three experiments, then exit 2; the traceback is printed once"
strategy <<'END'
return { prompt = function(run) return run.best.nothing.x end }
END
apsis run --iterations 9
is "exit code" "$code" 2
is "experiments" "$(grep -c skipped_strategy_error logs/results.jsonl)" 3
is "tracebacks" "$(grep -c 'stack traceback' "$T/.err")" 1
unlike "frames" "$err" "apsis/core/"
like "the end" "$err" "stopping: the strategy failed in 3 consecutive experiments; .*mine\.lua:1: attempt"
apsis status
line "once" "$out" "^loop: +stopped: the strategy failed in 3 consecutive experiments; "
echo 'return { prompt = function() error "another" end }' >mine.lua
apsis run --iterations 9
is "another file has three tries, too" "$code $(grep -c skipped_strategy_error logs/results.jsonl)" "2 6"
echo 'return {}' >mine.lua
apsis run --iterations 2
is "mended, it goes on" "$code $(lines)" "0 9"
like "with the two that were asked for" "$out" 'budget: iterations used up \(2 since run 1 went on, 8 in all\)'
apsis status
line "which status shows" "$out" '^budget: +2 of 2 iterations since run 1 went on \(0 left\), 8 in all$'
apsis run --minutes 0.001
apsis status
no_line "a new run has its own" "$out" 'since run'
end_item

fails "an error value that is no text" "." <<'END'
return { accept = function(run, candidate) if candidate.experiment == 1 then error({}) end return true end }
END
end_item

fails "an error at run time in halt" "halt" <<'END'
return { halt = function(run) if run.experiment == 1 then error("broken") end end }
END
end_item

EXTRA=$LITTLE_TIME
fails "an endless loop in accept" "accept.*(CPU|processor|seconds|limit)" <<'END'
return { accept = function(run, candidate) while candidate.experiment == 1 do end return true end }
END
end_item

fails "an endless loop that swallows errors" "accept.*(CPU|processor|seconds|limit)" <<'END'
return { accept = function(run, candidate)
  while candidate.experiment == 1 do pcall(function() while true do end end) end
  return true
end }
END
end_item

fails "an endless loop in a coroutine of its own" "accept.*(CPU|processor|seconds|limit)" <<'END'
return { accept = function(run, candidate)
  if candidate.experiment == 1 then coroutine.wrap(function() while true do end end)() end
  return true
end }
END
end_item

EXTRA=$LITTLE_MEMORY
fails "an endless recursion" "stack overflow|memory" <<'END'
local function down(n) return 1 + down(n) end
return { accept = function(run, candidate) if candidate.experiment == 1 then down(1) end return true end }
END
end_item

fails "unbounded memory, in a table" "memory" <<'END'
return { accept = function(run, candidate)
  local all = {}
  while candidate.experiment == 1 do all[#all + 1] = ("x"):rep(1000000) .. #all end
  return true
end }
END
end_item

fails "unbounded memory, in one string" "memory" <<'END'
return { accept = function(run, candidate) return candidate.experiment == 1 and #("x"):rep(1 << 30) > 0 or true end }
END
end_item

EXTRA=$LITTLE_TIME
item "strategy with a C function that never returns: the process ends by a watchdog, resumable"
strategy <<'END'
return { accept = function() return (("a"):rep(30) .. "b"):find(("a*"):rep(30) .. "c") end }
END
capture "$APSIS" run --iterations 2
unlike "it was ended by itself, not by the test" "$code" "^(124|137|0)$"
like "message" "$err" "accept|strategy|hook"
echo 'return {}' >mine.lua
apsis run --iterations 2
is "run again" "$code" 0
is "outcome 1" "$(field 1 outcome)" kept
end_item

EXTRA=$LITTLE_MEMORY
item "strategy that writes run.memory outside init and learn: a failed experiment that says so"
strategy <<'END'
return { plan = function(run) run.memory.x = 1 return { parents = { run.best }, operator = "x" } end }
END
apsis run --iterations 1
is "outcome" "$(field 1 outcome)" skipped_strategy_error
like "reason" "$(field 1 rollback_reason)" "memory"
end_item

item "strategy whose learn raises: the run stops with exit 2, the line is journalled, and the next run says the same"
strategy <<'END'
return { learn = function(run, line) if line.experiment == 1 then error("cannot learn") end end }
END
apsis run --iterations 2
is "exit code" "$code" 2
like "message" "$err" "mine\.lua:1: cannot learn"
is "journalled" "$(field 1 outcome)" kept
apsis run --iterations 2
is "again" "$code" 2
echo 'return {}' >mine.lua
apsis run --iterations 1
is "mended" "$code" 0
is "experiment 2" "$(field 2 outcome)" kept
end_item

item "strategy that fails each time: the run stops after three failures, with exit 2 and the traceback"
strategy <<'END'
return { plan = function() error("never") end }
END
apsis run --iterations 50
is "exit code" "$code" 2
like "message" "$err" "mine\.lua:1: never"
is "lines" "$(lines)" 4
end_item

item "strategy that prints, exits and opens files: os.exit is not there"
strategy <<'END'
return { plan = function(run) os.exit(7) end }
END
apsis run --iterations 1
unlike "exit code" "$code" "^7$"
is "outcome" "$(field 1 outcome)" skipped_strategy_error
end_item

item "metric.tie_breaker with a strategy that does not break ties is refused; with --strategy it is named"
for strategy in annealing random_walk hyperagents; do
    new_project "ties_$strategy"
    sed -i -e 's/direction: higher/direction: higher, tie_breaker: changed_loc/' -e "s/^strategy: .*/strategy: $strategy/" manifest.yaml
    commit ties
    for command in setup baseline "run --iterations 1"; do
        apsis $command
        is "exit code of $command with $strategy" "$code" 2
        like "$command with $strategy" "$out$err" "manifest\.yaml:[0-9]+: metric\.tie_breaker: strategy $strategy does not break ties.*remove it"
    done
done
sed -i 's/^strategy: .*/strategy: hillclimb/' manifest.yaml && commit hillclimb
apsis baseline
is "hillclimb" "$code" 0
apsis run --iterations 1 --strategy random_walk
is "another strategy for one run" "$code" 0
like "is named" "$err" "metric\.tie_breaker: strategy random_walk does not break ties"
end_item

finish
