-- absorb: takes journal records into a state file: entries, lessons, directions and the table's rows; and decides when
-- a program is paused. Only people end a pause that a person made; one that apsis made ends when something is accepted.
local direction = require "apsis.direction"
local entries = require "apsis.goals.statefile.entries"
local lists = require "apsis.goals.statefile.lists"
local members = require "apsis.goals.statefile.members"
local rows = require "apsis.goals.statefile.rows"
local texts = require "apsis.goals.statefile.texts"

local absorb = {}

local MAX_ERRORS, RECENT = 3, 10
local LONGEST_REASON = 200

absorb.recent = RECENT -- statuses that are kept

local quiet = { measured = true, asked = true }

-- The beginnings of the pause reasons that apsis and autoloop write.
local own_reasons = {
  "^%d+ consecutive errors", "^consecutive errors", "^ci%-fix%-exhausted", "^stuck in CI fix loop", "^ci%-timeout",
    "^merge conflict",
}

function absorb.is_own(reason)
  for _, pattern in ipairs(own_reasons) do
    if reason and reason:find(pattern) then return true end
  end
  return false
end

local function gate_reason(record)
  local gate = type(record.gate) == "table" and record.gate or {}
  local reason = type(gate.reason) == "string" and gate.reason or "ci-fix-exhausted"
  if not absorb.is_own(reason) then reason = "ci-fix-exhausted: " .. reason end
  if reason:find(": ", 1, true) then return reason end
  local signature = type(gate.signature) == "string" and gate.signature
    or type(record.rollback_reason) == "string" and record.rollback_reason or nil
  return signature and reason .. ": " .. signature or reason
end

local function pause(state, record, reason)
  if state.paused and not absorb.is_own(state.pause_reason) then return end -- a person's
  reason = texts.short(texts.line(reason), LONGEST_REASON)
  if state.paused and state.pause_reason == reason then return end
  state.paused, state.pause_reason, state.pause_changed = true, reason, true
  state.events[#state.events + 1] = { kind = "paused", reason = reason, record = record }
end

-- Updates the counters and the pause for a status.
local function count(state, record, status)
  state.consecutive_errors = status == "error" and state.consecutive_errors + 1 or 0
  if status ~= "baseline" then
    table.insert(state.recent_statuses, status)
    while #state.recent_statuses > RECENT do table.remove(state.recent_statuses, 1) end
  end
  if record.outcome ~= "baseline" then state.iteration_count = state.iteration_count + 1 end
  if status == "error" and state.consecutive_errors >= MAX_ERRORS then
    pause(state, record, ("%d consecutive errors: %s"):format(state.consecutive_errors,
      entries.reason(record):match("^[^\r\n]*")))
  elseif status == "ci-fix-exhausted" then
    pause(state, record, gate_reason(record))
  elseif status == "accepted" and state.paused and absorb.is_own(state.pause_reason) then
    state.paused, state.pause_reason, state.pause_changed = false, nil, true
  end
end

local function previous_best(record, context)
  if context.previous and record.experiment then return context.previous(record) end
end

-- Takes one record into the state and the texts to write.
local function take(state, record, context, link)
  if type(record.timestamp) == "string" and record.timestamp ~= "" then state.last_run = record.timestamp end
  if direction.finite(record.best) then state.best_metric = record.best end
  if quiet[record.outcome] or state.seen and record.experiment and record.experiment <= state.seen then return end
  local status = entries.status(record)
  count(state, record, status)
  state.entries[#state.entries + 1] = entries.of(record, { count = state.iteration_count, status = status,
    metric = context.metric, previous = previous_best(record, context), link = link })
  if (record.experiment or 0) >= (context.oldest or 0) then
    state.members[#state.members + 1] = entries.member(record, status)
  end
  for key, list in pairs { learned = state.lessons, next_action_hint = state.directions } do
    if type(record[key]) == "string" then list[#list + 1] = { text = record[key], id = record.candidate } end
  end
end

local function set_number(doc, row, now, value)
  if value ~= now then doc:set(row, texts.number(value)) end
end

local function write_rows(doc, before, state, context)
  if state.last_run ~= before.last_run then doc:set("Last Run", state.last_run) end
  set_number(doc, "Iteration Count", before.iteration_count, state.iteration_count)
  set_number(doc, "Best Metric", before.best_metric, state.best_metric)
  set_number(doc, "Target Metric", before.target_metric, context.target)
  doc:ensure("Metric Direction", context.metric.direction, before.metric_direction == context.metric.direction)
  if context.branch then doc:ensure("Branch", "`" .. context.branch .. "`", before.branch == context.branch) end
  if context.initial ~= nil then set_number(doc, "Initial Metric", before.initial_metric, context.initial) end
  if state.pause_changed then
    doc:set("Paused", tostring(state.paused))
    doc:set("Pause Reason", state.pause_reason)
  end
  set_number(doc, "Consecutive Errors", before.consecutive_errors, state.consecutive_errors)
  local statuses = table.concat(state.recent_statuses, ", ")
  if statuses ~= table.concat(before.recent_statuses, ", ") then doc:set("Recent Statuses", statuses) end
  if context.lines then set_number(doc, "Journal Lines", before.journal_lines, context.lines) end
  rows.complete(doc)
end

-- The newest experiment with an entry. If the Journal Lines row is lost, everything up to it was already taken in.
local function newest_entry(doc)
  local newest = -1
  for _, item in ipairs((entries.items(doc))) do
    if item.candidate then newest = math.max(newest, tonumber(item.candidate:sub(2))) end
  end
  return newest
end

-- Takes the records in; returns the events, in order. README.md has the fields of records and context.
function absorb.records(doc, records, context)
  local before, state = doc:fields(), doc:fields()
  state.events, state.entries, state.lessons, state.directions, state.members = {}, {}, {}, {}, {}
  state.seen = (before.journal_lines or 0) == 0 and newest_entry(doc) or nil
  local link = context.link and texts.line(context.link)
  if before.pr then link = link and ("[#%d](%s)"):format(before.pr, link) or "#" .. before.pr end
  for _, record in ipairs(records) do take(state, record, context, link) end
  local made = {}
  for index = #state.entries, 1, -1 do -- the newest first
    table.move(state.entries[index], 1, #state.entries[index], #made + 1, made)
  end
  if #made > 0 then entries.add(doc, made) end
  if context.oldest then members.drop(doc, context.oldest, context.record_of) end
  lists.add(doc, "population", state.members)
  lists.add(doc, "lessons", state.lessons)
  lists.add(doc, "directions", state.directions)
  write_rows(doc, before, state, context)
  return state.events
end

return absorb
