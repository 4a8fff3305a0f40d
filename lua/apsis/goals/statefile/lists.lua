-- lists: items that apsis adds to sections that people write too. An item ends with its candidate, `(c0012)`, which
-- marks it as apsis's. Nothing is added twice, and the first item replaces a stand-in.
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local lists = {}

local LONGEST_ITEM, LEAST_CUT = 400, 20

-- The bullet, text and candidate of an item that apsis added; nil for any other line.
function lists.marked(line)
  local bullet, rest = line:match "^(%s*[-*+]%s+)(.*)$"
  local text, id = texts.trim(rest or ""):match "^(.*)%((c%d+)%)$"
  if text then return bullet, texts.trim(text), id end
end

local function bare(text)
  return text:lower():gsub("%s+", " "):match "^(.*[^%s%p])" or text
end

-- A section's text for searching: lower case, single blanks.
local function said_in(doc, section)
  local text = section and table.concat(doc.lines, "", section.first, section.stop) or ""
  return "\n" .. text:lower():gsub("[\t\r]", " "):gsub("  +", " ") .. "\n"
end

-- Whether the section has the item, whole or cut by a compaction.
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

-- A person's text as an item: uncut, and not marked as apsis's.
local function own_words(text)
  return (texts.line(text):gsub("^[-*+] +", ""):gsub("(%(c%d+%))$", "%1."))
end

-- The lines for items {text, id, whole} that the section lacks.
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

-- Removes a section's stand-ins; returns the section again.
local function without_stand_ins(doc, key, section)
  local hidden, found = doc:scan().hidden, false
  for at = section.first, section.stop do
    if not hidden[at] and sections.is_stand_in(doc.lines[at]) then doc.lines[at], found = "", true end
  end
  if not found then return section end
  doc:drop_empty()
  return sections.find(doc, key)
end

-- Appends lines to the section of that key, in place of its stand-ins.
function lists.append(doc, key, section, made)
  section = without_stand_ins(doc, key, section)
  local stop, placed = section.stop, {}
  local joins = stop >= section.first and continues_list(doc.lines[stop]) and continues_list(made[1])
    and not doc:scan().hidden[stop]
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

-- Adds items, a list of {text, id, whole}, to the section of that key, or creates it. Whether any was added.
function lists.add(doc, key, items)
  if #items == 0 then return false end
  local section = sections.find(doc, key)
  local made = fresh(items, said_in(doc, section))
  if #made == 0 then return false end
  if section then lists.append(doc, key, section, made) else sections.add(doc, key, made, "history") end
  return true
end

return lists
