-- ask: asks a model. ask(role, messages) -> text, or nil and why there is none; role: "executor" or "judge". Uses the
-- endpoint at SKILL_BASE_URL (OpenAI's protocol) and the model SKILL_MODEL, for the judge SKILL_JUDGE if set; sends
-- SKILL_API_KEY if set. Without SKILL_BASE_URL standin.lua answers. Used by executor.lua and judge.lua.
local http = require "apsis.http"
local json = require "apsis.json"
local wait = require "apsis.wait"

local ATTEMPTS = 4
local FIRST_PAUSE_S = 1 -- then twice as long each time
local again = { [408] = true, [429] = true, [500] = true, [502] = true, [503] = true, [504] = true }

local function setting(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

-- A text without the key, which a server may echo.
local function masked(text)
  local key = setting "SKILL_API_KEY"
  return key and (text:gsub(key:gsub("%W", "%%%0"), "[key]")) or text
end

local function one_line(text)
  return (masked(text):gsub("%s+", " "):sub(1, 300))
end

-- The text of a reply; nil and why it has none.
local function text_of(response)
  if response.status ~= 200 then return nil, ("HTTP %d: %s"):format(response.status, one_line(response.body)) end
  local reply = json.decode(response.body)
  local choice = type(reply) == "table" and type(reply.choices) == "table" and reply.choices[1]
  local message = type(choice) == "table" and choice.message
  local text = type(message) == "table" and message.content
  if type(text) ~= "string" or not text:find "%S" then
    return nil, "the reply has no text: " .. one_line(response.body)
  end
  if choice.finish_reason == "length" then return nil, "the answer was cut off" end
  return masked(text)
end

local function ask_endpoint(base_url, model, messages)
  local key = setting "SKILL_API_KEY"
  local headers = { ["Content-Type"] = "application/json", Authorization = key and "Bearer " .. key }
  local pause = FIRST_PAUSE_S
  for attempt = 1, ATTEMPTS do
    local response, message = http.request { url = base_url:gsub("/+$", "") .. "/chat/completions", method = "POST",
      headers = headers,
      body = json.encode { model = model, messages = messages }, timeout_s = 120 }
    if attempt == ATTEMPTS or response and not again[response.status] then
      if not response then return nil, one_line(message) end
      return text_of(response)
    end
    wait.sleep(pause)
    pause = pause * 2
  end
end

return function(role, messages)
  local base_url = setting "SKILL_BASE_URL"
  if not base_url then return require("standin")[role](messages) end
  local model = role == "judge" and setting "SKILL_JUDGE" or setting "SKILL_MODEL"
  if not model then return nil, "SKILL_MODEL is not set" end
  local text, message = ask_endpoint(base_url, model, messages)
  if not text then return nil, ("%s: %s"):format(model, message) end
  return text
end
