-- kmodule: modules that each have one right option among several; the score is how many are right, not which (the
-- comparison that OpenEvolve ships as examples/k_module_problem: 4 modules of 5 options, 625 programs, none of the
-- first one's right). Within 100 evaluations a run, it reports: drawing at random solved it in 16 of 100 runs (1 -
-- (624/625)^100 = 14.8 % is to be expected); a model that refined one program in 1 of 3 (the others ended with three
-- modules right and the same wrong idea again and again); a population in 3 of 3, after 52 on average. So there is a
-- model in this world. It changes one module of the best program it is shown, parent or inspiration, and for each
-- module it thinks of only `ideas` of the other options: the same ones each time it is shown the same programs. With
-- half of them, only refining the best succeeds in (1-1/2^4)(1-1/2^3)(1-1/2^2)(1-1/2) = 31 % of runs however long they
-- are.
local direction = require "apsis.direction"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"
local random = require "apsis.random"

local kmodule = { options = { modules = 4, options = 5, ideas = 2 }, direction = "higher", metric = "right_modules",
  description = "modules with one right option each; the score is how many are right", operators = operators.names }

function kmodule.check(options)
  return problems.problem(options, { modules = { integer = true, least = 1 }, options = { integer = true, least = 2,
    most = 26 }, ideas = { integer = true, least = 1, most = options.options - 1 } })
end

local first <const> = ("a"):byte()

function kmodule.init(lab)
  local options, right = lab.options, {}
  for module = 1, options.modules do right[module] = first + lab.rng:integer(0, options.options - 1) end
  lab.right, lab.target, lab.genomes = right, options.modules, {}
  function lab.attach(world) lab.genomes = world.genomes end
end

-- A genome is a letter a module.
local function genome_of(letters)
  return string.char(table.unpack(letters))
end

-- No module is right to begin with.
function kmodule.baseline(lab)
  local letters, count = {}, lab.options.options
  for module, right in ipairs(lab.right) do
    letters[module] = first + (right - first + lab.rng:integer(1, count - 1)) % count
  end
  return genome_of(letters)
end

local function anything(lab)
  local letters = {}
  for module = 1, lab.options.modules do letters[module] = first + lab.rng:integer(0, lab.options.options - 1) end
  return genome_of(letters)
end

-- What the model thinks of for a module of a program: the first few of these other options, fixed by all that it is
-- shown.
local function ideas_of(lab, genome, module, shown)
  local others, own = {}, genome:byte(module)
  for letter = first, first + lab.options.options - 1 do
    if letter ~= own then others[#others + 1] = letter end
  end
  return random.stream(lab.seed, "ideas", genome, module, shown):shuffle(others)
end

-- One module gets another option, one of the first few.
local function change(lab, genome, ideas, shown)
  local module = lab.rng:integer(1, lab.options.modules)
  local letter = ideas_of(lab, genome, module, shown)[lab.rng:integer(1, ideas)]
  return genome:sub(1, module - 1) .. string.char(letter) .. genome:sub(module + 1)
end

local function cross(lab, one, two)
  local letters = {}
  for module = 1, lab.options.modules do letters[module] = (lab.rng:random() < 0.5 and one or two):byte(module) end
  return genome_of(letters)
end

local function right_modules(lab, genome)
  local count = 0
  for module, right in ipairs(lab.right) do
    if genome:byte(module) == right then count = count + 1 end
  end
  return count
end

-- Each module is an item, like a test case.
function kmodule.evaluate(lab, genome)
  local items = {}
  for module, right in ipairs(lab.right) do
    items["module_" .. module] = { right_modules = genome:byte(module) == right and 1 or 0 }
  end
  return right_modules(lab, genome), { items = items }
end

local metric = direction.new { direction = "higher" }

-- The inspirations' genomes, as far as they are kept.
local function inspirations_of(lab, proposal)
  local list = {}
  for _, id in ipairs(proposal.inspirations or {}) do
    list[#list + 1] = lab.genomes[math.tointeger(tonumber(id:sub(2)))]
  end
  return list
end

-- The best of the programs shown, which the model sees the scores of; the parent if it is as good.
local function best_of(lab, genome, inspirations)
  local best, score = genome, right_modules(lab, genome)
  for index = 1, #inspirations do
    local other = right_modules(lab, inspirations[index])
    if metric:better(other, score) then best, score = inspirations[index], other end
  end
  return best
end

-- Exploration changes two modules, to any option; restart draws every module.
function kmodule.propose(lab, proposal, parents)
  local operator, genome = proposal.operator, parents[1]
  if operator == "restart" then return anything(lab) end
  if parents[2] then genome = cross(lab, genome, parents[2]) end
  if operator == "migration" then return genome end
  local inspirations, any = inspirations_of(lab, proposal), lab.options.options - 1
  local shown = table.concat(inspirations, " ")
  genome = best_of(lab, genome, inspirations)
  if operator == "exploration" then return change(lab, change(lab, genome, any, shown), any, shown) end
  return change(lab, genome, lab.options.ideas, shown)
end

function kmodule.text(_, genome)
  local lines = {}
  for module = 1, #genome do lines[module] = ("module_%d = option_%s"):format(module, genome:sub(module, module)) end
  return table.concat(lines, "\n")
end

return kmodule
