-- bits: genomes of n bits, as strings of "0" and "1", and how the operators vary them. Exploitation: each bit flips with
-- probability rate/n. Exploration: with ten times that. Crossover: uniform, then exploitation. Migration: crossover without
-- mutation. Called by the worlds of bits.
local bits = {}

local Bits = {}
Bits.__index = Bits

function bits.new(n, rate)
  return setmetatable({ n = n, rate = rate or 1.0 }, Bits)
end

-- n fair coins.
function Bits:random(rng)
  local list = {}
  for index = 1, self.n do list[index] = rng:random() < 0.5 and "1" or "0" end
  return table.concat(list)
end

-- Each bit flipped with a probability: jumps from flip to flip, by the geometric distribution of the gaps.
function Bits:flip(genome, probability, rng)
  if probability >= 1 then return (genome:gsub(".", { ["0"] = "1", ["1"] = "0" })) end
  local scale, at, parts, done = math.log(1 - probability), 0, nil, 0
  while true do
    at = at + 1 + math.log(1 - rng:random()) / scale // 1 | 0
    if at > self.n then break end
    parts = parts or {}
    parts[#parts + 1] = genome:sub(done + 1, at - 1)
    parts[#parts + 1] = genome:byte(at) == 49 and "0" or "1"
    done = at
  end
  if not parts then return genome end
  parts[#parts + 1] = genome:sub(done + 1)
  return table.concat(parts)
end

-- Each bit from one parent or the other.
function Bits:cross(first, second, rng)
  local list = {}
  for index = 1, self.n do
    local from = rng:random() < 0.5 and first or second
    list[index] = from:sub(index, index)
  end
  return table.concat(list)
end

function Bits:vary(operator, parents, rng)
  local genome, rate = parents[1], self.rate / self.n
  if #parents > 1 then genome = self:cross(parents[1], parents[2], rng) end
  if operator == "migration" then return genome end
  if operator == "exploration" then rate = math.min(0.5, 10 * rate) end
  return self:flip(genome, rate, rng)
end

function bits.ones(genome)
  local _, count = genome:gsub("1", "")
  return count
end

return bits
