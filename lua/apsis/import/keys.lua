-- keys: finds API keys in texts, so that none is copied and committed: known forms (sk-..., ghp_..., AKIA...), keys in
-- the imported configuration, and long random values beside a name such as api_key in settings files. Only looks at
-- text. Called by common.lua, openevolve.lua, openevolve_config.lua and the command import.
local secrets = require "apsis.project.secrets"

local keys = {}

local settings = { yaml = true, yml = true, json = true, toml = true, ini = true, cfg = true, conf = true,
  properties = true }
local SHORTEST, RANDOM = 8, 16 -- shorter ones are words: EMPTY, none, ollama

-- Placeholders for a key that is not needed.
local stand_ins = { ["not-needed"] = true, ["not_needed"] = true, ["no-key-needed"] = true, ["lm-studio"] = true,
  ["dummy-key"] = true }

local function line_of(text, at)
  local _, count = text:sub(1, at - 1):gsub("\n", "")
  return count + 1
end

-- The line of the first text that looks like a key or is one of `literals` (a list); nil if there is none.
function keys.find(text, literals)
  local known = secrets.known_form(text)
  if known then return line_of(text, known) end
  for _, literal in ipairs(literals or {}) do
    local at = #literal >= SHORTEST and not stand_ins[literal] and text:find(literal, 1, true)
    if at then return line_of(text, at) end
  end
end

local function is_random(value)
  return #value >= RANDOM and value:find("%d") and value:find("%a") and not value:find("[^%w_+/=.~-]")
    and not value:find("://", 1, true)
end

-- The line of a setting that is named like a key and has a random value; nil if there is none.
local function setting(text)
  for at, name, value in text:gmatch("()([%w_.-]+)[\"']?%s*[:=]%s*[\"']?([^%s\"'#,;]+)") do
    local says = secrets.is_setting(name, value) or name:lower():gsub("-", "_"):find("_key$")
    if says and is_random(value) then return line_of(text, at) end
  end
end

-- The same for a file; includes its settings if it is a settings file by name.
function keys.find_in_file(path, text, literals)
  local ending = path:lower():match("%.(%w+)$")
  return keys.find(text, literals) or settings[ending or ""] and setting(text) or nil
end

return keys
