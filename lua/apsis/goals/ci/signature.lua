-- signature: a short text for what failed in a command, the same if the same thing fails again: the telling lines of
-- its output without what differs from run to run (times, positions in files, addresses, process ids). Pure; called by
-- gate.
local signature = {}

local LONGEST = 120 -- bytes
local KEPT_OF_LONG = 110 -- bytes of a longer one, before its hash

-- Word boundaries.
local ALONE, NO_MORE = "%f[%w_]", "%f[^%w_]"

local units = { "ns", "us", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h",
  "hour", "hours" }
local counted = { "passed", "passing", "skipped", "succeeded", "deselected", "xfailed", "warning", "warnings", "total",
  "ok", "pending", "ignored", "todo", "cached", "filtered" }
local numbered = { "line", "lines", "col", "column", "pid", "process", "thread", "port", "seed", "elapsed", "took",
  "attempt" }

-- A path below a temporary folder: its last name, if that has an extension and a folder around it; else only TMP, as
-- the name is random.
local function temporary(path)
  local name = path:match("^[^/]+/.*/([^/]*)$") or path:match("^[^/]+/([^/]*)$")
  return name and name:find("^%a[%w_%-]*%.%a+$") and "TMP/" .. name or "TMP"
end

local HEX = ("%x"):rep(8)
local UUID = HEX .. "%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-" .. HEX .. "%x%x%x%x"

local function without_paths(text)
  text = text:gsub("/var/folders/%w+/%w+/T/([^%s:;,'\"()]*)", temporary)
  text = text:gsub("/private/tmp/([^%s:;,'\"()]*)", temporary)
  return (text:gsub("/var/tmp/([^%s:;,'\"()]*)", temporary):gsub("/tmp/([^%s:;,'\"()]*)", temporary))
end

local months = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }
local days = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" }

local function without_dates(text)
  text = text:gsub("%d%d%d%d[%-/]%d%d[%-/]%d%d", "_"):gsub("%d%d:%d%d:%d%d[%d.,]*", "_")
  for _, month in ipairs(months) do
    text = text:gsub(ALONE .. month .. "%a* +%d%d?,? *%d?%d?%d?%d?" .. NO_MORE, "_")
    text = text:gsub(ALONE .. "%d%d? " .. month .. "%a*,? ?%d?%d?%d?%d?" .. NO_MORE, "_")
  end
  if text:find("_", 1, true) then
    for _, day in ipairs(days) do text = text:gsub(ALONE .. day .. ",? +_", "_") end
    text = text:gsub("_[Tt]_", "_"):gsub("_Z%f[%W]", "_"):gsub("_ *[+-]%d%d:?%d%d", "_"):gsub("_ UTC *%d?%d?%d?%d?",
      "_"):gsub("_ +_", "_")
  end
  return text
end

local function without_durations(text)
  text = text:gsub(ALONE .. "%d+h ?%d+m ?[%d.]*s?" .. NO_MORE, "_"):gsub(ALONE .. "%d+m ?[%d.]+s" .. NO_MORE, "_")
  for _, unit in ipairs(units) do text = text:gsub(ALONE .. "%d[%d.,]* ?" .. unit .. NO_MORE, "_") end
  return (text:gsub("%d[%d.,]* ?µs" .. NO_MORE, "_"))
end

-- file.c:12:5, file.ts(12,5), host:5432; a name without extension or folder before a colon may be a test's.
local function without_places(text)
  for _, before in ipairs { "%.[%w_%-]+", "/[%w_%-]+", "[Mm]akefile", "localhost", "[>%])]",
    "%[string \"[^\"]*\"%]" } do
    text = text:gsub("(" .. before .. "):%d+:%d+", "%1:_"):gsub("(" .. before .. "):%d+", "%1:_")
  end
  text = text:gsub("%(%d+,%s?%d+%)", "(_)"):gsub("(%.%a%w*)%(%d+%)", "%1(_)")
  return (text:gsub(ALONE .. "%d+:%d+" .. NO_MORE, "_"):gsub("%f[%w]L%d+%f[%W]", "_"))
end

