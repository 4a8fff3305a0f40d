-- archive: what one add and one sample of the population library cost. measure(size) makes pairs in steady state: a 2 kB program is
-- sketched, its features computed, it is added to an archive at its cap, so that one is evicted; then a parent is drawn as OpenEvolve
-- draws one, and inspirations: the island's best, its top 3, 2 of other cells, 1 at random. Processor time; used by bench.lua.
local archive = require "apsis.archive"
local direction = require "apsis.direction"
local random = require "apsis.random"
local text = require "apsis.text"

local bench = {}

local ISLANDS, PROGRAMS = 5, 100

-- Programs of about 2 kB: lines of a small language, some the same in many programs.
local function programs(rng)
  local names = { "total", "left", "right", "energy", "step", "value", "best", "angle", "width", "limit" }
  local lines, list = {}, {}
  for index = 1, 400 do
    lines[index] = ("    %s = %s * %.4f + %s(%s - %d)  # %s"):format(rng:choice(names), rng:choice(names), rng:random(),
      rng:choice(names), rng:choice(names), rng:integer(1, 99), rng:choice(names))
  end
  for index = 1, PROGRAMS do
    local size, parts = rng:integer(1200, 2800), {}
    while size > 0 do
      local line = rng:choice(lines)
      parts[#parts + 1] = line
      size = size - #line
    end
    list[index] = table.concat(parts, "\n")
  end
  return list
end

local function add(self, number)
  local rng, program = self.rng, self.programs[number % PROGRAMS + 1]
  local sketch = text.sketch(program)
  local island = number % ISLANDS + 1
  self.archive:add { id = number, value = rng:random(), island = island, sketch = sketch, experiment = number,
    features = { complexity = #program, diversity = self.archive:diversity(sketch) } }
  return island
end

local function sample(self, island)
  local rng, held = self.rng, self.archive
  local draw = rng:random()
  local parent = draw < 0.2 and held:random(rng, island) or draw < 0.9 and held:elite(rng, island) or held:weighted(rng, island)
  return parent, held:best(island), held:top(3, island), held:diverse(2, rng, island, parent), held:random(rng, island)
end

-- An archive at its cap.
function bench.new(size)
  local rng = random.stream("bench", size)
  local self = { rng = rng, size = size, programs = programs(rng), count = 0, archive = archive.new {
    metric = direction.new { direction = "higher" }, islands = ISLANDS, population_size = size,
    archive_size = math.min(100, size // 10), features = { { name = "complexity", bins = 10 }, { name = "diversity", bins = 10 } } } }
  while self.archive:size() < size do
    self.count = self.count + 1
    add(self, self.count)
  end
  bench.pairs(self, size)
  return self
end

-- Seconds of processor time for a number of pairs.
function bench.pairs(self, pairs)
  local started = os.clock()
  for _ = 1, pairs do
    self.count = self.count + 1
    sample(self, add(self, self.count))
  end
  return os.clock() - started
end

return bench
