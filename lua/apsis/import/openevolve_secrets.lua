-- openevolve_secrets: which environment variable has the key of which endpoint. A model at another host without its own
-- key gets the top-level one, as in OpenEvolve, with a note. A literal key in config.yaml is never copied: each becomes
-- a variable. Only names variables and notes what to export. Called by openevolve_manifest.lua.
local secrets = {}

local DEFAULT_BASE, DEFAULT_KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"

-- The environment variable in a key "${NAME}", or nil.
local function variable(key) return key and key:match("^%${([%w_]+)}$") end

local Names = {}
Names.__index = Names

-- The variable for a literal key; the same key gets the same one.
function Names:of(key, place, wanted)
  local name = self.literal[key]
  if not name then
    local count = 1
    name = wanted
    while self.taken[name] do
      count = count + 1
      name = wanted .. "_" .. count
    end
    self.literal[key], self.taken[name] = name, true
    self.exports[#self.exports + 1] = { name = name, place = place }
  end
  return name
end

local function has_literal(llm, models)
  local function literal(key) return key and not variable(key) end
  if literal(llm.api_key) then return true end
  for _, model in ipairs(models) do
    if literal(model.api_key) then return true end
  end
end

local function note_exports(exports, report)
  if #exports == 0 then return report:note("the settings contain an API key; it was not copied") end
  if #exports == 1 then
    return report:note("the settings contain an API key; it was not copied: export %s=... before `apsis run`",
      exports[1].name)
  end
  local parts = {}
  for index, export in ipairs(exports) do parts[index] = ("%s=... (%s)"):format(export.name, export.place) end
  report:note("the settings contain %d API keys; they were not copied: before `apsis run` export %s", #exports,
    table.concat(parts, ", "))
end

local function place_of(llm, model)
  for index, other in ipairs(llm.models or {}) do
    if other == model then return ("llm.models[%d].api_key"):format(index) end
  end
end

-- The variable of a model's own key; nil if it has none.
local function own_key(names, llm, model)
  if not model.api_key then return nil end
  local plain = model.name:upper():gsub("[^A-Z0-9]+", "_"):gsub("^_+", ""):gsub("_+$", "")
  return variable(model.api_key) or names:of(model.api_key, place_of(llm, model), "API_KEY_" .. plain)
end

-- { base, key (the provider's; nil if no model uses it), own_base = {[model]}, own_key = {[model]} }. options:
-- base_url, api_key_env: the provider's, replacing llm's.
function secrets.of(llm, options, models, report)
  local made = { base = options.base_url or llm.api_base or DEFAULT_BASE, own_base = {}, own_key = {} }
  local names = setmetatable({ literal = {}, taken = {}, exports = {} }, Names)
  for _, model in ipairs(models) do
    if variable(model.api_key) then names.taken[variable(model.api_key)] = true end
  end
  local shared = options.api_key_env or variable(llm.api_key)
  if not shared and llm.api_key then shared = names:of(llm.api_key, "llm.api_key", DEFAULT_KEY) end
  shared = shared or DEFAULT_KEY
  names.taken[shared] = true
  for _, model in ipairs(models) do
    local other = not options.base_url and model.api_base and model.api_base ~= made.base
    local key
    if other then
      key = own_key(names, llm, model)
      if not key and (llm.api_key or options.api_key_env) then
        key = variable(llm.api_key) or shared
        report:note("model %s is asked at %s with the key in %s (llm.api_key), as in OpenEvolve: that host sees it; "
          .. "to prevent that, name another variable in the model's api_key_env", model.name, model.api_base, key)
      end
      made.own_base[model], made.own_key[model] = model.api_base, key
      if not key then
        report:note("model %s is asked at %s without a key, as it has no api_key; name its variable in the model's "
          .. "api_key_env", model.name, model.api_base)
      end
    else
      key = not options.base_url and not options.api_key_env and own_key(names, llm, model) or shared
      made.own_key[model] = key ~= shared and key or nil
    end
    if key == shared and not other then made.key = shared end
  end
  if options.base_url and not options.api_key_env and variable(llm.api_key) and made.key then
    report:note("the key in %s goes to %s (--base-url); --api-key-env names another one", shared, options.base_url)
  end
  if has_literal(llm, llm.models or {}) then note_exports(names.exports, report) end
  return made
end

return secrets
