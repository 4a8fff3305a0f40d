-- settings: the parameters of acceptance: two presets found by simulation (see this folder's README), and the check
-- of a user's values. A part of apsis.acceptance; reads no file.
local suggest = require "apsis.suggest"

local settings = {}

-- default finds an improvement of 2 standard deviations cheaply; sensitive finds 1, at three times the measurements.
settings.presets = {
  default = { max_repeats = 32, reject = 0.8, memory = 8, refresh = 3, n_screen = 16, futility = 0.05 },
  sensitive = { max_repeats = 64, reject = 1.7, memory = 32, refresh = 4, n_screen = 32, futility = 0.03 },
}

local common = { confidence = 0.95, baseline = 20, final = 20 }

settings.least_baseline = 5 -- fewer measurements give no useful spread

-- In the order in which they are checked.
local rules = {
  { "confidence", least = 0.5, most = 0.9999 }, { "baseline", integer = true, least = settings.least_baseline,
    most = 100000 },
  { "max_repeats", integer = true, least = 8, most = 10000 }, { "reject", above = 0, most = 1e6 },
  { "memory", integer = true, least = 2, most = 1000000 }, { "refresh", integer = true, least = 1, most = 1000000 },
  { "n_screen", integer = true, least = 1, most = 10000 }, { "futility", above = 0, most = 0.99 },
  { "final", integer = true, least = 0, most = 100000 },
}

local names = { "preset" }
for _, rule in ipairs(rules) do names[#names + 1] = rule[1] end

local function wrong(value, rule)
  if rule.integer and math.type(value) ~= "integer" then return "must be a whole number" end
  if type(value) ~= "number" then return "must be a number" end
  if rule.least and not (value >= rule.least) then return ("must be %s or more"):format(rule.least) end
  if rule.above and not (value > rule.above) then return ("must be above %s"):format(rule.above) end
  if rule.most and not (value <= rule.most) then return ("must be %s or less"):format(rule.most) end
end

local function unknown(given)
  for key in pairs(given) do
    local known = false
    for _, name in ipairs(names) do known = known or name == key end
    if not known then return tostring(key) end
  end
end

-- The given values, completed from the preset; or nil, what is wrong, and the key.
function settings.of(given)
  given = given or {}
  local key = unknown(given)
  if key then return nil, ("acceptance has no %q%s"):format(key, suggest.sentence(key, names)), key end
  local preset = given.preset or "default"
  local values = settings.presets[preset]
  if not values then return nil, ("preset must be default or sensitive, not %q"):format(tostring(preset)), "preset" end
  local all = { preset = preset }
  for _, rule in ipairs(rules) do
    local name = rule[1]
    local value = given[name]
    if value == nil then value = values[name] or common[name] end
    local problem = wrong(value, rule)
    if name == "final" and value == 1 then problem = "must be 0 (none) or 2 or more" end
    if problem then return nil, ("%s %s, not %s"):format(name, problem, tostring(value)), name end
    all[name] = value
  end
  return all
end

return settings
