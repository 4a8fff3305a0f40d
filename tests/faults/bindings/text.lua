-- text: every function of apsis.text, for allocations.c: `return run, prepare`.
return function(step)
  local text = require "apsis.text"
  step("sketches", function()
    local a, b = text.sketch(("local x = 1 + y\n"):rep(50)), text.sketch(("local x = 1 + z\n"):rep(50))
    assert(#a == 64 and text.similarity(a, a) == 1 and text.similarity(a, b) < 1)
    assert(text.mean_similarity(a, { a, b }) > 0 and text.mean_similarity(a, {}) == nil)
    assert(#text.sketch "" == 64)
  end)
  step("what is no sketch", function()
    local ok, message = pcall(text.similarity, "x", "y")
    assert(not ok)
    if message:find "memory" then error(message, 0) end
  end)
end
