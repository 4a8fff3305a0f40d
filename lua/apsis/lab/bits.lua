-- bits: genomes of n bits, as strings of "0" and "1", and how the operators vary them. Exploitation: each bit flips
-- with probability rate/n. Exploration: with ten times that. Crossover: uniform, then exploitation. Migration:
-- crossover without mutation. Restart: n fair coins, whoever the parents are. Any other name: exploitation. notes.step
-- multiplies the probability; one that cannot be a step is no answer. Counts no ones and knows no landscape.
local operators = require "apsis.lab.operators"

local bits = {}

local Bits = {}
Bits.__index = Bits

local byte, concat, log, sub = string.byte, table.concat, math.log, string.sub

-- new(n, rate): rate is the expected number of flips by exploitation.
function bits.new(n, rate)
  return setmetatable({ n = n, rate = rate or 1.0, probability = nil, scale = nil }, Bits)
end

-- n fair coins.
function Bits:random(rng)
  local list = {}
  for index = 1, self.n do list[index] = rng:random() < 0.5 and "1" or "0" end
  return concat(list)
end

local other = { [48] = "1", [49] = "0" }

-- Each bit flipped with a probability: jumps from flip to flip, by the geometric distribution of the gaps.
function Bits:flip(genome, probability, rng)
  if probability >= 1 then return (genome:gsub(".", { ["0"] = "1", ["1"] = "0" })) end
  if probability <= 0 then return genome end
  if probability ~= self.probability then self.probability, self.scale = probability, log(1 - probability) end
  local n, scale = self.n, self.scale
  local gap = log(1 - rng:random()) / scale
  if gap >= n then return genome end
  local at = gap // 1 | 0
  local text, done = sub(genome, 1, at) .. other[byte(genome, at + 1)], at + 1
  while true do
    gap = done + log(1 - rng:random()) / scale
    if gap >= n then return text .. sub(genome, done + 1) end
    at = gap // 1 | 0
    text = text .. sub(genome, done + 1, at) .. other[byte(genome, at + 1)]
    done = at + 1
  end
end

-- Each bit from one parent or the other. Where both agree there is nothing to draw.
function Bits:cross(first, second, rng)
  if first == second then return first end
  local list = {}
  for index = 1, self.n do
    local one, two = byte(first, index), byte(second, index)
    list[index] = one == two and one or rng:random() < 0.5 and one or two
  end
  for index = 1, self.n do list[index] = list[index] == 49 and "1" or "0" end
  return concat(list)
end

-- vary(proposal, parents, rng): what a proposal makes of its parents' genomes; nil, { error = } where it is wrong.
function Bits:vary(proposal, parents, rng)
  local genome, operator, rate = parents[1], proposal.operator, self.rate / self.n
  if operator == "restart" then return self:random(rng) end
  if parents[2] then genome = self:cross(genome, parents[2], rng) end
  if operator == "migration" then return genome end
  local notes = proposal.notes
  if notes and notes.step ~= nil then
    local wrong = operators.wrong_step(notes.step)
    if wrong then return nil, wrong end
    rate = rate * notes.step
  end
  if operator == "exploration" then rate = 10 * rate end
  return self:flip(genome, rate < 0.5 and rate or 0.5, rng)
end

local unpack = string.unpack
local eight, lowest = "<i8i8i8i8i8i8i8i8", 0x0101010101010101

-- A genome from its text, as a strategy's edits give it; nil if it is none.
function Bits:parse(text)
  return #text == self.n and not text:find "[^01]" and text or nil
end

-- How many ones a genome has: the lowest bit of each byte, summed in eight columns of which none grows beyond a byte.
function bits.ones(genome)
  local count, at, last = 0, 1, #genome
  while at + 63 <= last do
    local a, b, c, d, e, f, g, h = unpack(eight, genome, at)
    local sum = (a & lowest) + (b & lowest) + (c & lowest) + (d & lowest) + (e & lowest) + (f & lowest)
      + (g & lowest) + (h & lowest)
    count, at = count + (sum * lowest >> 56), at + 64
  end
  while at + 7 <= last do
    count, at = count + ((unpack("<i8", genome, at) & lowest) * lowest >> 56), at + 8
  end
  for index = at, last do count = count + (byte(genome, index) & 1) end
  return count
end

return bits
