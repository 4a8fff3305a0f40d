-- steering: what people ask for in a program's state file, as texts for a provider, without comments, stand-ins and the
-- introductions of new sections. Changes nothing. Called by document.lua.
local lists = require "apsis.goals.statefile.lists"
local sections = require "apsis.goals.statefile.sections"

local steering = {}

local asked = {
  { key = "priorities", lead = "Current priorities (set by the people of this project: follow them)" },
  { key = "lessons", lead = "Lessons learned so far" },
  { key = "foreclosed", lead = "Foreclosed avenues (do not try these again)" },
  { key = "directions", lead = "Future directions (ideas that are yet to be tried)" },
}

-- The introductions of autoloop's sections.
local introductions = { "^Key findings and insights ", "^Approaches that have been tried and ",
  "^Promising ideas yet to " }

local function introduces(line)
  for _, pattern in ipairs(introductions) do
    if line:find(pattern) then return true end
  end
  return false
end

-- A line without comments; inside: the line begins within one.
local function without_comments(line, inside)
  if inside then line = line:match "^.-%-%->(.*)$" or line end
  local kept, from = {}, 1
  while true do
    local open = line:find("<!--", from, true)
    local _, close = line:find("-->", open and open + 4 or #line + 1, true)
    if not close then return table.concat(kept) .. line:sub(from) end
    kept[#kept + 1] = line:sub(from, open - 1)
    from = close + 1
  end
end

-- A section's lines without comments, stand-ins and introductions; code is unchanged. own: without apsis's items.
local function content(doc, section, own)
  local scan, kept = doc:scan(), {}
  for at = section.first, section.stop do
    local line = doc.lines[at]:gsub("\r?\n$", "")
    if scan.code[at] then kept[#kept + 1] = line
    elseif not scan.hidden[at] then
      local bare = without_comments(line, scan.hidden[at - 1])
      local nothing = bare ~= line and sections.is_blank(bare)
      if own and lists.marked(bare) then nothing = true end
      if not nothing and not sections.is_stand_in(bare) and not introduces(bare) then kept[#kept + 1] = bare end
    end
  end
  local text = table.concat(kept, "\n"):match "^(.*%S)" or ""
  return (text:gsub("^%s*\n", ""):gsub("\n\n\n+", "\n\n"))
end

-- What people have written into Population, and the edits of its lines that the last check has found.
local function population(doc)
  local section, lines = sections.find(doc, "population"), {}
  for index, text in ipairs(doc.population or {}) do lines[index] = "- " .. text end
  local own = section and content(doc, section, true) or ""
  if own ~= "" then lines[#lines + 1] = own end
  return #lines > 0 and "The population, as the people of this project see it:\n" .. table.concat(lines, "\n") or nil
end

-- One text for each section that is not empty.
function steering.of(doc)
  local list = {}
  for _, about in ipairs(asked) do
    local section = sections.find(doc, about.key)
    local text = section and content(doc, section) or ""
    if text:find "%S" then list[#list + 1] = about.lead .. ":\n" .. text end
  end
  list[#list + 1] = population(doc)
  return list
end

return steering
