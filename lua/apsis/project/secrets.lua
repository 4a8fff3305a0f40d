-- secrets: which names stand for a secret, and masking. The one place for both.
local secrets = {}

local SHORTEST = 8 -- bytes; masking "EMPTY" or "none" would spoil texts

local endings = { "KEY$", "TOKEN$", "SECRET$", "PASSWORD$", "PASSWD$", "CREDENTIALS$" }
local parts = { "KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH" }
local words = { "api_key", "apikey", "secret", "passw", "credential" }

-- Whether an environment variable of this name holds a secret: commands do not get it, and its value is masked.
function secrets.is_variable(name)
  for _, ending in ipairs(endings) do
    if name:upper():find(ending) then return true end
  end
  return false
end

-- How keys of known services begin, and how many characters follow: at least, at most.
local forms = { { "%f[%w_]sk%-([%w_-]+)", 16, math.huge }, { "%f[%w_]ghp_(%w+)", 16, math.huge },
  { "%f[%w_]AKIA([0-9A-Z]+)", 16, 16 } }

-- Where a text has a key of a known form; nil if it has none.
function secrets.known_form(text)
  for _, form in ipairs(forms) do
    for at, body in text:gmatch("()" .. form[1]) do
      if #body >= form[2] and #body <= form[3] then return at end
    end
  end
end

local LONG = ("%S"):rep(SHORTEST) -- so that -DMAX_TOKENS=512 is no credential

-- Whether a value looks like a credential, whatever its name: a key of a known form, a URL with a password, or
-- `password=`, `pass=`, `api_key=`, `token: `.
function secrets.is_value(value)
  local text = value:lower()
  return secrets.known_form(value) ~= nil or text:find "://[^/%s:@]*:[^/%s@]+@" ~= nil
    or text:find "pass%s*[=:]%s*%S" ~= nil or text:find "passw[%a]*%s*[=:]%s*%S" ~= nil
    or text:find("api[_-]?key%s*[=:]%s*" .. LONG) ~= nil
    or text:find("tokens?%s*[=:]%s*" .. LONG) ~= nil or text:find("secret%s*[=:]%s*" .. LONG) ~= nil
end

-- Whether a value of this name may be a secret, so must not be written down.
function secrets.may_be_variable(name)
  for _, part in ipairs(parts) do
    if name:upper():find(part, 1, true) then return true end
  end
  return false
end

-- Whether a key of a settings file stands for a secret. A number behind `tokens` is none.
function secrets.is_setting(name, value)
  name = name:lower():gsub("-", "_")
  for _, word in ipairs(words) do
    if name:find(word, 1, true) then return true end
  end
  return name:find "token$" ~= nil and type(value) == "string"
end

local function replace_all(text, part, by)
  local start, stop = text:find(part, 1, true)
  if not start then return text end
  local kept, at = {}, 1
  while start do
    kept[#kept + 1] = text:sub(at, start - 1)
    at = stop + 1
    start, stop = text:find(part, at, true)
  end
  return table.concat(kept, by) .. by .. text:sub(at)
end

-- A text with `by` in place of each value, also in its JSON form; line by line, because a patch may hold a key of
-- several lines with its marks between them. Values shorter than 8 bytes stay.
function secrets.mask(text, values, by)
  local lines = {}
  for _, value in ipairs(values) do
    for line in value:gmatch "[^\r\n]+" do
      if #line >= SHORTEST then lines[#lines + 1] = line end
    end
  end
  table.sort(lines, function(a, b) return #a > #b end) -- one may be part of another
  for _, line in ipairs(lines) do
    text = replace_all(text, line, by)
    if line:find("/", 1, true) then text = replace_all(text, (line:gsub("/", "\\/")), by) end
  end
  return text
end

return secrets
