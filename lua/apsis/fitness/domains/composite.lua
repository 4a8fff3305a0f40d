-- composite: what the components of a pass make together: the score of all, and the report.json that breaks it down. Of
-- one domain alone its score is the score. Called by fitness/scoring.
local fs = require "apsis.fs"
local json = require "apsis.json"
local numbers = require "apsis.fitness"

local composite = {}

-- The breakdown: what is known of each component, in order.
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

-- Whether a component has said itself that its score is outside 0 to 1, and what to write.
local function has_said(name, report)
  for _, warning in ipairs(report.warnings) do
    if warning:sub(1, #name + 8) == name .. " scores " then return true end
  end
  return false
end

-- Says what apsis.fitness warns of, with the component's line in the manifest; but not what a component has said
-- already.
local function warn(self, gathered, warnings)
  for _, warning in ipairs(warnings) do
    local said, where = false, nil
    for _, component in ipairs(self.components) do
      local name, report = component.name, gathered.reports[component.name]
      if warning:sub(1, #name + 8) == name .. " scores " then
        said, where = report and has_said(name, report), component.where
      end
    end
    if not said then self:warn(where and ("%s (%s)"):format(warning, where) or warning) end
  end
end

-- Sets gathered.value, where every component has a score, and writes the report of a composite. The parts.
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
