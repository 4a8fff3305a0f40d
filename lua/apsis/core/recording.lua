-- recording: a journal as what happened when: which lines each plan had folded, what was in flight then, and what a
-- plan could see beside the journal. Sets an engine to that, so that the strategy's hooks may be called again as they
-- were. Changes nothing on disk. Called by the command replay and by lab's redecide, redecide_shown, again and answers.
local hooks = require "apsis.core.hooks"
local json = require "apsis.json"
local past = require "apsis.core.past"
local proposals = require "apsis.core.proposal"
local tasks = require "apsis.core.tasks"

local recording = {}

local Recording = {}
Recording.__index = Recording

-- What of a line is read again for that.
local of_plan <const> = { experiment = true, outcome = true, group = true, seen = true, run = true, planned = true,
  seed = true, context = true, strategy = true, proposal = true, plan = true }

-- When and how a line was planned. number: of its plan, the first of its group.
local function entry_of(line, at)
  local proposal = line.proposal or {} -- a plan that failed gave none
  return { at = at, experiment = line.experiment, number = line.group or line.experiment, group = line.group,
    seen = line.seen, run = line.run, planned = line.planned or 0, seed = line.seed, context = line.context or {},
    strategy = line.strategy, handed = proposal.handed ~= nil,
    failed = line.outcome == "skipped_strategy_error", proposal = proposal, plan = line.plan or proposal }
end

-- The entries that one plan gave, as that plan.
local function plan_of(entries)
  local first = entries[1]
  return { number = first.number, seen = first.seen, run = first.run, planned = first.planned, seed = first.seed,
    context = first.context, strategy = first.strategy, handed = first.handed, entries = entries }
end

