-- chat: a client of OpenAI-compatible /v1/chat/completions endpoints: several models, tried in turn; retries with
-- backoff; counts tokens and cost. No policy: the caller decides what to ask and what an answer is worth. A key comes
-- from the environment, stays in this client and is removed from what a server answers.
local endpoint = require "apsis.project.endpoint"
local http = require "apsis.http"
local json = require "apsis.json"
local messages = require "apsis.live.provider.shared.messages"
local random = require "apsis.random"
local reply = require "apsis.live.provider.chat.reply"
local secrets = require "apsis.project.secrets"
local suggest = require "apsis.suggest"
local wait = require "apsis.wait"

local chat = {}

local Client = {}
Client.__index = Client

local BASE_S, CAP_S = 1, 60
local CONNECT_S, SHORTEST_S = 30, 0.001
local MAX_BYTES = 64 * 1048576
local TOKEN_BYTES = 4 -- of usual text, if the server reports no count

-- The address of an endpoint's resource. base_url may end in /v1, in a slash, or be the resource's own.
function chat.address(base_url, resource)
  local base, query = base_url:match("^([^?#]*)(%??[^#]*)")
  base = base:gsub("/+$", ""):gsub("/chat/completions$", "")
  if base:find("^%a+://[^/]+$") then base = base .. "/v1" end
  return base .. "/" .. resource .. query
end

-- A model of the manifest, with the provider's defaults.
local function model_of(spec, given, secret)
  local own = given.api_key_env and "api_key_env"
  local name = given.api_key_env or (not given.base_url or given.base_url == spec.base_url) and spec.api_key_env or nil
  local key
  if name then
    key = secret(name)
    if not key or key == "" then
      return nil, ("%s: %s is not set; export it, or remove the line if the server takes no key"):format(own
        and ("provider.models (%s).api_key_env"):format(given.name)
        or "provider.api_key_env", name)
    end
    if key:find("[%c\127]") then
      return nil, "provider.api_key_env: " .. name .. " holds a control character (a line break?); export only the key"
    end
  end
  local base_url = given.base_url or spec.base_url
  return { name = given.name, weight = given.weight or 1, given = given, price = given.price, key = key, key_env = name,
    base_url = base_url, shown = base_url:match("^[^?#]*"), url = chat.address(base_url, "chat/completions"),
    account = base_url .. "\0" .. (key or ""), timeout_s = math.max(SHORTEST_S, given.timeout_sec or spec.timeout_sec
      or 600) }
end

