-- products: the metric: how many products a scheme for N x N matrices over Z2 takes, or none if it is wrong. A row is
-- { a, b, c }, bit sets of matrix entries (bit i * N + k: row i, column k): the sum of the first matrix's entries a
-- times that of the second's b is added to the result's entries c. It is right if, for all i, k, j, the product of
-- entry (i, k) and entry (k, j) is added to entry (i, j) an odd number of times, and any other to any entry an even
-- number.
--   apsis exec products.lua N
package.path = "../../circle-packing/?.lua;" .. package.path
local rows = require "rows"

local n = math.tointeger(tonumber(arg[1]))
local scheme = rows.read("answer.lua", 3)
local entries = n * n

for index, row in ipairs(scheme) do
  for part = 1, 3 do
    local set = math.tointeger(row[part])
    rows.demand(set and 0 < set and set < 1 << entries, "product %d has a part that is none of 1 to 2^%d - 1", index,
      entries)
    row[part] = set
  end
end

for a = 0, entries - 1 do
  for b = 0, entries - 1 do
    local added = 0 -- to which entries a times b is added, an odd number of times
    for _, row in ipairs(scheme) do
      if row[1] >> a & row[2] >> b & 1 == 1 then added = added ~ row[3] end
    end
    local wanted = a % n == b // n and 1 << (a // n * n + b % n) or 0
    rows.demand(added == wanted, "entry %d of the first matrix times entry %d of the second is added wrongly", a, b)
  end
end
print("METRIC products=" .. #scheme)
