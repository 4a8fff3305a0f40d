-- world: the engine's world over a synthetic one: no git, no processes, and time that is only counted. An experiment takes
-- simulated seconds, so that with several workers results come out of order, as they do in life. Knows what every genome is
-- truly worth, which the strategy learns only through the noise. Called by trial.
local finite = require("apsis.direction").finite
local WINDOW = require("apsis.core.memory").WINDOW
local noises = require "apsis.lab.noise"
local random = require "apsis.random"

local world = {}

local World = { recycles = true, unprompted = true, publish = nil } -- holds no slot after its line, and asks for no prompts
World.__index = World

-- new(definition, seed, { workers =, timed = true where minutes count, history = false where it is not kept }): the instance
-- that a seed fixes, the same for every strategy. Without workers it has as many as its init set in lab.workers, or one.
function world.new(definition, seed, given)
  local module, options = definition.module, definition.options
  local lab = { options = options, seed = seed, rng = random.stream(seed, "instance") }
  if module.init then module.init(lab) end
  if lab.target ~= nil and not finite(lab.target) then
    error(("%s: init set lab.target to %s, not to a finite number"):format(definition.where, tostring(lab.target)), 0)
  end
  local workers = given.workers or lab.workers or 1
  local self = setmetatable({
    lab = lab, module = module, where = definition.where, workers = workers, genomes = {}, truths = {},
    clock = 0, seconds = options.seconds, evaluations = 0, parents = {},
    answered = nil, found = nil, last_id = nil, last_number = nil, quick = options.tokens == 0 and options.cost == 0,
    noise = options.noise ~= "none" and noises.new(options.noise, options.noise_sd, random.stream(seed, "noise")),
    parallel = workers > 1, events = {}, forgets = given.history == false,
    durations = (workers > 1 or given.timed) and options.spread > 0 and random.stream(seed, "seconds"),
    plain = { edits = {}, tokens = options.tokens, cost = options.cost, plain = options.tokens == 0 and options.cost == 0 },
    made = { changed_lines = 1, plain = true }, measured = { status = "ok", stage = 1, value = nil },
  }, World)
  if lab.attach then lab.attach(self) end -- a world that answers by itself: replay
  return self
end

local stages = { 1 }

function World:now() return self.clock end
function World.stages() return stages end
function World.directions() return {} end
function World.paused() return false end
function World.save_proposal() end
function World.log() end
function World.diff() return "" end
function World.artifacts() return {} end

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
  if not self.noise then return record.value end
  return self.truths[record.experiment]
end

-- What asking for a proposal takes, as far as it is known beforehand.
function World:estimate(proposal)
  local k = proposal.k or 1
  return k * (self.lab.answer_tokens or self.lab.options.tokens), k * self.lab.options.cost
end

-- The genome of a candidate, by its id.
local function genome_of(self, id)
  if id ~= self.last_id then self.last_id, self.last_number = id, math.tointeger(tonumber(id:sub(2))) end
  local genome = self.genomes[self.last_number]
  if genome == nil then
    error(("%s: its genome is not kept: leave --no-history out for a strategy that goes back to old candidates"):format(id), 0)
  end
  return genome
end

-- What is not usual about an answer: what it took, or that there is none.
local function answer_with(self, genome, said)
  local options = self.lab.options
  if said.halt then self.engine.stopping = said.halt end
  if genome == nil and not said.error then said.error = said.halt or "the world has no answer" end
  return { edits = genome ~= nil and { genome = genome } or nil, error = genome == nil and said.error or nil, seconds = said.seconds,
    tokens = said.tokens or options.tokens, cost = said.cost or options.cost, steps = said.steps, output_tokens = said.output_tokens }
end

-- K answers, each drawn anew.
local function several(self, proposal, parents)
  local answers = {}
  for index = 1, proposal.k do
    local genome, said = self.module.propose(self.lab, proposal, parents)
    answers[index] = answer_with(self, genome, said or {})
  end
  return answers
end

