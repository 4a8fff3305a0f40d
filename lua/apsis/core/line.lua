-- line: a line of the journal: every field once, with its type, its unit, who writes it and when it is there. The
-- journal, the fold, the records that hooks read, and FIELDS.md are made from this list.
local json = require "apsis.json"
local kind = require "apsis.core.kind"
local proposals = require "apsis.core.proposal"

local line = {}

-- Each: name, type, who writes it, what it is. And:
--   unit      of a number
--   of        what it is made of: an expression over slot, proposal, change and answer (the slot's), and engine
--   rare      few lines have it
--   always    every line in a file has it, null if there is nothing to report; the others are there only if there is
--   folded    a fold needs it of every line; the others are read from the journal when somebody asks for them
--   shown     strategies read it: it is documented in lua/meta/run.lua. A candidate in accept has it, too, if it is
--             a field of the slot
--   kind      what it must be, if that is more than its type (core/kind.lua): another line is refused
local ids = { list = "string" }

local planned = { keys = { parents = ids, operator = "string", inspirations = ids, model = "string", k = "whole",
  complexity = "string", title = "string", answer = "string", notes = "table", edits = ids, measure = ids,
  repeats = "whole", stage = "whole", items = ids, split = "string", handed = "string" },
  needs = { "parents", "operator" } }

line.fields = {
  { "experiment", "number", "planner", "its number; the first baseline has 0", of = "slot.number", folded = true,
    shown = true },
  { "outcome", "string", "decide", "how it ended: a key of `line.status_of`", folded = true, shown = true },
  { "status", "string", "line", "keep, discard or crash, by the outcome; null for measured and asked", always = true },
  { "candidate", "string", "line", "its id (c0042); null for measured and asked", always = true },
  { "commit", "string", "world", "of the candidate", of = "change.commit", always = true, shown = true,
    kind = "hash" },
  { "tree", "string", "world", "of the candidate", of = "change.tree", rare = true, folded = true },
  { "changed_lines", "number", "world", "against the first parent", of = "change.changed_lines", unit = "lines",
    always = true, shown = true, kind = "whole" },
  { "run", "number", "loop", "which run of the project it belongs to", of = "slot.run or engine.run_number",
    folded = true,
    kind = "whole" },
  { "seen", "number", "planner", "how many lines its plan had read", of = "slot.seen", kind = "whole" },
  { "planned", "number", "planner", "when it was planned", of = "slot.now", unit = "s since 1970" },
  { "seconds", "number", "loop", "from its start to its line", unit = "s" },
  { "phases", "table", "world", "how long it was in each phase", of = "slot.phases", rare = true, unit = "s",
    kind = { map = "number" } },
  { "timestamp", "string", "loop", "when the line was written", unit = "UTC" },
  { "seed", "number", "loop", "the run's seed", of = "engine.seed" },
  { "strategy", "string", "loop", "the strategy's name", of = "slot.strategy" },
  { "context", "table", "planner",
    "what its plan saw beside the journal: free, directions, limits, elapsed_s, reserved", of = "slot.context",
    kind = { keys = { free = "whole", directions = "whole", limits = { map = "number" }, elapsed_s = "number",
      reserved = { map = "number" } } } },
  { "group", "number", "planner", "the first experiment of its group", of = "slot.group and slot.group.first",
    rare = true, kind = "whole" },
  { "proposal", "table", "planner", "what plan returned, without large parts", always = true, shown = true,
    kind = planned },
  { "plan", "table", "experiment", "the first proposal, if select asked for another", of = "slot.first_proposal",
    rare = true, kind = planned },
  { "parents", "table", "planner", "ids", of = "proposal.parents", shown = true, kind = ids },
  { "operator", "string", "planner", "of the proposal", of = "proposal.operator", always = true, shown = true },
  { "model", "string", "world", "which model answered", of = "answer.model or proposal.model", rare = true,
    always = true },
  { "answers", "number", "experiment", "how many answers tokens and cost are of, if several",
    of = "(slot.answered or 0) > 1 and slot.answered or nil", rare = true, folded = true, kind = "whole" },
  { "tokens", "number", "experiment", "what its answers took", of = "slot.tokens", always = true, folded = true },
  { "cost", "number", "experiment", "what its answers cost", of = "slot.cost", unit = "USD", always = true,
    folded = true },
  { "machines", "table", "an executor", of = "slot.machines", rare = true, folded = true,
    "what its measurements took on other machines: seconds in the queue and running, US dollars; and their names",
    kind = { keys = { queue_s = "number", run_s = "number", usd = "number", nodes = { list = "string" } } } },
  { "answer", "string", "world", "the answer to a question (outcome asked)", rare = true },
  { "measurements", "number", "budget", "verifications made for it", of = "slot.measurements", folded = true,
    kind = "whole" },
  { "primary_metric", "number", "experiment", "the median of samples", always = true, folded = true },
  { "samples", "table", "experiment", "each value measured of the candidate", always = true, shown = true,
    kind = { list = "number" } },
  { "secondary_metrics", "table", "experiment", "name to value", always = true, kind = { map = "number" } },
  { "items", "table", "world", "by test case", of = "slot.items", rare = true, shown = true,
    kind = { keys = {} } },
  { "stage", "number", "world", "the last stage measured", of = "slot.stage", always = true, shown = true,
    kind = "whole" },
  { "stopped", "table", "experiment",
    "where it was stopped (a baseline: would have been), or after which it failed: the stage, and its value there",
    of = "slot.stopped", rare = true, shown = true, kind = { keys = { stage = "whole", value = "number" },
      needs = { "stage", "value" } } },
  { "direction", "string", "loop", "higher or lower", of = "engine.metric.direction",
    folded = true },
  { "metric", "string", "experiment", "its name; baselines only", rare = true, folded = true,
    of = "slot.baseline and engine.metric.name or nil" },
  { "evaluator", "table", "live/evaluator", "digests of what measures, by part; baselines only", of = "slot.evaluator",
    rare = true, folded = true, kind = { map = "string" } },
  { "best", "number", "loop", "what the best counts for from here on", always = true },
  { "delta", "number", "line", "against the best before", always = true },
  { "improved", "boolean", "line", "whether it beats the best before", always = true },
  { "trace", "table", "decide", "further measurements in order: { id, value }", of = "slot.trace", rare = true,
    folded = true, shown = true, kind = { list = { keys = { id = "string", value = "number" }, needs = { "id" } } } },
  { "acceptance", "table", "the judge", "what the judge has shown", of = "slot.acceptance", rare = true, folded = true,
    shown = true,
    kind = { keys = { verdict = "string", why = "string", state = { map = "number" }, guards = "whole",
      gain = { keys = {} } } } },
  { "gate", "table", "gate", "how the project's gate ended", of = "slot.gate", rare = true, shown = true,
    kind = { keys = { status = "string", signature = "string", reason = "string" } } },
  { "fix_attempts", "number", "gate", "repairs tried", of = "slot.fix_attempts", rare = true, shown = true,
    kind = "whole" },
  { "approval", "table", "hold",
    "what was answered to the question whether to keep it: by whom, when it was asked and answered", rare = true,
    of = "slot.approval", shown = true, kind = { keys = { answer = "string", by = "string", reason = "string",
      asked = "number", answered = "number" }, needs = { "answer", "by" } } },
  { "hypothesis", "string", "hooks, world", "why it might be better", of = "answer.hypothesis or proposal.title",
    rare = true, always = true, shown = true },
  { "description", "string", "hooks, world", "what was changed", of = "answer.description or change.subject",
    rare = true, always = true, shown = true },
  { "learned", "string", "hooks, world", "what it taught", of = "answer.learned", rare = true, always = true,
    shown = true },
  { "next_action_hint", "string", "hooks, world", "what to try next", of = "answer.next_action_hint", rare = true,
    always = true, shown = true },
  { "rollback_reason", "string", "decide, hooks", "why it was not kept", of = "answer.rollback_reason", always = true,
    shown = true },
  { "notes", "table", "hooks", "the notes of proposal, select and accept together", rare = true, shown = true },
}

line.by_name, line.unfolded = {}, {} -- unfolded: what a fold leaves in the journal
local every, always, folded, kinds = {}, {}, {}, {} -- the lists that follow from it

-- The function that makes a line's table of a slot: one constructor, with room for what comes later, and what is rare
-- after it.
local function compile()
  local first, rest = {}, {}
  for _, field in ipairs(every) do
    local of, name = field.of or "nil", field.name
    if not field.rare then first[#first + 1] = ("%s = %s"):format(name, of)
    elseif field.of then
      rest[#rest + 1] = ("value = %s if value ~= nil then fields.%s = value end"):format(of, name)
    end
  end
  local source = ("local engine, slot, proposal, change, answer = ... local value local fields = { %s } %s "
    .. "return fields"):format(table.concat(first, ", "), table.concat(rest, " "))
  return assert(load(source, "=line"))
end

local make

-- Adds a field: from now on lines have it, and folds keep it.
function line.add(field)
  field.name, field.type, field.by, field.about = field[1], field[2], field[3], field[4]
  field.slot = field.of and field.of:match "^slot%.([%a_]+)$"
  line.by_name[field.name], every[#every + 1], kinds[field.name] = field, field, field.kind or field.type
  if field.always then always[#always + 1] = field.name end
  if field.folded then folded[field.name] = true else line.unfolded[field.name] = true end
  make = nil
end

for _, field in ipairs(line.fields) do line.add(field) end
line.every = every -- and those that rooms add

-- Every field, also those that rooms have added.
function line.all() return every end

-- The set of fields that a fold reads, with those of a list.
function line.folded(more)
  local set = {}
  for name in pairs(folded) do set[name] = true end
  for _, name in ipairs(more or {}) do set[name] = true end
  return set
end

-- How an experiment can end: each outcome, its status (json.null: none), what it means.
line.outcomes = {
  { "baseline", "keep", "the project with nothing changed was measured" },
  { "kept", "keep", "the strategy accepted the candidate" },
  { "reverted_worse_metric", "discard", "its value is not better than the best's" },
  { "reverted_threshold_failure", "discard", "its value is outside min_pass and max_pass, or a guard is worse" },
  { "reverted_stage_failure", "discard", "a stage of the verification stopped it, or its evaluator rejected it" },
  { "reverted_scope_violation", "discard", "it changed files that it may not change" },
  { "reverted_rejected", "discard", "the strategy refused it for a reason of its own" },
  { "reverted_gate_failure", "discard", "the project's gate failed" },
  { "reverted_not_approved", "discard", "a person refused it, or nobody approved it in time" },
  { "skipped_no_change", "discard", "the provider changed nothing" },
  { "skipped_duplicate", "discard", "the same files, or nearly the same, were tried before" },
  { "skipped_not_selected", "discard", "no answer was chosen, the budget was short, or a person skipped it" },
  { "skipped_provider_failure", "crash", "the provider gave no usable answer" },
  { "skipped_verification_crash", "crash", "a check or command failed or timed out, or there was no metric" },
  { "skipped_executor_failure", "crash", "it could not be measured where verifications run, by no fault of its own" },
  { "skipped_strategy_error", "crash", "a hook of the strategy raised an error or ran too long" },
  { "measured", json.null, "older candidates were measured again" },
  { "asked", json.null, "the provider answered a question" },
}
line.status_of = {}
for _, outcome in ipairs(line.outcomes) do line.status_of[outcome[1]] = outcome[2] end

function line.id(number) return ("c%04d"):format(number) end

-- The number in such an id; nil if it is none.
function line.number(id) return math.tointeger(tonumber(id:match "^c(%d%d%d%d)$" or id:match "^c([1-9]%d%d%d%d+)$")) end

function line.timestamp(seconds)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(seconds))
end

-- ---- what is wrong with a line ----

-- What is wrong with a decoded line; nil if nothing is.
function line.problem(given)
  if type(given) ~= "table" then return "not a JSON object" end
  local number = given.experiment
  if kind.problem(number, "whole", "") then return "experiment: not an integer from 0 to 10^15" end
  if line.status_of[given.outcome] == nil then return "outcome: unknown " .. tostring(given.outcome) end
  if given.candidate and given.candidate ~= line.id(number) then return "candidate: not its experiment's" end
  for name, value in next, given do
    local wanted = kinds[name]
    local problem = wanted and wanted ~= type(value) and kind.problem(value, wanted, name)
    if problem then return problem end
  end
end

-- What hooks and providers may give in words.
local texts = { "hypothesis", "description", "learned", "next_action_hint", "rollback_reason" }
local checked_texts = { "model", table.unpack(texts) }

-- What is wrong with what a hook or a provider returned for the line.
local function wrong_in(source)
  if type(source) ~= "table" then return "what a hook returns last must be a table, not a " .. type(source) end
  for index = 1, #checked_texts do
    local value = source[checked_texts[index]]
    if value ~= nil and type(value) ~= "string" then
      return ("%s must be a string, not a %s"):format(checked_texts[index], type(value))
    end
  end
  local notes = source.notes
  if notes == nil then return nil end
  if type(notes) ~= "table" then return "notes must be a table" end
  local message = proposals.not_plain(notes)
  if message then return "notes: " .. message end
end

-- Why the journal cannot hold what hooks and provider returned beside the decision; nil if it can.
function line.cannot_hold(slot, reason, extra)
  if reason ~= nil and type(reason) ~= "string" then return "a reason must be a string, not a " .. type(reason) end
  return slot.extra and wrong_in(slot.extra) or extra and wrong_in(extra)
    or slot.answer and wrong_in(slot.answer) or nil
end

-- ---- making one ----

local none = {}

-- The notes of a proposal, and over them those that select (and `more`, what accept returned) left; nil if there are
-- none.
function line.notes(slot, more)
  local first, second, third = slot.proposal.notes, slot.extra and slot.extra.notes, more and more.notes
  if not first and not second and not third then return nil end
  local notes = {}
  for key, value in next, first or none do notes[key] = value end
  for key, value in next, second or none do notes[key] = value end
  for key, value in next, third or none do notes[key] = value end
  return next(notes) ~= nil and notes or nil
end

local no_value = { skipped_verification_crash = true, skipped_executor_failure = true }

-- What was measured; what a failed verification printed is no measurement.
local function add_measurement(engine, slot, fields)
  local bar, value = engine.history.bar, nil
  if engine.history:measured_otherwise(fields) then bar = nil end
  fields.secondary_metrics = slot.secondary
  if not no_value[fields.outcome] then value = slot.value end
  fields.primary_metric, fields.samples = value, value and slot.samples
  fields.delta, fields.improved = engine.metric:change(value, bar)
end

-- What select and accept returned in words comes before what the provider did.
local function add_texts(fields, source)
  for index = 1, #texts do
    local key = texts[index]
    fields[key] = source[key] or fields[key]
  end
end

-- The fields of a settled slot's line; loop adds what it knows when the line is written.
function line.of(engine, slot, outcome, reason, extra)
  make = make or compile()
  local proposal = slot.proposal
  local fields = make(engine, slot, proposal, slot.change or none, slot.answer or none)
  fields.outcome, fields.proposal = outcome, proposals.brief(proposal)
  if slot.extra then add_texts(fields, slot.extra) end
  if extra then add_texts(fields, extra) end
  if reason or outcome == "reverted_worse_metric" then fields.rollback_reason = reason end
  fields.notes = line.notes(slot, extra)
  if not proposal.measure and not proposal.ask then fields.candidate = line.id(slot.number) end
  if outcome == "asked" then fields.answer = slot.answer.text end
  if outcome == "kept" and reason then
    fields.notes = fields.notes or {}
    fields.notes.kept_because = reason
  end
  if slot.candidate then add_measurement(engine, slot, fields) end
  return fields
end

local function value_text(value) return value and ("%.10g"):format(value) or "none" end

-- Why a candidate that was measured is not kept, if the strategy did not say: it is not better than the best.
function line.not_better(metric, value, bar)
  return ("%s %s the best, %s (%s)"):format(value_text(value), metric:tied(value, bar) and "is tied with"
    or "is not better than", value_text(bar), metric:words())
end

-- What a line need not hold, because the rest of it shows it: worked out when somebody reads it, and when it is written
-- to a file.
line.worked_out = {
  candidate = function(of) return line.status_of[of.outcome] ~= json.null and line.id(of.experiment) or nil end,
  parents = function(fields) return fields.proposal and fields.proposal.parents or {} end,
  samples = function(fields) return fields.primary_metric and { fields.primary_metric } end,
  secondary_metrics = function(fields) return fields.improved ~= nil and {} or nil end,
  rollback_reason = function(fields, metric)
    if fields.outcome ~= "reverted_worse_metric" or fields.improved == nil then return nil end
    return line.not_better(metric, fields.primary_metric, fields.best)
  end,
}

-- Whether a line that was not kept has a reason, or can work one out.
local function has_reason(fields)
  local reason = fields.rollback_reason
  if reason then return reason:find "%S" ~= nil end
  return fields.outcome == "reverted_worse_metric" and fields.improved ~= nil
end

-- Completes a line in place: its status, and a reason for each that was not kept.
function line.complete(fields)
  local status = line.status_of[fields.outcome] or error("unknown outcome " .. tostring(fields.outcome))
  if fields.outcome == "baseline" and fields.primary_metric == nil then status = "crash" end
  fields.status = status ~= json.null and status or nil
  if status ~= "discard" and status ~= "crash" then fields.rollback_reason = nil
  elseif not has_reason(fields) then fields.rollback_reason = fields.outcome end
  return fields
end

-- A line for a file: what it left out is worked out, and a field that every line has is null rather than absent.
-- metric: the run's.
function line.for_file(fields, metric)
  for name, work_out in pairs(metric and line.worked_out or none) do
    if fields[name] == nil then fields[name] = work_out(fields, metric) end
  end
  for index = 1, #always do
    local name = always[index]
    if fields[name] == nil then fields[name] = json.null end
  end
  fields.parents = json.array(fields.parents)
  return fields
end

return line
