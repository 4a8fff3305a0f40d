-- reports: report.json of one component: its score under its own name, and its other counts. The domains write it;
-- fitness/scoring reads it, also if a command or a project's Lua wrote it.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"

local reports = {}

local MOST_BYTES = 16 * 1048576

-- Writes { [name] = score, metrics, warnings, reason }. true | nil, message.
function reports.write(output_dir, name, score, more)
  local made = { [name] = score or json.null }
  for key, value in pairs(more or {}) do made[key] = value end
  return fs.write(output_dir .. "/report.json", json.encode(made, { pretty = true, sorted = true }) .. "\n")
end

-- The numbers of a table with text keys; of its metrics the finite ones.
local function numbers(given)
  local found = {}
  for key, value in pairs(type(given) == "table" and given or {}) do
    if type(key) == "string" and direction.finite(value) then found[key] = value end
  end
  return found
end

-- { score, metrics, items, warnings, reason } of the file in output_dir; nil and why it is no report. names: the keys
-- that may have the score. A null score means none, with the reason.
function reports.read(output_dir, names)
  -- the place of the file, for messages
  local path = (output_dir:match("runs/[^/]+/fitness/[^/]+$") or output_dir:match("[^/]+$")) .. "/report.json"
  local text = fs.read(output_dir .. "/report.json", MOST_BYTES)
  if not text then return nil, "there is no " .. path end
  local value, message = json.decode(text)
  if type(value) ~= "table" then
    return nil, path .. ": " .. (message and message:gsub("^EJSON: ", "") or "no object")
  end
  local score
  for _, name in ipairs(names) do
    score = value[name]
    if score ~= nil then break end
  end
  if score == nil then return nil, ("%s has no key %q, which is to hold the score"):format(path, names[1]) end
  if score == json.null then score = nil
  elseif not direction.finite(score) then return nil, ("%s: %s is no finite number"):format(path, names[1]) end
  local reason = type(value.reason) == "string" and value.reason or nil
  local warnings = {}
  for _, warning in ipairs(type(value.warnings) == "table" and value.warnings or {}) do
    warnings[#warnings + 1] = tostring(warning)
  end
  return { score = score, metrics = numbers(value.metrics), items = numbers(value.items), warnings = warnings,
    reason = reason }
end

return reports
