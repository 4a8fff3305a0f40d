-- ask: what a fitness domain may request: a chat model's answer, within the run's budget and without its secrets, and
-- a candidate's changes. context.chat and context.diff use it; called by fitness/scoring.
local chat = require "apsis.live.provider.chat.client"
local environment = require "apsis.live.cage.environment"
local messages = require "apsis.live.provider.shared.messages"
local providers = require "apsis.project.providers"
local random = require "apsis.random"

local ask = {}

local LONGEST_ANSWER = 4096 -- tokens, assumed for a model without max_tokens
local MOST_SILENT = 3 -- a run stops after this many unanswered questions in a row
local chat_keys = { "base_url", "api_key_env", "models", "choice", "timeout_sec", "retries" }

-- The model of a component: its own, else the chat provider's. The provider's key is sent only to the provider's
-- endpoint. settings | nil, message.
function ask.settings(spec, provider)
  local from = providers.endpoint(provider) or {}
  local settings = {}
  for _, key in ipairs(chat_keys) do settings[key] = spec[key] end
  settings.base_url = settings.base_url or from.base_url
  if settings.base_url == from.base_url then settings.api_key_env = settings.api_key_env or from.api_key_env end
  if not settings.models and not spec.base_url then
    settings.models, settings.choice = from.models, settings.choice or from.choice
  end
  if not settings.models or #settings.models == 0 then
    return nil, "it asks a chat model: add models: [NAME]" .. (settings.base_url and "" or " and base_url: URL")
      .. (from.models and ", or leave base_url out to ask the provider's" or "")
  end
  for _, model in ipairs(settings.models) do
    if not settings.base_url and not model.base_url then
      return nil, ("it asks a chat model, %s: add base_url: URL"):format(model.name)
    end
  end
  return settings
end

-- The components of a fitness that ask a chat model: { { spec, key = the manifest's }... }; of custom domains only
-- those that name models.
function ask.judges(fitness)
  local list = {}
  for index, spec in ipairs(fitness and (fitness.components or { fitness }) or {}) do
    if spec.domain == "review" or spec.domain == "rubric" and not spec.run and not spec.harness or spec.models then
      list[#list + 1] = { spec = spec, key = fitness.components and ("fitness.components[%d]"):format(index)
        or "fitness" }
    end
  end
  return list
end

-- Reserves the most that one request may cost before it is sent; afterwards replaces it by the actual cost. There is
-- no budget outside a loop.
local function budgeted(client, slot, list)
  local tokens, usd, bytes = 0, 0, messages.bytes(list)
  local function may_ask(name)
    tokens, usd = client:estimate(name, bytes, LONGEST_ANSWER)
    if slot.afford then return slot:afford(tokens, usd) end
    return true
  end
  local function spent(took, cost)
    if slot.took then slot:took(took - tokens, cost - usd) end
  end
  return may_ask, spent
end

-- Adds the cost of pending requests to the slot, and so to its journal line.
local function settle(slot, reply)
  slot.tokens, slot.cost = (slot.tokens or 0) + reply.tokens, (slot.cost or 0) + reply.cost
  if slot.took then slot:took(-reply.tokens, -reply.cost) end
end

-- A judge that is down will not answer for the next candidate either, so stop the run (it can be resumed) instead of
-- spending the budget on candidates without a score.
local function note_silence(world, slot, name, reply)
  if not slot.afford or reply.stopped then return end
  world.judge_silent = reply.silent and (world.judge_silent or 0) + 1 or 0
  if world.judge_silent < MOST_SILENT then return end
  world:fail(("%s: %d questions in a row %s, so the run stops; %s and continue with `apsis run`: %s"):format(name,
    MOST_SILENT,
    reply.refused and "were refused" or "got no answer", reply.refused and "replace the key" or "fix the endpoint",
    reply.error), 4)
end

-- chat(messages) -> { text, model } or { error }, and tokens, cost: for the named component, in a slot. nil, message
-- if it has no model or its key is not set. options: as chat.open's, for tests.
function ask.chat(world, slot, name, spec, options)
  local settings, message = ask.settings(spec, world.manifest.provider)
  if not settings then return nil, message end
  local client
  client, message = chat.open(settings, options or { secret = environment.secret })
  if not client then return nil, (message:gsub("provider%.", "")) end
  local asked = 0
  return function(list)
    asked = asked + 1
    local sent = {}
    for index, one in ipairs(list) do sent[index] = { role = one.role, content = environment.mask(one.content) } end
    local may_ask, spent = budgeted(client, slot, sent)
    local reply = client:ask(sent, { may_ask = may_ask, spent = spent,
      rng = random.stream(world.seed, slot.number, "fitness", name, asked) })
    settle(slot, reply)
    note_silence(world, slot, name, reply)
    if reply.text then reply.text = environment.mask(reply.text) end
    return reply
  end
end

-- What a candidate is compared with: its parent, or the baseline.
local function origin_of(world, record, against)
  if against == "baseline" then return world.history and world.history.baseline end
  return record.parents and record.parents[1] and world:candidate(record.parents[1])
end

-- The patch from a candidate's parent (against: "baseline": from the baseline) to it, without hidden files, which no
-- judge may see; "" if there is nothing to compare with.
function ask.diff(world, record, against)
  local parent = origin_of(world, record, against)
  if not parent then return "" end
  local paths = {}
  for _, change in ipairs(world:need(world.repo:changes(parent.commit, record.commit))) do
    local mine, before = world:project_path(change.path), world:project_path(change.old_path or change.path)
    if mine and before and world.scope:mode(mine) ~= "hidden" and world.scope:mode(before) ~= "hidden" then
      paths[#paths + 1] = change.path
      if change.old_path then paths[#paths + 1] = change.old_path end
    end
  end
  if #paths == 0 then return "" end
  return world:need(world.repo:diff(parent.commit, record.commit, { paths = paths }))
end

return ask
