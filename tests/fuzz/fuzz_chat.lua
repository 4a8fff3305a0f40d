-- fuzz_chat: a server's responses, between lines `%%`: from `HTTP/1.1 STATUS` on with headers, `ERR CODE MESSAGE` for a transfer that
-- failed, anything else as a body. A chat provider asks for an edit over them, with retries and a second model. Whatever they say, there
-- is an answer or a reason; tokens and dollars are counted once, finite and not negative; and the key is nowhere.
local chat = require "apsis.live.provider.chat.client"
local fs = require "apsis.fs"
local json = require "apsis.json"
local provider = require "apsis.live.provider.chat"
local random = require "apsis.random"
local scratch = require "scratch"

local KEY, MOST = "sk-fuzz/0123456789", 1e15
local dir = scratch()
local sources = { { path = "a.lua", text = "local a = 1\nreturn a\n" }, { path = "b/c.txt", text = "one\ntwo\n" } }
local spec = { base_url = "http://127.0.0.1:9/v1", api_key_env = "KEY", retries = 1, repairs = 1, models = {
  { name = "small", max_tokens = 100, price = { input = 1, output = 2 } }, { name = "large" } } }

-- ---- a transport that says what the input says ----

local function response_of(text)
  local code, message = text:match "^ERR (%u+) ([^\n]*)"
  if code then return nil, code .. ": " .. message, code, { sent = 100, received = #text } end
  local status, head, body = text:match "^HTTP/1%.1 (%d%d%d)(.-)\n\n(.*)$"
  if not status then return { status = 200, headers = {}, body = text, seconds = 0 } end
  local headers = {}
  for name, value in head:gmatch "\n([%w-]+):[ \t]*([^\n]*)" do headers[name:lower()] = value end
  return { status = tonumber(status), headers = headers, body = body, seconds = 0 }
end

local function transport(bytes)
  local texts, asked = {}, 0
  for text in (bytes .. "\n%%\n"):gmatch "(.-)\n%%%%\n" do texts[#texts + 1] = text end
  return function(request)
    assert(json.decode(request.body or "{}") and request.headers.Authorization == "Bearer " .. KEY)
    asked = asked + 1
    return response_of(texts[(asked - 1) % #texts + 1])
  end
end

local function options(bytes)
  return { secret = function() return KEY end, request = transport(bytes), sleep = function(seconds)
    assert(seconds >= 0 and seconds <= 300)
    return true
  end, now = function() return 1700000000 end }
end

-- ---- what may come of it ----

local function check_text(text)
  assert(type(text) == "string" and not text:find(KEY, 1, true), "the key is in it")
end

local function check_amounts(made)
  assert(math.type(made.tokens) == "integer" and made.tokens >= 0 and made.tokens <= MOST, "tokens that are no count")
  assert(made.cost >= 0 and made.cost <= MOST, "a cost that is none")
end

local function check_calls(calls)
  for _, call in ipairs(calls or {}) do
    check_text(call.name)
    check_text(call.arguments)
  end
end

local function check_reply(made)
  check_amounts(made)
  for _, name in ipairs { "prompt_tokens", "completion_tokens" } do
    assert(math.type(made[name]) == "integer" and made[name] >= 0 and made[name] <= made.tokens, "tokens that are no count")
  end
  assert((made.text == nil) ~= (made.error == nil), "neither an answer nor a reason, or both")
  check_text(made.text or made.error)
  assert(made.text or not made.error:find "[%c\127]", "a reason that is no line")
  assert(not made.text or made.text:find "%S", "an answer that is empty")
  if made.finish_reason then check_text(made.finish_reason) end
  check_calls(made.tool_calls)
  for _, attempt in ipairs(made.attempts) do
    check_amounts(attempt)
    check_text(attempt.error or "")
  end
  json.encode(made)
end

-- What a client says of them, and of the list of models.
local function check_client(bytes)
  local client = assert(chat.open(spec, options(bytes)))
  local made = client:ask({ { role = "user", content = "hello" } }, { rng = random.stream(1, "chat") })
  check_reply(made)
  for _, found in ipairs(client:probe(1)) do
    assert(type(found.ok) == "boolean")
    check_text(found.detail)
    assert(not found.detail:find "%c", "a detail that is no line")
  end
end

local function check_answer(answer, taken)
  check_amounts(answer)
  assert(answer.tokens == taken.tokens and math.abs(answer.cost - taken.cost) <= 1e-6 * (1 + answer.cost), "not all was counted")
  assert(answer.edits or answer.error, "neither edits nor a reason")
  check_text(answer.error or "")
  for path, text in pairs(answer.edits or {}) do
    assert(type(path) == "string")
    check_text(text)
  end
  if answer.edits then assert(answer.plan:find "%S", "edits without a plan") end
  check_calls(answer.tool_calls)
  json.encode(answer)
end

-- What the provider makes of them, as edits and on the disk.
local function check_provider(bytes)
  local world = { seed = 1, sources = function() return sources end, base = function() return { id = "c0000" } end,
    manifest = { prompt = { answer = "either", max_kb = 256, include = {} } }, wanted = function() return 1 end,
    need = function(_, value, message) return assert(value, message) end, fail = function(_, message) check_text(message) end }
  local taken = { tokens = 0, cost = 0 }
  local function take(_, tokens, cost) taken.tokens, taken.cost = taken.tokens + tokens, taken.cost + cost end
  local slot = { dir = dir, number = 1, proposal = { operator = "edit", parents = { "c0000" } }, took = take,
    afford = function(_, tokens, cost)
      take(_, tokens, cost)
      return true
    end }
  local own = assert(provider.open(world, spec, options(bytes)))
  check_answer(own:propose(slot, "Make it better.")[1], taken)
  for _, name in ipairs(fs.list(dir)) do check_text(fs.read(dir .. "/" .. name)) end
end

return function(bytes)
  check_client(bytes)
  check_provider(bytes)
end
