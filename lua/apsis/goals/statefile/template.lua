-- template: a new state file: autoloop's headings and rows, our words. Called by document.lua.
local rows = require "apsis.goals.statefile.rows"
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local template = {}

local titles = sections.titles

local body = {
  { titles.priorities, "<!-- What to try next, in your words. The provider is asked to follow it. -->",
    "*(none yet)*" },
  { titles.lessons, "<!-- Findings. apsis adds items that end in (c0012); it never cuts yours. -->", "- *(none yet)*" },
  { titles.foreclosed, "<!-- What not to try again, and why. -->", "- *(none yet)*" },
  { titles.directions, "<!-- Ideas to try. -->", "- *(none yet)*" },
  { titles.history, "<!-- Newest first. Measurements come from the journal; changed numbers are put back. -->",
    "*(none yet)*" },
}

local function information(spec)
  local lines = { "**Goal**: " .. (spec.goal and texts.line(spec.goal:match("[^\r\n]+") or "") or rows.empty) }
  if spec.metric then
    lines[#lines + 1] = ("**Metric**: %s (%s is better)"):format(texts.line(spec.metric), spec.direction or "higher")
  end
  if spec.branch then lines[#lines + 1] = ("**Branch**: `%s`"):format(texts.line(spec.branch)) end
  return table.concat(lines, "  \n")
end

local function machine(spec)
  local values = {
    ["Iteration Count"] = "0", ["Metric Direction"] = spec.direction or "higher", Branch = spec.branch
      and "`" .. spec.branch .. "`",
    ["Target Metric"] = texts.number(spec.target), Paused = "false", Completed = "false", ["Consecutive Errors"] = "0",
  }
  local lines = { "| Field | Value |", "|-------|-------|" }
  for _, name in ipairs(rows.names) do lines[#lines + 1] = ("| %s | %s |"):format(name, values[name] or rows.empty) end
  return table.concat(lines, "\n")
end

-- spec: name; optional: branch, goal, metric (its name), direction, target.
function template.text(spec)
  local parts = {
    "# " .. texts.line(spec.name),
    "apsis updates this file after every experiment. Edit it: pause it, or write priorities, lessons and what "
      .. "to avoid.",
    "---", "## " .. titles.machine, machine(spec), "---", "## " .. titles.info, information(spec),
  }
  for _, section in ipairs(body) do
    table.move({ "---", "## " .. section[1], section[2], section[3] }, 1, 4, #parts + 1, parts)
  end
  return table.concat(parts, "\n\n") .. "\n"
end

return template
