-- world: the engine's world over a synthetic one: no git, no processes, and time that is only counted. An experiment
-- takes simulated seconds, so that with several workers results come out of order, as they do in life. Knows what every
-- genome is truly worth, which the strategy learns only through the noise. Called by trial.
local finite = require("apsis.direction").finite
local journal = require "apsis.core.journal"
local WINDOW = require("apsis.core.listed").WINDOW
local noises = require "apsis.lab.noise"
local random = require "apsis.random"
local says = require "apsis.lab.said"

local world = {}

local MOST_LOGGED <const> = 1000 -- lines of run.log that are kept of a run

local World = { publish = nil, in_a_row = 1 } -- an error of the strategy is shown at once
World.__index = World

-- The stages of verification: those with a threshold, and one more.
local function stages_of(thresholds)
  local list = { 1 }
  for stage = 1, #(thresholds or {}) do list[stage + 1] = stage + 1 end
  return list
end

-- new(definition, seed, { workers =, timed = true if minutes count, history = false if it is not kept, logged = a list
-- for the lines of run.log }): the instance that a seed fixes, the same for every strategy. Without workers it has as
-- many as its init set in lab.workers, or one.
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
    last_id = nil, last_number = nil,
    noise = options.noise ~= "none" and noises.new(options.noise, options.noise_sd, random.stream(seed, "noise")),
    logged = given.logged, parallel = workers > 1, events = {}, forgets = given.history == false,
    durations = (workers > 1 or given.timed) and options.spread > 0 and random.stream(seed, "seconds"),
  }, World)
  says.check(lab.thresholds, "thresholds", self.where, "lab.thresholds")
  self.stage_list = stages_of(lab.thresholds)
  if lab.attach then lab.attach(self) end -- a world that answers by itself: replay
  return self
end

function World:now() return self.clock end
function World:stages() return self.stage_list end
function World.directions() return {} end
function World.paused() return false end
function World.save_proposal() end

-- What run.log writes, if somebody wants it.
function World:log(level, text)
  if level == "info" and self.logged and #self.logged < MOST_LOGGED then self.logged[#self.logged + 1] = text end
end

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
    error(("%s: its genome is not kept: leave --no-history out for a strategy that goes back to old candidates"):format(
      id), 0)
  end
  return genome
end

-- The world's answer; said: what propose returned beside the genome: what it took, or why there is none.
local function answer_with(self, genome, said)
  local options = self.lab.options
  if said ~= nil then says.check(said, "propose", self.where, "propose's second value") end
  if not said and genome ~= nil then
    return { edits = { genome = genome }, tokens = options.tokens, cost = options.cost }
  end
  said = said or {}
  if said.halt then self.engine.stopping = said.halt end
  return { edits = genome ~= nil and { genome = genome } or nil, seconds = said.seconds,
    error = genome == nil and (said.error or said.halt or "the world has no answer") or nil,
    tokens = said.tokens or options.tokens, cost = said.cost or options.cost, steps = said.steps,
    output_tokens = said.output_tokens }
end

-- K answers, each newly drawn.
local function several(self, proposal, parents)
  local answers = {}
  for index = 1, proposal.k do
    answers[index] = answer_with(self, self.module.propose(self.lab, proposal, parents))
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

-- A value that is no number, or not finite, is a mistake of its author, which would otherwise pass as a crash.
local function refuse(self, value)
  local kind = type(value)
  local words = (kind == "number" or kind == "string") and tostring(value) or "a " .. kind
  error(("%s: evaluate gave %s, not a finite number (nil and {reason = ...} are a crash)"):format(self.where, words), 0)
end

function World:propose(slot)
  local proposal, parents = slot.proposal, {}
  for index = 1, #proposal.parents do parents[index] = genome_of(self, proposal.parents[index]) end
  if (proposal.k or 1) > 1 then return several(self, proposal, parents) end
  return { (answer_with(self, self.module.propose(self.lab, proposal, parents))) }
end

function World.ask() return { error = "a synthetic world answers no questions", tokens = 0, cost = 0 } end

function World:commit(slot, answer)
  local number, genome = slot.number, answer.edits.genome
  if slot.proposal.edits then
    genome = self.module.parse and type(genome) == "string" and self.module.parse(self.lab, genome)
    if not genome then
      return nil, "skipped_provider_failure", "edits give no genome of this world as the text of the file genome"
    end
  end
  self.genomes[number] = genome
  if self.forgets then self:forget(number - WINDOW) end
  return { commit = journal.id(number), changed_lines = 1 }
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
  return { commit = journal.id(slot.number), changed_lines = 0 }
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

function World:verify(slot, record, request)
  local number, stage = record.experiment, request.stage or self.stage_list[1]
  local truth, said = self.module.evaluate(self.lab, self.genomes[number], stage)
  if truth ~= nil and not finite(truth) then refuse(self, truth) end
  if said ~= nil then says.check(said, "evaluate", self.where, "evaluate's second value") end
  pass(self, math.max(0, said and said.seconds or slot.answer and slot.answer.seconds or self.seconds))
  self.evaluations = self.evaluations + 1
  local value = truth
  if self.noise then -- a crash takes its draw too, so that every strategy's n-th evaluation meets the same one
    local noisy = self.noise(truth or 0, self.evaluations, number)
    value, self.truths[number] = truth and noisy, truth or self.truths[number] -- measured again it may crash
  end
  if value == nil then
    return { status = "crash", stage = stage, reason = said and said.reason or "the evaluation crashed" }
  end
  local measured = { status = "ok", stage = stage, value = value }
  if said then measured.metrics, measured.items = said.metrics, said.items end
  return measured
end

return world
