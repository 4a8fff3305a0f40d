-- measure: this example's evaluator. The lab runs the candidate and hillclimb on the same worlds with the same seeds;
-- the ratio of their evaluations to the optimum, over all worlds, is the metric. 0.8: a fifth fewer.
local json = require "apsis.json"
local process = require "apsis.process"

local WORLDS <const> = { "nk:n=16,k=2", "kmodule", "onemax:n=30", "leadingones:n=16" }
local UNSEEN <const> = { "nk:n=18,k=3", "kmodule:modules=5", "onemax:n=40", "leadingones:n=20", "ackley:d=3" }

local function ratio(worlds, first_seed)
  local words = { "apsis", "lab", "policy.lua", "hillclimb", "--json", "--quiet", "--overview", "--jobs", "1", "--set",
    "hillclimb.patience=100000", "--seeds", "8", "--seed", tostring(first_seed), "--evaluations", "300" }
  for _, world in ipairs(worlds) do table.move({ "--world", world }, 1, 2, #words + 1, words) end
  local result = assert(process.run { argv = words, head_bytes = 1 << 24 })
  if result.code ~= 0 then error(result.stderr.head, 0) end
  return json.decode(result.stdout.head).overall[1].ratio
end

print(("METRIC ratio=%.6g"):format(ratio(WORLDS, 1)))
print(("METRIC unseen=%.6g"):format(ratio(UNSEEN, 1001)))
