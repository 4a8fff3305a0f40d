-- crowd: every function of apsis.crowd, for allocations.c: `return run, prepare`.
return function(step)
  local crowd = require "apsis.crowd"
  local random = require "apsis.random"
  step("a population", function()
    local held <close> = crowd.new(40, 4)
    local one, two = assert(held:island()), assert(held:island())
    local members, keys = {}, {}
    for index = 1, 90 do
      local slot, excess = held:add(index % 2 == 0 and one or two, index % 7 > 0 and index * 1.0 or nil, index % 12 + 1)
      members[slot], keys[slot] = { id = index }, index % 12 + 1
      if excess > 0 then held:evict() end
    end
    local best = assert(held:best(0))
    held:copy(best, one)
    assert(held:key(best) and #held:islands(best) >= 1 and held:count(0) >= 40 and held:best(one) and held:smallest() and held:settled()[1])
    assert(#held:bests(0) > 0 and #held:bests(one) > 0)
    local rng = random.stream(1)
    assert(#held:diverse(one, rng, 3, 2, members) >= 0)
    assert(held:shown(0, one, rng, 2, 3, 8, best, nil, members))
    assert(held:any(one, 0.5) and held:at(one, 1) and #held:top(one, 3, members) == 3 and held:filled(one) > 0)
    held:elite(one, 0.5)
    assert(held:best_at(one, 1))
    for index in pairs(keys) do keys[index] = index % 5 + 1 end
    for index = 1, #members do keys[index] = keys[index] or 1 end
    held:refile(keys)
    assert(held:best(0) == best)
  end)
  step("too many islands, closed, collected", function()
    local held = crowd.new(3, 1)
    for _ = 1, 62 do assert(held:island()) end
    local number, _, code = held:island()
    assert(number == nil and code == "EISLAND")
    held:close()
    held:close()
    crowd.new(3, 1):island()
    collectgarbage()
  end)
end
