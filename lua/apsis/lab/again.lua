-- again: a trial's journal, and the same decisions asked for again as after a restart: whether the strategy, loaded
-- afresh and folded to some line, plans, halts and accepts as it did in the run. redecide does the asking.
local contract = require "apsis.core.strategy"
local json = require "apsis.json"
local lines = require "apsis.core.line"
local random = require "apsis.random"
local recordings = require "apsis.core.recording"
local redecide = require "apsis.lab.redecide"
local trial = require "apsis.lab.trial"

local again = {}

-- ---- a journal that keeps its lines as text, as a file does ----

local Texts = {}
Texts.__index = Texts

function again.journal() return setmetatable({ texts = {} }, Texts) end

function Texts:read(index)
  local text = self.texts[index]
  return text and assert(json.decode(text, true))
end

function Texts:append(line, metric)
  self.texts[#self.texts + 1] = json.encode(lines.for_file(line, metric))
  return self:read(#self.texts)
end

function Texts:each(visit, _, first)
  for index = first or 1, #self.texts do
    local refused = visit(self:read(index), index)
    if refused then return nil, refused, "EJOURNAL" end
  end
  return true
end

function Texts.close() end

-- ---- asking again ----

-- Whether the budget ended an experiment's decision, so that the recording has fewer measurements than were asked for.
local function ended_by_budget(journal, experiment)
  local ended = false
  journal:each(function(line)
    if line.experiment == experiment then ended = (line.rollback_reason or ""):find "^budget: " ~= nil end
  end)
  return ended
end

-- How the decisions of a walk differ from the recorded ones, in words, and which hook differs; nil if they agree.
local function difference(result, journal)
  local plans, decisions = result.plans, result.decisions
  local halt, decision = result.halts[1], decisions.differing[1]
  if halt then
    return ("it stops before experiment %d (%s), and did not in the run"):format(halt.experiment, halt.reason), "halt"
  end
  if plans.differs then
    return ("experiment %d: it gives %s, and gave %s in the run"):format(plans.differs.experiment,
      recordings.words(plans.differs.planned), recordings.words(plans.differs.recorded)), "plan"
  end
  if decision then
    local keeps = decision.outcome == "kept"
    return ("experiment %d: it %s %s, and %s it in the run"):format(decision.experiment, keeps and "keeps" or "rejects",
      decision.candidate, keeps and "rejected" or "kept"), "accept"
  end
  if decisions.unanswered > 0 and not ended_by_budget(journal, decisions.first_unanswered) then
    return ("experiment %d: it asks for other measurements than in the run"):format(decisions.first_unanswered),
      "accept"
  end
  local keys = {}
  for key in pairs(plans.otherwise) do keys[#keys + 1] = key end
  table.sort(keys)
  if #keys > 0 then return ("it gives other %s than in the run"):format(table.concat(keys, ", ")), "plan" end
end

-- Asks a strategy again from a line on, over what an engine has recorded. nil, or how it differs and the hook.
local function asked(spec, engine, strategy, from)
  local walk = assert(redecide.new(engine.journal, from))
  local fold, message = trial.open { loaded = strategy, definition = spec.definition, seed = spec.seed,
    evaluations = spec.evaluations, workers = spec.workers, limits = spec.limits, journal = walk.journal }
  if not fold then return message, "plan" end
  fold.world.genomes, fold.world.truths = engine.world.genomes, engine.world.truths
  local result
  result, message = recordings.in_task(function() return walk:run(fold) end)
  if result == "interrupted" then return nil, result end
  if not result then return "it fails: " .. message, message:match "hook (%a+)" end
  return difference(result, engine.journal)
end

-- points(spec, engine, count) -> lines at which a run is resumed, drawn from the seed.
local function points(spec, engine, count)
  local rng, list = random.stream(spec.seed, "points"), {}
  for index = 1, count do list[index] = rng:integer(2, math.max(2, #engine.journal.texts)) end
  return list
end

-- compare(spec, engine, watched, count) -> nil if the strategy decides the same again after a restart at `count` random
-- lines and in a fold from the start with the loaded file; else how it differs, and the hook.
function again.compare(spec, engine, watched, count)
  for _, from in ipairs(points(spec, engine, count)) do
    local text, hook = asked(spec, engine, assert(contract.load(spec.strategy)), from)
    if hook then return text and ("restarted at line %d of the journal, %s"):format(from, text), hook end
  end
  local text, hook = asked(spec, engine, watched:used(), 1)
  return text and "folded again from the start, " .. text, hook
end

return again
