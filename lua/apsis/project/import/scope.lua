-- scope: the files that a session's prose says may be changed: the paths in backquotes, or the first word, of the list below
-- a heading, or behind the colon of a line "Files in scope:" and below it. What a list after "Do NOT modify" names is
-- read_only. Only reads text and looks whether a path is there.
-- Called by autoresearch.lua and autoloop.lua.
local common = require "apsis.project.import.common"
local fs = require "apsis.fs"

local scope = {}

-- The text below a heading of any of these names, to the next heading of its rank or higher; and the line it begins at.
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

-- What a line "NAME: a.txt, b.txt" names, as the items of a list, and the list right below it; nil where there is none.
function scope.label(text, names)
  local wanted = {}
  for _, name in ipairs(names) do wanted[name:lower()] = true end
  local items, fenced = nil, false
  for line in (text .. "\n"):gmatch("([^\r\n]*)\r?\n") do
    if line:find("^%s*```") then fenced = not fenced end
    local title, rest = line:gsub("%*%*", ""):match("^%s*[-*+>]?%s*(%a[%a ]-)%s*:%s*(.-)%s*$")
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

-- A path of the project, as a rule takes it; nil for what is none.
local function path_of(word)
  local path = word:gsub("^%./", ""):gsub("[,;:]+$", "")
  if path == "" or path:find("[%s%c<>|&;$(){}\"'!`]") or path:sub(1, 1) == "/" or path:sub(1, 1) == "-" then return nil end
  if ("/" .. path .. "/"):find("/../", 1, true) or not path:find("[%w]") then return nil end
  return path
end

-- The paths an item of a list names: all in backquotes before any explanation, else its first word where that is a path.
local function paths_of(item, dir)
  local found = {}
  for word in item:gmatch("`([^`\n]+)`") do
    local path = path_of(word)
    if path and (path:find("[./*]") or fs.stat(dir .. "/" .. path)) then found[#found + 1] = path end
  end
  if #found > 0 then return found end
  local path = path_of(item:match("^%*?%*?(%S+)") or "")
  if path and (path:find("[/*]") or path:find("%.%w+$") or fs.stat(dir .. "/" .. path)) then return { path } end
  return {}
end

-- Rules of `files` (lines of YAML) from the section of that name, in order, and the plain paths that are not there.
function scope.rules(text, names, dir)
  local rules, missing, seen = {}, {}, {}
  local section = scope.section(text, names) or scope.label(text, names)
  local mode = "writable"
  for line in ((section or ""):gsub("<!%-%-.-%-%->", "") .. "\n"):gmatch("([^\n]*)\n") do
    local item = line:match("^%s*[-*+]%s+(.+)$") or line:match("^%s*%d+[.)]%s+(.+)$")
    local lower = line:lower()
    if not item and lower:find("%S") then
      if lower:find("do not") or lower:find("don't") or lower:find("off limits") or lower:find("must not") then mode = "read_only"
      elseif lower:find("modify") or lower:find("change") or lower:find("edit") then mode = "writable" end
    end
    local told = item or mode == "writable" and line:find("`") and line
    for _, path in ipairs(told and paths_of(told, dir) or {}) do
      local plain = path:gsub("/+$", "")
      if common.is_directory(dir .. "/" .. plain) then path = plain .. "/**" end
      if not seen[path] then
        seen[path] = true
        local glob = path:find("[*?]")
        rules[#rules + 1] = glob and ("  - {path: %s, mode: %s}"):format(common.scalar(path), mode) or common.rule(path, mode)
        if mode == "writable" and not glob and not fs.stat(dir .. "/" .. path) then missing[#missing + 1] = path end
      end
    end
  end
  local writable = false
  for _, rule in ipairs(rules) do writable = writable or rule:find("writable", 1, true) ~= nil end
  return writable and rules or {}, missing
end

return scope
