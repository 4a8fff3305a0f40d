-- csv: predictions.csv as text: RFC 4180 both ways, with a header. Drops and reports the torn last line of a killed
-- writer; refuses anything else that is no table. Knows no file. A part of apsis.fitness.
local json = require "apsis.json"

local csv = {}

local MARK = "\xEF\xBB\xBF" -- the byte order mark that spreadsheets write

local function field(value, only)
  if value == nil or value == json.null then value = "" end
  if math.type(value) == "float" then
    value = value - value == 0 and json.encode(value) or tostring(value)
  elseif type(value) == "number" or type(value) == "boolean" then
    value = tostring(value)
  elseif type(value) ~= "string" then
    error("a field is a text, a number or a boolean, not a " .. type(value), 4)
  end
  if value:find('[",\r\n]') or value:find("^%s") or value:find("%s$") or value:sub(1, 3) == MARK or only
    and value == "" then
    return '"' .. value:gsub('"', '""') .. '"'
  end
  return value
end

function csv.write(rows, columns, options)
  if #columns == 0 then error("csv_write: no columns", 2) end
  local lines, only = {}, #columns == 1
  local function add(values)
    local fields = {}
    for index = 1, #columns do fields[index] = field(values[index], only) end
    lines[#lines + 1] = table.concat(fields, ",") .. "\n"
  end
  if not options or options.header ~= false then add(columns) end
  for _, row in ipairs(rows) do
    local values = {}
    for index, column in ipairs(columns) do values[index] = row[column] end
    add(values)
  end
  return table.concat(lines)
end

local function line_of(text, at)
  local _, ends = text:sub(1, at - 1):gsub("\n", "")
  return ends + 1
end

-- A quoted field that begins at `at`, and the position after it. nil if its end is missing.
local function quoted(text, at)
  local parts, from = {}, at + 1
  while true do
    local close = text:find('"', from, true)
    if not close then return nil end
    if text:byte(close + 1) ~= 34 then
      parts[#parts + 1] = text:sub(from, close - 1)
      return table.concat(parts), close + 1
    end
    parts[#parts + 1], from = text:sub(from, close), close + 2
  end
end

-- One record: its fields, where the next begins, and whether a line end closed it. nil, where, why for an invalid
-- record; why is nil if the text ends within quotes.
local function record(text, at)
  local fields = {}
  while true do
    local value, after
    if text:byte(at) == 34 then
      value, after = quoted(text, at)
      if not value then return nil, at end
      if text:sub(after, after + 1) == "\r\n" then after = after + 1 end
      local follows = text:sub(after, after)
      if follows ~= "" and follows ~= "," and follows ~= "\n" then return nil, after, "text follows a closing quote" end
    else
      after = text:find("[,\n]", at) or #text + 1
      local last = after - 1
      if text:byte(after) == 10 and last >= at and text:byte(last) == 13 then last = last - 1 end
      value = text:sub(at, last)
    end
    fields[#fields + 1] = value
    if text:byte(after) ~= 44 then return fields, after + 1, text:byte(after) == 10 end
    at = after + 1
  end
end

local function is_blank(fields)
  return #fields == 1 and fields[1] == ""
end

local function torn(text, at, rows, columns)
  return rows, ("line %d is cut off and was dropped"):format(line_of(text, at)), columns
end

-- The names of the columns; nil and why if one occurs twice.
local function header(fields)
  local seen = {}
  for _, name in ipairs(fields) do
    if seen[name] then return nil, ("line 1: column %q occurs twice"):format(name) end
    seen[name] = true
  end
  return fields
end

function csv.read(text, options)
  local at, rows, columns = text:sub(1, 3) == MARK and 4 or 1, {}, nil
  while at <= #text do
    local from = at
    local fields, after, ended = record(text, at)
    if not fields and ended then return nil, ("line %d: %s"):format(line_of(text, after), ended) end
    if not fields then return torn(text, from, rows, columns) end
    if not ended and not (options and options.whole and (not columns or #fields == #columns)) then
      return torn(text, from, rows, columns)
    end
    at = after
    if not columns and not is_blank(fields) then
      local message
      columns, message = header(fields)
      if not columns then return nil, message end
    elseif columns and #fields == #columns then
      local row = {}
      for index, name in ipairs(columns) do row[name] = fields[index] end
      rows[#rows + 1] = row
    elseif not is_blank(fields) then
      return nil, ("line %d has %d fields, the header %d"):format(line_of(text, from), #fields, #columns)
    end
  end
  return rows, not columns and "there is nothing in it, not even a header" or nil, columns
end

return csv
