-- points: the metric: the largest squared distance between two points by the smallest. Both are found in whole numbers;
-- only their quotient is rounded, up.
--   apsis exec points.lua POINTS
package.path = "../../circle-packing/?.lua;" .. package.path
local exact = require "exact"
local rows = require "rows"

local count = math.tointeger(tonumber(arg[1]))
local BITS = 52 -- all numbers are multiples of 2^-52

local points = rows.read("answer.lua", 3)
rows.demand(#points == count, "%d points, not %d", #points, count)
for index, point in ipairs(points) do
  for axis = 1, 3 do
    point[axis] = exact.of(point[axis], BITS)
    rows.demand(point[axis], "point %d has a number that is no multiple of 2^-52, or is too large", index)
  end
end

local least, most
for i = 1, count do
  for j = 1, i - 1 do
    local squared = exact.of(0, 0)
    for axis = 1, 3 do
      local difference = points[i][axis] - points[j][axis]
      squared = squared + difference * difference
    end
    if not least or squared < least then least = squared end
    if not most or most < squared then most = squared end
  end
end
rows.demand(exact.of(0, 0) < least, "two points are the same")
print(("METRIC ratio=%.12f"):format(exact.float(most) / exact.float(least) + 1e-12))
