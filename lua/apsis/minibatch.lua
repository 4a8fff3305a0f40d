-- minibatch: a few of many items for each experiment, each item once an epoch, as GEPA's epoch sampler takes them.
-- Pure: the same seed, number and items give the same ones. For strategies.
local random = require "apsis.random"

local minibatch = {}

-- The items of an experiment (from 1). Every epoch shuffles the names again; the last ones fill up its last share.
function minibatch.items(seed, number, names, size)
  local count, chosen = #names, {}
  local shares = (count + size - 1) // size
  local epoch, share = (number - 1) // shares, (number - 1) % shares
  local shuffled = random.stream(seed, "epoch", epoch):shuffle(table.move(names, 1, count, 1, {}))
  for index = share * size + 1, (share + 1) * size do
    chosen[#chosen + 1] = shuffled[index <= count and index or count - (index - count - 1) % count]
  end
  return chosen
end

return minibatch
