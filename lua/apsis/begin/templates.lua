-- templates: the files that init writes: a project that runs at once (fits three numbers to a curve), and a strategy
-- with its test.
local templates = {}

local manifest = [[
# What may change, how it is measured, who proposes changes. `apsis setup` checks it; errors name the line.
version: 1
project:
  name: @NAME@
  description: fit the three numbers in settings.lua to a curve

files:                                    # a path that no rule names is read_only
  - {path: settings.lua, mode: writable}  # the only file a candidate may change
  - {path: evaluate.lua, mode: hidden}    # not shown to the provider
  - {path: mutate.lua, mode: read_only}

verification:
  commands:
    - {name: measure, run: [apsis, exec, evaluate.lua], timeout_sec: 20}

metric:
  name: loss
  direction: lower
  target: 0.000001

strategy: {use: hillclimb, options: {patience: 200}}   # `apsis strategies` lists the shipped ones
provider: {kind: lua, use: mutate.lua}                 # a coding agent instead: {kind: command, preset: claude}
# a chat model: {kind: chat, base_url: "https://api.openai.com/v1", api_key_env: OPENAI_API_KEY, models: [NAME]}
budget: {iterations: 200}

]]

local program = [[
# @NAME@

What is to become better, and what must not change. A provider that is asked with a prompt gets this text.

- `settings.lua` is the only file to change: three numbers, the coefficients of a parabola.
- `evaluate.lua` measures how far the parabola is from the points it should go through: `METRIC loss=...`, lower is
  better.
]]

local settings = [[
-- The three numbers to find: y = a * x^2 + b * x + c.
return { 0, 0, 0 }
]]

local evaluate = [[
-- evaluate: the metric. Prints the mean squared distance of the parabola in settings.lua from the points.
local a, b, c = table.unpack(dofile("settings.lua"))
local points = { { -2, 9 }, { -1, 3 }, { 0, 1 }, { 1, 3 }, { 2, 9 } }

local sum = 0
for _, point in ipairs(points) do
  local x, y = point[1], point[2]
  sum = sum + (a * x ^ 2 + b * x + c - y) ^ 2
end
print(("METRIC loss=%.12g"):format(sum / #points))
]]

local mutate = [[
-- mutate: the provider. Gets the proposal and the parent's files; returns the new text of the files it changes.
return function(proposal, workspace)
  local rng = workspace.rng
  local head, numbers = workspace:read("settings.lua"):match("^(.*return )(.*)$")
  local step, which, at = 10 ^ (1 - 4 * rng:random()), rng:integer(1, 3), 0
  numbers = numbers:gsub("[%d.e+-]+", function(number)
    at = at + 1
    if at == which then return ("%.9g"):format(tonumber(number) + step * rng:normal()) end
  end)
  return { ["settings.lua"] = head .. numbers }, { hypothesis = ("change number %d by about %.2g"):format(which, step) }
end
]]

local strategy = [[
-- @NAME@: change the best, now and then the newest kept; keep what beats the best.
local @IDENT@ = { options = { patience = 20, detour = 0.2 } }

function @IDENT@.plan(run)
  local parent = run.rng:random() < run.options.detour and run.current or run.best
  return { parents = { parent }, operator = parent == run.best and "exploitation" or "exploration" }
end

function @IDENT@.accept(run, candidate)
  return run.metric:better(candidate, run.best)
end

function @IDENT@.halt(run)
  if run.since_kept >= run.options.patience then return "no improvement in " .. run.since_kept .. " experiments" end
end

return @IDENT@
]]

local strategy_test = [[
-- Tests @NAME@.lua without a project: loads it as apsis does and calls its hooks. Run: apsis exec @NAME@_test.lua
local contract = require "apsis.core.strategy"
local direction = require "apsis.direction"
local random = require "apsis.random"

local dir = arg[0]:match("^(.*)/[^/]*$") or "."
local strategy = assert(contract.load { use = "@NAME@.lua", options = {}, dir = dir })

-- What a hook is given, as far as this strategy uses it.
local function fake_run(fields)
  local best = { id = "c0001", value = 10, changed_lines = 1 }
  local run = { metric = direction.new { name = "score", direction = "higher" }, best = best, current = best,
    baseline = best,
    options = strategy.options, memory = {}, since_kept = 0, rng = random.stream(1, 1, "test") }
  for name, value in pairs(fields or {}) do run[name] = value end
  return run
end

local count = 0
local function check(truth, what)
  count = count + 1
  print((truth and "ok " or "not ok ") .. count .. " - " .. what)
  if not truth then os.exit(1) end
end

local run = fake_run()
check(strategy.hooks.plan(run).parents[1].id == "c0001", "plan names a parent")
check(strategy.hooks.accept(run, { id = "c0002", value = 11, changed_lines = 1 }) == true, "a better candidate is kept")
check(not strategy.hooks.accept(run, { id = "c0002", value = 9, changed_lines = 1 }), "a worse one is not")
check(strategy.hooks.halt(run) == nil, "it goes on while something is kept")
check(strategy.hooks.halt(fake_run { since_kept = strategy.options.patience }) ~= nil, "it stops when stuck")
print("1.." .. count)
]]

local function fill(text, name)
  local ident = name:gsub("[^%w_]", "_"):gsub("^%d", "_%0")
  return (text:gsub("@NAME@", (name:gsub("%%", "%%%%"))):gsub("@IDENT@", ident))
end

-- { {name, text}... } of a runnable project.
function templates.project(name)
  return {
    { name = "manifest.yaml", text = fill(manifest, name) },
    { name = "program.md", text = fill(program, name) },
    { name = "settings.lua", text = settings }, { name = "evaluate.lua", text = evaluate },
    { name = "mutate.lua", text = mutate },
  }
end

function templates.strategy(name)
  return {
    { name = name .. ".lua", text = fill(strategy, name) }, { name = name .. "_test.lua",
      text = fill(strategy_test, name) },
  }
end

return templates