-- The plans made when `seen` lines were folded, in order of their numbers, and their entries. They are read from the
-- journal only when needed: all plans of a long run take more memory than its lines.
local function plans_at(self, seen)
  local entries, by_number, plans = {}, {}, {}
  local found = self.opening[seen]
  for index, at in ipairs(type(found) == "table" and found or { found }) do
    entries[index] = entry_of(assert(self.journal:read(at, of_plan)), at)
  end
  table.sort(entries, function(a, b) return a.experiment < b.experiment end)
  for _, entry in ipairs(entries) do
    local members = by_number[entry.number]
    if members then
      members[#members + 1] = entry
    else
      by_number[entry.number] = { entry }
      plans[#plans + 1] = by_number[entry.number]
    end
  end
  for index, members in ipairs(plans) do plans[index] = plan_of(members) end
  return plans, entries
end

-- Whether a strategy planned a line, or the engine by itself; failed_too: a plan that failed counts.
local function was_planned(line, failed_too)
  local has_plan = line.proposal or failed_too and line.outcome == "skipped_strategy_error"
  return has_plan and line.seen and line.outcome ~= "baseline" and not (line.acceptance or {}).final
end

-- read(journal) -> recording { count (of lines), planned (whether there is a plan) } | nil, message, code. A plan = {
-- number, seen, run, planned (when), seed, context, strategy, handed (it was handed in, no strategy planned it),
-- entries (one, or those of a group) }; an entry that ended in a strategy's error is `failed`. visit(line, at) is
-- called for every line. failed_too: plans that failed are there, too; they gave no proposal.
function recording.read(journal, visit, failed_too)
  local self = setmetatable({ journal = journal, count = 0, planned = false, opening = {}, open = {} }, Recording)
  local ok, message, code = journal:each(function(line, at)
    self.count = at
    if was_planned(line, failed_too) then
      local others = self.opening[line.seen]
      self.planned, self.opening[line.seen] = true, others or at
      if type(others) == "table" then others[#others + 1] = at
      elseif others then self.opening[line.seen] = { others, at } end
    end
    if visit then visit(line, at) end
  end)
  if not ok then return nil, message, code end
  return self
end

-- Called with 1, 2, 3, ... when that many lines are folded: what is in flight from then on, and the plans made then.
function Recording:folded(count)
  for experiment, entry in pairs(self.open) do
    if entry.at == count then self.open[experiment] = nil end
  end
  local plans, entries = plans_at(self, count)
  for _, entry in ipairs(entries) do self.open[entry.experiment] = entry end
  return plans
end

-- The number of the plan that an experiment came from; nil if there is none.
function Recording:number_of(experiment)
  local number
  self.journal:each(function(line)
    if line.experiment == experiment and was_planned(line) then number = line.group or experiment end
  end)
  return number
end

-- A recorded proposal as hooks see it: with its experiment.
function recording.proposal(entry)
  local proposal = {}
  for key, value in pairs(entry.proposal) do proposal[key] = value end
  proposal.experiment = entry.experiment
  return proposal
end

-- What was in flight when a number was about to be planned; without one: whatever is. Proposals by experiment.
function Recording:flying(before)
  local flying = {}
  for experiment, entry in pairs(self.open) do
    if not before or experiment < before then flying[experiment] = recording.proposal(entry) end
  end
  return flying
end

-- Calls body(view) as at a plan: with what was in flight, its run, seed and context. Returns what body returns.
function Recording:at_plan(engine, plan, body)
  return past.at_plan(engine, plan, self:flying(plan.number), body)
end

-- What plan gives at a recorded plan: a list of proposals, each checked or { wrong = why }; empty if it plans nothing;
-- nil and the traceback if it fails. Called within at_plan.
function recording.planned(engine, plan, view)
  local ok, given = hooks.call(engine, view, "plan")
  if not ok then return nil, given end
  if given == nil then return {} end
  local list, right = {}, {}
  for index, one in ipairs(proposals.is_group(given) and given or { given }) do
    local checked, wrong = proposals.check(one, engine.history)
    list[index], right[index] = checked or { wrong = wrong }, checked or {}
  end
  engine.models:fill(right, engine.seed, plan.number, engine.slots)
  return list
end

local function same_list(a, b)
  a, b = a or {}, b or {}
  for index = 1, math.max(#a, #b) do
    if a[index] ~= b[index] then return false end
  end
  return true
end

-- Whether two proposals ask for the same: operator and parents, and if they measure, the same candidates.
function recording.same(one, other)
  return one.operator == other.operator and same_list(one.parents, other.parents)
    and same_list(one.measure, other.measure)
end

local otherwise = { "notes", "inspirations", "model", "k", "complexity", "title", "edits", "repeats", "stage", "items",
  "split" }

-- A value as text; an empty list or mapping is as if it were not there.
local function text_of(value)
  if value == nil or type(value) == "table" and next(value) == nil then return "" end
  return type(value) == "string" and value or json.encode(value)
end

-- What beside operator, parents and measured candidates differs between a proposal and a recorded one: a list of keys.
-- A question (`ask`) is not recorded, and of edits only their paths are.
function recording.differing(one, recorded)
  local brief, list = proposals.brief(one), {}
  for _, key in ipairs(otherwise) do
    if text_of(brief[key]) ~= text_of(recorded[key]) then list[#list + 1] = key end
  end
  return list
end

-- "exploration of c0003": a proposal in words; nil is "nothing".
function recording.words(proposal)
  if not proposal then return "nothing" end
  if proposal.wrong then return "what is no proposal: " .. proposal.wrong end
  return ("%s of %s"):format(proposal.operator, table.concat(proposal.measure or proposal.parents, " and "))
end

function recording.no_answer(experiment, planned, recorded)
  return ("the recording cannot be followed from experiment %d on: this strategy would have planned %s, "
    .. "recorded is %s"):format(experiment, recording.words(planned), recording.words(recorded))
end

-- The samples a line's candidate had before accept was first asked: without those that accept asked for.
function recording.first_samples(line)
  local samples = line.samples or { line.primary_metric }
  local count = #samples
  for _, entry in ipairs(line.trace or {}) do
    if entry.id == line.candidate and entry.value then count = count - 1 end
  end
  return table.move(samples, 1, math.max(1, count), 1, {})
end

-- Runs body in a task, so that its hooks may wait. What it returns; or "interrupted" if the user ended it.
function recording.in_task(body)
  local scheduler, result = tasks.new(), nil
  scheduler:spawn(function() result = table.pack(body()) end)
  if not scheduler:run(function(interrupts) return interrupts > 0 end) then
    scheduler:abandon()
    return "interrupted"
  end
  return table.unpack(result, 1, result.n)
end

return recording
