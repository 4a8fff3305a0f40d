#!/bin/bash
# strategies_check: `apsis strategies --check`: every shipped and every documented strategy passes; what an author gets
# wrong is named with its line and a remedy, a test for each; the trace; JSON; bad usage.
. tests/cli/lib.sh || exit 1
mkdir -p "$T/check" && cd "$T/check" || exit 1

# broken WHAT LINE REGEX: mine.lua from stdin fails the check with exit 2; a fault at that line ("-" for none) matches.
# words: of the message on one line, with one space between two.
broken() {
    item "a strategy with $1"
    cat >mine.lua
    apsis strategies --check mine.lua
    words=$(tr -s '\n ' ' ' <<<"$out")
    is "exit code" "$code" 2
    like "its fault" "$words" "(^| )mine\.lua:${2/-/}${2:+:}? [^>]*$3"
    like "a remedy" "$words" ' -> [a-z]'
    like "the verdict" "$words" 'mine\.lua: [0-9]+ faults? $'
    is "nothing else on stderr" "$err" ""
    end_item
}

passes() { # passes WHAT FILE-OR-NAME [OPTION...]
    item "$1 passes"
    shift
    apsis strategies --check "$@"
    is "exit code" "$code" 0
    like "the verdict" "$out" "$1: [0-9]+ checks passed\$"
    is "nothing on stderr" "$err" ""
    end_item
}

