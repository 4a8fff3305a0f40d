-- noisy_edits: asks noisy-benchmark's provider for one edit after another, each of what the one before it made, and writes a C
-- file for every stage of the way, and in plan.txt a line for each: its number and the hypothesis. For noisy.t.
-- usage: apsis exec noisy_edits.lua EXAMPLE SEED EDITS
local fs = require "apsis.fs"
local random = require "apsis.random"

local dir, seed, edits = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])
local mutate = dofile(dir .. "/mutate.lua")
local text = assert(fs.read(dir .. "/routine.c"))

local function workspace_of(number)
  return { rng = random.stream(seed, number, "provider"), read = function(_, path)
    return path == "routine.c" and text or fs.read(dir .. "/" .. path)
  end }
end

local plan = {}
assert(fs.write("0.c", text))
for number = 1, edits do
  local made, about = mutate({ experiment = number, parents = {} }, workspace_of(number))
  local again = mutate({ experiment = number, parents = {} }, workspace_of(number))
  assert(made["routine.c"] == again["routine.c"], about.hypothesis .. ": another answer for the same numbers")
  local function stripped(source) return (source:gsub("Experiment %d+", "")) end
  assert(stripped(made["routine.c"]) ~= stripped(text), about.hypothesis .. ": no change")
  text = made["routine.c"]
  assert(fs.write(number .. ".c", text))
  plan[number] = ("%d %s\n"):format(number, about.hypothesis)
end
assert(fs.write("plan.txt", table.concat(plan)))
