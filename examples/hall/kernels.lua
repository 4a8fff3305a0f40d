-- kernels: the metric: how many instructions a sorting kernel has, or none if it does not sort. It is run on all inputs
-- that differ in the order of their numbers, equal numbers included: all that comparisons can tell apart. A row is
-- { instruction, to, from }: 1 mov, 2 cmp, 3 cmovl, 4 cmovg; the registers are 1 to n, which hold the numbers, and
-- n + 1. Reading register n + 1 or the flags before they are set is an error, so no result depends on what was in them.
--   apsis exec kernels.lua NUMBERS
package.path = "../../circle-packing/?.lua;" .. package.path
local rows = require "rows"

local count = math.tointeger(tonumber(arg[1]))
local program = rows.read("answer.lua", 3)

for index, row in ipairs(program) do
  local kind, to, from = math.tointeger(row[1]), math.tointeger(row[2]), math.tointeger(row[3])
  rows.demand(kind and 1 <= kind and kind <= 4, "instruction %d is none of 1 to 4", index)
  rows.demand(to and from and 1 <= math.min(to, from) and math.max(to, from) <= count + 1,
    "instruction %d names a register that is none of 1 to %d", index, count + 1)
  program[index] = { kind, to, from }
end

local function run(registers)
  local flags
  for index, instruction in ipairs(program) do
    local kind, to, from = table.unpack(instruction)
    local value = registers[from]
    rows.demand(value and (kind == 1 or registers[to]), "instruction %d reads a register before it is set", index)
    rows.demand(kind < 3 or flags, "instruction %d reads the flags before cmp has set them", index)
    if kind == 2 then flags = registers[to] - value
    elseif kind == 1 or kind == 3 and flags < 0 or kind == 4 and flags > 0 then registers[to] = value end
  end
end

for code = 0, math.tointeger(count ^ count) - 1 do -- numbers from 1 to count in all ways: every order occurs
  local input, rest = {}, code
  for place = 1, count do
    input[place], rest = rest % count + 1, rest // count
  end
  local expected, registers = table.move(input, 1, count, 1, {}), table.move(input, 1, count, 1, {})
  table.sort(expected)
  run(registers)
  for place = 1, count do
    rows.demand(registers[place] == expected[place], "it does not sort %s", table.concat(input, " "))
  end
end
print("METRIC instructions=" .. #program)