broken "a syntax error" 2 "unexpected|expected" <<'END'
local mine = {}
function mine.plan(run return nil end
return mine
END

broken "an unknown hook" 3 'unknown hook "acept"; did you mean "accept"\?' <<'END'
local mine = {}

function mine.acept(run, candidate) return true end

return mine
END

broken "no return" "" "returns a table of hooks, not nil.*end the file with return" <<'END'
local mine = {}
function mine.accept(run, candidate) return true end
END

broken "a hook that is written with a colon" 2 "accept is written with a colon" <<'END'
local mine = {}
function mine:accept(run, candidate) return run.metric:better(candidate, run.best) end
return mine
END

broken "a local function that should be a hook" 3 "the local function plan is not in the table.*never called.*function NAME\.plan" <<'END'
local mine = {}

local function plan(run) return { parents = { run.baseline } } end

return mine
END

broken "a global function that should be a hook" 3 "writes the global plan.*-> a hook belongs into the table: function NAME\.plan" <<'END'
local mine = {}

function plan(run) return { parents = { run.baseline } } end

return mine
END

broken "a global counter" 3 "writes the global tries, which survives" <<'END'
local mine = {}
function mine.plan(run)
  tries = 1
  return { parents = { run.best } }
end
return mine
END

broken "a misspelt local, which is a global that nothing sets" 2 "reads the global best, which nothing sets.*-> .*run\.best" <<'END'
return { accept = function(run, candidate)
  return run.metric:better(candidate, best)
end }
END

broken "memory written in plan" 3 "only init and learn may write run\.memory" <<'END'
return {
  plan = function(run)
    run.memory.last = run.experiment
    return { parents = { run.best } }
  end }
END

broken "memory written deep down in accept" 3 "accept changes run\.memory\.seen\.c0001, which only init and learn may.*-> change it in learn" <<'END'
local mine = {}
function mine.init(run) run.memory.seen = {} end
function mine.accept(run, candidate)
  run.memory.seen[candidate.id] = true
  return run.metric:better(candidate, run.best)
end
return mine
END

broken "a metric that is called with a dot" 2 "accept: better was called with a dot: write run\.metric:better\(\.\.\.\), with a colon" <<'END'
return { accept = function(run, candidate)
  return run.metric.better(candidate, run.best)
end }
END

broken "an accept without return" 2 "accept never returns anything, which rejects every candidate.*-> return true or false" <<'END'
local mine = {}
function mine.accept(run, candidate)
  run.metric:better(candidate, run.best)
end
return mine
END

broken "values compared with >" 1 "accept keeps [0-9]+ candidates that are not better than the best and none of the [0-9]+ that are \(lower is better there\).*-> compare with run\.metric:better" <<'END'
return { accept = function(run, candidate) return candidate.value > run.best.value end }
END

broken "an accept that keeps nothing" 1 "accept keeps none of [0-9]+ candidates, though [0-9]+ are better than the best" <<'END'
return { accept = function() return false end }
END

broken "a halt at once" 1 "halt ends the run before its first experiment: \"stuck\".*-> return nothing until" <<'END'
return { halt = function(run) if run.since_kept >= 0 then return "stuck" end end }
END

broken "a plan that never proposes" 1 "plan returns nothing though a worker is free.*-> return a proposal" <<'END'
return { plan = function(run) if run.experiment > 100 then return { parents = { run.best } } end end }
END

broken "a plan that needs four workers" 2 "plan returns nothing though a worker is free.*\(onemax:n=40, 1 worker\)" <<'END'
return {
  plan = function(run)
    if run.free < 4 then return nil end
    local group = {}
    for i = 1, 4 do group[i] = { parents = { run.best } } end
    return group
  end }
END

broken "a plan that only measures" 1 "plan proposes no change: its [0-9]+ experiments only measure" <<'END'
return { plan = function(run) return { measure = { run.best } } end }
END

broken "a hook that runs away" 3 "plan: stopped: over its limit of 1(\.0)? s of CPU" <<'END'
return {
  plan = function(run)
    while run.best do end
  end }
END

broken "a file that runs away while it loads" 1 "stopped: over its limit of 1(\.0)? s of CPU" <<'END'
while true do end
END

broken "a counter in a local of the file, which plan goes by" 1 "plan decides otherwise after a restart:.*keeps state in count.*-> keep state in run\.memory" <<'END'
local count = 0
return { plan = function(run)
  count = count + 1
  return { parents = { count % 3 == 0 and run.baseline or run.best } }
end }
END

broken "state in a table of the file, which accept goes by" 2 "accept decides otherwise after a restart:.*keeps state in (tries|seen)" <<'END'
local mine = {}
local seen = {}
function mine.accept(run, candidate)
  seen[#seen + 1] = candidate.id
  return #seen % 4 == 0
end
return mine
END

broken "state in a local of the file, which learn writes" 1 "plan decides otherwise after a restart: folded again from the start.*keeps state in lines" <<'END'
local lines = 0
return { learn = function() lines = lines + 1 end, plan = function(run)
  return { parents = { lines % 2 == 0 and run.baseline or run.best }, operator = lines > 38 and "a" or "b" }
end }
END

broken "state in the strategy's own table" 4 "decides otherwise after a restart:.*keeps state in the strategy's table\.options\.tries" <<'END'
local mine = {}
mine.options = {}

function mine.plan(run)
  mine.options.tries = (mine.options.tries or 0) + 1
  return { parents = { run.best }, operator = mine.options.tries % 2 == 0 and "exploration" or nil }
end
return mine
END

broken "a random stream of its own" 2 "decides otherwise after a restart:.*keeps state in rng, whose state is not seen.*-> .*draw chance from run\.rng" <<'END'
local random = require "apsis.random"
local rng = random.stream(1)
return { plan = function(run)
  return { parents = { rng:random() < 0.5 and run.baseline or run.best } }
end }
END

broken "a halt that counts in a local of the file" 1 "halt decides otherwise after a restart|plan decides otherwise after a restart" <<'END'
local asked = 0
return { halt = function(run)
  asked = asked + 1
  if asked > 30 then return "asked often" end
end }
END

broken "an unknown key in a proposal" 1 'unknown key "parent" in a proposal; did you mean "parents"' <<'END'
return { plan = function(run) return { parent = run.best } end }
END

broken "a parent that is no candidate" 1 "parents\[1\] is no candidate: c0099.*-> parents are candidates" <<'END'
return { plan = function(run) return { parents = { "c0099" } } end }
END

broken "a group that is larger than run.free" 1 "plan returned a group of 2 with run\.free 1.*-> a group has at most run\.free" <<'END'
return { plan = function(run) return { { parents = { run.best } }, { parents = { run.best } } } end }
END

broken "a wrong return of accept" 1 "hook accept returned yes: expected true or false" <<'END'
return { accept = function() return "yes" end }
END

broken "a wrong return of halt" 1 "hook halt returned true: expected nil, or the reason" <<'END'
return { halt = function(run) return run.since_kept > 1 end }
END

broken "a prompt that returns nothing" 1 "hook prompt returned nil, not a string" <<'END'
return { prompt = function(run, proposal) local text = "improve " .. run.name end }
END

broken "math.random" 1 "math\.random is not for strategies.*use run\.rng" <<'END'
return { plan = function(run) return { parents = { math.random() < 0.5 and run.baseline or run.best } } end }
END

broken "run.rng called with a dot" 1 "plan: .*-> a stream's functions take the stream first: run\.rng:random" <<'END'
return { plan = function(run) return { parents = { run.rng.random() < 0.5 and run.baseline or run.best } } end }
END

broken "a misspelt field of run" 1 'a run has no field "bset"; did you mean "best"' <<'END'
return { plan = function(run) return { parents = { run.bset } } end }
END

broken "an option that is not declared" 1 'declares no option "patence"; did you mean "patience".*-> declare it' <<'END'
return { options = { patience = 5 }, plan = function(run) return { parents = { run.best }, k = run.options.patence } end }
END

broken "an option that a hook changes" 1 "plan changes run\.options\.step" <<'END'
return { options = { step = 1 }, plan = function(run)
  run.options.step = run.options.step / 2
  return { parents = { run.best }, notes = { step = 1 } }
end }
END

broken "a candidate's value that learn changes" 2 "learn changes candidate\.value, which is not the strategy's.*-> copy what you change" <<'END'
return { plan = function(run) return { parents = { run.best } } end,
  learn = function(_, candidate)
    candidate.value = 0
  end }
END

broken "an option that learn changes" 2 "learn changes run\.options\.step" <<'END'
return { options = { step = 1 }, plan = function(run) return { parents = { run.best }, notes = { step = run.options.step } } end,
  learn = function(run)
    run.options.step = run.options.step / 2
  end }
END

broken "a best that it changes" 2 "plan changes run\.best\.tries, which is not the strategy's" <<'END'
local mine = {}
function mine.plan(run)
  run.best.tries = (run.best.tries or 0) + 1
  return { parents = { run.best.tries > 3 and run.baseline or run.best } }
end
return mine
END

broken "a learn that touches the world" 2 "learn may not wait, read clocks" <<'END'
local fs = require "apsis.fs"
return { learn = function(run, line) run.memory.there = fs.stat "mine.lua" ~= nil end }
END

broken "a candidate that is not there" 1 "attempt to index a nil value.*-> it may be absent" <<'END'
return { plan = function(run) return { parents = { run.get("c0099").id } } end }
END

# ---- what passes ----

for name in "$ROOT"/strategies/*.lua; do passes "the shipped $(basename "$name" .lua)" "$(basename "$name" .lua)"; done
for file in "$ROOT"/examples/strategies/*.lua; do
    name=$(basename "$file")
    cp "$file" .
    passes "the example $name" "$name"
    ok "$name is short" test "$(wc -l <"$file")" -le 40
    like "$name is in a README" "$(cat "$ROOT/examples/strategies/README.md")" "\`$name\`"
done

# better NAME WORLD [OPTION...]: an example is shown to be better than hillclimb on a world.
better() {
    apsis lab hillclimb "$1.lua" --world "$2" --seeds 20 --evaluations 400 --set hillclimb.patience=400 "${@:3}"
    line "$1 is better than hillclimb on $2" "$out" "^  $1\.lua +hillclimb +best .* better\$"
}
if [ "${APSIS_SANITIZED:-}" != 1 ]; then
    better racing sphere:d=3,noise=gaussian,noise_sd=2 --workers 4
    better two_phase ackley:d=5
    better tabu nk:n=16,k=4
fi

# Every block of Lua in a Markdown file that returns a strategy is one: it names a hook that worlds and providers lack.
cat >blocks.lua <<'LUA'
local root = table.remove(arg, 1)
for _, path in ipairs(arg) do
  local text, number = assert(io.open(path)):read "a", 0
  for block in text:gmatch "\n *```lua[^\n]*\n(.-)\n *```" do
    number = number + 1
    local ok, made = pcall(load(block, "=block", "t", setmetatable({}, { __index = _G })) or error)
    if ok and type(made) == "table" and (made.plan or made.accept or made.halt or made.learn) then
      local name = ("%s_%d.lua"):format(path:sub(#root + 2):gsub("[^%w]+", "_"), number)
      assert(io.open(name, "w")):write(block):close()
      print(name)
    end
  end
end
LUA
documents=$(cd "$ROOT" && find . -name '*.md' -not -path './build/*' -not -path './.git/*' | sed "s|^\.|$ROOT|")
# shellcheck disable=SC2086
documented=$(capture "$APSIS" exec blocks.lua "$ROOT" $documents; printf '%s' "$out")
ok "the documents have strategies, the tutorial's among them" test "$(grep -c docs_tutorial_ <<<"$documented")" -ge 2
for name in $documented; do passes "the documented $name" "$name"; done

apsis init --strategy fresh.lua
passes "what init writes" fresh.lua

cat >cached.lua <<'END'
local known = {} -- by id: the same after a restart, only computed again
return { init = function(run) run.memory.cache = setmetatable({}, { __mode = "k" }) end,
  plan = function(run)
    local parent = run.best
    known[parent.id] = known[parent.id] or #parent.id
    run.memory.cache[parent] = true
    return { parents = { parent }, notes = { length = known[parent.id] } }
  end }
END
passes "one that caches what it can compute again" cached.lua

# ---- what it prints ----

cat >logs.lua <<'END'
return { options = { patience = 5 },
  plan = function(run)
    run.log("best", run.best)
    return { parents = { run.best }, notes = { free = run.free } }
  end }
END
item "--trace shows what was planned and decided, and what run.log wrote, in 80 columns"
apsis strategies --check logs.lua --trace
is "exit code" "$code" 0
is "a table for each trial" "$(grep -c '^  exp  of     operator' <<<"$out")" 4
like "the baseline" "$out" $'\n    0         baseline  +[0-9.]+ +[0-9.]+ +baseline\n'
like "a plan, its value, the best and the answer" "$out" $'\n    1  c0000  exploitation +[0-9.]+ +[0-9.]+ +(kept|no: )'
like "the log" "$out" $'\n       log: best c0000 \\(21\\)\n'
is "no line is too wide" "$(awk 'length > 80' <<<"$out")" ""
end_item

item "--set sets its options; a wrong one is named"
apsis strategies --check logs.lua --set patience=2
like "it ends sooner" "$out" 'ended: no$|no improvement in 2'
apsis strategies --check logs.lua --set patense=2
is "exit code" "$code" 2
like "the nearest" "$out" 'unknown option "patense"; did you mean "patience"'
end_item

item "--json has the checks, the faults and every experiment"
apsis strategies --check logs.lua --json
is "nothing is wrong" "$code $(json faults) $(json checks.1.passed)" "0 [] true"
is "an experiment of a trial" "$(json trials.1.trace.2.experiment) $(json trials.1.trace.2.parents.1)" "1 c0000"
echo 'return { accept = function(run, candidate) return candidate.nothing.value end }' >mine.lua
apsis strategies --check mine.lua --json
is "a fault" "$code $(json faults.1.check) $(json faults.1.line) $(json faults.1.hook) $(json faults.1.file)" "2 hooks 1 accept mine.lua"
is "and its check" "$(json checks.2.name) $(json checks.2.passed)" "hooks false"
end_item

item "several faults are all named, each once"
cat >mine.lua <<'END'
local mine = {}
function mine.plan(run)
  counter = (counter or 0) + 1
  return { parents = { run.best } }
end
function mine.accept(run, candidate)
  run.metric:better(candidate, run.best)
end
return mine
END
apsis strategies --check mine.lua
is "three" "$(tail -1 <<<"$out")" "mine.lua: 3 faults"
is "in their lines" "$(grep -o '^mine.lua:[0-9]*:' <<<"$out" | tr '\n' ' ')" "mine.lua:6: mine.lua:3: mine.lua:3: "
end_item

item "bad usage"
for words in "--check" "--trace mine.lua" "--set a=b mine.lua" "--check mine.lua --set a" "--check --prompt mutation mine.lua"; do
    # shellcheck disable=SC2086
    apsis strategies $words
    is "$words" "$code" 2
done
apsis strategies --check none.lua
like "no such file" "$code $err" '^2 .*cannot read the strategy file: (\./)?none\.lua'
apsis strategies --check hilclimb
like "no such strategy" "$code $err" '^2 .*no strategy "hilclimb".*did you mean "hillclimb"'
end_item

finish
