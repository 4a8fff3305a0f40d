-- networks: the metric: how many comparators the network has, or none if it does not sort. All 2^n sequences of 0 and 1
-- are tried, which is enough for all sequences (Knuth, 5.3.4, the zero-one principle).
--   apsis exec networks.lua WIRES
package.path = "../../circle-packing/?.lua;" .. package.path
local rows = require "rows"

local wires = math.tointeger(tonumber(arg[1]))
local network = rows.read("answer.lua", 2)

for index, comparator in ipairs(network) do
  local i, j = math.tointeger(comparator[1]), math.tointeger(comparator[2])
  rows.demand(i and j and 1 <= i and i < j and j <= wires,
    "comparator %d is not of two wires i < j from 1 to %d", index, wires)
  network[index] = { 1 << i - 1, 1 << j - 1 }
end

-- A comparator puts the smaller of its two values on its first wire. Bit i - 1 of a sequence is wire i.
local function sorted(bits)
  for _, comparator in ipairs(network) do
    local i, j = comparator[1], comparator[2]
    if bits & i ~= 0 and bits & j == 0 then bits = bits ~ i ~ j end
  end
  return bits
end

for bits = 0, (1 << wires) - 1 do
  local ones = 0
  for wire = 0, wires - 1 do ones = ones + (bits >> wire & 1) end
  rows.demand(sorted(bits) == ((1 << ones) - 1) << (wires - ones), "it does not sort the sequence %d", bits)
end
print("METRIC comparators=" .. #network)
