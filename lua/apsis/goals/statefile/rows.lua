-- rows: the Machine State table. A row is any line of the section with a pipe, however it is spaced or ordered, with or
-- without outer pipes; an escaped pipe is text. Changes one row's value and keeps every other byte.
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local rows = {}

rows.empty = "—"

-- The known rows, in the order of a new file.
rows.names = {
  "Last Run", "Iteration Count", "Best Metric", "Target Metric", "Metric Direction", "Branch", "PR", "Issue", "Paused",
    "Pause Reason",
  "Completed", "Completed Reason", "Consecutive Errors", "Recent Statuses", "Initial Metric", "Journal Lines",
}

local known = { ["steering issue"] = true }

local function plain_name(text)
  return (text:lower():gsub("\u{A0}", " "):gsub("[*`:]", ""):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

for _, name in ipairs(rows.names) do known[plain_name(name)] = true end

-- Whether apsis knows the row; name: as in rows.all.
function rows.is_known(name)
  return known[name] == true
end

local function pipes_of(line)
  local pipes, at = {}, line:find("|", 1, true)
  while at do
    if line:sub(at - 1, at - 1) ~= "\\" then pipes[#pipes + 1] = at end
    at = line:find("|", at + 1, true)
  end
  return pipes
end

-- { name, value, from, to, closed }: the value's cell is bytes from..to of the line (from > to: empty or missing);
-- closed: a pipe follows it. nil: not a row.
local function parse(line)
  local pipes = pipes_of(line)
  if #pipes == 0 then return nil end
  local finish = #line - #texts.ending(line)
  local first = sections.is_blank(line:sub(1, pipes[1] - 1)) and 2 or 1
  local name_from = first == 2 and pipes[1] + 1 or 1
  local name_to = (pipes[first] or finish + 1) - 1
  local row = { name = plain_name(line:sub(name_from, name_to)), from = finish + 1, to = finish, value = "",
    bare = not pipes[first] }
  if row.bare then return row end
  row.from, row.to, row.closed = pipes[first] + 1, (pipes[first + 1] or finish + 1) - 1, pipes[first + 1] ~= nil
  row.value = texts.trim((line:sub(row.from, row.to):gsub("\\|", "|")))
  return row
end

-- All rows of the section in order, each with its line `at`; and the section. Cached until the document changes.
function rows.all(doc)
  if doc.rows then return doc.rows, doc.rows.section end
  local section = sections.find(doc, "machine")
  local found, hidden = { section = section, by_name = {} }, doc:scan().hidden
  for at = section and section.first or 1, section and section.last or 0 do
    local row = not hidden[at] and parse(doc.lines[at])
    if row then
      row.at = at
      found[#found + 1] = row
      if found.by_name[row.name] then row.again = known[row.name] else found.by_name[row.name] = row end
    end
  end
  doc.rows = found
  return found, section
end

-- The row of that name, the first of two; nil if there is none.
function rows.find(doc, name)
  return rows.all(doc).by_name[plain_name(name)]
end

-- A row's value without code marks and emphasis; nil if the row is missing or empty.
function rows.value(doc, name)
  local row = rows.find(doc, name)
  local text = row and (row.value:match "^%*%*(.*)%*%*$" or row.value) or ""
  text = text:match "^`([^`]*)`$" or text
  if text == "" or text == "—" or text == "–" or text == "-" or text:lower() == "none" or text:lower() == "n/a" then
    return nil
  end
  return text
end

-- The line with another value in the row's cell. Keeps the blanks around it, and a padded column's width if possible.
local function rewritten(line, row, text)
  local finish = #line - #texts.ending(line)
  if row.bare then return line:sub(1, finish) .. " | " .. text .. " |" .. line:sub(finish + 1) end
  local cell = line:sub(row.from, row.to)
  local before, old = cell:match "^%s*", texts.trim(cell)
  local after = cell:sub(#before + #old + 1)
  if old == "" then
    return line:sub(1, row.from - 1) .. " " .. text .. " " .. (row.closed and "" or "|") .. line:sub(row.to + 1)
  end
  if #after > 1 and row.closed then
    local width = texts.width(old) + #after - texts.width(text)
    after = (" "):rep(math.max(1, width))
  elseif after == "" and text:find "\\$" then
    after = " " -- else the backslash would escape the pipe
  end
  return line:sub(1, row.from - 1) .. before .. text .. after .. line:sub(row.to + 1)
end

-- The last line of the table that a new row joins: the run of rows around the first known one, else the first run.
local function table_end(found)
  local from = 1
  for index, row in ipairs(found) do
    if known[row.name] then from = index; break end
  end
  while found[from + 1] and found[from + 1].at == found[from].at + 1 do from = from + 1 end
  return found[from].at
end

local function add(doc, name, text)
  local found, section = rows.all(doc)
  local line = ("| %s | %s |"):format(name, text)
  if #found > 0 then
    local last = table_end(found)
    return doc:splice(last + 1, last, { line })
  end
  local made = { "", "| Field | Value |", "|-------|-------|", line }
  if section then
    if section.stop > section.at then return doc:splice(section.stop + 1, section.stop, made) end
    if section.last == section.at then made[#made + 1] = "" end
    return doc:splice(section.first, section.at, made)
  end
  table.insert(made, 1, "## " .. sections.titles.machine)
  local at = sections.below_title(doc)
  if at > 1 then table.insert(made, 1, "") end
  if at <= #doc.lines and not sections.is_blank(doc.lines[at]) then made[#made + 1] = "" end
  doc:splice(at, at - 1, made)
end

-- Sets a row's value, nil for none; adds a missing row.
function rows.set(doc, name, text)
  text = text and texts.line(text) or ""
  if text == "" then text = rows.empty end
  local row = rows.find(doc, name)
  local cell = text:gsub("|", "\\|")
  if not row then return add(doc, name, cell) end
  if row.value ~= text then doc:replace(row.at, rewritten(doc.lines[row.at], row, cell)) end
end

local unset = { ["iteration count"] = "0", paused = "false", completed = "false", ["consecutive errors"] = "0" }

-- Adds missing rows with the values that their absence meant.
function rows.complete(doc)
  for _, name in ipairs(rows.names) do
    local said = name == "Issue" and rows.value(doc, "Steering Issue") or unset[plain_name(name)]
    if not rows.find(doc, name) then rows.set(doc, name, said) end
  end
end

return rows
