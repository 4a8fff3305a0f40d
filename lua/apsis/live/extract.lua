-- extract: the primary metric out of what a verification left behind: a METRIC line, a JSON file, or text on stdout or
-- stderr. Every extractor returns a finite number, or nil and why there is none. Called by verify.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local regex = require "apsis.regex"

local extract = {}

-- RFC 6901.
local function pointer(value, path)
  if path == nil or path == "" then return value end
  for token in path:gmatch("/([^/]*)") do
    token = token:gsub("~1", "/"):gsub("~0", "~")
    if type(value) ~= "table" then return nil end
    local index = tonumber(token)
    if value[token] == nil and index and getmetatable(value) == getmetatable(json.array {}) then value = value[index + 1]
    else value = value[token] end
  end
  return value
end

local function number_at(text, path, what)
  local value, message = json.decode(text)
  if value == nil then return nil, ("%s: %s"):format(what, message) end
  local number = pointer(value, path)
  if number == nil then return nil, ("%s has nothing at %q"):format(what, path) end
  if not direction.finite(number) then return nil, ("%s has no finite number at %q"):format(what, path) end
  return number
end

local function by_regex(text, pattern, what)
  local compiled, message = regex.compile(pattern, "m")
  if not compiled then return nil, message end
  local capture = compiled:match(text)
  if not capture then return nil, ("no match of %q in %s"):format(pattern, what) end
  local number = tonumber(capture)
  if not direction.finite(number) then return nil, ("%q of %s is not a finite number"):format(tostring(capture), what) end
  return number
end

function extract.metric_lines(_, name, gathered)
  local value = gathered.metrics[name]
  if value then return value end
  local near = gathered.near_misses[1]
  if near then
    return nil, ("no METRIC %s=NUMBER in the output; near miss at line %d: %q (%s)"):format(name, near.line, near.text, near.reason)
  end
  return nil, ("no METRIC %s=NUMBER in the output; the evaluator must print such a line (verifier.log has what it printed)"):format(name)
end

function extract.json_file(extractor, _, gathered)
  local text, message = fs.read(gathered.json_path)
  if not text then return nil, ("%s: %s"):format(extractor.path, message) end
  return number_at(text, extractor.json_pointer, extractor.path)
end

function extract.stdout_json(extractor, _, gathered)
  return number_at(fs.read(gathered.stdout_path) or "", extractor.json_pointer, "stdout")
end

function extract.stdout_regex(extractor, _, gathered)
  return by_regex(fs.read(gathered.stdout_path) or "", extractor.regex, "stdout")
end

function extract.stderr_regex(extractor, _, gathered)
  return by_regex(fs.read(gathered.stderr_path) or "", extractor.regex, "stderr")
end

-- value | nil, why.
function extract.primary(metric, gathered)
  return extract[metric.extractor.type](metric.extractor, metric.name, gathered)
end

return extract
