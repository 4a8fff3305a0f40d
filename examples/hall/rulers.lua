-- rulers: the metric: how long a Golomb ruler is: marks at whole numbers from 0 up, no two pairs equally far apart.
--   apsis exec rulers.lua MARKS
package.path = "../../circle-packing/?.lua;" .. package.path
local rows = require "rows"

local count = math.tointeger(tonumber(arg[1]))
local marks = rows.read("answer.lua", 1)
rows.demand(#marks == count, "%d marks, not %d", #marks, count)

local seen = {}
for i = 1, count do
  marks[i] = math.tointeger(marks[i][1])
  rows.demand(marks[i] and marks[i] >= 0 and marks[i] < 1 << 31, "mark %d is no whole number from 0 up", i)
  for j = 1, i - 1 do
    local distance = marks[i] - marks[j]
    rows.demand(distance > 0, "mark %d is not above the one before", i)
    rows.demand(not seen[distance], "the distance %d occurs twice", distance)
    seen[distance] = true
  end
end
print("METRIC length=" .. marks[count] - marks[1])
