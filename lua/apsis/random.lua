-- random: keyed random streams. The same key gives the same stream on every machine, so that a run can be done again.
-- Generator: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 over an FNV-1a hash of the key.
local random = {}

local Stream = {}
Stream.__index = Stream

local kind = math.type

local function splitmix(state)
  state = state + 0x9E3779B97F4A7C15
  local z = state
  z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
  z = (z ~ (z >> 27)) * 0x94D049BB133111EB
  return state, z ~ (z >> 31)
end

-- A stream for a key of strings and integers, such as (seed, experiment, "plan").
function random.stream(...)
  local hash = 0xCBF29CE484222325
  for _, part in ipairs({ ... }) do
    local text = tostring(part) .. "\0"
    for index = 1, #text do hash = (hash ~ text:byte(index)) * 0x100000001B3 end
  end
  local self = setmetatable({}, Stream)
  for index = 1, 4 do hash, self[index] = splitmix(hash) end
  return self
end

local function next_bits(self)
  local s1, s2, s3, s4 = self[1], self[2], self[3], self[4]
  local x = s2 * 5
  local result = ((x << 7) | (x >> 57)) * 9
  local t = s2 << 17
  s3 = s3 ~ s1
  s4 = s4 ~ s2
  self[2], self[1] = s2 ~ s3, s1 ~ s4
  self[3] = s3 ~ t
  self[4] = (s4 << 45) | (s4 >> 19)
  return result
end

-- A float in [0, 1).
function Stream:random()
  return (next_bits(self) >> 11) * 0x1p-53
end

-- An integer in [low, high]; the bias is at most (high - low) / 2^64.
function Stream:integer(low, high)
  if kind(low) ~= "integer" or kind(high) ~= "integer" or low > high then
    error(("integer(low, high) needs two integers, low <= high; got %s, %s"):format(low, high), 2)
  end
  local span, bits = high - low + 1, next_bits(self)
  if span <= 0 then return bits + low end -- the span does not fit: every integer
  if bits >= 0 then return low + bits % span end
  return low + ((bits >> 1) % span * 2 + (bits & 1)) % span -- unsigned remainder
end

-- A normal deviate of mean 0 and standard deviation 1 (polar method, one of the pair).
function Stream:normal()
  while true do
    local u, v = 2 * self:random() - 1, 2 * self:random() - 1
    local s = u * u + v * v
    if s > 0 and s < 1 then return u * math.sqrt(-2 * math.log(s) / s) end
  end
end

-- One element of a non-empty list; with weights (same length, not negative, not all zero) in their proportion.
function Stream:choice(list, weights)
  if #list == 0 then error("choice of an empty list", 2) end
  if not weights then return list[self:integer(1, #list)] end
  local sum = 0
  for index = 1, #list do sum = sum + weights[index] end
  if not (sum > 0) then error("choice: the weights must not all be zero", 2) end
  local left = self:random() * sum
  for index = 1, #list do
    left = left - weights[index]
    if left < 0 then return list[index] end
  end
  for index = #list, 1, -1 do
    if weights[index] > 0 then return list[index] end
  end
end

-- Shuffles a list in place and returns it.
function Stream:shuffle(list)
  for index = #list, 2, -1 do
    local other = self:integer(1, index)
    list[index], list[other] = list[other], list[index]
  end
  return list
end

return random
