-- provider/chat: asks a chat model over HTTP. The model sees only the prompt; its answer is read as edits.
-- chat/model.lua asks, chat/client.lua talks to the endpoints.
local endpoint = require "apsis.project.endpoint"
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"

local node = nodes.node

local chat = { place = 30, doc = "a chat model", wants_prompt = true, reads_answers = true, counts = true,
  shown_by = { "base_url", "models" }, needs = { "models" }, takes = { "timeout_sec", "retries" },
  defaults = { timeout_sec = 600, retries = 3 } }

chat.keys = {
  { "base_url", endpoint.node "chat: the endpoint" },
  { "api_key_env", node("string", "chat: the environment variable that holds the key; without it none is sent") },
  { "models", node("list", "chat: the models; if the first fails, the next is asked",
    { items = "models ({name, weight})",
    item = endpoint.model_node }) },
  { "choice", node("enum", "chat: which model is asked first: the first, one by weight, or by what each has achieved", {
    allowed = { "fixed", "weighted", "ucb" }, default = "weighted",
  }) },
  { "repairs", node("integer", "chat: how often an answer that is no edit is sent back with what was wrong",
    { min = 0, default = 1 }) },
}

function chat.check(draft, value)
  endpoint.address(draft, "provider.base_url", value.base_url)
  endpoint.key(draft, "provider.api_key_env", value.api_key_env)
  if not value.models or draft.refused("provider.models") then return end
  if #value.models == 0 then draft.say("provider.models", "at least one model is needed; write models: [NAME]") end
  local seen = {}
  for index, model in ipairs(value.models) do
    local key = ("provider.models[%d]"):format(index)
    if not value.base_url and not model.base_url and not draft.stands("provider.base_url") then
      return draft.say("provider.base_url", "is required if kind is chat, for model " .. nearest.show(model.name)
        .. ": the endpoint, such as http://127.0.0.1:8000/v1")
    end
    if seen[model.name] then
      draft.say(key .. ".name",
        ("%s is at %s too; to ask it at another endpoint, give it another name and parameters: {model: %s}")
        :format(nearest.show(model.name), draft.at(seen[model.name]), model.name))
    end
    if model.name then seen[model.name] = key .. ".name" end
    if value.choice == "fixed" and draft.stands(key .. ".weight") then
      draft.say(key .. ".weight", "does not count with choice: fixed, which asks the first model first; remove one of "
        .. "the two")
    end
    endpoint.priced(draft, key, model)
    endpoint.model(draft, key, model)
  end
end

local TOKEN_BYTES = 3 -- of a program's text, at least

-- Bytes of a program that every model's max_tokens have room for; nil: no model has a limit.
function chat.answer_bytes(spec)
  local most
  for _, model in ipairs(spec.models) do
    local tokens = model.max_tokens or math.tointeger((model.parameters or {}).max_completion_tokens)
    if tokens then most = math.min(most or math.maxinteger, tokens * TOKEN_BYTES) end
  end
  return most
end

function chat.endpoint(spec) return spec end

-- options: those of the client's open, for tests.
function chat.open(world, spec, options)
  return require("apsis.live.provider.chat.model").open(world, spec, options)
end

return chat
