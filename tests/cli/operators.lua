-- operators: asks an example's lua provider for changes by every operator, over a growing pool of parents, and prints what is
-- wrong with them: no change, code that does not run, another answer for the same numbers. For examples.t.
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"
local random = require "apsis.random"

local dir, path = arg[1], arg[2]
local mutate = assert(loadfile(dir .. "/mutate.lua"))(dir .. "/mutate.lua")
local pool = { assert(fs.read(dir .. "/" .. path)) }

local function candidate(text)
  return { read = function(_, wanted) return wanted == path and text or fs.read(dir .. "/" .. wanted) end }
end

local function propose(operator, seed, first, second)
  local proposal = { operator = operator, experiment = seed, parents = { candidate(first), second and candidate(second) } }
  local workspace = candidate(first)
  workspace.rng = random.stream(1, seed, operator)
  local edits, about = mutate(proposal, workspace)
  return edits and edits[path], edits and about.description or about
end

-- A search routine asks no more than it may and ends at numbers; a packing passes its rules.
local check = {
  ["search.lua"] = function(text)
    local asked = 0
    local function f(x, y)
      asked = asked + 1
      return math.sin(3 * x) + (x * x + y * y) / 20
    end
    local stream = random.stream(2)
    local x, y = load(text)()(f, { low = -5, high = 5 }, 60, function() return stream:random() end)
    return asked <= 60 and math.type(x) == "float" and math.type(y) == "float"
  end,
  ["packing.lua"] = function(text)
    assert(fs.write("packing.lua", text))
    return process.run { argv = { host.executable, "exec", dir .. "/verify.lua" } }.code == 0
  end,
}

for seed = 1, path == "search.lua" and 200 or 4 do
  for _, operator in ipairs { "exploitation", "exploration", "crossover", "migration" } do
    local choose = random.stream(3, seed, operator)
    local first, second = choose:choice(pool), choose:random() < 0.8 and choose:choice(pool) or nil
    local text, said = propose(operator, seed, first, second)
    local where = ("%s %d (%s)"):format(operator, seed, tostring(said))
    if not text or text == first then print(where .. ": no change")
    elseif propose(operator, seed, first, second) ~= text then print(where .. ": another answer for the same numbers")
    elseif not check[path](text) then print(where .. ": not valid")
    else pool[#pool + 1] = text end
  end
end