-- Lets simulated time pass: another experiment goes on until this one's time has come.
local function pass(self, seconds)
  if self.durations then seconds = seconds * math.exp(self.lab.options.spread * self.durations:normal()) end
  if not self.parallel then
    self.clock = self.clock + seconds
    return
  end
  local token = {}
  self.events[#self.events + 1] = { due = self.clock + seconds, token = token }
  self.scheduler:park(token)
end

-- What the world makes of a proposal, of one parent that is known or of those it names: a genome. nil where its answer is not
-- plain; propose, asked next, has it.
function World:answer(proposal, parent)
  local parents, ids, genomes = self.parents, proposal.parents, self.genomes
  if parent then
    parents[1] = genomes[parent.experiment]
    if parents[2] ~= nil then parents[2] = nil end
  else
    for index = 1, #ids do parents[index] = genome_of(self, ids[index]) end
    for index = #ids + 1, #parents do parents[index] = nil end
  end
  local genome, said = self.module.propose(self.lab, proposal, parents)
  local answer = self.plain
  if said or genome == nil then
    self.answered = answer_with(self, genome, said or {})
    return nil
  end
  answer.edits.genome, self.answered = genome, answer
  return genome
end

-- What is said of a value that is no number or not finite: its author's mistake, which would pass as a crash.
local function not_finite(self, words)
  return ("%s: evaluate gave %s, not a finite number (nil and {reason = ...} are a crash)"):format(self.where, words)
end

local function refuse(self, value)
  local kind = type(value)
  error(not_finite(self, (kind == "number" or kind == "string") and tostring(value) or "a " .. kind), 0)
end

-- An error as its author should read it: that measure could not calculate with what evaluate gave is told as verify tells it.
function World:told(message)
  local kind = type(message) == "string" and message:match "arithmetic on a (%a+) value %(local 'truth'%)"
  return kind and not_finite(self, "a " .. kind) or message
end

-- The value of an answered genome; nil where the measurement is not plain: verify, asked next, has it.
function World:measure(number, genome)
  local truth, said = self.module.evaluate(self.lab, genome)
  if said or truth == nil then
    self.found = { truth, said }
    return nil
  end
  if truth + (truth - truth) ~= truth then refuse(self, truth) end -- NaN, an infinity, digits; what else is no number raises here
  self.answered, self.genomes[number] = nil, genome
  if self.noise then self.truths[number] = truth end
  if self.forgets then self:forget(number - WINDOW) end
  if self.durations then pass(self, self.seconds) else self.clock = self.clock + self.seconds end
  local evaluations = self.evaluations + 1
  self.evaluations = evaluations
  return self.noise and self.noise(truth, evaluations) or truth
end

function World:propose(slot)
  local answered = self.answered
  if answered then
    self.answered = nil
    return { answered }
  end
  local ids, parents = slot.proposal.parents, self.parents
  for index = 1, #ids do parents[index] = genome_of(self, ids[index]) end
  for index = #ids + 1, #parents do parents[index] = nil end
  if (slot.proposal.k or 1) > 1 then return several(self, slot.proposal, parents) end
  local genome, said = self.module.propose(self.lab, slot.proposal, parents)
  if said or genome == nil then return { answer_with(self, genome, said or {}) } end
  local answer = self.plain
  answer.edits.genome = genome
  return { answer }
end

function World.ask() return { error = "a synthetic world answers no questions", tokens = 0, cost = 0 } end

function World:commit(slot, answer)
  local number, genome = slot.number, answer.edits.genome
  if slot.proposal.edits then
    genome = self.module.parse and type(genome) == "string" and self.module.parse(self.lab, genome)
    if not genome then return nil, "skipped_provider_failure", "edits give no genome of this world as the text of the file genome" end
  end
  self.genomes[number] = genome
  if self.forgets then self:forget(number - WINDOW) end
  return self.made
end

-- Lets go of a genome when the journal lets go of its line.
function World:forget(number)
  local history = self.engine.history
  local index = history:line_of(number)
  if not index or history.source:holds(index) or history.current.experiment == number then return end
  self.genomes[number], self.truths[number] = nil, nil
end

function World:commit_baseline(slot)
  local genome = self.module.baseline(self.lab)
  if genome == nil then error(("%s: baseline gave no genome"):format(self.where), 0) end
  self.genomes[slot.number] = genome
  self.lab.rng = random.stream(self.lab.seed, "proposals")
  return { changed_lines = 0 }
end

-- Called when every experiment waits: the one that is due first goes on.
function World:advance()
  local events, first = self.events, 1
  for index = 2, #events do
    if events[index].due < events[first].due then first = index end
  end
  local event = table.remove(events, first)
  if not event then return false end
  self.clock = event.due
  self.scheduler:wake(event.token)
  return true
end

local function measurement_with(value, said)
  if value == nil then return { status = "crash", stage = 1, reason = said.reason or "the evaluation crashed" } end
  return { status = "ok", stage = 1, value = value, metrics = said.metrics }
end

function World:verify(slot, record)
  local number = record.experiment
  local truth, said
  if self.found then
    truth, said, self.found = self.found[1], self.found[2], nil
  else
    truth, said = self.module.evaluate(self.lab, self.genomes[number])
  end
  if truth ~= nil and not finite(truth) then refuse(self, truth) end
  pass(self, math.max(0, said and said.seconds or slot.answer and slot.answer.seconds or self.seconds))
  self.evaluations = self.evaluations + 1
  self.truths[number] = truth
  local value = truth
  if self.noise then -- a crash takes its draw too, so that every strategy's n-th evaluation meets the same one
    local noisy = self.noise(truth or 0, self.evaluations)
    value = truth and noisy
  end
  if said or value == nil then return measurement_with(value, said or {}) end
  local measured = self.measured
  measured.value = value
  return measured
end

return world
