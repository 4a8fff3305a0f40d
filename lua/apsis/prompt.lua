-- prompt: the text a provider is asked with, from what the run knows: the project, its files by mode, the metric and its
-- direction in words, what was tried and why it was kept or not, the user's directions, and what is left of the budget.
-- Pure text over `run`; a strategy's prompt hook may call default and add to it, or use its parts.
local prompt = {}

local function section(parts, title, body)
  if body and body ~= "" then parts[#parts + 1] = "## " .. title .. "\n\n" .. body .. "\n" end
end

local function bullet(list, limit)
  local lines = {}
  for index = 1, math.min(#list, limit or #list) do lines[index] = "- " .. list[index] end
  if limit and #list > limit then lines[#lines + 1] = ("- and %d more"):format(#list - limit) end
  return table.concat(lines, "\n")
end

-- "sum_radii, higher is better; best so far 2.31 (c0042), baseline 0.9; target 2.635"
function prompt.metric(run)
  local metric, best, baseline = run.metric, run.best, run.baseline
  local text = ("%s, %s"):format(metric.name, metric:words())
  if best and best.value then text = text .. ("; best so far %.10g (%s)"):format(best.value, best.id) end
  if baseline and baseline.value then text = text .. ("; baseline %.10g"):format(baseline.value) end
  if metric.target then text = text .. ("; target %.10g"):format(metric.target) end
  return text
end

function prompt.files(project)
  local lines = {}
  local words = { writable = "you may change", read_only = "read only", generated = "generated; changes to them are not committed",
    hidden = "off limits: not in your workspace; do not recreate or guess them" }
  for _, mode in ipairs { "writable", "read_only", "generated", "hidden" } do
    local list = project.files[mode]
    if list and #list > 0 then lines[#lines + 1] = ("%s:\n%s"):format(words[mode], bullet(list, 50)) end
  end
  lines[#lines + 1] = "Any other path is read only."
  return table.concat(lines, "\n\n")
end

local function outcome_line(run, record)
  local change = record.description or record.hypothesis or (record.proposal or {}).title or record.operator or ""
  if change == record.outcome then change = "" end
  local text = ("%s %s"):format(record.id or "experiment " .. record.experiment, record.outcome)
  if record.value then text = text .. (" at %.10g"):format(record.value) end
  if change ~= "" then text = text .. ": " .. change:gsub("%s+", " "):sub(1, 200) end
  if record.rollback_reason then text = text .. (" (why: %s)"):format(record.rollback_reason:gsub("%s+", " "):sub(1, 300)) end
  if record.learned then text = text .. " learned: " .. record.learned:gsub("%s+", " "):sub(1, 300) end
  if record.next_action_hint then text = text .. " next: " .. record.next_action_hint:gsub("%s+", " "):sub(1, 300) end
  return text, run
end

-- The newest outcomes with their reasons, newest first.
function prompt.recent(run, count)
  local lines = {}
  for _, record in ipairs(run.recent(count or 10)) do lines[#lines + 1] = (outcome_line(run, record)) end
  return bullet(lines)
end

-- The way to the proposal's parent: every candidate of its line, newest first, with what it changed.
function prompt.lineage(run, record, count)
  local lines = {}
  while record and #lines < (count or 10) do
    lines[#lines + 1] = ("%s %s, %d lines changed%s"):format((record.commit or ""):sub(1, 10), record.id, record.changed_lines or 0,
      record.value and (", %.10g"):format(record.value) or "")
    local parent = record.parents and record.parents[1]
    record = parent and run.get(parent)
  end
  return bullet(lines)
end

function prompt.budget(run)
  local lines = {}
  for kind, entry in pairs(run.budget) do lines[#lines + 1] = ("%s: %.4g of %.4g left"):format(kind, entry.left, entry.limit) end
  table.sort(lines)
  return bullet(lines)
end

local function parent_diff(parent)
  if not parent or parent.outcome == "baseline" then return nil end
  local diff = parent:diff()
  if #diff > 4000 then diff = diff:sub(1, 4000) .. "\n(cut)" end
  return "```diff\n" .. diff .. "\n```"
end

local asked = [[
Make one focused change to the writable files that should improve the metric. Work in the current directory. Then say in a few
lines what you changed and why; the first line is its title. You may also print lines of these forms, which are remembered
even if the change is not kept:

ASI hypothesis=what you expect and why
ASI learned=what this taught you
ASI next_action_hint=what to try next]]

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
  section(parts, "This proposal", ("operator %s, from %s%s"):format(proposal.operator, table.concat(proposal.parents, " and "),
    proposal.title and ": " .. proposal.title or ""))
  section(parts, "How the parent came about", prompt.lineage(run, parent))
  section(parts, "The parent's own change", parent_diff(parent))
  section(parts, "Recent outcomes", prompt.recent(run))
  section(parts, "Budget", prompt.budget(run))
  section(parts, "What is asked", asked)
  return table.concat(parts, "\n")
end

return prompt
