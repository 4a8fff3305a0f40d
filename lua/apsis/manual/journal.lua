-- journal: the page of the journal: its fields and the outcomes, from core/line.lua.
local line = require "apsis.core.line"
local page = require "apsis.manual.page"

local function about(field)
  local unit = field.unit and (", %s"):format(field.unit) or ""
  return ("%s (%s%s%s)."):format(field.about, field.type, unit, field.always and "; null if there is nothing to report"
    or "")
end

return function()
  local self = page.new("apsis-journal", 5, "the journal, logs/results.jsonl: its fields and the outcomes", "")
  self:text("The journal has one line of JSON for each finished experiment. Lines are only appended, and each is on "
    .. "disk before anything follows from it. All else that apsis knows of finished experiments is rebuilt from it. "
    .. "`apsis log --json` prints it.")
  local fields, outcomes = {}, {}
  for index, field in ipairs(line.all()) do fields[index] = { field.name, about(field) } end
  for index, outcome in ipairs(line.outcomes) do
    local status = type(outcome[2]) == "string" and ("Status: %s."):format(outcome[2]) or "No status."
    outcomes[index] = { outcome[1], ("%s. %s"):format(outcome[3], status) }
  end
  return self:heading "Fields":terms(fields):heading "Outcomes":terms(outcomes)
end
