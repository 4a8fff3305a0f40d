-- programs: programs of modules that a model writes. Each module has one right option among several. A piece is a
-- module and the `linked` next ones: it is worth 1 if all of them are right, else a number of its own below 0.8, so
-- that what is good next to one module is bad next to another. The score is the mean of the pieces, and with `levels`
-- it is cut to so many steps, and most changes tie. A share `crash` of the changes crashes, always the same ones. For
-- each module the model thinks of `ideas` of the other options, and these are the same each time it is shown the same
-- programs: parents and inspirations. Exploitation changes one module, exploration three to any option; crossover
-- takes each module from one of two parents, then changes one.
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"
local random = require "apsis.random"

local programs = { options = { modules = 10, options = 4, linked = 1, ideas = 2, levels = 0, crash = 0.3 },
  direction = "higher", metric = "score", operators = operators.names,
  description = "modules with linked options; changes that crash, ideas that repeat" }

function programs.check(options)
  local whole = { integer = true, least = 1 }
  return problems.problem(options, { modules = whole, options = { integer = true, least = 2, most = 26 },
    ideas = { integer = true, least = 1, most = options.options - 1 }, levels = { integer = true, least = 0 },
    linked = { integer = true, least = 0, most = options.modules - 1 }, crash = { least = 0, most = 1 } })
end

local first <const> = ("a"):byte()

local function anything(lab, rng)
  local letters = {}
  for module = 1, lab.options.modules do
    letters[module] = string.char(first + rng:integer(0, lab.options.options - 1))
  end
  return table.concat(letters)
end

function programs.init(lab)
  lab.right, lab.target, lab.genomes, lab.worth = anything(lab, lab.rng), 1.0, {}, {}
  function lab.attach(world) lab.genomes = world.genomes end
end

-- The first program works.
function programs.baseline(lab)
  lab.first = anything(lab, lab.rng)
  return lab.first
end

-- The programs that the model is shown beside the parent.
local function shown_by(lab, proposal)
  local list = {}
  for at, id in ipairs(proposal.inspirations or {}) do
    list[at] = tostring(lab.genomes[math.tointeger(tonumber(id:sub(2)))])
  end
  return table.concat(list, " ")
end

-- Another option for one module: one of the model's ideas for what it is shown, or any.
local function change(lab, genome, shown)
  local options, module, others = lab.options, lab.rng:integer(1, lab.options.modules), {}
  for letter = first, first + options.options - 1 do
    if letter ~= genome:byte(module) then others[#others + 1] = letter end
  end
  if shown then random.stream(lab.seed, "ideas", genome, module, shown):shuffle(others) end
  local letter = others[lab.rng:integer(1, shown and options.ideas or #others)]
  return genome:sub(1, module - 1) .. string.char(letter) .. genome:sub(module + 1)
end

function programs.propose(lab, proposal, parents)
  local operator, new = proposal.operator, {}
  if operator == "restart" then return anything(lab, lab.rng) end
  for module = 1, lab.options.modules do
    new[module] = (parents[2] and lab.rng:random() < 0.5 and parents[2] or parents[1]):sub(module, module)
  end
  local genome = table.concat(new)
  if operator == "migration" then return genome end
  if operator == "exploration" then return change(lab, change(lab, change(lab, genome))) end
  return change(lab, genome, shown_by(lab, proposal))
end

-- A number of its own for a text, below 1; worked out once.
local function number_of(lab, text)
  local known = lab.worth[text]
  if not known then
    known = random.stream(lab.seed, "worth", text):random()
    lab.worth[text] = known
  end
  return known
end

function programs.evaluate(lab, genome)
  local options, twice, right, sum = lab.options, genome .. genome, lab.right .. lab.right, 0.0
  local works = genome == lab.right or genome == lab.first or number_of(lab, genome) >= options.crash
  if not works then return nil, { reason = "the program crashed" } end
  for module = 1, options.modules do
    local piece = twice:sub(module, module + options.linked)
    sum = sum + (piece == right:sub(module, module + options.linked) and 1
      or 0.8 * number_of(lab, module .. " " .. piece))
  end
  local score = sum / options.modules
  return options.levels > 0 and math.floor(score * options.levels) / options.levels or score
end

return programs
