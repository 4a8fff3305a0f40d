-- chat: the client of chat endpoints over a scripted transport: which model is asked when, what is retried, what is counted,
-- what is never said; the prompt as messages; and the manifest's keys.
local chat = require "apsis.live.provider.chat.client"
local fs = require "apsis.fs"
local json = require "apsis.json"
local manifest = require "apsis.project.manifest"
local messages = require "apsis.live.provider.shared.messages"
local random = require "apsis.random"
local reply = require "apsis.live.provider.chat.reply"
local tap = require "tap"
local tasks = require "apsis.core.tasks"
local wait = require "apsis.wait"

local SECRET = "sk-very/secret-0123456789"

local function contains(text, part)
  if not tostring(text):find(part, 1, true) then error(("%q does not contain %q"):format(tostring(text), part), 2) end
end

-- A response of HTTP: a table is sent as JSON.
local function http(status, body, headers)
  return { status = status, headers = headers or {}, body = type(body) == "table" and json.encode(body) or body or "", seconds = 0 }
end

local function said(text, more)
  local body = { choices = { { message = { role = "assistant", content = text }, finish_reason = "stop" } },
    usage = { prompt_tokens = 10, completion_tokens = 5 } }
  for key, value in pairs(more or {}) do body[key] = value end
  return http(200, body)
end

local function cut_off(text)
  return said(nil, { choices = { { message = { content = text }, finish_reason = "length" } } })
end