local function without_numbers(text)
  for _, word in ipairs(numbered) do
    local either = word:gsub("^%a", function(letter) return "[" .. letter .. letter:upper() .. "]" end)
    text = text:gsub(ALONE .. "(" .. either .. "[ :=#]*)%d[%d.]*", "%1_")
  end
  for _, word in ipairs(counted) do text = text:gsub(ALONE .. "%d+ " .. word .. NO_MORE, "_ " .. word) end
  text = text:gsub("==%d+==", "==_=="):gsub("%[ *%d+%%%]", "[_]"):gsub("%[%d%d%d%d+%]", "[_]") -- process ids, progress
  return (text:gsub("^(%s*not ok) %d+( %S)", "%1%2"):gsub(ALONE .. ("%d"):rep(10) .. "+" .. NO_MORE, "_"))
end

-- A hexadecimal number of eight or more characters with both digits and letters: a commit, a build id.
local function without_hashes(text)
  return (text:gsub(UUID, "_"):gsub("0[xX]%x+", "_"):gsub(ALONE .. HEX .. "+" .. NO_MORE, function(word)
    return word:find "%d" and word:find "%a" and "_" or nil
  end))
end

local function plain(text)
  text = text:gsub("\27%][^\7\27]*[\7\27]\\?", ""):gsub("\27%[[%d;:?]*[%a]", ""):gsub("\27[()].", "")
  return (text:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", ""):gsub("\t", " "))
end

-- A line without what differs from run to run.
local function normal(line)
  line = without_numbers(without_places(without_durations(without_dates(without_hashes(without_paths(line))))))
  return (line:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

local telling = { "error", "fail", "not ok", "panic", "assert", "fatal", "exception", "✗", "✕", "✖" }
local passing = { "^%s*ok%f[%W]", "^%s*pass%f[%W]", "^%s*passed%f[%W]", "^%s*%-%-%- pass", "^%s*✓", "^%s*✔",
  "%.%.%. ok%s*$", "%f[%w]passed%s*$", "%f[%w]passed%s+%[[%s%d]+%%%]%s*$" }
local nothing = { "%f[%w]0 errors?%f[%W]", "%f[%w]0 failed%f[%W]", "%f[%w]0 failures?%f[%W]", "%f[%w]no errors?%f[%W]",
  "%f[%w]no failures?%f[%W]", "errors?:? *0%f[%D]", "failures?:? *0%f[%D]", "failed:? *0%f[%D]", "fail:? *0%f[%D]" }

-- Whether a line reports a failure; a line that counts no failures does not.
local function tells(line)
  local low = line:lower()
  for _, pattern in ipairs(passing) do
    if low:find(pattern) then return false end
  end
  for _, pattern in ipairs(nothing) do low = low:gsub(pattern, "") end
  for _, word in ipairs(telling) do
    if low:find(word, 1, true) then return true end
  end
  return false
end

-- FNV-1a in 32 bits.
function signature.hash(text)
  local value = 0x811C9DC5
  for index = 1, #text do value = ((value ~ text:byte(index)) * 0x01000193) & 0xFFFFFFFF end
  return ("%08x"):format(value)
end

local function shortened(text)
  if not utf8.len(text) then text = text:gsub("[\128-\255]", "?") end
  if #text <= LONGEST then return text end
  local upto = KEPT_OF_LONG
  while upto > 0 and text:byte(upto + 1) & 0xC0 == 0x80 do upto = upto - 1 end
  return text:sub(1, upto) .. " " .. signature.hash(text)
end

-- How a command ended, for when its output does not show what failed.
function signature.ending(result)
  if result.outcome == "timeout" then return "over its time limit" end
  if result.outcome == "signal" then return "killed by " .. tostring(result.signal_name or result.signal) end
  if result.code then return "exit " .. result.code end
  return result.message or tostring(result.outcome)
end

-- At most 120 bytes, one line. result = { outcome, code, signal_name, message }, as apsis.process returns it.
function signature.of(output, result)
  local found, seen, last = {}, {}, nil
  for line in plain(output):gmatch("[^\n]+") do
    if line:find("%w") then
      last = line
      local text = tells(line) and normal(line)
      if text and not seen[text] then
        seen[text] = true
        found[#found + 1] = text
      end
    end
  end
  local ended = signature.ending(result)
  if #found == 0 then
    local said = result.outcome ~= "timeout" and last and normal(last)
    return shortened(said and ("%s: %s"):format(ended, said) or ended)
  end
  table.sort(found)
  if result.outcome ~= "exit" then table.insert(found, 1, ended) end
  return shortened(table.concat(found, "; "))
end

return signature
