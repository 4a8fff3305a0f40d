-- random: every function of apsis.random, for allocations.c: `return run, prepare`.
return function(step)
  local random = require "apsis.random"
  step("a stream", function()
    local rng = random.stream(1, "key", 3)
    assert(rng:random() < 1 and rng:integer(3, 3) == 3 and rng:normal())
    assert(rng:choice { "a" } == "a" and rng:choice({ "a", "b" }, { 0, 1 }) == "b")
    assert(#rng:shuffle { 1, 2, 3, 4 } == 4)
    assert(random.stream(("long"):rep(200), setmetatable({}, { __tostring = function() return "x" end })):random())
  end)
  step("raises", function()
    local rng = random.stream()
    for _, call in ipairs { function() rng:choice {} end, function() rng:integer(2, 1) end, function() rng:choice({ 1 }, { "x" }) end } do
      local ok, message = pcall(call)
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
  end)
end