-- A client over a script: each request takes the next entry, the last one repeats. An entry is a response, { code, message } of a
-- transfer that failed, or a function of the request. client, what was requested, what was slept.
local function scripted(script, spec)
  local requests, slept = {}, {}
  spec = spec or {}
  spec.base_url, spec.models = spec.base_url or "http://h/v1", spec.models or { { name = "a" } }
  local client = assert(chat.open(spec, {
    secret = function(name) return name == "KEY" and SECRET or name == "OTHER" and "another-key-9876" or nil end,
    request = function(given)
      requests[#requests + 1] = given
      local entry = script[math.min(#requests, #script)]
      if type(entry) == "function" then entry = entry(given) end
      if entry.status then return entry end
      return nil, ("%s: %s"):format(entry[1], entry[2]), entry[1]
    end,
    sleep = function(seconds) slept[#slept + 1] = seconds; return true end,
    now = function() return 1700000000 end,
  }))
  return client, requests, slept
end

local hello = { { role = "user", content = "hello" } }

local function models_asked(requests)
  local names = {}
  for index, request in ipairs(requests) do names[index] = json.decode(request.body).model end
  return table.concat(names, " ")
end

tap.test("the address is base_url's, with or without /v1, final slash or the resource itself", function()
  for base, want in pairs {
    ["http://h:1/v1"] = "http://h:1/v1/chat/completions", ["http://h:1/v1/"] = "http://h:1/v1/chat/completions",
    ["http://h:1"] = "http://h:1/v1/chat/completions", ["http://h:1//"] = "http://h:1/v1/chat/completions",
    ["https://h/openai/v1"] = "https://h/openai/v1/chat/completions",
    ["https://h/v1beta/openai/"] = "https://h/v1beta/openai/chat/completions",
    ["http://h/v1/chat/completions"] = "http://h/v1/chat/completions",
    ["http://h/v1?version=2"] = "http://h/v1/chat/completions?version=2",
  } do tap.equal(chat.address(base, "chat/completions"), want) end
  tap.equal(chat.address("http://h/v1/", "models"), "http://h/v1/models")
end)

tap.test("a request has the model, its parameters as they are, the messages and the key", function()
  local client, requests = scripted({ said "yes" }, { api_key_env = "KEY", timeout_sec = 60, models = { { name = "a", temperature = 0.5,
    top_p = 0.9, max_tokens = 100, timeout_sec = 7, parameters = { seed = 3, reasoning = { effort = "low" } } } } })
  local answer = client:ask(hello)
  tap.equal({ answer.text, answer.model, answer.finish_reason }, { "yes", "a", "stop" })
  tap.equal(json.decode(requests[1].body), { model = "a", messages = hello, temperature = 0.5, top_p = 0.9, max_tokens = 100, seed = 3,
    reasoning = { effort = "low" } })
  tap.equal({ requests[1].url, requests[1].method, requests[1].timeout_s, requests[1].connect_timeout_s },
    { "http://h/v1/chat/completions", "POST", 7, 7 })
  tap.equal(requests[1].headers.Authorization, "Bearer " .. SECRET)
  client, requests = scripted({ said "yes" }, {})
  client:ask(hello)
  tap.equal({ requests[1].headers.Authorization, requests[1].timeout_s }, { nil, 600 })
end)

tap.test("a key that is not set or not one line is an error when the client is opened", function()
  local none = { secret = function() return nil end }
  local _, message = chat.open({ base_url = "http://h", api_key_env = "KEY", models = { { name = "a" } } }, none)
  tap.equal(message, "provider.api_key_env: KEY is not set; export it, or remove the line if the server takes no key")
  _, message = chat.open({ base_url = "http://h", models = { { name = "a", api_key_env = "MINE" } } }, none)
  tap.equal(message, "provider.models (a).api_key_env: MINE is not set; export it, or remove the line if the server takes no key")
  _, message = chat.open({ base_url = "http://h", api_key_env = "KEY", models = { { name = "a" } } },
    { secret = function() return "abc\r\nX-Evil: 1" end })
  contains(message, "KEY holds a control character")
  tap.equal(message:find("Evil"), nil)
end)

tap.test("the provider's key is not sent to a model's other endpoint", function()
  local client, requests = scripted({ http(500), http(500), said "yes" }, { api_key_env = "KEY", retries = 0, choice = "fixed", models = {
    { name = "a" }, { name = "b", base_url = "http://elsewhere/v1" },
    { name = "c", base_url = "http://third/v1", api_key_env = "OTHER" } } })
  tap.equal(client:ask(hello).model, "c")
  tap.equal({ requests[1].headers.Authorization, requests[2].headers.Authorization, requests[3].headers.Authorization },
    { "Bearer " .. SECRET, nil, "Bearer another-key-9876" })
  tap.equal(requests[2].headers.Authorization, nil)
end)

tap.test("what may pass is asked again with growing, jittered waits; then the next model is asked", function()
  for _, failure in ipairs { http(500), http(503, "<html><title>Bad\27[2J</title>"), http(408), http(409), http(425), http(429),
    { "ETIMEDOUT", "no answer in 3 s" }, { "ECONNECT", "refused" }, { "ERECV", "cut off" }, http(200, "garbage"), http(200, ""),
    http(200, "[]"), http(200, { choices = json.array {} }), http(200, { error = { message = "overloaded" } }), said "", said " \n" } do
    local client, requests, slept = scripted({ failure, failure, failure, failure, said "yes" }, { choice = "fixed",
      models = { { name = "a" }, { name = "b" } } })
    local answer = client:ask(hello, { rng = random.stream(1) })
    local what = type(failure[1]) == "string" and failure[1] or failure.status .. " " .. failure.body
    tap.equal({ answer.text, answer.model, #answer.attempts }, { "yes", "b", 5 }, what)
    tap.equal(models_asked(requests), "a a a a b", what)
    tap.equal(#slept, 3, what)
    for index, seconds in ipairs(slept) do
      if not (seconds >= 0 and seconds <= 2 ^ (index - 1)) then error(("%s: wait %d is %g s"):format(what, index, seconds)) end
    end
    tap.equal(answer.attempts[1].error:find("[%c]"), nil)
  end
end)

tap.test("the waits are drawn from the stream: the same again, and never over a minute", function()
  local function waits(key)
    local client, _, slept = scripted({ http(500) }, { retries = 12 })
    client:ask(hello, { rng = random.stream(key) })
    return slept
  end
  tap.equal(waits "x", waits "x")
  tap.equal(json.encode(waits "x") == json.encode(waits "y"), false)
  tap.equal(#waits "x", 12)
  for _, seconds in ipairs(waits "x") do tap.equal(seconds <= 60, true) end
end)

tap.test("Retry-After is honoured in seconds and as a date, at most 300 s, and nonsense is passed over", function()
  for header, want in pairs { ["17"] = 17, [" 2.5 "] = 2.5, ["100000"] = 300, ["Tue, 14 Nov 2023 22:14:20 GMT"] = 60 } do
    local client, _, slept = scripted({ http(429, "", { ["retry-after"] = header }), said "yes" })
    tap.equal(client:ask(hello).text, "yes")
    tap.equal(slept, { want }, header)
  end
  for _, header in ipairs { "soon", "-5", "", "Tue, 14 Xxx 2023 22:14:20 GMT", "Tue, 14 Nov 1994 22:14:20 GMT", "1e9999", "nan" } do
    local client, _, slept = scripted({ http(503, "", { ["retry-after"] = header }), said "yes" })
    tap.equal(client:ask(hello).text, "yes")
    tap.equal(#slept == 1 and slept[1] <= 1, true, header)
  end
end)

tap.test("dates are counted by the calendar", function()
  for text, want in pairs { ["Thu, 01 Jan 1970 00:00:00 GMT"] = 0, ["Tue, 29 Feb 2000 12:00:00 GMT"] = 951825600,
    ["Sun, 22 Nov 2026 02:01:36 GMT"] = 1795312896, ["Mon, 01 Mar 2100 00:00:00 GMT"] = 4107542400 } do
    tap.equal(reply.date(text), want, text)
  end
  tap.equal(reply.date "Sunday, 06-Nov-94 08:49:37 GMT", nil)
end)

tap.test("what will not pass is not asked again: the next model is", function()
  for _, failure in ipairs { http(400, { error = { message = "bad request" } }), http(404, { error = "no such model" }), http(402),
    http(413), http(422), http(301), { "ETLS", "certificate" }, { "ETOOBIG", "over 64 MB" }, { "EURL", "malformed" },
    http(429, { error = { message = "no money left", code = "insufficient_quota" } }),
    said(nil, { choices = { { message = { content = "part of" }, finish_reason = "content_filter" } } }),
    said(nil, { choices = { { message = { content = json.null, refusal = "I cannot" }, finish_reason = "stop" } } }) } do
    local client, requests, slept = scripted({ failure, said "yes" }, { choice = "fixed", models = { { name = "a" }, { name = "b" } } })
    tap.equal(client:ask(hello).text, "yes")
    tap.equal({ models_asked(requests), #slept }, { "a b", 0 }, failure.body or failure[1])
  end
end)

tap.test("a refused key is said at once, and not tried with another model of the same endpoint", function()
  for _, status in ipairs { 401, 403 } do
    local refusal = http(status, { error = { message = "Incorrect API key provided: " .. SECRET } })
    local client, requests, slept = scripted({ refusal }, { api_key_env = "KEY", choice = "fixed",
      models = { { name = "a" }, { name = "b" } } })
    local answer = client:ask(hello)
    tap.equal({ models_asked(requests), #slept, answer.refused, answer.text }, { "a", 0, true, nil })
    contains(answer.error, ("HTTP %d: Incorrect API key provided: [key] (http://h/v1 refuses the key in KEY)"):format(status))
    client, requests = scripted({ refusal, said "yes" }, { api_key_env = "KEY", choice = "fixed",
      models = { { name = "a" }, { name = "b" }, { name = "c", base_url = "http://other" } } })
    answer = client:ask(hello)
    tap.equal({ models_asked(requests), answer.text, answer.refused }, { "a c", "yes", nil })
  end
end)

tap.test("a client says that nobody answered; what is of no use is an answer", function()
  for _, failure in ipairs { { "ECONNECT", "refused" }, http(500), http(404), http(429), http(200, "garbage"), http(401) } do
    local client = scripted({ failure }, { retries = 0, models = { { name = "a" } } })
    tap.equal(client:ask(hello).silent, true, failure.body or failure[1])
  end
  local useless = said(nil, { choices = { { message = { content = "part of" }, finish_reason = "content_filter" } } })
  for _, failure in ipairs { cut_off "half of", useless } do
    local client = scripted({ failure }, { retries = 0, models = { { name = "a" } } })
    tap.equal(client:ask(hello).silent, nil)
  end
  local client = scripted({ cut_off "half of", http(500) }, { retries = 0, choice = "fixed", models = { { name = "a" }, { name = "b" } } })
  tap.equal(client:ask(hello).silent, nil, "one of two models said something")
end)

tap.test("a truncated answer is a failure: the next model is asked at once, and no model twice; what it took is counted", function()
  local client, requests, slept = scripted({ cut_off "half of", said "whole" }, { choice = "fixed",
    models = { { name = "a" }, { name = "b" } } })
  local answer = client:ask(hello)
  tap.equal({ answer.text, models_asked(requests), #slept, answer.tokens }, { "whole", "a b", 0, 30 })
  client, requests = scripted({ cut_off "half of" })
  answer = client:ask(hello)
  tap.equal({ answer.text, answer.tokens, #requests }, { nil, 15, 1 })
  contains(answer.error, "finish_reason length")
end)

tap.test("the wanted model is asked first, then the others in order; one that is not known is an error", function()
  local spec = { retries = 0, models = { { name = "a" }, { name = "b" }, { name = "c" } } }
  local client, requests = scripted({ http(500) }, spec)
  local answer = client:ask(hello, { model = "b" })
  tap.equal(models_asked(requests), "b a c")
  tap.equal(answer.error, "b, a, c: HTTP 500")
  client, requests = scripted({ said "yes" }, spec)
  contains(client:ask(hello, { model = "gpt" }).error, "model gpt is not in provider.models (a, b, c)")
  tap.equal(#requests, 0)
end)

tap.test("without a wish the first model is one by weight, from the stream; with fixed the first", function()
  local client, requests = scripted({ said "yes" }, { models = { { name = "a", weight = 1 }, { name = "b", weight = 9 } } })
  local rng = random.stream(4)
  for _ = 1, 200 do client:ask(hello, { rng = rng }) end
  local _, often = models_asked(requests):gsub("b", "b")
  tap.equal(often > 160 and often < 200, true, often)
  client, requests = scripted({ said "yes" }, { choice = "fixed", models = { { name = "a", weight = 1 }, { name = "b", weight = 9 } } })
  for _ = 1, 20 do client:ask(hello, { rng = rng }) end
  tap.equal(models_asked(requests):find("b"), nil)
end)

tap.test("usage is counted and priced, also of attempts that failed; untold it is estimated and said to be", function()
  local client = scripted({ cut_off "half", said "yes" }, { models = {
    { name = "a", price = { input = 2, output = 10 } }, { name = "b", price = { input = 2, output = 10 } } } })
  local told = {}
  local answer = client:ask(hello, { spent = function(tokens, cost) told[#told + 1] = { tokens, cost } end })
  tap.equal({ answer.prompt_tokens, answer.completion_tokens, answer.tokens, answer.estimated }, { 20, 10, 30, nil })
  tap.equal(told, { { 15, 70 / 1e6 }, { 15, 70 / 1e6 } }, "each attempt is told of")
  tap.equal(math.abs(answer.cost - (20 * 2 + 10 * 10) / 1e6) < 1e-12, true)
  client = scripted({ said(("x"):rep(41), { usage = json.null }) })
  answer = client:ask({ { role = "user", content = ("y"):rep(400) } })
  tap.equal({ answer.prompt_tokens, answer.completion_tokens, answer.estimated, answer.cost }, { 100, 11, true, 0 })
  for _, wrong in ipairs { -1, 1e300, 0.5, "7", json.null } do
    client = scripted({ said("yes", { usage = { prompt_tokens = wrong, completion_tokens = 5 } }) })
    answer = client:ask(hello)
    tap.equal({ answer.prompt_tokens, answer.completion_tokens, answer.estimated }, { 2, 5, true })
  end
  client = scripted({ said("yes", { usage = { prompt_tokens = 1, completion_tokens = 1, cost = 0.25 } }) })
  tap.equal(client:ask(hello).cost, 0.25)
  for _, wrong in ipairs { -1, 1e308, "7" } do -- two of the greatest are infinite
    client = scripted({ cut_off "half", said("yes", { usage = { cost = wrong } }) }, { models = { { name = "a" }, { name = "b" } } })
    tap.equal(client:ask(hello).cost, 0)
  end
end)

tap.test("what was lost on its way was asked for, and is estimated; what was never sent costs nothing", function()
  local prompt = { { role = "user", content = ("y"):rep(400) } }
  local function took(entry, moved, model)
    model = model or {}
    model.name, model.price = "a", { input = 2, output = 10 }
    local client = scripted({ entry }, { retries = 0, models = { model } })
    local inner = client.request
    client.request = function(given)
      local response, message, code = inner(given)
      return response, message, code, moved
    end
    local answer = client:ask(prompt)
    return { answer.prompt_tokens, answer.completion_tokens, answer.estimated or false, math.floor(answer.cost * 1e6 + 0.5) }
  end
  for _, code in ipairs { "ETIMEDOUT", "ERECV", "ETOOBIG" } do
    tap.equal(took { code, "lost" }, { 100, 0, true, 200 }, code)
    tap.equal(took({ code, "lost" }, { sent = 500, received = 41 }), { 100, 11, true, 310 }, code)
    tap.equal(took({ code, "lost" }, { sent = 500, received = 41 }, { max_tokens = 5 }), { 100, 5, true, 250 }, code)
    tap.equal(took({ code, "never sent" }, { sent = 0, received = 0 }), { 0, 0, false, 0 }, code)
  end
  for _, code in ipairs { "ECONNECT", "ERESOLVE", "ETLS", "EURL" } do tap.equal(took { code, "no" }, { 0, 0, false, 0 }, code) end
  tap.equal(took(http(200, '{"choices": [{"message": {"content": "half an an')), { 100, 12, true, 320 })
  for _, response in ipairs { http(500, "{"), http(429, { error = "wait" }), http(200, "<html>") } do
    tap.equal(took(response), { 0, 0, false, 0 }, response.body)
  end
end)

tap.test("before each request the client asks whether it may; what may not be asked ends it with what was wrong before", function()
  local log = {}
  local function ask(script, allowed)
    log = {}
    local client, requests = scripted(script, { retries = 1, choice = "fixed", models = { { name = "a" }, { name = "b" } } })
    local answer = client:ask(hello, {
      may_ask = function(name)
        log[#log + 1] = name
        if #log > allowed then return nil, "no money" end
        return true
      end,
      spent = function(tokens) log[#log] = log[#log] .. tokens end })
    return answer, models_asked(requests)
  end
  local answer, asked = ask({ http(500), cut_off "half", said "yes" }, 9)
  tap.equal({ answer.text, asked, log }, { "yes", "a a b", { "a0", "a15", "b15" } })
  answer, asked = ask({ http(500) }, 3)
  tap.equal({ answer.error, asked, answer.stopped, log[4] }, { "a (2 attempts), b: HTTP 500; no money", "a a b", true, "b" })
  answer, asked = ask({ http(401) }, 0)
  tap.equal({ answer.error, asked, answer.refused, answer.silent }, { "no money", "", nil, nil })
end)

tap.test("content may be a list of parts; reasoning is passed over", function()
  local function with(message) return said(nil, { choices = { { message = message, finish_reason = "stop" } } }) end
  local client = scripted({ with { content = { { type = "text", text = "one " }, { type = "image_url" },
    { type = "text", text = "two" } } } })
  tap.equal(client:ask(hello).text, "one two")
  client = scripted({ with { content = "this", reasoning_content = "hmm", reasoning = "hmm" } })
  tap.equal(client:ask(hello).text, "this")
end)

tap.test("replies of any shape raise nothing", function()
  local shapes = { "null", "1", '"text"', "{}", '{"choices":1}', '{"choices":[1]}', '{"choices":[{}]}', '{"choices":[{"message":1}]}',
    '{"choices":[{"message":{"content":1}}]}', '{"choices":[{"message":{"content":[1,{"text":2},{"type":"text"}]}}]}',
    '{"choices":{"1":2}}', '{"error":1}', '{"error":{"message":{}}}', '{"error":{"message":null,"code":5}}', '{"message":[]}',
    '{"usage":[]}',
    '{"choices":[{"message":{"content":"x"},"finish_reason":7}],"usage":{"cost":"a"}}', "\255\254", ("["):rep(5000) }
  for _, body in ipairs(shapes) do
    for _, status in ipairs { 200, 400, 500, 204, 302, 600 } do
      local answer = scripted({ http(status, body) }, { retries = 0 }):ask(hello)
      tap.equal(type(answer.text or answer.error), "string", body)
    end
  end
end)

tap.test("a key that a server echoes is taken out of errors and answers, also as JSON writes it", function()
  local escaped = SECRET:gsub("/", "\\/")
  for _, entry in ipairs { http(400, { error = { message = "got " .. SECRET } }), http(500, "<p>" .. SECRET), http(400, "raw " .. escaped),
    { "ERECV", "while sending Bearer " .. SECRET }, http(200, "nonsense " .. SECRET),
    http(400, { error = { message = ("x"):rep(295) .. SECRET } }), http(500, ("<p></p>"):rep(583) .. SECRET) } do
    local answer = scripted({ entry }, { api_key_env = "KEY", retries = 0 }):ask(hello)
    for size = 8, #SECRET do
      if json.encode(answer):find(SECRET:sub(1, size), 1, true) or answer.error:find(escaped:sub(1, size), 1, true) then
        error("the key is in " .. json.encode(answer))
      end
    end
  end
  local answer = scripted({ said("the key is " .. SECRET .. " and " .. SECRET .. ".") }, { api_key_env = "KEY" }):ask(hello)
  tap.equal(answer.text, "the key is [key] and [key].")
  local call = { ["function"] = { name = "f", arguments = ("x"):rep(65536 - 10) .. SECRET } } -- as much as is kept ends in the key
  answer = scripted({ said(nil, { choices = { { message = { content = "so", tool_calls = { call } }, finish_reason = "stop" } } }) },
    { api_key_env = "KEY", retries = 0 }):ask(hello)
  tap.equal(answer.tool_calls[1].arguments:sub(-8), "xxx[key]")
end)

tap.test("an interrupt ends the asking", function()
  local client, requests = scripted({ { "EINTR", "interrupted by SIGINT" } }, { models = { { name = "a" }, { name = "b" } } })
  contains(client:ask(hello).error, "interrupted")
  tap.equal(#requests, 1)
  client, requests = scripted({ http(500) }, { models = { { name = "a" }, { name = "b" } } })
  client.sleep = function() return nil, "EINTR: interrupted", "EINTR" end
  contains(client:ask(hello).error, "interrupted")
  tap.equal(#requests, 1)
end)

tap.test("an estimate takes the wanted model's longest answer and price, or the dearest", function()
  local client = scripted({ said "x" }, { models = { { name = "a", max_tokens = 1000, price = { input = 1, output = 2 } },
    { name = "b", price = { input = 10, output = 20 }, parameters = { max_completion_tokens = 500 } }, { name = "c" } } })
  tap.equal({ client:estimate("a", 400, 4096) }, { 1100, (100 * 1 + 1000 * 2) / 1e6 })
  tap.equal({ client:estimate("b", 400, 4096) }, { 600, (100 * 10 + 500 * 20) / 1e6 })
  tap.equal({ client:estimate("c", 400, 4096) }, { 4196, 0.0 })
  tap.equal({ client:estimate(nil, 400, 4096) }, { 4196, (100 * 10 + 500 * 20) / 1e6 })
end)

tap.test("a probe asks each endpoint once for its models and never says the key", function()
  local client, requests = scripted({ http(200, { data = { { id = "a" }, { id = "b" } } }), http(401, { error = "wrong " .. SECRET }) }, {
    api_key_env = "KEY", models = { { name = "a" }, { name = "b" }, { name = "c", base_url = "http://other", api_key_env = "KEY" } } })
  local found = client:probe(5)
  tap.equal(found, { { ok = true, detail = "http://h/v1/models: 2 models; KEY is set" },
    { ok = false, detail = "http://other/v1/models: HTTP 401: wrong [key]; KEY is set" } })
  tap.equal({ #requests, requests[1].method, requests[1].timeout_s }, { 2, nil, 5 })
end)

tap.test("a probe warns of a model that the endpoint does not list; an id may have a prefix or a tag", function()
  local function probe(ids, ...)
    local data, models = {}, {}
    for index, id in ipairs(ids) do data[index] = { id = id } end
    for index, name in ipairs { ... } do models[index] = { name = name } end
    return (scripted({ http(200, { data = data }) }, { models = models })):probe(5)
  end
  tap.equal(probe({ "models/big", "small:latest", 7 }, "big", "small"), { { ok = true,
    detail = "http://h/v1/models: 3 models; no key is sent" } })
  tap.equal(probe({ "gpt-mini" }, "gpt-mini", "gpt-mni", "zzzzzz"), { { ok = false, detail = "http://h/v1/models: 1 model; "
    .. 'model gpt-mni is not among them; did you mean "gpt-mini"?; model zzzzzz is not among them; no key is sent' } })
  tap.equal(probe({}, "a")[1].ok, false)
end)

tap.test("a prompt is a text or messages; as text each message stands under its role", function()
  tap.equal(messages.list "do it", { { role = "user", content = "do it" } })
  tap.equal(messages.list { { role = "system", content = "be brief" }, "do it" },
    { { role = "system", content = "be brief" }, { role = "user", content = "do it" } })
  for _, wrong in ipairs { {}, { {} }, { { role = "user" } }, { { role = "a\nb", content = "x" } }, { { role = 1, content = "x" } },
    { { role = "user", content = { 1 } } } } do
    local list, message = messages.list(wrong)
    tap.equal(list, nil)
    tap.matches(message, "prompt")
  end
  tap.equal(messages.text "as it is", "as it is")
  tap.equal(messages.text { { role = "system", content = "one" }, { role = "user", content = "two\n" } },
    "--- system ---\none\n--- user ---\ntwo\n")
end)

tap.test("in a task several askings go on side by side, and their results keep their order", function()
  local log, results, other = {}, nil, false
  local scheduler = tasks.new()
  local function body(name, rounds)
    return function()
      log[#log + 1] = "begin " .. name
      for _ = 1, rounds do wait.sleep(0.001) end
      log[#log + 1] = "end " .. name
      return name
    end
  end
  scheduler:spawn(function() results = tasks.together { body("a", 30), body("b", 20), body("c", 0) } end)
  scheduler:spawn(function() other = true end)
  tap.equal(scheduler:run(function() return false end), true)
  tap.equal({ results, other }, { { "a", "b", "c" }, true })
  tap.equal(table.concat(log, ", ", 1, 2), "begin a, begin b")
  tap.equal(tasks.together { body("d", 1), body("e", 0) }, { "d", "e" }, "outside of a task one after another")
  tap.equal(table.concat(log, ", ", 7), "begin d, end d, begin e, end e")
  tap.equal(tasks.together {}, {})
end)

tap.test("an error in one of several askings is the scheduler's", function()
  local scheduler = tasks.new()
  scheduler:spawn(function() tasks.together { function() wait.sleep(0.001) end, function() error({ fatal = true }, 0) end } end)
  local ok, raised = pcall(scheduler.run, scheduler, function() return false end)
  scheduler:abandon()
  tap.equal({ ok, type(raised) == "table" and raised.fatal }, { false, true })
end)

-- ---- the manifest ----

local root <const> = fs.realpath(fs.tempdir("apsis-chat-"))
local minimal = "version: 1\nfiles: [{path: a.lua, mode: writable}]\nverification: {commands: [{run: ./m.sh}]}\nmetric: {name: score}\n"

local function load(provider)
  assert(fs.write(root .. "/manifest.yaml", minimal .. "provider: " .. provider .. "\n"))
  return manifest.load(root .. "/manifest.yaml")
end

local function error_of(provider)
  local made, errors = load(provider)
  if made then error("accepted: " .. provider, 2) end
  tap.equal(#errors, 1, table.concat(errors, "\n"))
  return errors[1]
end

tap.test("a chat provider's keys come back with their defaults", function()
  local made = assert(load "{base_url: 'http://h/v1', models: [m]}").provider
  tap.equal(made, { kind = "chat", base_url = "http://h/v1", models = { { name = "m", weight = 1 } }, choice = "weighted", repairs = 1,
    retries = 3, timeout_sec = 600 })
  made = assert(load [[{kind: chat, choice: ucb, repairs: 0, retries: 0, timeout_sec: 9, models: [{name: m, base_url: "https://h", top_p: 1,
    temperature: 0, max_tokens: 5, timeout_sec: 2.5, api_key_env: K, price: {output: 2.5}, parameters: {seed: 1, stop: [a, b]}}]}]])
  tap.equal(made.provider, { kind = "chat", choice = "ucb", repairs = 0, retries = 0, timeout_sec = 9, models = { { name = "m",
    base_url = "https://h", top_p = 1, temperature = 0, max_tokens = 5, timeout_sec = 2.5, api_key_env = "K", weight = 1,
    price = { input = 0, output = 2.5 }, parameters = { seed = 1, stop = { "a", "b" } } } } })
end)

tap.test("a chat provider's errors name the key and the remedy", function()
  for provider, part in pairs {
    ["{kind: chat, models: [m]}"] = "manifest.yaml:5: provider.base_url: is required if kind is chat, for model 'm'",
    ["{kind: chat, base_url: 'http://h'}"] = "provider.models: is required if kind is chat: the models",
    ["{base_url: 'http://h', models: []}"] = "provider.models: at least one model is needed; write models: [NAME]",
    ["{base_url: 'ftp://h', models: [m]}"] = "provider.base_url: must be an http:// or https:// address",
    ["{base_url: 'http://me:pw@h', models: [m]}"] = "provider.base_url: must not hold a user or password",
    ["{base_url: 'http://h', models: [m, m]}"] = "provider.models[2].name: 'm' is at",
    ["{base_url: 'http://h', models: [{weight: 1}]}"] = "provider.models[1].name: is required",
    ["{base_url: 'http://h', models: [{name: m, weight: 0}]}"] = "provider.models[1].weight: must be a number above 0",
    ["{base_url: 'http://h', models: [{name: m, top_p: 2}]}"] = "provider.models[1].top_p: must be a number",
    ["{base_url: 'http://h', models: [{name: m, price: {input: -1}}]}"] = "provider.models[1].price.input: must be a number",
    ["{base_url: 'http://h', models: [{name: m, parameters: [1]}]}"] = "provider.models[1].parameters: must be a mapping",
    ["{base_url: 'http://h', models: [{name: m, parameters: {stream: true}}]}"] = "parameters.stream: cannot be set: apsis reads whole",
    ["{base_url: 'http://h', models: [{name: m, temprature: 1}]}"] = "did you mean 'temperature'?",
    ["{base_url: 'http://h', models: [m], repairs: -1}"] = "provider.repairs: must be a whole number, 0 or more",
    ["{base_url: 'http://h', models: [m], choice: best}"] = "provider.choice: must be one of fixed, weighted, ucb",
    ["{base_url: 'http://h', models: [m], preset: claude}"] = "provider.base_url: does not belong to kind command",
    ["{kind: lua, use: a.lua, choice: ucb}"] = "provider.choice: does not belong to kind lua",
  } do
    local made, errors = load(provider)
    if made then error("accepted: " .. provider) end
    contains(table.concat(errors, "\n"), part)
  end
  local message = error_of "{base_url: 'http://h', api_key_env: sk-abcdef123, models: [m]}"
  contains(message, "provider.api_key_env: must be the name of an environment variable")
  tap.equal(message:find("abcdef"), nil)
end)

fs.remove_tree(root)
tap.test("a prompt is kept once: its text gives its messages back, or the messages are kept beside it", function()
  for _, list in ipairs { { { role = "user", content = "x\ny" } }, { { role = "system", content = "a\n\n" },
    { role = "user", content = "--- b\n--- c --- \n" } } } do
    local text = #list == 1 and list[1].content or messages.text(list)
    tap.equal(messages.are_in(text, list), true)
    tap.equal(messages.read(text), list)
  end
  local open = { { role = "system", content = "a" }, { role = "user", content = "b\n" } }
  tap.equal(messages.are_in(messages.text(open), open), false)
  local marked = { { role = "system", content = "a\n--- user ---\n" }, { role = "user", content = "b\n" } }
  tap.equal(messages.are_in(messages.text(marked), marked), false)
  local single = { { role = "user", content = "--- system ---\nx\n" } }
  tap.equal(messages.are_in(single[1].content, single), false)
end)

tap.test("OpenAI's reasoning models get max_completion_tokens, and neither temperature nor top_p", function()
  for name, reasons in pairs { ["gpt-5-mini"] = true, ["gpt-5"] = true, ["openai/o3"] = true, ["o4-mini"] = true, ["O1"] = true,
    ["gpt-4o"] = false, ["ollama"] = false, ["o3x"] = false, ["gpt-50"] = false, ["qwen/o"] = false } do
    local sent
    local client = assert(chat.open({ base_url = "http://127.0.0.1:1/v1", retries = 0,
      models = { { name = name, temperature = 0.7, top_p = 0.9, max_tokens = 100 } } }, { request = function(request)
      sent = json.decode(request.body)
      return nil, "no network", "ECONNREFUSED"
    end }))
    client:ask { { role = "user", content = "x" } }
    tap.equal({ sent.max_completion_tokens == 100, sent.max_tokens == nil, sent.temperature == nil, sent.top_p == nil },
      { reasons, reasons, reasons, reasons }, name)
  end
end)

tap.done()
