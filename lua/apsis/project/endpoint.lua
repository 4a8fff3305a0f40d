-- endpoint: the manifest's keys of a chat endpoint and its models, and their rules, wherever they occur.
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local endpoint = {}

function endpoint.node(doc)
  return node("string", doc, { pattern = "^https?://.", pattern_text = "an http:// or https:// address" })
end

endpoint.model_node = map("a chat model", {
  { "name", node("string", "its name at the endpoint", { required = true }) },
  { "weight", node("number", "how often it is chosen", { above = 0, default = 1 }) },
  { "temperature", node("number", "sampling temperature; not sent to OpenAI's reasoning models (o3, gpt-5), which "
    .. "refuse it, and neither is top_p", { min = 0 }) },
  { "top_p", node("number", "the probability mass to sample from", { above = 0, max = 1 }) },
  { "max_tokens", node("integer", "longest answer; max_completion_tokens for those models", { min = 1 }) },
  { "timeout_sec", node("number", "of one request (default: provider.timeout_sec)", { above = 0 }) },
  { "base_url", endpoint.node "its endpoint (default: provider.base_url)" },
  { "api_key_env", node("string", "its key's variable (default: provider.api_key_env, at the provider's base_url)") },
  { "price", map("US dollars per million tokens", {
    { "input", node("number", "of the prompt", { min = 0, default = 0 }) },
    { "output", node("number", "of the answer", { min = 0, default = 0 }) },
  }) },
  { "parameters", node("any", "put into the request as they are", { mapping = true }) },
}, { short = "name" })

-- Whether a model is one of OpenAI's that reason (o1, o3-mini, gpt-5 ...), at any endpoint: a request to it must not
-- have temperature and top_p, and has max_completion_tokens for max_tokens.
function endpoint.reasons(name)
  name = name:lower():match("([^/]*)$")
  return name:find("^o%d%f[^%w]") ~= nil or name:find("^gpt%-5%f[^%w]") ~= nil
end

-- Request parameters that apsis sets.
local own_parameters = { messages = "apsis writes the messages", stream = "apsis reads whole answers",
  n = "the strategy's k is how many answers are asked for" }

function endpoint.address(draft, key, value)
  if value and value:find("^%a+://[^/]*@") then
    draft.say(key, "must not hold a user or password; name the key's variable in api_key_env")
  end
end

function endpoint.key(draft, key, name)
  if name and not name:find("^[A-Za-z_][A-Za-z0-9_]*$") then -- not shown: it may be the key itself
    draft.say(key, "must be the name of an environment variable (letters, digits and _), not the key; export the key "
      .. "under a name")
  end
end

function endpoint.model(draft, key, model)
  endpoint.address(draft, key .. ".base_url", model.base_url)
  endpoint.key(draft, key .. ".api_key_env", model.api_key_env)
  for name, why in pairs(own_parameters) do
    if (model.parameters or {})[name] ~= nil then
      draft.say(key .. ".parameters." .. name, ("cannot be set: %s; remove it"):format(why))
    end
  end
end

-- A cap on dollars needs a price for every model that may be asked; a free one has 0.
function endpoint.priced(draft, key, model)
  local cap = (draft.value.budget or {}).usd
  if not cap or model.price or draft.stands(key .. ".price") then return end
  draft.say(key .. ".price",
    ("is required with budget.usd: %s (%s), for without it %s costs nothing that could be counted; write "
    .. "price: {input: USD, output: USD} per million tokens, 0 for what is free"):format(nearest.show(cap),
    draft.at "budget.usd",
    nearest.show(model.name)))
end

return endpoint
