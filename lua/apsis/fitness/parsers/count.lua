-- count: the number of findings of a linter or a type checker: lines that match a pattern, a number or a list within
-- JSON, or the results of SARIF. Findings are named FILE:LINE:RULE, so that two versions can be compared. A part of
-- apsis.fitness.
local direction = require "apsis.direction"
local json = require "apsis.json"
local regex = require "apsis.regex"
local sarif = require "apsis.fitness.parsers.sarif"
local tally = require "apsis.fitness.parsers.tally"

local count = {}

local function known_part(part)
  if part and part ~= json.null and part ~= "" then return tostring(part) end
end

-- The text of a line without its place.
local function text_of(line)
  local rest = line:match("^%s*[^%s:][^:]*:%d+(.*)$") or line:match("^%s*[^%s%(][^%(]*%(%d+[,%d]*%)(.*)$") or line
  return tally.trim((rest:gsub("^[:%d]*:", "")))
end

-- A collector of findings.
local function findings()
  local names, items = tally.new(), {}
  return items, function(file, line, rule, message, level, text)
    local parts = {}
    for _, part in ipairs { file or false, line or false, rule or false } do parts[#parts + 1] = known_part(part) end
    local name = #parts > 0 and table.concat(parts, ":") or message or ""
    items[#items + 1] = { id = names:unique(name), message = message and tally.cut(message) or nil, level = level,
      file = known_part(file), line = known_part(line), rule = known_part(rule), text = text and tally.cut(text)
        or nil }
  end
end

-- ---- lines ----

-- The place and rule in a line, as most tools write it: FILE:LINE: or FILE:LINE:COLUMN: or FILE(LINE,COLUMN):, and a
-- rule such as E501, W0611 or TS2322, or a name in brackets at the end.
local function named_in(text)
  local file, line, rest = text:match("^%s*([^%s:][^:]*):(%d+)(.*)$")
  if not file then file, line, rest = text:match("^%s*([^%s%(][^%(]*)%((%d+)[,%d]*%)(.*)$") end
  if not file then return nil, nil, nil end
  local rule = rest:match("%f[%w](%u+%d%d+)%f[%W]")
  if not rule then
    rule = rest:sub(-200):match("%[([%w_./-]+)%]%s*$")
  end
  return file, line, rule or tally.trim((rest:gsub("^[:%d]+", "")))
end

-- Finds by the pattern's groups file, line and rule, if it has them.
local function by_groups(names, captures)
  local function group(name)
    local index = names[name]
    return index and captures[index] or nil
  end
  return group "file", group "line", group "rule"
end

local function lines(how, text)
  local pattern, message = regex.compile(how.pattern)
  if not pattern then return nil, ("pattern %q: %s"):format(how.pattern, message) end
  local names = pattern:names()
  local items, add = findings()
  for number, line in tally.lines(text) do
    local captures = table.pack(pattern:match(line))
    if captures[1] == nil and captures[2] then
      return nil, ("pattern %q, line %d: %s"):format(how.pattern, number, captures[2])
    end
    if captures[1] ~= nil then
      local file, at, rule
      if next(names) then file, at, rule = by_groups(names, captures) else file, at, rule = named_in(line) end
      add(file, at, rule, tally.trim(line), nil, text_of(line))
    end
  end
  return #items, items
end

-- ---- JSON ----

local function is_list(value)
  return type(value) == "table" and getmetatable(value) == getmetatable(json.array {})
end

-- The values at a pointer (RFC 6901), in which `*` means all elements of a list; passes each to `add`.
local function follow(value, tokens, index, add)
  local token = tokens[index]
  if not token then return add(value) end
  if type(value) ~= "table" then return end
  if is_list(value) and token == "*" then
    for _, one in ipairs(value) do follow(one, tokens, index + 1, add) end
  elseif is_list(value) then
    local place = token:find("^%d+$") and math.tointeger(tonumber(token))
    if place and value[place + 1] ~= nil then follow(value[place + 1], tokens, index + 1, add) end
  elseif value[token] ~= nil then
    follow(value[token], tokens, index + 1, add)
  end
end

local function first_of(value, names)
  for _, name in ipairs(names) do
    local found = value[name]
    if found ~= nil and found ~= json.null then return found end
  end
end

-- The line of a finding, which tools write directly or within a location.
local function line_in(value)
  local line = first_of(value, { "line", "lineNumber", "row", "startLine" })
  if line then return line end
  local place = first_of(value, { "location", "range", "start" })
  return type(place) == "table" and line_in(place) or nil
end

local function named_by(one, add)
  if type(one) ~= "table" or is_list(one) then
    return add(nil, nil, nil, type(one) == "table" and json.encode(one) or tostring(one))
  end
  local place = type(one.location) == "table" and one.location or one
  local file = first_of(one, { "file", "path", "filename", "filePath" })
    or first_of(place, { "file", "path", "filename" })
  local rule = first_of(one, { "rule", "ruleId", "code", "check_name", "symbol", "message-id" })
  local message = first_of(one, { "message", "description", "text" })
  local function plain(value)
    if type(value) == "string" then return value end
    return math.type(value) == "integer" and tostring(value) or nil
  end
  add(plain(file), plain(line_in(one)), plain(rule), plain(message) or json.encode(one), nil, plain(message))
end

local function in_json(how, text)
  local value, message = json.decode(text)
  if value == nil then return nil, message end
  local tokens, pointer = {}, how.json_pointer or ""
  for token in pointer:gmatch("/([^/]*)") do tokens[#tokens + 1] = token:gsub("~1", "/"):gsub("~0", "~") end
  local items, add = findings()
  local sum, found, wrong = 0, 0, nil
  follow(value, tokens, 1, function(one)
    found = found + 1
    if is_list(one) then
      sum = sum + #one
      for _, element in ipairs(one) do named_by(element, add) end
    elseif direction.finite(one) and one >= 0 then
      sum = sum + one
    else
      wrong = type(one) == "table" and "an object" or tostring(one)
    end
  end)
  if wrong then return nil, ("at %q is %s, which is neither a list nor a count"):format(pointer, wrong) end
  if found == 0 and not pointer:find("*", 1, true) then return nil, ("there is nothing at %q"):format(pointer) end
  return sum, items
end

-- ---- which ----

local function in_sarif(how, text)
  local items, add = findings()
  return sarif.read(how, text, items, add)
end

local ways = { pattern = lines, json = in_json, sarif = in_sarif }

function count.text(how, text)
  local format = how.format or how.pattern and "pattern" or how.json_pointer and "json"
  local way = ways[format]
  if not way then error(("count: format %q is not one of pattern, json, sarif"):format(tostring(format)), 2) end
  if format == "pattern" and type(how.pattern) ~= "string" then error("count: format pattern needs a pattern", 2) end
  return way(how, text)
end

return count
