-- failure: why an agent's run failed, in a line for people: the kind of failure (not logged in, an unknown model, a
-- limit, a missing program, a hang) and the agent's own last telling line. Of a limit: how long to wait.
local clock = require "apsis.core.clock"
local editline = require "apsis.edit.line"
local json = require "apsis.json"
local limits = require "apsis.live.cage.limits"
local presets = require "apsis.live.provider.command.presets"

local failure = {}

local LONGEST = 300 -- bytes of a reason
local FIRST_WAIT_S, LONGEST_WAIT_S = 30, 900 -- for a limit that names no time

-- Kinds in the order in which they are looked for: by HTTP status, or by words (lower case) in the agent's message.
local kinds = {
  { name = "rate", status = { [429] = true, [529] = true }, words = { "rate limit", "rate_limit", "too many requests",
    "resource_exhausted", "overloaded" },
    text = "%s is held back by a rate limit" },
  { name = "session", words = { "usage limit", "session limit", "weekly limit", "hit your limit", "limit reached",
    "insufficient_quota", "quota exceeded", "exceeded your current quota" },
    text = "%s has reached a usage limit" },
  { name = "model", words = { "unknown model", "model not found", "model_not_found", "modelnotfound", "invalid model",
    "no such model", "requested model", "does not exist or you do not have access", "issue with the selected model",
    "model is not supported", "not a valid model" },
    text = "%s does not know the model", remedy = "change `model` in the manifest" },
  { name = "login", status = { [401] = true, [403] = true }, words = { "unauthorized", "authenticat", "not logged in",
    "/login", "api key", "api_key", "auth method", "no credentials", "log in", "login required" },
    text = "%s is not logged in", remedy = "log in with it in a terminal, or export its key%s" },
}

-- A text without escape sequences and control characters.
local function plain(text)
  text = text:gsub("\27%[[%d;?]*[%a]", ""):gsub("\27%][^\7\27]*[\7]?", ""):gsub("\r\n", "\n"):gsub("\r", "\n")
  return (text:gsub("[%z\1-\9\11-\31\127]", ""))
end

local function tells(line)
  return line:find "%a" and not line:find "^%s*at " and not line:find "^Node%.js v" and not line:find '^%s*[{"]'
end

-- The last line that tells something: one that speaks of an error, if there is any near the end.
local function last_line(text)
  local last, wrong
  for line in plain(text:sub(-8192)):gmatch "[^\n]+" do
    if tells(line) then
      last = line
      if line:lower():find "error" then wrong = line end
    end
  end
  return last and editline.trim(wrong or last) or nil
end

local function kind_of(status, text)
  text = text:lower()
  status = status or tonumber(text:match "^(%d%d%d) " or text:match "status:? (%d%d%d)" or text:match "%((%d%d%d)%)"
    or text:match "error:? (%d%d%d)" or text:match "last status: (%d%d%d)")
  for _, kind in ipairs(kinds) do
    for _, words in ipairs(kind.words) do
      if text:find(words, 1, true) then return kind end
    end
  end
  for _, kind in ipairs(kinds) do
    if kind.status and kind.status[status] then return kind end
  end
end

local function shown(stream) return stream.tail or stream.head or "" end

-- How a run ended; nil if it went well.
local function ending(spec, result)
  if result.outcome == "timeout" then return ("ran over its limit of %g s"):format(spec.timeout_sec) end
  if result.outcome == "signal" then return "was killed by " .. tostring(result.signal_name or result.signal) end
  if result.excess then return "was ended by apsis: " .. limits.excess[result.excess] end
  if result.outcome == "killed" then return "was ended" end
  if result.code ~= 0 then return ("ended with exit %d"):format(result.code) end
end

local function said(result, found)
  return found and found.error and editline.trim(plain(found.error):gsub("%s+", " "))
    or last_line(shown(result.stderr)) or not found and last_line(shown(result.stdout)) or nil
end

-- The words of an error that a server sent as JSON, also behind an agent's own words; any other text as it is.
local function worded(text)
  local before, sent = text:match "^([^{]*)({.*})$"
  local object = sent and json.decode(sent)
  local inner = type(object) == "table" and (type(object.error) == "table" and object.error or object)
  return inner and type(inner.message) == "string" and before .. inner.message or text
end

