-- verify: the metric. Prints the sum of the radii of packing.lua, or refuses it: every test is made in whole numbers,
-- with tolerance 0. It shares nothing with search.c. Draws the packing for the report.
--   apsis exec verify.lua [CIRCLES [rectangle]]     26 in the unit square; rectangle: in any of perimeter 4
local exact = require "exact"
local rows = require "rows"

local count, shape = math.tointeger(tonumber(arg[1] or 26)), arg[2] or "square"
local BITS = 60 -- all numbers are multiples of 2^-60

local one = exact.of(1, BITS)
local circles = rows.read("packing.lua", 3)
rows.demand(#circles == count, "%d circles, not %d", #circles, count)

local x, y, r = {}, {}, {}
for i, circle in ipairs(circles) do
  x[i], y[i], r[i] = exact.of(circle[1], BITS), exact.of(circle[2], BITS), exact.of(circle[3], BITS)
  rows.demand(x[i] and y[i] and r[i], "circle %d has a number that is no multiple of 2^-60, or is too large", i)
  rows.demand(exact.of(0, 0) <= r[i], "circle %d has a negative radius", i)
end

-- The smallest rectangle around all circles: its sides, from the square's corner unless it may be anywhere.
local function side(at)
  local low, high = at[1] - r[1], at[1] + r[1]
  for i = 2, count do
    if at[i] - r[i] < low then low = at[i] - r[i] end
    if high < at[i] + r[i] then high = at[i] + r[i] end
  end
  return low, high
end
local left, right = side(x)
local bottom, top = side(y)
if shape == "square" then
  local zero = exact.of(0, 0)
  rows.demand(zero <= left and zero <= bottom and right <= one and top <= one, "a circle leaves the square")
else
  rows.demand(right - left + (top - bottom) <= one + one, "the rectangle's perimeter is more than 4")
end

-- Two circles are apart if their centres are at least the sum of their radii apart; both sides are squared.
for i = 1, count do
  for j = 1, i - 1 do
    local dx, dy, both = x[i] - x[j], y[i] - y[j], r[i] + r[j]
    rows.demand(both * both <= dx * dx + dy * dy, "circles %d and %d overlap", j, i)
  end
end

local sum = exact.of(0, 0)
for i = 1, count do sum = sum + r[i] end
print(("METRIC sum_radii=%.15g"):format(exact.float(sum) / 2 ^ BITS))

-- ---- the picture ----

local folder = os.getenv "APSIS_ARTIFACTS"
local file = folder and io.open(folder .. "/picture.svg", "w")
if file then
  local function size(number) return exact.float(number) / 2 ^ BITS end
  if shape == "square" then left, bottom, right, top = exact.of(0, 0), exact.of(0, 0), one, one end
  local box = ("x='%.6f' y='%.6f' width='%.6f' height='%.6f'"):format(size(left), -size(top), size(right - left),
    size(top - bottom))
  file:write("<svg xmlns='http://www.w3.org/2000/svg' width='420' height='420' ",
    ("viewBox='%.6f %.6f %.6f %.6f'>\n"):format(size(left) - 0.01, -size(top) - 0.01, size(right - left) + 0.02,
    size(top - bottom) + 0.02))
  file:write("<g stroke='#123' stroke-width='0.003'><rect ", box, " fill='#fff'/>\n")
  for _, circle in ipairs(circles) do -- the larger, the darker
    file:write(("<circle cx='%.6f' cy='%.6f' r='%.6f' fill='hsl(205,70%%,%d%%)'/>\n"):format(circle[1], -circle[2],
      circle[3], 90 - math.min(400 * circle[3], 50) // 1))
  end
  file:write "</g></svg>\n"
  file:close()
end
