-- prompt_pool: a bounded pool of instructions for a model, each with how good the programs are that came of it; which
-- to use next is UCB's choice, as in ShinkaEvolve (github.com/SakanaAI/ShinkaEvolve). Draws only from the stream passed
-- in. For strategies.
local prompt_pool = {}

local Pool = {}
Pool.__index = Pool

local EPSILON <const>, EXPLORE <const>, ENOUGH <const>, MOST <const> = 0.1, 1.0, 3, 10

-- new(text): a pool with one text, which may be "".
function prompt_pool.new(text)
  return setmetatable({ list = { { text = text, number = 1, count = 0, sum = 0 } }, made = 1,
    values = {} }, Pool)
end

local function fitness(one)
  return one.count > 0 and one.sum / one.count or 0
end

-- Adds a text. Of more than ten, the worst with enough programs goes; the oldest, if none has enough.
function Pool:add(text)
  local worst, list = nil, self.list
  self.made = self.made + 1
  if #list == MOST then
    for place, one in ipairs(list) do
      if one.count >= ENOUGH and (not worst or fitness(one) < fitness(list[worst])) then worst = place end
    end
    table.remove(list, worst or 1)
  end
  list[#list + 1] = { text = text, number = self.made, count = 0, sum = 0 }
end

-- A program's value; number: of the text that it came of, which gets the share of all programs that it is better than,
-- equals counting half.
function Pool:credit(metric, value, number)
  local beaten, values = 0, self.values
  values[#values + 1] = value
  if self.made == 1 then return end
  for _, other in ipairs(values) do
    beaten = beaten + (metric:better(value, other) and 1 or metric:tied(value, other) and 0.5 or 0)
  end
  for _, one in ipairs(self.list) do
    if one.number == number then one.count, one.sum = one.count + 1, one.sum + beaten / #values end
  end
end

-- Which to use: { text, number }. One with too few programs counts as the best, and as if it were new.
function Pool:pick(rng)
  local list, total, most, best, score = self.list, 0, nil, nil, nil
  if #list == 1 then return list[1] end
  for _, one in ipairs(list) do
    total = total + one.count
    if one.count >= ENOUGH then most = math.max(most or 0, fitness(one)) end
  end
  if rng:random() < EPSILON or total == 0 then return rng:choice(list) end
  for _, one in ipairs(list) do
    local bound = one.count < ENOUGH and (most or 0.5) + EXPLORE
      or fitness(one) + EXPLORE * math.sqrt(math.log(total) / one.count)
    if not score or bound > score then best, score = one, bound end
  end
  return best
end

return prompt_pool
