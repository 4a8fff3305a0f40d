-- fake: a world without git or processes, and a journal in memory, to prove the engine's contract. A candidate is a number x;
-- the provider adds what its answer says; the metric is f(x). Waits are real timers, so that experiments overlap.
local contract = require "apsis.core.strategy"
local json = require "apsis.json"
local journal = require "apsis.core.journal"
local lines = require "apsis.core.line"
local loop = require "apsis.core.loop"
local wait = require "apsis.wait"

local fake = {}

local World = {}
World.__index = World

function World:now() return self.clock end
function World.context() end
function World:directions() return self.notes or {} end
function World.paused() return false end
function World.phase() end
function World:save_proposal(slot) self.saved[slot.number] = slot.proposal end
function World:stages() return self.stage_list or { 1 } end
function World:log(_, text) table.insert(self.logged, text) end
function World:publish(_, record, led) table.insert(self.published, { record.id, led }) end
function World.progress() end
function World:read(record) return tostring(self.x[record.id]) end
function World:sources(record) return { { path = "x", text = self:read(record) } } end
function World.diff() return "a diff" end
function World.artifacts() return {} end

-- answers: function(slot, prompt, index) -> answer; else one step drawn from the slot's own stream.
function World:propose(slot, prompt)
  local answers = {}
  for index = 1, slot.proposal.k or 1 do
    answers[index] = self.answers and self.answers(slot, prompt, index) or { edits = { x = 1 }, tokens = 10, cost = 0.5 }
  end
  return answers
end

function World.ask(self, slot, messages, mark)
  if mark and self.reflects then return self.reflects(slot, messages) end
  return { text = "you asked " .. (type(messages) == "table" and messages[1].content or messages), tokens = 3, cost = 0 }
end

function World:commit(slot, answer)
  if answer.violation then return nil, "reverted_scope_violation", answer.violation end
  local x = 0
  for _, id in ipairs(slot.proposal.parents) do x = x + self.x[id] / #slot.proposal.parents end
  x = x + (answer.edits.x or 0)
  if x == self.x[slot.proposal.parents[1]] then return nil, "skipped_no_change", "the edits change nothing" end
  self.x[journal.id(slot.number)] = x
  return { commit = ("%040x"):format(slot.number), tree = ("x=%.17g"):format(x), changed_lines = answer.lines or 1,
    duplicate_of = self.history:twin(("x=%.17g"):format(x)) }
end

function World:commit_baseline(slot)
  self.x[journal.id(slot.number)] = 0
  slot.evaluator = { metric = "00" }
  return { commit = ("%040x"):format(0), tree = "x=0", changed_lines = 0 }
end

function World:verify(slot, record, request)
  local delay = self.delay and self.delay(slot)
  if delay then wait.sleep(delay) end
  self.clock = self.clock + 1
  local measured = self.measure and self.measure(self.x[record.id], request, slot, record) or { value = self.x[record.id] }
  measured.status = measured.status or "ok"
  measured.stage = request.stage or 1
  if measured.value then
    measured.metrics = measured.metrics or {}
    measured.metrics.score = measured.value
  end
  measured.near_misses, measured.near_miss_count = {}, 0
  return measured
end

local Memory = {}
Memory.__index = Memory
function Memory:append(line, metric)
  local text = json.encode(lines.for_file(line, metric))
  if self.fail then return nil, self.fail, "ENOSPC" end
  table.insert(self.texts, text)
  return assert(json.decode(text, true))
end
function Memory:read(index) return assert(json.decode(self.texts[index], true)) end
function Memory:each(visit, fields)
  for index = 1, #self.texts do
    local refused = visit(assert(json.decode(self.texts[index], fields or true)))
    if refused then return nil, refused, "EJOURNAL" end
  end
  return true
end

-- A strategy from source text, through the real loader.
function fake.strategy(source, options)
  local path = os.tmpname() .. ".lua"
  local file = assert(io.open(path, "w"))
  file:write(source)
  file:close()
  local strategy, message = contract.load { use = path, options = options }
  os.remove(path)
  os.remove((path:gsub("%.lua$", "")))
  return strategy, message
end

-- An engine over the fake world, its baseline measured. spec: world fields, workers, budget, metric, texts or journal, models,
-- model_choice, thresholds, project.
function fake.engine(source, spec)
  spec = spec or {}
  local strategy, message = fake.strategy(source, spec.options)
  if not strategy then error(message, 2) end
  local world = setmetatable({ x = spec.x or {}, wants_prompt = true, saved = {}, logged = {}, published = {}, clock = 1000 }, World)
  for key, value in pairs(spec.world or {}) do world[key] = value end
  local memory = spec.journal or setmetatable({ texts = spec.texts or {} }, Memory)
  local engine = loop.new { strategy = strategy, world = world, journal = memory,
    metric = spec.metric or { name = "score", direction = "higher" }, metrics = spec.metrics,
    tie_breaker = spec.tie_breaker or "changed_loc", seed = spec.seed or 1,
    name = "fake", workers = spec.workers or 1, proposals = spec.proposals,
    budget = spec.budget or { iterations = 10 }, project = spec.project or { name = "fake",
      files = {} },
    models = spec.models, model_choice = spec.model_choice, thresholds = spec.thresholds, acceptance = spec.acceptance,
    guards = spec.guards, reflect = spec.reflect,
    trajectory = spec.trajectory }
  world.history, engine.hold = engine.history, spec.hold
  assert(engine:fold())
  if engine.history.count == 0 then assert(engine:baseline(0)) end
  return engine
end

-- Runs to the end and returns the journal's lines (the baseline first) and how it ended.
function fake.run(source, spec)
  local engine = fake.engine(source, spec)
  local ended, message, code = engine:run { run_number = spec and spec.run or 1, unfinished = spec and spec.unfinished }
  local read = {}
  for index = 1, engine.history.count do read[index] = engine.journal:read(index) end
  return read, ended or { message = message, code = code }, engine
end

-- One field of every line, as a list; "-" where it is absent.
function fake.column(records, key)
  local list = {}
  for index, line in ipairs(records) do list[index] = line[key] == nil and "-" or line[key] end
  return list
end

return fake
