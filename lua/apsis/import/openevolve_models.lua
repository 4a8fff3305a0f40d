-- openevolve_models: OpenEvolve's ensemble as a chat provider's models: the list, then the primary and the secondary,
-- unique names, addresses without ${NAME}. Notes what it leaves out or joins. Called by openevolve_manifest.lua.
local old = require "apsis.import.openevolve_yaml"
local secrets = require "apsis.project.secrets"

local models = {}

-- The address with environment values; nil and a note if a variable is not set, or may be a secret: the address is
-- committed, and its host gets it.
local function address(text, who, report)
  local made, missing = old.interpolate(text)
  for name in text:gmatch "%${([%w_]+)}" do
    if secrets.may_be_variable(name) or secrets.is_value(made) then
      report:note("%s is %s, and %s may be a secret, which is not written down: give --base-url", who, text, name)
      return nil
    end
  end
  if not missing then return made end
  report:note("%s is %s, but %s is not set: export it and import again, or give --base-url", who, text,
    missing)
end

-- Sets the addresses; leaves out models whose address is unknown.
local function addressed(list, llm, options, report)
  if options.base_url then return list end
  local lost = false
  if llm.api_base then
    llm.api_base = address(llm.api_base, "llm.api_base", report)
    lost = llm.api_base == nil
    if lost then
      report:amend("llm.api_base", "an environment variable in it is not set, or may be a secret", "not_taken_over")
    end
  end
  local kept = {}
  for _, model in ipairs(list) do
    local own = model.api_base
    if own then model.api_base = address(own, ("the api_base of model %s"):format(model.name), report) end
    if model.api_base or not own and not lost then kept[#kept + 1] = model
    else report:note("model %s is left out, as its address is not known", model.name) end
  end
  return kept
end

-- One model per name: repeats at the same address add their weight; another address gets another name.
local function joined(list, llm, report)
  local kept, first, count = {}, {}, {}
  for _, model in ipairs(list) do
    local asked = model.name
    local place = asked .. "\n" .. (model.api_base or llm.api_base or "")
    local same = first[place]
    if same then
      same.weight = (same.weight or 1) + (model.weight or 1)
      report:note("model %s is named more than once: one model of weight %.10g, with the settings it was first given",
        asked, same.weight)
    else
      first[place] = model
      count[asked] = (count[asked] or 0) + 1
      if count[asked] > 1 then
        model.name, model.asked = ("%s@%d"):format(asked, count[asked]), asked
        report:note("model %s is named at %d addresses: the one at %s is called %s", asked, count[asked],
          model.api_base or llm.api_base or "the default address", model.name)
      end
      kept[#kept + 1] = model
    end
  end
  return kept
end

-- Reports a model that is not asked, with its keys.
local function left_out(report, llm, model, why)
  report:note("model %s %s and is left out", model.name, why)
  for index, given in ipairs(llm.models or {}) do
    local prefix = ("llm.models[%d]."):format(index)
    for _, entry in ipairs(given == model and report.entries or {}) do
      if entry.key:sub(1, #prefix) == prefix then
        report:amend(entry.key, "the model is left out: it " .. why, "not_taken_over")
      end
    end
  end
  for _, key in ipairs { "primary_model", "secondary_model" } do
    if llm[key] == model.name then
      report:amend("llm." .. key, "the model is left out: it " .. why, "not_taken_over")
    end
  end
end

models.left_out = left_out

-- The models to ask, each { name, asked (the endpoint's name, if different), weight, ... }. Sets llm.api_base.
function models.of(llm, options, report)
  local list = table.move(llm.models or {}, 1, #(llm.models or {}), 1, {})
  if llm.primary_model then list[#list + 1] = { name = llm.primary_model, weight = llm.primary_model_weight or 1 } end
  if llm.secondary_model then
    list[#list + 1] = { name = llm.secondary_model, weight = llm.secondary_model_weight or 0.2 }
  end
  local kept = {}
  for _, model in ipairs(options.model and { { name = options.model } } or list) do
    if not model.weight or model.weight > 0 then kept[#kept + 1] = model
    else left_out(report, llm, model, "has weight 0") end
  end
  return joined(addressed(kept, llm, options, report), llm, report)
end

return models
