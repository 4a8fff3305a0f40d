-- usage: what is read of each agent's output: text, tokens, dollars, session, model, refusals, errors; and what of an
-- output that is none.
local fs = require "apsis.fs"
local tap = require "tap"
local usage = require "apsis.live.provider.command.usage"

local dir = assert(fs.tempdir())

-- What is read of an agent's output; err: its standard error.
local function read(spec, out, err)
  assert(fs.write(dir .. "/out", out))
  assert(fs.write(dir .. "/err", err or ""))
  return usage.read(spec, { path = dir .. "/out", from = 0 }, { path = dir .. "/err", from = 0 })
end

local function facts(found)
  return { found.text, found.tokens, found.usd and ("%.6g"):format(found.usd), found.session, found.model,
    found.error and ("%s %s"):format(found.status, found.error) }
end

local CLAUDE = '{"type":"result","subtype":"%s","is_error":%s,"api_error_status":%s,"num_turns":3,"result":"Done.",'
  .. '"session_id":"s1","total_cost_usd":0.25,"usage":{"input_tokens":100,"cache_creation_input_tokens":20,'
  .. '"cache_read_input_tokens":800,"output_tokens":30},"modelUsage":{"opus":{"inputTokens":100}},'
  .. '"permission_denials":[{"tool_name":"Bash","tool_input":{}},{"tool_name":"Write"}]}\n'

tap.test("claude: one object, after what else it prints", function()
  local found = read({ preset = "claude" }, "a warning\n" .. CLAUDE:format("success", "false", "null"))
  tap.equal(facts(found), { "Done.", 950, "0.25", "s1", "opus" })
  tap.equal({ found.input, found.cached, found.output, found.turns }, { 920, 800, 30, 3 })
  tap.equal(found.denied, { "Bash", "Write" })
end)

tap.test("claude: an error has its status; a limit of the manifest's is none", function()
  tap.equal(read({ preset = "claude" }, CLAUDE:format("success", "true", "401")).error, "Done.")
  tap.equal(read({ preset = "claude" }, CLAUDE:format("success", "true", "401")).status, 401)
  for _, limit in ipairs { "error_max_turns", "error_max_budget_usd" } do
    local found = read({ preset = "claude" }, CLAUDE:format(limit, "true", "null"))
    tap.equal({ found.error, found.tokens }, { nil, 950 })
  end
end)

