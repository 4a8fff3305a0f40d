-- comment: a journal line, on standard input, as a comment for people.
local json = require "apsis.json"

local line = assert(json.decode(io.read "a"))

local function number(value)
  return math.type(value) and ("%.10g"):format(value) or "no value"
end

print(("**Experiment %d**: %s"):format(line.experiment, line.outcome:gsub("_", " ")))
print(("- Change: %s"):format(line.description ~= json.null and line.description or "none"))
print(("- Metric: %s (best %s)"):format(number(line.primary_metric), number(line.best)))
if type(line.rollback_reason) == "string" then
  print(("- Why: %s"):format(line.rollback_reason:gsub("%s+", " "):sub(1, 500)))
end
if line.fix_attempts then print(("- Repairs that the gate asked for: %d"):format(line.fix_attempts)) end
if type(line.commit) == "string" then print(("- Commit: %s"):format(line.commit)) end
