-- sarif: findings in the Static Analysis Results Interchange Format 2.1.0: runs[].results[], without suppressed ones,
-- non-failures, and those gone since a baseline. A run that reports its own failure is not a count of zero. A part of
-- apsis.fitness, called by count.
local json = require "apsis.json"

local sarif = {}

local LEVELS = { error = true, warning = true, note = true }

local function list(value)
  return type(value) == "table" and value ~= json.null and value or {}
end

-- A result is suppressed if it has a suppression that is neither rejected nor under review (3.35.3).
local function is_suppressed(result)
  for _, one in ipairs(list(result.suppressions)) do
    local status = list(one).status
    if status ~= "rejected" and status ~= "underReview" then return true end
  end
  return false
end

local function counts(result)
  return (result.kind == nil or result.kind == "fail") and result.baselineState ~= "absent"
    and not is_suppressed(result)
end

-- The rule of a result, by its index or its id; nil if the run describes none.
local function rule_of(run, result)
  local rules = list(list(list(run.tool).driver).rules)
  local named = list(result.rule)
  local index = math.tointeger(tonumber(result.ruleIndex or named.index))
  if index and index >= 0 and rules[index + 1] then return list(rules[index + 1]) end
  local id = result.ruleId or named.id
  for _, rule in ipairs(id and rules or {}) do
    if list(rule).id == id then return rule end
  end
  return nil
end

local function level_of(result, rule)
  return result.level or rule and list(rule.defaultConfiguration).level or "warning"
end

local function place_of(result)
  local physical = list(list(list(result.locations)[1]).physicalLocation)
  return list(physical.artifactLocation).uri, list(physical.region).startLine
end

local function wanted_levels(how)
  if not how.levels then return LEVELS end
  local wanted = {}
  for _, level in ipairs(how.levels) do
    if not LEVELS[level] then
      error(("count: level %q is not one of error, warning, note"):format(tostring(level)), 4)
    end
    wanted[level] = true
  end
  return wanted
end

local function failure(run)
  for _, invocation in ipairs(list(run.invocations)) do
    if list(invocation).executionSuccessful == false then
      return "the tool reports that it did not succeed (executionSuccessful is false)"
    end
  end
  if type(run.results) ~= "table" then return "a run has no results: the tool did not get that far" end
end

function sarif.read(how, text, items, add)
  local wanted = wanted_levels(how)
  local value, message = json.decode(text, true)
  if value == nil then return nil, message end
  if type(value) ~= "table" or type(value.runs) ~= "table" then return nil, "no SARIF: it has no runs" end
  local levels = { error = 0, warning = 0, note = 0 }
  for _, run in ipairs(value.runs) do
    run = list(run)
    local why = failure(run)
    if why then return nil, why end
    for _, result in ipairs(run.results) do
      result = list(result)
      local rule = counts(result) and rule_of(run, result)
      local level = level_of(result, rule or nil)
      if counts(result) and wanted[level] then
        local file, line = place_of(result)
        levels[level] = levels[level] + 1
        local words = list(result.message).text
        add(file, line, result.ruleId or list(result.rule).id or list(rule or nil).id, words, level, words)
      end
    end
  end
  return #items, items, levels
end

return sarif