tap.test("codex: lines; its turns add up, a reconnection that went well is no error", function()
  local found = read({ preset = "codex" }, [[
{"type":"thread.started","thread_id":"t1"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"First."}}
{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":50}}
{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Last."}}
{"type":"turn.completed","usage":{"input_tokens":2000,"cached_input_tokens":0,"output_tokens":50}}
]])
  tap.equal(facts(found), { "Last.", 3100, nil, "t1" })
  tap.equal(read({ preset = "codex" }, '{"type":"turn.failed","error":{"message":"status 401"}}\n').error, "status 401")
end)

tap.test("codex with a price: dollars per million tokens, the cached ones apart", function()
  local out = '{"type":"turn.completed","usage":{"input_tokens":1000000,"cached_input_tokens":400000,'
    .. '"output_tokens":100000}}\n'
  tap.equal(read({ preset = "codex", price = { input = 2, output = 10 } }, out).usd, 3.0)
  tap.equal(read({ preset = "codex", price = { input = 2, cached = 0.5, output = 10 } }, out).usd, 2.4)
end)

tap.test("gemini: one object on several lines, or an error's on standard error", function()
  local found = read({ preset = "gemini" }, [[
Loaded cached credentials.
{
  "session_id": "g1",
  "response": "Done.",
  "stats": {"models": {"flash": {"tokens": {"prompt": 500, "cached": 100, "candidates": 20, "thoughts": 5, "total": 525}}}}
}
]])
  tap.equal(facts(found), { "Done.", 525, nil, "g1", "flash" })
  tap.equal({ found.input, found.cached, found.output }, { 500, 100, 25 })
  found = read({ preset = "gemini" }, "", 'YOLO mode\n{\n "session_id": "g2",\n "error": {"message": "bad", "code": 41}\n}\n')
  tap.equal(facts(found), { nil, nil, nil, "g2", nil, "41 bad" })
end)

tap.test("opencode: its steps add up; a model without a price costs an unknown amount", function()
  local step = '{"type":"step_finish","sessionID":"o1","part":{"tokens":{"input":100,"output":10,"reasoning":5,'
    .. '"cache":{"read":50,"write":0}},"cost":%s}}\n{"type":"text","part":{"text":"Done."}}\n'
  tap.equal(facts(read({ preset = "opencode" }, step:format(0.5) .. step:format(0.25))), { "Done.", 330, "0.75", "o1" })
  tap.equal(facts(read({ preset = "opencode" }, step:format(0))), { "Done.", 165, nil, "o1" })
  local found = read({ preset = "opencode" },
    '{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":429}}}\n')
  tap.equal({ found.error, found.status }, { "no", 429 })
end)

tap.test("pi: its messages add up; the last one says whether its model failed", function()
  local message = '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],'
    .. '"model":"m","usage":{"input":100,"output":10,"cacheRead":40,"cacheWrite":0,"cost":{"total":0.1}},'
    .. '"stopReason":"stop"}}\n'
  local start = '{"type":"session","id":"p1"}\n{"type":"message_update","message":{"usage":{"input":9}}}\n'
  tap.equal(facts(read({ preset = "pi" }, start .. message .. message)), { "Done.", 300, "0.2", "p1", "m" })
  local wrong = '{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error",'
    .. '"errorMessage":"401 no"}}\n'
  tap.equal(read({ preset = "pi" }, message .. wrong).error, "401 no")
  tap.equal(read({ preset = "pi" }, wrong .. message).error, nil)
end)

tap.test("the user's own command: a pattern's last match, a JSON pointer, or a known agent's format", function()
  local found = read({ usage = { tokens = "tokens: ([\\d,]+)", usd = "\\$([\\d.]+)" } }, "tokens: 5\n",
    "tokens: 1,250 for $0.75\n")
  tap.equal({ found.tokens, found.usd }, { 1250, 0.75 })
  found = read({ usage = { tokens = "/u/all", usd = "/usd" } }, 'x\n{"u":{"all":7},"usd":0.5}\n')
  tap.equal({ found.tokens, found.usd }, { 7, 0.5 })
  found = read({ usage = { tokens = "/u/1" } }, '{\n "u": [1, 9]\n}\n')
  tap.equal(found.tokens, 9)
  tap.equal(read({ usage = { format = "claude" } }, CLAUDE:format("success", "false", "null")).tokens, 950)
  tap.equal(read({ usage = { tokens = "t=(\\d+)" }, price = { input = 3, output = 9 } }, "t=1000000").usd, 3.0)
  tap.equal(read({}, "tokens: 5"), nil)
end)

tap.test("an output that is no such JSON, or has other types, counts nothing and raises nothing", function()
  for _, name in ipairs(usage.names) do
    for _, out in ipairs { "", "plain\n", "{", '{"type":', "[1]\n", '{"type":"result","usage":3,"result":{},"is_error":true}\n',
      '{"type":"turn.completed","usage":[]}\n{"type":"item.completed","item":"x"}\n{"type":"turn.failed"}\n',
      '{"type":"step_finish","part":{"tokens":"x","cost":"y"}}\n{"type":"error","error":5}\n{"type":"text"}\n',
      '{"type":"message_end","message":{"role":"assistant","content":"x","usage":[],"stopReason":"error"}}\n',
      '{"stats":{"models":[1,2]},"response":7,"error":"e"}\n',
      '{"type":"result","usage":{"input_tokens":-5,"output_tokens":1e400},"total_cost_usd":-1}\n' } do
      local found = read({ preset = name, price = { input = 1, output = 1 } }, out)
      tap.equal({ name, found.tokens or 0, found.usd or 0 }, { name, 0, 0 })
    end
  end
end)

fs.remove_tree(dir)
tap.done()
