-- prompt: the text for a provider: the project, its files by mode, the metric and its direction in words, what was
-- tried and why it was kept or not, the user's directions, and the remaining budget. A pure function of `run`. A
-- strategy's prompt hook may extend default, use its parts, or fill in a template: the project's prompts/NAME.md,
-- else the shipped one (strategies/prompts).
local direction = require "apsis.direction"
local edit = require "apsis.edit"
local host = require "apsis.host"
local markdown = require "apsis.prompt.markdown"
local suggest = require "apsis.suggest"
local template = require "apsis.template"
local trajectory = require "apsis.trajectory"

local section, bullet, one_line = markdown.section, markdown.bullet, markdown.one_line
local cut, ends_of = markdown.cut, markdown.ends_of

local prompt = {}

-- "sum_radii, higher is better; best so far 2.31 (c0042), baseline 0.9; target 2.635"
function prompt.metric(run)
  local metric, best, baseline = run.metric, run.best, run.baseline
  local text = ("%s, %s"):format(metric.name, metric:words())
  for index, part in ipairs(metric.parts or {}) do
    text = ("%s%s%s (%s)"):format(text, index == 1 and ", of " or " and ", part.name, part:words())
  end
  if metric.parts then text = text .. ": a change is kept if no kept one is at least as good in each of them" end
  if best and best.value then text = text .. ("; best so far %.10g (%s)"):format(best.value, best.id) end
  if baseline and baseline.value then text = text .. ("; baseline %.10g"):format(baseline.value) end
  if metric.target then text = text .. ("; target %.10g"):format(metric.target) end
  return text
end

local modes = { "writable", "read_only", "generated", "hidden" }
local mode_words = { writable = "you may change", read_only = "read only",
  generated = "generated; changes to them are not committed",
  hidden = "off limits: not in your workspace; do not recreate or guess them" }
local unseen = "off limits: not shown; do not write them or guess what is in them"

