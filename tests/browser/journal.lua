-- Writes a journal of N lines, as a run of many parents would leave it: journal.lua FILE N. Random, but the same each time.
local json = require "apsis.json"
local random = require "apsis.random"

local path, count = arg[1], tonumber(arg[2])
local rng = random.stream(1, "journal")
local file = assert(io.open(path, "w"))
local values, best, able = {}, 1.0, { 0 }

local function line_of(number)
  local parent = able[math.max(1, #able - math.floor(rng:random() ^ 3 * 60))]
  local other = rng:random() < 0.1 and able[math.max(1, #able - 3)] or nil
  local value = rng:random() > 0.1 and values[parent] + 0.02 * rng:normal() or nil
  if value and rng:random() < 0.02 then value = -1e6 end
  local kept = value and value > best
  if kept then best = value end
  if value and value > 0 and rng:random() < 0.3 then able[#able + 1] = number end
  values[number] = value or 0
  local id = function(of) return ("c%04d"):format(of) end
  return { experiment = number, candidate = id(number), commit = ("%040x"):format(number),
    parents = json.array { id(parent), other and id(other) }, primary_metric = value,
    operator = other and "crossover" or rng:random() < 0.3 and "exploration" or "exploitation",
    outcome = kept and "kept" or value and "reverted_worse_metric" or "skipped_verification_crash", improved = kept or nil, best = best,
    description = ("step %d: a change of a few lines in the inner loop"):format(number), changed_lines = number % 40, run = 1,
    seconds = 20 + 10 * rng:random(), tokens = 1500, cost = 0.004, measurements = 1, strategy = "openevolve",
    notes = value and { island = number % 5 + 1, features = { complexity = 1000 + 10 * (number % 90), diversity = rng:random() } } or nil }
end

values[0] = best
file:write(json.encode { experiment = 0, candidate = "c0000", commit = ("0"):rep(40), parents = json.array {}, operator = "baseline",
  primary_metric = best, outcome = "baseline", best = best, run = 0, seconds = 3, strategy = "openevolve" }, "\n")
for number = 1, count - 1 do file:write(json.encode(line_of(number)), "\n") end
file:close()
