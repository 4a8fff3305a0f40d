-- lists: items that apsis adds to a section that people write too. An item ends with the candidate that brought it,
-- `(c0012)`, which is how it is told from a person's own; what was said before is not said again, and a stand-in goes
-- when there is something to say. Called by absorb.lua and entries.lua, and by document.lua for what a person adds.
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local lists = {}

local LONGEST_ITEM, LEAST_CUT = 400, 20

-- The bullet, the text and the candidate of an item that apsis added; nil for any other line.
function lists.marked(line)
  local bullet, rest = line:match "^(%s*[-*+]%s+)(.*)$"
  local text, id = texts.trim(rest or ""):match "^(.*)%((c%d+)%)$"
  if text then return bullet, texts.trim(text), id end
end

local function bare(text)
  return text:lower():gsub("%s+", " "):match "^(.*[^%s%p])" or text
end

-- What a section says, for looking up: its lines in lower case, with single blanks.
local function said_in(doc, section)
  local text = section and table.concat(doc.lines, "", section.first, section.stop) or ""
  return "\n" .. text:lower():gsub("[\t\r]", " "):gsub("  +", " ") .. "\n"
end

-- Whether an item says it, whole, or cut off by a compaction.
local function says(said, text)
  local item = "- " .. bare(text)
  local from, to = said:find(item, 1, true)
  while from do
    if said:find("^[ %p]*\n", to + 1) or said:find("^[ %p]*%(c%d+%) ?\n", to + 1) then return true end
    from, to = said:find(item, to + 1, true)
  end
  for line in said:gmatch "[^\n]+" do
    local stop = line:find("... (c", 1, true)
    if stop and stop > LEAST_CUT and item:sub(1, stop - 1) == line:sub(1, stop - 1) then return true end
  end
  return false
end

-- A person's words as the text of an item: whole, and not to be taken for one of apsis's own.
local function own_words(text)
  return (texts.line(text):gsub("^[-*+] +", ""):gsub("(%(c%d+%))$", "%1."))
end

-- Lines to add for items {text, id, whole}, without what is said already.
local function fresh(items, said)
  local made = {}
  for _, item in ipairs(items) do
    local text = item.whole and own_words(item.text) or texts.short(texts.line(item.text), LONGEST_ITEM)
    if text ~= "" and not says(said, text) then
      made[#made + 1] = item.id and ("- %s (%s)"):format(text, item.id) or "- " .. text
      said = said .. made[#made]:lower() .. "\n"
    end
  end
  return made
end

local function continues_list(line)
  return line:find "^%s*[-*+]%s" or line:find "^%s*%d+[.)]%s" or line:find "^%s+%S"
end

-- Takes the stand-ins out of a section; the section as it is then.
local function without_stand_ins(doc, key, section)
  local hidden, found = doc:scan().hidden, false
  for at = section.first, section.stop do
    if not hidden[at] and sections.is_stand_in(doc.lines[at]) then doc.lines[at], found = "", true end
  end
  if not found then return section end
  doc:drop_empty()
  return sections.find(doc, key)
end

-- Puts lines at the end of what the section of that key says, in place of its stand-ins.
function lists.append(doc, key, section, made)
  section = without_stand_ins(doc, key, section)
  local stop, placed = section.stop, {}
  local joins = stop >= section.first and continues_list(doc.lines[stop]) and continues_list(made[1]) and not doc:scan().hidden[stop]
  local from = stop + 1
  if not joins then
    placed[1] = ""
    if from <= section.last and sections.is_blank(doc.lines[from]) then placed[1], from = doc.lines[from], from + 1 end
  end
  table.move(made, 1, #made, #placed + 1, placed)
  local next_line = doc.lines[from]
  if next_line and not sections.is_blank(next_line) then placed[#placed + 1] = "" end
  doc:splice(stop + 1, from - 1, placed)
end

-- Adds items, a list of {text, id, whole}, to the section of that key; it is made where it is absent. Whether there was
-- one to add.
function lists.add(doc, key, items)
  if #items == 0 then return false end
  local section = sections.find(doc, key)
  local made = fresh(items, said_in(doc, section))
  if #made == 0 then return false end
  if section then lists.append(doc, key, section, made) else sections.add(doc, key, made, "history") end
  return true
end

return lists
