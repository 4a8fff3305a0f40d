-- triangles: the metric: the smallest area of three points, as a share of the triangle (0,0), (1,0), (0,1) that all of
-- them are in. All is done in whole numbers; only the result is rounded, down.
--   apsis exec triangles.lua POINTS
package.path = "../../circle-packing/?.lua;" .. package.path
local exact = require "exact"
local rows = require "rows"

local count = math.tointeger(tonumber(arg[1]))
local BITS = 52 -- all numbers are multiples of 2^-52
local zero, one = exact.of(0, 0), exact.of(1, BITS)

local points = rows.read("answer.lua", 2)
rows.demand(#points == count, "%d points, not %d", #points, count)
for index, point in ipairs(points) do
  local x, y = exact.of(point[1], BITS), exact.of(point[2], BITS)
  rows.demand(x and y, "point %d has a number that is no multiple of 2^-52, or is too large", index)
  rows.demand(zero <= x and zero <= y and x + y <= one, "point %d is outside the triangle", index)
  points[index] = { x, y }
end

local least
for a = 1, count do
  for b = 1, a - 1 do
    for c = 1, b - 1 do
      local A, B, C = points[a], points[b], points[c]
      local area = (B[1] - A[1]) * (C[2] - A[2]) - (B[2] - A[2]) * (C[1] - A[1])
      if area < zero then area = -area end
      if not least or area < least then least = area end
    end
  end
end
print(("METRIC area=%.12f"):format(math.max(0, exact.float(least) / 2.0 ^ (2 * BITS) - 1e-12)))
