-- reply: parses one HTTP response of a chat endpoint: an answer, or why there is none and whether a retry may help.
-- Trusts nothing in it: the server wrote status, headers and body. Never asks, waits or logs. Called by chat.
local amount = require "apsis.live.provider.shared.amount"
local editline = require "apsis.edit.line"
local json = require "apsis.json"

local reply = {}

local LONGEST_ERROR = 300
local LONGEST_WAIT_S = 300 -- the longest Retry-After that is respected

-- Statuses that may pass by themselves, like 5xx.
local passing = { [408] = true, [409] = true, [425] = true, [429] = true }

-- Transfer errors that will not pass: a wrong address, a certificate, a reply too long.
local lasting = { EURL = true, ETLS = true, ETOOBIG = true, ENOLIB = true, EINVAL = true }

local months = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11,
  Dec = 12 }

-- Seconds since 1970 of a date such as "Wed, 21 Oct 2026 07:28:00 GMT" (the form of RFC 9110 that servers must send),
-- else nil. Days by the civil calendar counted from March (Hinnant, 2013).
function reply.date(text)
  local day, name, year, hour, minute, second = text:match("^%a+, (%d%d) (%a%a%a) (%d%d%d%d) (%d%d):(%d%d):(%d%d) GMT$")
  local month = months[name]
  if not month then return nil end
  year, day = tonumber(year), tonumber(day)
  if month <= 2 then year = year - 1 end
  local era = year // 400
  local of_era = year - era * 400
  local of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
  local days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
  return days * 86400 + tonumber(hour) * 3600 + tonumber(minute) * 60 + tonumber(second)
end

-- Seconds of a Retry-After, at most LONGEST_WAIT_S; nil if missing or invalid.
function reply.retry_after(headers, now)
  local text = headers and headers["retry-after"]
  if type(text) ~= "string" then return nil end
  text = editline.trim(text)
  local seconds = text:find("^%d+%.?%d*$") and tonumber(text)
  if not seconds then
    local date = reply.date(text)
    seconds = date and date - now
  end
  return seconds and math.min(LONGEST_WAIT_S, math.max(0, seconds)) or nil
end

-- A server's text in one line, without secrets, cut if it is long.
function reply.line(text, redact)
  text = redact(text):gsub("[%c\127]+", " "):gsub("%s+", " "):match("^ ?(.-) ?$")
  if #text > LONGEST_ERROR then
    text = text:sub(1, (utf8.offset(text, 0, LONGEST_ERROR) or LONGEST_ERROR + 1) - 1) .. "..."
  end
  return text
end

-- A server's error message in one line, and its code; "" without one.
local function complaint(body, value, redact)
  local said, code
  if type(value) == "table" then
    said = value.error or value.message or value.detail
    if type(said) == "table" then said, code = said.message or said.code or said.type, said.code or said.type end
  else
    said = body:match("<[tT][iI][tT][lL][eE]>%s*([^<]*)") or redact(body):sub(1, 4096):gsub("<[^<>]*>", " ")
  end
  return type(said) == "string" and reply.line(said, redact) or "", code
end

-- A response other than 200.
local function refusal(response, value, redact, now)
  local status = response.status
  local said, code = complaint(response.body, value, redact)
  local made = { error = ("HTTP %d%s"):format(status, said ~= "" and ": " .. said or ""), status = status }
  made.refused = status == 401 or status == 403 or nil
  if (passing[status] or status >= 500) and code ~= "insufficient_quota" then
    made.again, made.wait_s = "later", reply.retry_after(response.headers, now)
  end
  if status >= 300 and status < 400 then
    made.error = made.error .. " (a redirect, which is not followed: correct base_url)"
  end
  return made
end

-- A content is a text, or a list of parts of which only texts count.
local function text_of(content)
  if type(content) == "string" then return content end
  if type(content) ~= "table" then return "" end
  local parts = {}
  for _, part in ipairs(content) do
    local text = type(part) == "table" and (part.type == nil or part.type == "text" or part.type == "output_text")
      and part.text or part
    if type(text) == "string" then parts[#parts + 1] = text end
  end
  return table.concat(parts)
end

-- The first choice of a decoded body: message and finish reason; or nil.
local function choice_of(value)
  local choice = type(value.choices) == "table" and value.choices[1]
  if type(choice) ~= "table" or type(choice.message) ~= "table" then return nil end
  return choice.message, type(choice.finish_reason) == "string" and choice.finish_reason or nil
end

local MOST_CALLS, LONGEST_ARGUMENTS = 100, 65536 -- of the tool calls in an answer

-- A message's tool calls as { { name, arguments (as text) }... }, or nil. Only recorded: apsis offers no tools.
local function calls_of(message, redact)
  local calls = {}
  for index, call in ipairs(type(message.tool_calls) == "table" and message.tool_calls or {}) do
    local given = type(call) == "table" and call["function"]
    if type(given) == "table" and type(given.name) == "string" and index <= MOST_CALLS then
      local arguments = type(given.arguments) == "string" and given.arguments or ""
      calls[#calls + 1] = { name = reply.line(given.name, redact), arguments = redact(arguments):sub(1,
        LONGEST_ARGUMENTS) }
    end
  end
  return #calls > 0 and calls or nil
end

local function add_usage(made, value)
  local usage = type(value.usage) == "table" and value.usage or {}
  made.prompt_tokens, made.completion_tokens = amount.tokens(usage.prompt_tokens),
    amount.tokens(usage.completion_tokens)
  made.told_cost = amount.usd(usage.cost)
end

-- A 200 with a body that is an object.
local function answer(value, body, redact)
  local made = { status = 200 }
  add_usage(made, value)
  local message, finish = choice_of(value)
  if not message then
    local said = value.error and complaint(body, value, redact) or ""
    made.error, made.again = "the reply has no choices" .. (said ~= "" and ": " .. said or ""), "later"
    return made
  end
  local text = redact(text_of(message.content))
  made.finish_reason, made.bytes = finish and reply.line(finish, redact):sub(1, 40), #text
  made.answered, made.tool_calls = true, calls_of(message, redact)
  if finish == "length" then
    made.error = ("the answer was cut off (finish_reason length, %d bytes): raise max_tokens"):format(#text)
  elseif finish == "content_filter" then
    made.error = "the answer was withheld (finish_reason content_filter)"
  elseif not text:find("%S") then
    local refused = type(message.refusal) == "string" and reply.line(message.refusal, redact)
    made.error = refused and "the model refused: " .. refused or "the answer is empty"
    made.again = not refused and "later" or nil
  else
    made.text = text
  end
  return made
end

-- { text, finish_reason, prompt_tokens, completion_tokens, told_cost, status, bytes, tool_calls } of a response, with
-- the server's counts if it sent them; or { error, again = "later" | nil, wait_s, refused, interrupted, status } and
-- those counts. response, message and code are http.request's; redact(text) removes secrets; now: seconds since 1970.
function reply.read(response, message, code, redact, now)
  if not response then
    local made = { error = reply.line(tostring(message), redact), interrupted = code == "EINTR" or nil }
    if not lasting[code] and not made.interrupted then made.again = "later" end
    return made
  end
  local value = json.decode(response.body, true)
  if response.status ~= 200 then return refusal(response, value, redact, now) end
  if type(value) ~= "table" then
    local said = complaint(response.body, nil, redact)
    return { error = "the reply is not JSON: " .. (said ~= "" and said:sub(1, 80) or "it is empty"), again = "later",
      status = 200 }
  end
  return answer(value, response.body, redact)
end

return reply
