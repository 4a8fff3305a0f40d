-- scope: the files that a session's prose allows to change: the list below a heading, or after the colon of a line
-- "Files in scope:" and below it, read like a program's Target. Only reads text and checks whether paths exist.
local common = require "apsis.import.common"
local editline = require "apsis.edit.line"
local prose = require "apsis.project.prose"
local target = require "apsis.project.target"

local scope = {}

-- The text below a heading of one of these names, up to the next heading of its rank or higher; and its first line.
function scope.section(text, names)
  local wanted = {}
  for _, name in ipairs(names) do wanted[name:lower()] = true end
  local number, rank, lines, first, fenced = 0, nil, {}, nil, false
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    line = line:gsub("\r$", "")
    if line:find("^%s*```") then fenced = not fenced end
    local marks, title = line:match("^(#+)%s+(.-)%s*#*$")
    if marks and not fenced then
      if rank and #marks <= rank then break end
      if not rank and wanted[title:lower():gsub("[:.]$", "")] then rank, first = #marks, number + 1 end
    elseif rank then
      lines[#lines + 1] = line
    end
    if rank and marks and #marks > rank then lines[#lines + 1] = line end
  end
  return rank and table.concat(lines, "\n"), first
end

local function is_item(line)
  return line:find("^%s*[-*+]%s+%S") or line:find("^%s*%d+[.)]%s+%S")
end

-- The items of a line "NAME: a.txt, b.txt" and the list right below it; nil if there is none.
function scope.label(text, names)
  local wanted = {}
  for _, name in ipairs(names) do wanted[name:lower()] = true end
  local items, fenced = nil, false
  for line in (text .. "\n"):gmatch("([^\r\n]*)\r?\n") do
    if line:find("^%s*```") then fenced = not fenced end
    local title, rest = editline.trim_end(line:gsub("%*%*", "")):match("^%s*[-*+>]?%s*(%a[%a ]-)%s*:%s*(.*)$")
    if items then
      if line:find("%S") and not is_item(line) then break end
      items[#items + 1] = line
    elseif title and not fenced and wanted[title:lower()] then
      items = {}
      for piece in rest:gsub("%b()", ""):gsub(" and ", ", "):gmatch("[^,;]+") do
        items[#items + 1] = "- " .. piece:match("^%s*(.-)[%s.]*$")
      end
    end
  end
  return items and table.concat(items, "\n")
end

-- The rules of `files` (lines of YAML) from that section, in order, and the plain paths that do not exist.
function scope.rules(text, names, dir)
  local section = scope.section(text, names) or scope.label(text, names)
  local entries = target.entries(prose.scan(section or "").lines, dir)
  local rules, missing = {}, {}
  for index, entry in ipairs(entries) do
    rules[index] = ("  - {path: %s, mode: %s}"):format(common.scalar(entry.path), entry.mode)
  end
  for index, one in ipairs(entries.missing) do missing[index] = one.path end
  return entries.writable and rules or {}, missing
end

return scope