function prompt.files(project)
  local lines = {}
  for _, mode in ipairs(modes) do
    local list = project.files[mode]
    if list and #list > 0 then
      local words = mode == "hidden" and project.reads_answers and unseen or mode_words[mode] -- it sees only the prompt
      lines[#lines + 1] = ("%s:\n%s"):format(words, bullet(list, 50))
    end
  end
  lines[#lines + 1] = "Any other path is read only."
  return table.concat(lines, "\n\n")
end

-- The text for a record is the same in every prompt, as long as its value is, and that of the other record which write
-- returns beside the text, if there is one.
local function remembered_by(write)
  local known = setmetatable({}, { __mode = "k" })
  return function(run, record)
    local entry, value = known[record], record.value
    local other = entry and entry.other
    if entry and entry.value == value and (not other or other.value == entry.its) then return entry.text end
    local text
    text, other = write(run, record)
    known[record] = { value = value, text = text, other = other, its = other and other.value }
    return text
  end
end

local outcome_words = {
  reverted_scope_violation = "rejected: it changed what it may not",
  reverted_stage_failure = "rejected at an early stage",
  reverted_threshold_failure = "rejected: outside the limits",
  reverted_gate_failure = "rejected: the project's gate fails on it", reverted_not_approved = "refused by a person",
  skipped_no_change = "changed nothing",
  skipped_duplicate = "not measured: a duplicate",
  skipped_not_selected = "not used", skipped_provider_failure = "no usable answer",
  skipped_verification_crash = "failed when measured",
  skipped_strategy_error = "not tried", skipped_executor_failure = "not measured",
}

-- An outcome in words for a model: kept, rejected (a tie is no "worse metric"), or why it failed.
local function outcome_of(record)
  if record.outcome == "reverted_stage_failure" and not record.stopped then return "rejected" end
  return outcome_words[record.outcome] or (record.outcome:find("^reverted") and "rejected") or record.outcome
end

-- " at 2.31", or of one that was stopped " at 0.4 in stage 1"; "" without a value.
local function reached(record)
  if record.value then return (" at %.10g"):format(record.value) end
  local stopped = record.stopped
  return stopped and (" at %.10g in stage %d"):format(stopped.value, stopped.stage) or ""
end

-- " (+0.02 against its parent c0003)", "" if either has no value; and that parent, if it is known.
local function against_parent(run, record)
  local parent = record.value and (record.parents or {})[1]
  local before = parent and run.get(parent)
  local delta = before and run.metric:delta(record.value, before.value)
  return delta and (" (%s against its parent %s)"):format(direction.delta_text(delta), parent) or "", before
end

-- nil if nobody answered: why, say a missing login, helps no model.
local outcome_line = remembered_by(function(run, record)
  if record.outcome == "skipped_provider_failure" and (record.tokens or 0) == 0 then return nil end
  local change = record.description or record.hypothesis or (record.proposal or {}).title or record.operator or ""
  if change == record.outcome then change = "" end
  local delta, parent = against_parent(run, record)
  local text = ("%s %s%s%s"):format(record.id or "experiment " .. record.experiment, outcome_of(record),
    reached(record), delta)
  if change ~= "" then text = text .. ": " .. one_line(change, 200) end
  if record.rollback_reason then text = text .. (" (why: %s)"):format(one_line(record.rollback_reason, 300)) end
  if record.learned then text = text .. " learned: " .. one_line(record.learned, 300) end
  if record.next_action_hint then text = text .. " next: " .. one_line(record.next_action_hint, 300) end
  local closed = (record.notes or {}).foreclosed
  if type(closed) == "string" then text = text .. " do not try again: " .. one_line(closed, 300) end
  return text, parent
end)

-- The newest outcomes with their reasons, newest first.
function prompt.recent(run, count)
  local lines = {}
  for _, record in ipairs(run.recent(count or 10)) do lines[#lines + 1] = outcome_line(run, record) end
  return bullet(lines)
end

-- The ancestors of the proposal's parent, newest first, with what each changed.
function prompt.lineage(run, record, count)
  local lines = {}
  while record and #lines < (count or 10) do
    lines[#lines + 1] = ("%s %s, %d lines changed%s"):format((record.commit or ""):sub(1, 10), record.id,
      record.changed_lines or 0, record.value and (", %.10g"):format(record.value) or "")
    local parent = record.parents and record.parents[1]
    record = parent and run.get(parent)
  end
  return bullet(lines)
end

function prompt.budget(run)
  local lines = {}
  for kind, entry in pairs(run.budget) do
    lines[#lines + 1] = ("%s: %s of %s left"):format(kind, direction.amount(entry.left), direction.amount(entry.limit))
  end
  table.sort(lines)
  return bullet(lines)
end

local edits_in_answer = [[
Make one focused change to the writable files that should improve the metric. Say in a few lines what you change
and why (the first line is its title); then give the change itself.]]

local in_place = [[
Work in the current directory. Then say in a few lines what you changed and why; the first line is its title.]]

local edits_in_place = "Make one focused change to the writable files that should improve the metric. " .. in_place

local remembered = [[
You may also write lines of these forms, which are remembered even if the change is not kept:

ASI hypothesis=what you expect and why
ASI learned=what this taught you
ASI next_action_hint=what to try next]]

-- What every answer must or may contain in addition to its change.
local function beside(proposal)
  return (proposal.k or 1) > 1 and remembered .. "\n\n" .. trajectory.request or remembered
end

local LONGEST_ARTIFACT = 4000 -- bytes of each that a prompt shows
local LONGEST_EXAMPLE = 20000 -- bytes of another candidate's files; of a larger one its change is shown

local fenced = remembered_by(function(_, record)
  local parts = {}
  for index, file in ipairs(record:sources()) do
    parts[index] = ("%s\n%s"):format(file.path, edit.fence(file.text, file.path:match("%.(%w+)$")))
  end
  return table.concat(parts, "\n\n")
end)

-- The writable files of a candidate, whole, each in a fence under its path.
function prompt.sources(record)
  return fenced(nil, record)
end

-- Whether an answer has room for a candidate's writable files, whole.
function prompt.fits_answer(run, record)
  local bytes, most = 0, run.project.answer_bytes
  for _, file in ipairs(most and record:sources() or {}) do bytes = bytes + #file.text end
  return not most or bytes <= most
end

-- What a candidate's evaluation left behind, each in a fence under its name, which no file's is.
function prompt.artifacts(record)
  local parts, found = {}, record:artifacts()
  for index, name in ipairs(suggest.names(found)) do
    parts[index] = ("artifact %s\n%s"):format(name, edit.fence(ends_of(found[name], LONGEST_ARTIFACT)))
  end
  return table.concat(parts, "\n\n")
end

-- "kept at 2.31; sum_radii=2.31 seconds=0.4; it changed: the step is larger"
prompt.facts = remembered_by(function(run, record)
  local metrics = record.metrics or {}
  local names = suggest.names(metrics)
  for index, name in ipairs(names) do names[index] = ("%s=%.10g"):format(name, metrics[name]) end
  local at = reached(record)
  local text = outcome_of(record) .. (at ~= "" and ("%s (%s)"):format(at, run.metric:words()) or "")
  if #names > 1 then text = text .. "; " .. table.concat(names, " ") end
  local notes = record.notes or {} -- of a strategy with islands
  if type(notes.cell) == "string" then
    text = ("%s; came into island %s, cell %s"):format(text, notes.island or "1", notes.cell)
  end
  local change = record.hypothesis or record.description
  if change then text = text .. "; it changed: " .. one_line(change, 300) end
  if record.stopped and record.rollback_reason then
    text = text .. "; why: " .. one_line(record.rollback_reason, 300)
  end
  return text
end)

local function change_of(record)
  if record.outcome == "baseline" then return "(the program as it was at the beginning)" end
  return edit.fence(cut(record:diff(), LONGEST_ARTIFACT), "diff")
end

-- Other candidates to learn from: facts and sources of each; for a provider that has the files, what they changed.
function prompt.programs(run, ids)
  local parts, get, reads_answers = {}, run.get, run.project.reads_answers
  for index, id in ipairs(ids or {}) do
    local record = get(id)
    local sources = reads_answers and prompt.sources(record) or ""
    if sources == "" or #sources > LONGEST_EXAMPLE then sources = change_of(record) end
    parts[index] = ("### %s, %s\n\n%s"):format(id, prompt.facts(run, record), sources)
  end
  return table.concat(parts, "\n\n")
end

-- The fields of a second parent in a template; "" if there is none.
local function other_fields(run, fields, id)
  local other = id and run.get(id)
  fields.other, fields.other_facts = other and id or "", other and prompt.facts(run, other) or ""
  fields.other_artifacts, fields.other_files = other and prompt.artifacts(other) or "", other and prompt.sources(other)
    or ""
  return fields
end

local history = { "recent", "lessons", "foreclosed", "untried" }

-- What of the fields can be left out, in this order: a function that leaves out one more; nil at the end.
local function next_shorter(run, proposal, fields)
  local ids = table.move(proposal.inspirations or {}, 1, #(proposal.inspirations or {}), 1, {})
  local second, told = fields.other ~= "", true
  return function()
    if #ids > 0 then -- other programs, from the last one on: the best come first
      ids[#ids] = nil
      fields.inspirations = prompt.programs(run, ids)
    elseif second then
      second, fields.other_artifacts, fields.other_files = false, "", change_of(run.get(fields.other))
    elseif told then
      told = false
      for _, name in ipairs(history) do fields[name] = "" end
    else
      return nil
    end
    return true
  end
end

-- write(fields), a text or messages; while it is longer than the manifest's prompt.max_kb, other programs are left
-- out, then the second parent's files, of which the change stays, then history. Raises if the rest is still longer:
-- the parent is never cut.
function prompt.fitted(run, proposal, fields, write)
  local longest = (run.project.prompt_kb or prompt.MAX_KB) * 1024
  local shorter
  while true do
    local made, bytes = write(fields), 0
    for _, part in ipairs(type(made) == "table" and made or { { content = made } }) do bytes = bytes + #part.content end
    if bytes <= longest then return made end
    shorter = shorter or next_shorter(run, proposal, fields)
    if not shorter() then error(prompt.too_long(bytes, longest, fields.parent), 0) end
  end
end

-- The default of the manifest's prompt.max_kb.
prompt.MAX_KB = 256

-- The message for a prompt that is too long with nothing but the parent in it.
function prompt.too_long(bytes, longest, parent)
  return ("the prompt has %d bytes with nothing but the parent %s in it, more than prompt.max_kb: %g; raise that in "
    .. "manifest.yaml (if the model reads so much), or make fewer files writable"):format(bytes, parent, longest / 1024)
end

-- The names of prompt.fields, to check a template before a run exists.
prompt.field_names = { "project", "experiment", "operator", "description", "instructions", "metric", "metric_name",
  "direction", "files", "directions", "budget", "recent", "parent", "parent_facts", "parent_artifacts", "parent_files",
  "other", "other_facts", "other_artifacts", "other_files", "inspirations", "answer" }

-- The fields of every template: strings, "" if there is nothing to show. form: how to answer, see edit.instructions;
-- nil: as the proposal or the manifest's prompt.answer has it.
function prompt.fields(run, proposal, form)
  local project, parent = run.project, run.get(proposal.parents[1])
  local reads_answers = project.reads_answers -- else the provider has the files and edits them itself
  local paths, metric = project.files.writable or {}, run.metric
  return other_fields(run, {
    project = project.name, experiment = tostring(run.experiment), operator = proposal.operator,
    description = project.description or "", instructions = project.program or "", metric = prompt.metric(run),
    metric_name = metric.name, direction = metric:words(), files = prompt.files(project),
    directions = bullet(run.directions), budget = prompt.budget(run), recent = prompt.recent(run), parent = parent.id,
    parent_facts = prompt.facts(run, parent), parent_artifacts = prompt.artifacts(parent),
    parent_files = reads_answers and prompt.sources(parent) or "",
    inspirations = prompt.programs(run, proposal.inspirations),
    answer = (reads_answers and edit.instructions(paths, form or proposal.answer or project.answer)
      or prompt.files(project) .. "\n\n" .. in_place) .. "\n\n" .. beside(proposal),
  }, proposal.parents[2])
end

local shipped = {} -- loaded on first use
local NEWER <const> = { "place", "guidance" } -- their fields that a copy of an older strategy does not fill in

-- The template `name` of the project, or the shipped one, filled in. Raises if it names an unknown field.
function prompt.render(run, name, fields)
  local own = (run.project.prompts or {})[name]
  local text, where = own, ("prompts/%s.md"):format(name)
  if not own then
    where = ("strategies/prompts/%s.md"):format(name)
    shipped[name] = shipped[name] or host.read(where)
    text = shipped[name]
    for _, field in ipairs(NEWER) do fields[field] = fields[field] or "" end
  end
  if not text then error(("no template %q: prompts/%s.md is not there, and none is shipped"):format(name, name), 2) end
  local filled, message = template.render(text, fields, where)
  if not filled then error(message, 0) end
  return filled
end

-- A program's text without the section of that heading.
function prompt.without(text, heading)
  local before, after = ("\n" .. text):match("^(.-\n)##[ \t]*" .. heading .. "[^\n]*\n(.*)$")
  if not before then return text end
  return before:sub(2) .. (("\n" .. after):match("\n(##?[ \t].*)$") or "")
end

-- The whole prompt for a proposal.
function prompt.default(run, proposal)
  local project, parts = run.project, {}
  local parent = run.get(proposal.parents[1])
  parts[#parts + 1] = ("# %s: experiment %d\n"):format(project.name, run.experiment)
  section(parts, "Project", project.description)
  section(parts, "Instructions", project.program)
  section(parts, "Metric", prompt.metric(run))
  section(parts, "Files", prompt.files(project))
  section(parts, "Directions from the user", bullet(run.directions))
  section(parts, "This proposal", ("operator %s, from %s%s"):format(proposal.operator, table.concat(proposal.parents,
    " and "), proposal.title and ": " .. proposal.title or ""))
  section(parts, "How the parent came about", prompt.lineage(run, parent))
  section(parts, "The parent's own change", parent and parent.outcome ~= "baseline" and change_of(parent))
  section(parts, "Recent outcomes", prompt.recent(run))
  section(parts, "Budget", prompt.budget(run))
  section(parts, "What is asked", (project.reads_answers and edits_in_answer or edits_in_place) .. "\n\n"
    .. beside(proposal))
  return table.concat(parts, "\n")
end

local LONGEST_CHANGE, LONGEST_OUTPUT = 12000, 24000 -- bytes of the diff, and of the end of the gate's output

-- The task of a repair: for a provider that has the files, or for a chat model.
local smallest = [[
The project's gate failed on a change that is better by the metric. Make the smallest change to the writable files
that makes the gate pass. Keep the improvement: do not revert the change, and do not spoil the metric. Do not weaken
what the gate checks.]]
local repair_in_place = smallest
  .. " Work in\nthe current directory, which holds the change. Then say in a few lines what was wrong."
local repair_in_answer = smallest
  .. " The\nfiles are shown as they are with the change. Say in a few lines what was wrong; then give the edits."

-- The prompt to repair a candidate on which the project's gate fails. repair = { candidate, attempt, attempts,
-- command, output, ended }.
function prompt.repair(run, repair)
  local project, parts, candidate = run.project, {}, repair.candidate
  local command = type(repair.command) == "table" and table.concat(repair.command, " ") or repair.command
  local output = repair.output
  if #output > LONGEST_OUTPUT then
    output = ("(%d bytes before this)\n"):format(#output - LONGEST_OUTPUT)
      .. output:sub(-LONGEST_OUTPUT):gsub("^[\128-\191]+", "")
  end
  parts[#parts + 1] = ("# %s: experiment %d, repair %d of at most %d\n"):format(project.name, candidate.experiment,
    repair.attempt, repair.attempts)
  section(parts, "Project", project.description)
  section(parts, "Instructions", project.program)
  section(parts, "Metric", prompt.metric(run) .. (candidate.value and ("; this change: %.10g"):format(candidate.value)
    or ""))
  section(parts, "Files", prompt.files(project))
  section(parts, "Directions from the user", bullet(run.directions))
  section(parts, "The change", edit.fence(cut(candidate:diff(), LONGEST_CHANGE), "diff"))
  section(parts, "The gate", ("`%s` failed (%s)%s"):format(command, repair.ended, output:find "%S"
    and "; the end of what it printed:\n\n" .. edit.fence(output) or " and printed nothing."))
  section(parts, "What is asked", project.reads_answers and repair_in_answer or repair_in_place)
  return table.concat(parts, "\n")
end

return prompt
