-- mutate: this example's provider. apsis calls it once per experiment; it gives the parent's circles to search.c, which
-- moves them for about 0.2 seconds. verify.lua measures the result; the strategy decides whether to keep it. A language
-- model could take its place. This is classical search: random moves, and the nearest best place after each.
local folder = (...):match "^(.*)/[^/]*$"

return dofile(folder .. "/propose.lua")(folder, { source = folder .. "/search.c", answer = "packing.lua", columns = 3,
  changes = 40 })
