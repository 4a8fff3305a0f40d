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

strategy: adaptive                                     # `apsis strategies` lists the shipped ones
provider: {kind: lua, use: mutate.lua}                 # a coding agent instead: {kind: command, preset: claude}
# a chat model: {kind: chat, base_url: "https://api.openai.com/v1", api_key_env: OPENAI_API_KEY, models: [NAME]}
budget: {iterations: 200}

]]

local program = [[
# @NAME@

What should improve, and what must not change. Providers that are asked with a prompt get this text.

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
-- Tests @NAME@.lua without a project: apsis exec @NAME@_test.lua
-- The first test is `apsis strategies --check`, the others look at short lab runs. Add what your strategy is for.
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"

-- Runs apsis beside this file: what it printed, and its exit code.
local function apsis(...)
  local dir = arg[0]:match("^(.*)/[^/]*$") or "."
  local result = assert(process.run { argv = { host.executable, ... }, cwd = dir, head_bytes = 1 << 20 })
  return result.stdout.head .. result.stderr.head, result.code
end

-- Runs on a world, five seeds: median, kept_ratio, experiments ... (lua/apsis/lab/README.md has the rest).
local function lab(world)
  local text = apsis("lab", "@NAME@.lua", "--world", world, "--seeds", "5", "--evaluations", "100", "--json")
  return assert(json.decode(text)).results[1]
end

local count = 0
local function test(truth, what)
  count = count + 1
  print((truth and "ok " or "not ok ") .. count .. " - " .. what)
  if not truth then os.exit(1) end
end

local report, code = apsis("strategies", "--check", "@NAME@.lua")
test(code == 0, "strategies --check finds no fault" .. (code == 0 and "" or ":\n" .. report))
local higher, lower = lab "onemax:n=40", lab "sphere:d=3"
test(higher.median > 22, "it finds something better where higher is better") -- half of 40 are ones at the start
test(lower.median < 20, "it finds something better where lower is better") -- a start is about 25
test(higher.kept_ratio < 1, "it does not keep everything")
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
