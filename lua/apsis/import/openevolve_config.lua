-- openevolve_config: reads OpenEvolve's config.yaml into a flat table of settings, reports errors (FILE:LINE: KEY:
-- message), and reports every key: none is dropped silently. Called by openevolve.lua.
local common = require "apsis.import.common"
local json = require "apsis.json"
local keys = require "apsis.import.openevolve_keys"
local found = require "apsis.import.keys"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local old = require "apsis.import.openevolve_yaml"
local suggest = require "apsis.suggest"
local yaml = require "apsis.yaml"

local config = {}

local sections = { llm = true, prompt = true, database = true, evaluator = true }

local Reader = {}
Reader.__index = Reader

function Reader:refuse(place, key, message)
  self.errors[#self.errors + 1] = ("%s: %s: %s"):format(place, nearest.escape(key), message)
end

local function finite(value) return type(value) == "number" and value == value and math.abs(value) ~= math.huge end

local is = {
  any = function() return true end,
  string = function(value) return type(value) == "string" and value ~= "" end,
  boolean = function(value) return type(value) == "boolean" end,
  number = finite,
  integer = function(value) return finite(value) and math.tointeger(value) ~= nil end,
  list = function(value) return type(value) == "table" and (#value > 0 or next(value) == nil) end,
  mapping = function(value) return type(value) == "table" and #value == 0 end,
}

local words = { string = "text", boolean = "true or false", number = "a number", integer = "a whole number",
  list = "a list ([a, b])", mapping = "a mapping (KEY: VALUE)" }

local function sorted_keys(lines, value)
  if lines[value] and #lines[value].order > 0 then return lines[value].order end
  return suggest.names(value)
end

local function known_names(allowed)
  local list = {}
  for name in pairs(allowed) do list[#list + 1] = name end
  for name in pairs(allowed == keys.top and sections or {}) do list[#list + 1] = name end
  table.sort(list)
  return list
end

function Reader:unknown(path, name, place, allowed)
  common.unknown(self.report, path, nearest.hint(name, known_names(allowed)), place)
end

-- Whether a value asks for something: not the default, or if there is none not off, zero or empty.
local function is_set(value, default)
  if default ~= nil then return value ~= default end
  return value ~= false and value ~= 0 and value ~= "" and not (type(value) == "table" and next(value) == nil)
end

-- One key of a mapping. Kept in `into` where it is mapped.
function Reader:take(allowed, into, path, name, value, place)
  local key = allowed[name]
  if not key then return self:unknown(path, name, place, allowed) end
  if value == yaml.null then
    return self.report:add("not_needed", path, "is null: the default", place)
  end
  if key.why then
    local state = key.lost and is_set(value, key.default) and "not_taken_over" or "not_needed"
    return self.report:add(state, path, key.why, place)
  end
  if value == "" and key.kind == "string" and name ~= "name" then
    return self.report:add("not_needed", path, "is empty: the default", place)
  end
  value = old.value(key.kind, value)
  if not is[key.kind](value) then
    return self:refuse(place, path, ("must be %s; got %s"):format(words[key.kind], nearest.show(value)))
  end
  into[name], self.places[path] = key.kind == "integer" and math.tointeger(value) or value, place
  local other = key.only and key.only ~= self.selection
  self.report:add(other and "other_selection" or key.other and "other_meaning" or "mapped", path, key.to, place)
end

function Reader:mapping(value, allowed, into, prefix)
  for _, name in ipairs(sorted_keys(self.lines, value)) do
    self:take(allowed, into, prefix .. name, name, value[name], common.place(self.label, self.lines, value, name))
  end
end

-- llm.models: a list of mappings (or names).
function Reader:models(list)
  local models = {}
  for index, item in ipairs(list) do
    local path = ("llm.models[%d]"):format(index)
    local place = common.place(self.label, self.lines, list, index)
    if type(item) == "string" then item = { name = item } end
    if type(item) ~= "table" or #item > 0 then
      self:refuse(place, path, "must be a mapping with a name; got " .. nearest.show(item))
    else
      local model = {}
      self:mapping(item, keys.model, model, path .. ".")
      if item.name == nil then self:refuse(place, path .. ".name", "is required: the model's name at the endpoint") end
      if item.temperature == yaml.null then model.no_temperature = true end
      models[#models + 1] = model
    end
  end
  return models
end

function Reader:section(name, value, place)
  if value == yaml.null then return self.report:add("not_needed", name, "is empty", place) end
  if not is.mapping(value) then
    return self:refuse(place, name, ("must be %s; got %s"):format(words.mapping, nearest.show(value)))
  end
  local into = self.settings[name]
  self:mapping(value, keys[name], into, name .. ".")
  if name == "llm" then
    if value.temperature == yaml.null then into.no_temperature = true end
    if into.models then into.models = self:models(into.models) end
  end
end

function Reader:all(value)
  for _, name in ipairs(sorted_keys(self.lines, value)) do
    local place = common.place(self.label, self.lines, value, name)
    if sections[name] then self:section(name, value[name], place)
    elseif name == "evolution_trace" then self.report:add("not_needed", name, keys.evolution_trace.why, place)
    else self:take(keys.top, self.settings, name, name, value[name], place) end
  end
end

local least = { { "max_iterations", 1 }, { "database.num_islands", 1 },
  { "database.population_size", 1 }, { "database.archive_size", 1 }, { "prompt.num_top_programs", 0 },
  { "prompt.num_diverse_programs", 0 }, { "evaluator.parallel_evaluations", 1 },
    { "evaluator.max_artifact_storage", 1 },
  { "llm.max_tokens", 1 }, { "llm.retries", 0 }, { "llm.temperature", 0 }, { "database.migration_interval", 1 } }

local shares = { "database.elite_selection_ratio", "database.exploration_ratio", "database.exploitation_ratio",
  "database.migration_rate", "database.similarity_threshold" }

-- The value of "section.key", or of "key".
function config.get(settings, path)
  local section, name = path:match("^(%w+)%.([%w_]+)$")
  if section then return settings[section][name] end
  return settings[path]
end

function Reader:check()
  local settings = self.settings
  for _, limit in ipairs(least) do
    local value = config.get(settings, limit[1])
    if value and value < limit[2] then
      self:refuse(self.places[limit[1]], limit[1], ("must be %d or more; got %s"):format(limit[2], value))
    end
  end
  for _, path in ipairs(shares) do
    local value = config.get(settings, path)
    if value and (value < 0 or value > 1) then
      self:refuse(self.places[path], path, ("must be from 0 to 1; got %s"):format(value))
    end
  end
  local timeout = settings.evaluator.timeout
  if timeout and timeout <= 0 then
    self:refuse(self.places["evaluator.timeout"], "evaluator.timeout", "must be above 0; got " .. timeout)
  end
  for index, threshold in ipairs(settings.evaluator.cascade_thresholds or {}) do
    if not finite(threshold) then
      self:refuse(self.places["evaluator.cascade_thresholds"], ("evaluator.cascade_thresholds[%d]"):format(index),
        "must be a number; got " .. nearest.show(threshold))
    end
  end
  for index, name in ipairs(settings.database.feature_dimensions or {}) do
    if type(name) ~= "string" then
      self:refuse(self.places["database.feature_dimensions"], ("database.feature_dimensions[%d]"):format(index),
        "must be a name; got " .. nearest.show(name))
    end
  end
  local bins = settings.database.feature_bins
  if bins ~= nil and type(bins) ~= "table" and not is.integer(bins) then
    self:refuse(self.places["database.feature_bins"], "database.feature_bins",
      "must be a whole number or a mapping; got " .. nearest.show(bins))
  end
end

-- The API keys in the configuration that are literal, not ${NAME}.
function config.literals(settings)
  local list = {}
  local function add(key)
    if key and not key:find("^%${[%w_]+}$") then list[#list + 1] = key end
  end
  add(settings.llm.api_key)
  for _, model in ipairs(settings.llm.models or {}) do add(model.api_key) end
  return list
end

-- Refuses API keys in text that would be committed in program.md or manifest.yaml.
function Reader:check_keys()
  local literals = config.literals(self.settings)
  for path, value in pairs { ["prompt.system_message"] = self.settings.prompt.system_message,
    ["evaluator.evaluator_args"] = self.settings.evaluator.evaluator_args } do
    local text = type(value) == "string" and value or json.encode(value)
    if found.find(text, literals) then
      self:refuse(self.places[path], path, "looks like it contains an API key, which would be committed; export it as "
        .. "an environment variable that the evaluator reads, and remove it here")
    end
  end
  table.sort(self.errors)
end

-- The settings of the file at path (nil: there is none); the report gets a line for every key:
function config.read(path, selection, report)
  local settings = { llm = {}, prompt = {}, database = {}, evaluator = {} }
  if not path then return settings end
  local text, message = common.read_text(path)
  if not text then return nil, { message } end
  local label = manifest.display(path)
  local value, lines = manifest.decode(text, label)
  if value == nil then return nil, { lines } end
  if value == yaml.null then return settings end
  if not is.mapping(value) then
    return nil, { ("%s:1: config: must be a mapping (KEY: VALUE); got %s"):format(label, nearest.show(value)) }
  end
  old.merge(value, lines)
  local self = setmetatable({ label = label, lines = lines, settings = settings, selection = selection, report = report,
    errors = {}, places = {} }, Reader)
  self:all(value)
  if #self.errors == 0 then
    self:check()
    self:check_keys()
  end
  if #self.errors > 0 then return nil, self.errors end
  return settings
end

return config
