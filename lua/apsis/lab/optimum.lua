-- optimum: the greatest value of a sum of functions, each of a few bits, exactly: by eliminating one bit after another,
-- each time the one that meets the fewest others (Bertelè and Brioschi, Nonserial Dynamic Programming, 1972). It costs
-- two to the number of bits that meet at once, where enumeration costs two to the number of all.
local optimum = {}

-- More bits than this at once are not tried if there are more than 20: it would take seconds and many megabytes.
local widest <const> = 16

-- How many others share a factor with a bit.
local function meets(touching, bit)
  local met, count = { [bit] = true }, 0
  for _, factor in ipairs(touching) do
    for _, place in ipairs(factor.places) do
      if not met[place] then met[place], count = true, count + 1 end
    end
  end
  return count
end

-- Of the bits left the one that meets the fewest others (the lowest of equals), and how many.
local function cheapest(factors_of, n)
  local best, least
  for bit = 1, n do
    local count = factors_of[bit] and meets(factors_of[bit], bit)
    if count and (not best or count < least) then best, least = bit, count end
  end
  return best, least
end

-- Adds a factor's values to a table over some places: for each pattern of those, which pattern of the factor's own it
-- is.
local function add(sums, places, factor)
  local stride, own = {}, { [0] = 0 }
  for index, place in ipairs(factor.places) do stride[place] = 1 << index - 1 end
  for index, place in ipairs(places) do
    local half, step = 1 << index - 1, stride[place] or 0
    for pattern = 0, half - 1 do own[pattern + half] = own[pattern] + step end
  end
  local values = factor.values
  for pattern = 0, (1 << #places) - 1 do sums[pattern] = sums[pattern] + values[own[pattern]] end
end

-- Takes out of a list the factor that brings the fewest places not seen yet, of those the smallest, so that tables stay
-- small for as long as they can. Returns it and those places.
local function next_factor(list, seen)
  local best, best_new
  for index, factor in ipairs(list) do
    local new = {}
    for _, place in ipairs(factor.places) do if not seen[place] then new[#new + 1] = place end end
    if not best or #new < #best_new or #new == #best_new and #factor.places < #list[best].places then
      best, best_new = index, new
    end
  end
  return table.remove(list, best), best_new
end

-- The factor that is left of some when a bit has taken, for each pattern of the others, whichever value is better. The
-- bit is the lowest of the patterns while they are summed.
local function eliminate(bit, touching)
  local places, seen, sums = { bit }, { [bit] = true }, { [0] = 0, 0 }
  while #touching > 0 do
    local factor, new = next_factor(touching, seen)
    for _, place in ipairs(new) do
      local half = 1 << #places
      table.move(sums, 0, half - 1, half)
      places[#places + 1], seen[place] = place, true
    end
    add(sums, places, factor)
  end
  local values = {}
  for pattern = 0, (1 << #places - 1) - 1 do values[pattern] = math.max(sums[2 * pattern], sums[2 * pattern + 1]) end
  return { places = table.move(places, 2, #places, 1, {}), values = values }
end

-- Takes factors out of every bit's list, and puts what they became in.
local function replace(factors_of, old, new)
  local gone, places = {}, {}
  for _, factor in ipairs(old) do
    gone[factor] = true
    for _, place in ipairs(factor.places) do places[place] = true end
  end
  for place in pairs(places) do
    local kept = {}
    for _, factor in ipairs(factors_of[place] or {}) do if not gone[factor] then kept[#kept + 1] = factor end end
    factors_of[place] = factors_of[place] and kept
  end
  for _, place in ipairs(new.places) do table.insert(factors_of[place], new) end
end

-- of({ { places = {bit, ...}, values = { [0] = ..., by pattern, the first place lowest } }, ... }, n) -> the greatest
-- sum over bits 1 to n; nil if too many bits meet at once to know it. Each factor has a place at least.
function optimum.of(factors, n)
  local factors_of, sum = {}, 0
  for bit = 1, n do factors_of[bit] = {} end
  for _, factor in ipairs(factors) do
    for _, place in ipairs(factor.places) do table.insert(factors_of[place], factor) end
  end
  for _ = 1, n do
    local bit, count = cheapest(factors_of, n)
    if count > widest and n > 20 then return nil end
    local touching = factors_of[bit]
    factors_of[bit] = nil
    local new = eliminate(bit, table.move(touching, 1, #touching, 1, {}))
    replace(factors_of, touching, new)
    if #new.places == 0 then sum = sum + new.values[0] end
  end
  return sum
end

return optimum