-- options: secret(name) -> the value of an environment variable; for tests: request, sleep, now (like http.request,
-- wait.sleep, wait.time). client | nil, message.
function chat.open(spec, options)
  options = options or {}
  local self = setmetatable({ models = {}, by_name = {}, keys = {}, retries = spec.retries or 3, choice = spec.choice
    or "weighted",
    request = options.request or http.request, sleep = options.sleep or wait.sleep, now = options.now or wait.time },
      Client)
  for index, given in ipairs(spec.models) do
    local model, message = model_of(spec, given, options.secret or os.getenv)
    if not model then return nil, message end
    self.models[index], self.by_name[model.name] = model, model
    self.keys[#self.keys + 1] = model.key
  end
  return self
end

-- A text without any of the client's keys.
function Client:redact(text) return secrets.mask(text, self.keys, "[key]") end

-- The models in the order they are asked: the wanted one, or one chosen by weight; then the others as listed.
function Client:order(wanted, rng)
  local first = wanted and self.by_name[wanted]
  if wanted and not first then
    local names = {}
    for index, model in ipairs(self.models) do names[index] = model.name end
    return nil, ("the proposal's model %s is not in provider.models (%s)"):format(wanted, table.concat(names, ", "))
  end
  if not first and self.choice ~= "fixed" then
    local weights = {}
    for index, model in ipairs(self.models) do weights[index] = model.weight end
    first = rng:choice(self.models, weights)
  end
  local order = { first }
  for _, model in ipairs(self.models) do
    if model ~= first then order[#order + 1] = model end
  end
  return order
end

local function body_of(model, list)
  local given, body = model.given, { model = model.name, messages = list }
  if endpoint.reasons(tostring((given.parameters or {}).model or model.name)) then
    body.max_completion_tokens = given.max_tokens
  else
    body.temperature, body.top_p, body.max_tokens = given.temperature, given.top_p, given.max_tokens
  end
  for name, value in pairs(given.parameters or {}) do body[name] = value end
  return json.encode(body, { sorted = true })
end

local function headers_of(model)
  return { ["Content-Type"] = "application/json", Accept = "application/json", Authorization = model.key and "Bearer "
    .. model.key }
end

-- Tokens and US dollars of one reply; without a count from the server, tokens are estimated from bytes.
local function price(asked, model, made)
  if made.bytes and not (made.prompt_tokens and made.completion_tokens) then
    made.prompt_tokens = made.prompt_tokens or math.ceil(asked.bytes / TOKEN_BYTES)
    made.completion_tokens = made.completion_tokens or math.ceil(made.bytes / TOKEN_BYTES)
    made.estimated = true
  end
  local input, output = made.prompt_tokens or 0, made.completion_tokens or 0
  made.tokens = input + output
  made.cost = model.price and ((model.price.input or 0) * input + (model.price.output or 0) * output) / 1e6
    or made.told_cost or 0
end

-- Transfer errors that occur after the request was sent; others carry `sent` themselves.
local after_sending = { ETIMEDOUT = true, ERECV = true, ETOOBIG = true, EINTR = true }

-- Bytes of a partial or unreadable answer: the model did work and is paid, but at most for its limit. nil if it did
-- not.
local function lost_bytes(model, response, code, moved)
  local bytes = after_sending[code] and 0 or nil
  if response then bytes = response.status == 200 and response.body:find("^%s*{") and #response.body or nil
  elseif moved then bytes = moved.sent > 0 and moved.received or nil end
  return bytes and math.min(bytes, (model.given.max_tokens or math.huge) * TOKEN_BYTES)
end

-- One request: the result of reply.read with what it cost; recorded among the attempts.
local function request_once(self, asked, model)
  local began = wait.now()
  local response, message, code, moved = self.request { url = model.url, method = "POST", headers = headers_of(model),
    body = body_of(model, asked.list), timeout_s = model.timeout_s, connect_timeout_s = math.min(CONNECT_S,
      model.timeout_s), max_bytes = MAX_BYTES }
  local made = reply.read(response, message, code, function(text) return self:redact(text) end, self.now())
  if not (made.bytes or made.completion_tokens or made.told_cost) then
    made.bytes = lost_bytes(model, response, code, moved)
  end
  price(asked, model, made)
  if made.refused then
    made.error = ("%s (%s refuses %s)"):format(made.error, model.shown, model.key_env and "the key in " .. model.key_env
      or "requests without a key: name its variable in provider.api_key_env")
  end
  asked.attempts[#asked.attempts + 1] = { model = model.name, status = made.status, error = made.error,
    seconds = wait.now() - began,
    finish_reason = made.finish_reason, tokens = made.tokens, cost = made.cost, waited_s = asked.waited_s }
  asked.waited_s = nil
  for _, name in ipairs { "tokens", "cost" } do asked[name] = asked[name] + made[name] end
  for _, name in ipairs { "prompt_tokens", "completion_tokens" } do asked[name] = asked[name] + (made[name] or 0) end
  asked.estimated = asked.estimated or made.estimated
  if asked.spent then asked.spent(made.tokens, made.cost) end
  return made
end

-- Seconds before attempt n + 1: exponential with full jitter (Brooker, 2015), or the server's Retry-After if longer.
local function backoff_s(attempt, wait_s, rng)
  return math.max(rng:random() * math.min(CAP_S, BASE_S * 2 ^ (attempt - 1)), wait_s or 0)
end

-- Asks one model until it answers, a retry is pointless, or retries are used up. Returns its last attempt (nil: none),
-- and why no other may be made, if so.
local function ask_model(self, asked, model)
  local made
  for attempt = 1, self.retries + 1 do
    local may, why = true, nil
    if asked.may_ask then may, why = asked.may_ask(model.name) end
    if not may then return made, why end
    made = request_once(self, asked, model)
    if not made.error or not made.again or attempt > self.retries then break end
    local seconds = backoff_s(attempt, made.wait_s, asked.rng)
    asked.waited_s = seconds
    if not self.sleep(seconds) then return { error = "interrupted", interrupted = true } end
  end
  return made
end

-- Why no model answered, in one line: each with its last error, equal errors grouped.
local function summary(asked, failures)
  local parts = {}
  for index, failure in ipairs(failures) do
    local tries = 0
    for _, attempt in ipairs(asked.attempts) do tries = tries + (attempt.model == failure.model and 1 or 0) end
    local following = failures[index + 1]
    local alike = following and following.error == failure.error
    parts[#parts + 1] = failure.model .. (tries > 1 and (" (%d attempts)"):format(tries) or "")
      .. (alike and ", " or ": " .. failure.error .. (following and "; " or ""))
  end
  return table.concat(parts)
end

local function result_of(asked, more)
  for _, name in ipairs { "tokens", "cost", "prompt_tokens", "completion_tokens", "estimated", "attempts" } do
    more[name] = asked[name]
  end
  return more
end

-- Asks list (messages) of options.model, then of the others. Returns { text, model, finish_reason, tokens, cost (US
-- dollars), prompt_tokens, completion_tokens, estimated (true: some counts are estimates), attempts, output_tokens (of
-- this answer), tool_calls (nil: none) } or { error, refused (true: every endpoint refused its key), silent (true: no
-- model answered, not even uselessly), tokens, cost, attempts }. Failed attempts count; for an interrupted one its cost
-- is estimated from what was sent and received. options: model, rng (a stream), may_ask(model's name) -> true | nil,
-- why not: called before each attempt; spent(tokens, cost): after it.
function Client:ask(list, options)
  options = options or {}
  local asked = { list = list, bytes = messages.bytes(list), rng = options.rng or random.stream("chat"),
    spent = options.spent, may_ask = options.may_ask,
    attempts = {}, tokens = 0, cost = 0, prompt_tokens = 0, completion_tokens = 0 }
  local order, wrong = self:order(options.model, asked.rng)
  if not order then return result_of(asked, { error = wrong }) end
  local refused, failures, all_refused, silent, stopped = {}, {}, true, true, nil
  for _, model in ipairs(order) do
    if not refused[model.account] then
      local made, why = ask_model(self, asked, model)
      stopped = why
      if not made then break end
      if made.text then
        return result_of(asked, { text = made.text, model = model.name, finish_reason = made.finish_reason,
          output_tokens = made.completion_tokens, tool_calls = made.tool_calls })
      end
      failures[#failures + 1] = { model = model.name, error = made.error }
      refused[model.account] = made.refused
      all_refused = all_refused and made.refused
      silent = silent and not made.answered and not made.interrupted
      if made.interrupted or stopped then break end
    end
  end
  if stopped then
    return result_of(asked, { error = #failures > 0 and summary(asked, failures) .. "; " .. stopped or stopped,
      stopped = true })
  end
  return result_of(asked, { error = summary(asked, failures), refused = all_refused or nil,
    silent = silent or nil })
end

-- What asking model (nil: the dearest) with this many bytes may take: tokens, US dollars. longest: tokens of an answer
-- if the model has no limit.
function Client:estimate(name, bytes, longest)
  local tokens, usd = 0, 0
  for _, model in ipairs(self.models) do
    if model.name == name or not self.by_name[name] then
      local limits = model.given.parameters or {}
      local input = math.ceil(bytes / TOKEN_BYTES)
      local output = model.given.max_tokens or math.tointeger(limits.max_completion_tokens) or longest
      local rates = model.price or {}
      tokens = math.max(tokens, input + output)
      usd = math.max(usd, ((rates.input or 0) * input + (rates.output or 0) * output) / 1e6)
    end
  end
  return tokens, usd
end

-- The models to be asked that an endpoint's list lacks; a listed id may have a prefix or a tag that a request omits.
local function not_listed(self, account, list)
  local ids, known, missing = {}, {}, {}
  for _, entry in ipairs(list) do
    local id = type(entry) == "table" and entry.id
    if type(id) == "string" then
      ids[#ids + 1] = reply.line(id, function(text) return self:redact(text) end)
      for _, name in ipairs { id, id:match("^models/(.*)") or id, id:match("^(.*):latest$") or id } do
        known[name] = true
      end
    end
  end
  for _, model in ipairs(self.models) do
    if model.account == account and not known[model.name] then
      missing[#missing + 1] = ("model %s is not among them%s"):format(model.name, suggest.sentence(model.name, ids))
    end
  end
  return missing
end

-- Checks an endpoint's list of models: ok, detail.
local function models_said(self, account, body)
  local value = json.decode(body, true)
  local list = type(value) == "table" and type(value.data) == "table" and value.data
  if not list then return true, "HTTP 200" end
  local missing = not_listed(self, account, list)
  table.insert(missing, 1, ("%d model%s"):format(#list, #list == 1 and "" or "s"))
  return #missing == 1, table.concat(missing, "; ")
end

-- Asks every endpoint once for its models, within seconds; not ok also if a model to be asked is not listed. { { ok,
-- detail }... }; never contains a key.
function Client:probe(seconds)
  local found, seen = {}, {}
  for _, model in ipairs(self.models) do
    if not seen[model.account] then
      seen[model.account] = true
      local url = chat.address(model.base_url, "models")
      local response, message, code = self.request { url = url, headers = headers_of(model), timeout_s = seconds,
        connect_timeout_s = seconds, max_bytes = MAX_BYTES }
      local detail
      local ok = response ~= nil and response.status == 200
      if ok then
        ok, detail = models_said(self, model.account, response.body)
      else
        detail = reply.read(response, message, code, function(text) return self:redact(text) end, self.now()).error
      end
      found[#found + 1] = { ok = ok, detail = ("%s: %s; %s"):format(url:match("^[^?#]*"), detail,
        model.key_env and model.key_env .. " is set" or "no key is sent") }
    end
  end
  return found
end

return chat