-- A command that is not there: exit 127 by the shell, or it could not be started (message).
local function missing(result, message)
  if not result then
    return "could not be started: " .. message .. (message:find "^ENOENT" and "; install it, or write its path; "
      .. "`apsis setup` shows the command" or "")
  end
  local line = last_line(shown(result.stderr)) or ""
  local not_started = line:find "^bwrap: execvp .*: No such file"
  if result.code ~= 127 and not not_started then return nil end
  return ("is not found (exit %d): %s; `apsis setup` shows the command"):format(result.code, line)
end

-- " (ANTHROPIC_API_KEY)": the variable of a preset's key.
local function key_of(preset)
  local key = preset and (presets[preset] or {}).key
  return key and (" (%s)"):format(key) or ""
end

-- Why a run failed, { text, limit = "rate" | "session", said }; nil if it did not. result: process.run's, or nil and a
-- message; found: usage.read's, or nil.
function failure.of(spec, result, message, found)
  local name = spec.preset or "the provider"
  local gone = missing(result, message)
  if gone then return { text = name .. " " .. gone } end
  local how = ending(spec, result)
  if found and found.ended and result.outcome == "exit" then return nil end -- at a limit of the manifest's
  if not how and not (found and found.error) then return nil end
  local line = said(result, found)
  if result.outcome ~= "exit" then -- what it printed before does not explain it, except what a server refused
    local silent = result.outcome == "timeout" and result.stdout.bytes + result.stderr.bytes == 0
    local before = silent and "nothing" or line and kind_of(nil, line) and worded(line):sub(1, LONGEST)
    return { text = "the provider " .. how .. (before and "; it had printed " .. before or "") }
  end
  local kind = line and kind_of(found and found.status, line)
  local words = kind and kind.text:format(name) .. (how and (" (%s)"):format(how:gsub("^ended with ", "")) or "")
    or ("the provider %s"):format(how or "reported an error")
  local text = line and words .. ": " .. worded(line):sub(1, LONGEST) or words .. ", and printed no reason"
  if kind and kind.remedy then text = text:gsub("%.$", "") .. "; " .. kind.remedy:format(key_of(spec.preset)) end
  return { text = text, limit = kind and (kind.name == "rate" or kind.name == "session") and kind.name or nil,
    said = line }
end

local units = { d = 86400, h = 3600, m = 60, s = 1 }

-- The seconds of "3 hours 12 minutes", "1h 5m", "20s", "1.5 seconds"; nil if there are none.
local function span(text)
  local seconds
  text = text:gsub("(%d+%.?%d*) ?ms%f[%A]", function(number) return tonumber(number) / 1000 .. "s" end)
  for number, unit in text:gmatch "(%d+%.?%d*) ?([dhms])" do
    seconds = (seconds or 0) + tonumber(number) * units[unit]
  end
  return seconds
end

-- The seconds until a time of day such as 3pm, 3:05 PM, 15:04; nil if that is none.
local function until_clock(text, now)
  local hour, minute, half = text:match "^(%d%d?):?(%d*) ?([ap]?)m?"
  hour = tonumber(hour)
  if not hour or hour > 24 or half == "" and minute == "" then return nil end
  if half ~= "" then hour = hour % 12 + (half == "p" and 12 or 0) end
  local day = os.date("*t", math.floor(now))
  day.hour, day.min, day.sec = hour, tonumber(minute) or 0, 0
  local at = os.time(day)
  return at >= now and at - now or at + 86400 - now
end

-- How long to wait for a limit that an agent's line names, in seconds; nil if it names no time.
function failure.wait_of(line, now)
  line = line:lower()
  local epoch = tonumber(line:match "|(%d%d%d%d%d%d%d%d%d%d)%f[%D]")
  if epoch then return math.max(1, epoch - now) end
  local after = line:match "retry[- ]after:? ([%d.]+)"
  if after then return tonumber(after) end
  local rest = line:match "again in (.*)" or line:match "resets? in (.*)" or line:match "retry in (.*)"
  if rest then return span(rest) end
  rest = line:match "again at (.*)" or line:match "resets? at (.*)" or line:match "resets? (%d.*)"
  return rest and until_clock(rest, now) or nil
end

-- The seconds to wait for a limit: until the time that it names, else longer each time. times: how often in a row.
function failure.wait(failed, times)
  local named = failure.wait_of(failed.said or "", clock.time())
  return named or math.min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ^ (times - 1))
end

return failure
