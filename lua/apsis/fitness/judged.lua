-- judged: checks the manifest's keys of the domains that a chat model judges: dimensions, weights, and the judge.
-- Called by schema.
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"
local providers = require "apsis.project.providers"

local set = nodes.set

local judged = {}

function judged.dimensions(draft, key, list)
  if #list == 0 and not draft.refused(key .. ".dimensions") then
    draft.say(key .. ".dimensions",
      "at least one is needed; write dimensions: [{name: clarity, scale_max: 10, weight: 1}]")
  end
  local seen = {}
  for index, one in ipairs(list) do
    local at = ("%s.dimensions[%d].name"):format(key, index)
    if one.name and seen[one.name] then
      draft.say(at, ("%s is at %s too; names must differ"):format(nearest.show(one.name), draft.at(seen[one.name])))
    end
    if one.name then seen[one.name] = at end
  end
end

local criteria = { "correctness", "quality", "safety", "improvement" }

function judged.weights(draft, key, weights)
  local sum, count = 0, 0
  for name, weight in pairs(weights) do
    count, sum = count + 1, sum + weight
    if not set(table.unpack(criteria))[name] then
      draft.say(("%s.weights.%s"):format(key, name), ("%s is no criterion%s (there are %s)"):format(nearest.show(name),
        nearest.hint(name, criteria), table.concat(criteria, ", ")))
    end
  end
  if count > 0 and sum == 0 then draft.say(key .. ".weights", "one weight must be above 0") end
end

-- The judge: the component's own models, or the chat provider's. chat: rules' checks of addresses, keys and models.
function judged.judge(draft, key, spec, chat)
  chat.address(draft, key .. ".base_url", spec.base_url)
  chat.key(draft, key .. ".api_key_env", spec.api_key_env)
  local shared = providers.endpoint(draft.value.provider)
  if not spec.models and not shared then
    return draft.say(key .. ".models",
      "is required, as there is no chat provider to share: write base_url: URL and models: [NAME]"
      .. (spec.domain == "rubric" and ", or run: the command that prints a METRIC line for each dimension" or ""))
  end
  for index, model in ipairs(spec.models or {}) do
    local at = ("%s.models[%d]"):format(key, index)
    if not (model.base_url or spec.base_url or shared and shared.base_url) then
      return draft.say(key .. ".base_url", "is required for model " .. nearest.show(model.name)
        .. ": the endpoint, such as http://127.0.0.1:8000/v1")
    end
    chat.priced(draft, at, model)
    chat.model(draft, at, model)
  end
end

return judged
