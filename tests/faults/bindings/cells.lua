-- cells: apsis.cells, for allocations.c: `return run, prepare`.
return function(step)
  local cells = require "apsis.cells"
  local axes = { { name = "size", bins = 10, stride = 1, low = 0.0, high = 10.0, scale = 1.0 },
    { name = "kind", bins = 2, stride = 11, index = { a = 1, b = 2 } } }
  step("finder", function()
    local find = cells.finder(axes)
    assert(find { size = 3, kind = "b" } and find {} == 0 and find(nil) == 0)
    assert(find { size = 3, kind = "nope" } == nil and find { size = 11 } == nil)
  end)
  step("what is no list", function()
    local ok, message = pcall(cells.finder, { 1 })
    assert(not ok)
    if message:find "memory" then error(message, 0) end
  end)
end
