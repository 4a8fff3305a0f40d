-- world: the engine's world over a synthetic one: no git, no processes, and time that is only counted. An experiment takes
-- simulated seconds, so that with several workers results come out of order, as they do in life. Knows what every genome is
-- truly worth, which the strategy learns only through the noise. Called by trial.
local journal = require "apsis.engine.journal"
local noises = require "apsis.lab.noise"
local random = require "apsis.random"

local world = {}

local World = {}
World.__index = World

-- new(definition, seed, workers): the instance that a seed fixes, the same for every strategy.
function world.new(definition, seed, workers)
  local module, options = definition.module, definition.options
  local lab = { options = options, seed = seed, rng = random.stream(seed, "instance") }
  if module.init then module.init(lab) end
  return setmetatable({
    lab = lab, module = module, genomes = {}, truths = {}, clock = 0, simulated = workers > 1, events = {}, evaluations = 0,
    noise = noises.new(options.noise, options.noise_sd, random.stream(seed, "noise")), durations = random.stream(seed, "seconds"),
  }, World)
end

function World:now() return self.clock end
function World.context() end
function World.directions() return {} end
function World.paused() return false end
function World.phase() end
function World.save_proposal() end
function World.log() end
function World.publish() end
function World.diff() return "" end
function World.artifacts() return {} end
function World.progress() end

local stages = { 1 }
function World.stages() return stages end

local function text_of(module, lab, genome)
  if module.text then return module.text(lab, genome) end
  if type(genome) ~= "table" then return tostring(genome) end
  local lines = {}
  for index = 1, #genome do lines[index] = tostring(genome[index]) end
  return table.concat(lines, "\n")
end

-- A candidate's genome as text, the one file that it has.
function World:read(record)
  return text_of(self.module, self.lab, self.genomes[record.experiment])
end

function World:sources(record)
  return { { path = "genome", text = self:read(record) } }
end

-- A candidate's value without noise.
function World:truth(record)
  return self.truths[record.experiment]
end

local function number_of(id)
  return math.tointeger(tonumber(id:sub(2)))
end

function World:propose(slot)
  local parents, lab, options = {}, self.lab, self.lab.options
  for index, id in ipairs(slot.proposal.parents) do parents[index] = self.genomes[number_of(id)] end
  local genome, said = self.module.propose(lab, slot.proposal, parents)
  said = said or {}
  if genome == nil then
    return { { error = said.error or "the world has no answer", tokens = options.tokens, cost = options.cost } }
  end
  return { { edits = { genome = genome }, tokens = said.tokens or options.tokens, cost = said.cost or options.cost } }
end

function World.ask() return { error = "a synthetic world answers no questions", tokens = 0, cost = 0 } end

function World:commit(slot, answer)
  self.genomes[slot.number] = answer.edits.genome
  return { commit = journal.id(slot.number), changed_lines = 1 }
end

function World:commit_baseline(slot)
  self.genomes[slot.number] = self.module.baseline(self.lab)
  self.lab.rng = random.stream(self.lab.seed, "proposals")
  return { commit = journal.id(slot.number), changed_lines = 0 }
end

-- Lets simulated time pass: another experiment goes on until this one's time has come.
local function pass(self, seconds)
  if not self.simulated then
    self.clock = self.clock + seconds
    return
  end
  local token = {}
  self.events[#self.events + 1] = { due = self.clock + seconds, order = #self.events, token = token }
  self.scheduler:park(token)
end

-- Called when every experiment waits: the one that is due first goes on.
function World:advance()
  local first
  for index, event in ipairs(self.events) do
    if not first or event.due < self.events[first].due then first = index end
  end
  if not first then return false end
  local event = table.remove(self.events, first)
  self.clock = event.due
  self.scheduler:wake(event.token)
  return true
end

function World:verify(_, record)
  local options, number = self.lab.options, record.experiment
  pass(self, options.seconds * math.exp(options.spread * self.durations:normal()))
  self.evaluations = self.evaluations + 1
  local truth, said = self.module.evaluate(self.lab, self.genomes[number])
  if truth == nil then return { status = "crash", stage = 1, reason = said and said.reason or "the evaluation crashed" } end
  self.truths[number] = truth
  local value = self.noise(truth, self.evaluations)
  local metrics = said and said.metrics or {}
  return { status = "ok", stage = 1, value = value, samples = { value }, metrics = metrics }
end

return world
