-- packing: 26 circles in the unit square, each { x, y, radius }. This is the file to improve: any Lua that returns
-- such a list, literal or computed, with math, table and the basic functions, but without files or modules. It begins
-- as a grid of small, equal circles in one corner.

local circles = {
  { 0.05, 0.05, 0.035 },
  { 0.12, 0.05, 0.035 },
  { 0.19, 0.05, 0.035 },
  { 0.26, 0.05, 0.035 },
  { 0.33, 0.05, 0.035 },
  { 0.40, 0.05, 0.035 },
  { 0.05, 0.12, 0.035 },
  { 0.12, 0.12, 0.035 },
  { 0.19, 0.12, 0.035 },
  { 0.26, 0.12, 0.035 },
  { 0.33, 0.12, 0.035 },
  { 0.40, 0.12, 0.035 },
  { 0.05, 0.19, 0.035 },
  { 0.12, 0.19, 0.035 },
  { 0.19, 0.19, 0.035 },
  { 0.26, 0.19, 0.035 },
  { 0.33, 0.19, 0.035 },
  { 0.40, 0.19, 0.035 },
  { 0.05, 0.26, 0.035 },
  { 0.12, 0.26, 0.035 },
  { 0.19, 0.26, 0.035 },
  { 0.26, 0.26, 0.035 },
  { 0.33, 0.26, 0.035 },
  { 0.40, 0.26, 0.035 },
  { 0.05, 0.33, 0.035 },
  { 0.12, 0.33, 0.035 },
}

return circles
