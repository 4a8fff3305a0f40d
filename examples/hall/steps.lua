-- steps: the metric: |f*f|_2^2 / (|f*f|_1 |f*f|_oo) of a step function f >= 0 with steps of equal width. f*f is
-- straight between the sums c of products of heights, and 0 at both ends; with width 1 its integral is the sum of all
-- c, that of its square is the sum of (p p + p q + q q) / 3 over neighbours p, q. All sums are in whole numbers; only
-- the quotient is rounded, down.
--   apsis exec steps.lua STEPS
package.path = "../../circle-packing/?.lua;" .. package.path
local exact = require "exact"
local rows = require "rows"

local count = math.tointeger(tonumber(arg[1]))
local BITS = 52 -- all heights are multiples of 2^-52
local zero = exact.of(0, 0)

local heights = rows.read("answer.lua", 1)
rows.demand(#heights == count, "%d steps, not %d", #heights, count)
for index, row in ipairs(heights) do
  heights[index] = exact.of(row[1], BITS)
  rows.demand(heights[index], "height %d is no multiple of 2^-52, or too large", index)
  rows.demand(zero <= heights[index], "height %d is negative", index)
end

local c = {}
for k = 0, 2 * count do c[k] = zero end
for i = 1, count do
  for j = 1, count do c[i + j - 1] = c[i + j - 1] + heights[i] * heights[j] end
end

local square, sum, most = zero, zero, zero
for k = 1, 2 * count do
  local p, q = c[k - 1], c[k]
  square, sum = square + p * p + p * q + q * q, sum + q
  if most < q then most = q end
end
rows.demand(zero < sum, "all heights are 0")
print(("METRIC ratio=%.12f"):format(exact.float(square) / 3 / exact.float(sum) / exact.float(most) - 1e-12))
