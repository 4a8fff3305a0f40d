-- composite: the score of all components of a pass, and the report.json that breaks it down. With one domain its
-- score is the result. Called by fitness/scoring.
local fs = require "apsis.fs"
local json = require "apsis.json"
local numbers = require "apsis.fitness"

local composite = {}

-- The breakdown: the data of each component, in order.
local function parts_of(self, gathered)
  local parts = {}
  for index, component in ipairs(self.components) do
    local report = gathered.reports[component.name] or {}
    parts[index] = { name = component.name, domain = component.spec.domain, score = report.score,
      weight = component.weight,
      metrics = report.metrics, reason = component.name == gathered.failed and gathered.missing or report.reason }
  end
  return parts
end

-- report.json: { composite = score, components = { [name] = { score, weight, metrics, reason } }, reason, warnings }.
local function write(self, gathered, parts, warnings)
  local by_name = {}
  for _, part in ipairs(parts) do
    by_name[part.name] = { domain = part.domain, score = part.score or json.null, weight = part.weight,
      metrics = part.metrics,
      reason = part.reason }
  end
  return fs.write(gathered.dir .. "/report.json", json.encode({ [self.spec.name] = gathered.value or json.null,
    components = by_name,
    reason = gathered.missing, warnings = json.array(warnings) }, { pretty = true, sorted = true }) .. "\n")
end

-- Whether a component has itself reported that its score is outside 0 to 1, and what to write.
local function has_reported(name, report)
  for _, warning in ipairs(report.warnings) do
    if warning:sub(1, #name + 8) == name .. " scores " then return true end
  end
  return false
end

-- Reports the warnings of apsis.fitness, with the component's line in the manifest; skips those that a component has
-- reported itself.
local function warn(self, gathered, warnings)
  for _, warning in ipairs(warnings) do
    local reported, where = false, nil
    for _, component in ipairs(self.components) do
      local name, report = component.name, gathered.reports[component.name]
      if warning:sub(1, #name + 8) == name .. " scores " then
        reported, where = report and has_reported(name, report), component.where
      end
    end
    if not reported then self:warn(where and ("%s (%s)"):format(warning, where) or warning) end
  end
end

-- Sets gathered.value if every component has a score, and writes the report of a composite. Returns the parts.
function composite.finish(self, gathered)
  local parts = parts_of(self, gathered)
  local warnings
  if self.composite then
    local message
    gathered.value, message, warnings = numbers.composite(parts)
    gathered.missing = gathered.missing or message
    self.world:need(write(self, gathered, parts, warnings))
  else
    gathered.value = not gathered.missing and parts[1].score or nil
    warnings = { gathered.value and numbers.warning(parts[1].name, gathered.value) }
  end
  warn(self, gathered, warnings)
  return parts
end

return composite
