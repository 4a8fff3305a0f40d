-- lab_openevolve: the shipped playbook in the lab at population 1,000, on a world that costs nothing: genomes are places in a table of
-- texts and values made before. `apsis exec tests/bench/lab_openevolve.lua N [SELECTION]` prints experiments a second of N, after the
-- population is full. It is the engine and the hooks of a live run.
local definition = require "apsis.lab.definition"
local random = require "apsis.random"
local trial = require "apsis.lab.trial"

local total, selection = tonumber(arg[1] or 20000), arg[2] or "playbook"
local PLACES, STEP, FILLING = 4096, 40, 3000

-- Texts of four to ten numbers, and hills of values with some roughness.
local function places()
  local rng, texts, values = random.stream "places", {}, {}
  for place = 1, PLACES do
    local numbers = {}
    for index = 1, rng:integer(4, 10) do numbers[index] = ("%.3f"):format(rng:integer(0, 60) / 8) end
    texts[place], values[place] = table.concat(numbers, "\n"), math.sin(place / 300) + 0.3 * rng:normal()
  end
  return texts, values
end

local texts, values = places()
local count, began = 0, nil
local module = { metric = "height", direction = "higher" }

function module.baseline() return 1 end
function module.text(_, place) return texts[place] end

function module.propose(lab, _, parents)
  return (parents[1] + lab.rng:integer(-STEP, STEP) - 1) % PLACES + 1
end

function module.evaluate(_, place)
  count = count + 1
  if count == FILLING then began = os.clock() end
  return values[place]
end

local options = {}
for name, value in pairs(definition.common) do options[name] = value end
local record = assert(trial.run { seed = 1, evaluations = FILLING + total,
  strategy = { use = "openevolve", options = { selection = selection, population_size = 1000 } },
  definition = { label = "places", name = "places", where = "places", module = module, options = options } })
local took = os.clock() - began
assert(record.evaluations == FILLING + total, record.reason)
print(("%.0f"):format(total / took))
