-- members: the lines of Population as people have edited them. What the journal has of a candidate (fitness, operator,
-- parents, cell, outcome) is put back; the island that people give it, and what they add, is for the provider. Called
-- by check.lua, absorb.lua and steering.lua.
local entries = require "apsis.goals.statefile.entries"
local lists = require "apsis.goals.statefile.lists"
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local members = {}

local function begins(text, start) return text:sub(1, #start) == start end

-- What a compaction leaves of a text.
local function is_cut(text, whole)
  local kept = text:match "^(.*)%.%.%.$"
  return kept ~= nil and begins(whole, kept)
end

-- A remark without the mark that joins it to the line.
local function remark(text)
  for _, mark in ipairs { "·", "–", "—", ";", ",", "-" } do
    if begins(text, mark) then return texts.trim(text:sub(#mark + 1)) end
  end
  return text
end

-- One candidate's line: its new text if a part is put back, else nil; and a list of what people say with it.
local function compare(text, right)
  if text == right.text or is_cut(text, right.text) then return nil, {} end
  local island, rest = text:match "^island (.-) · (.*)$"
  if not island then return nil, { ("%s: %s"):format(right.id, text) } end
  local said = {}
  if island ~= right.island then said[1] = ("%s belongs to island %s"):format(right.id, island) end
  local now
  if not begins(rest, right.facts) then
    if is_cut(rest, right.facts .. right.about) then return nil, said end
    local _, stop = rest:find(right.about, 1, true)
    rest = right.facts .. right.about .. (stop and rest:sub(stop + 1) or "")
    now = ("island %s · %s"):format(island, rest)
  end
  local about = rest:sub(#right.facts + 1)
  if about ~= right.about and not is_cut(about, right.about) then
    local added = begins(about, right.about) and texts.trim(about:sub(#right.about + 1)) or about
    said[#said + 1] = ("%s: %s"):format(right.id, remark(added))
  end
  return now, said
end

-- Puts back what contradicts the journal, and returns what people say. record_of(id): a candidate's record; say(line,
-- message) reports.
function members.check(doc, record_of, say)
  local section, found = sections.find(doc, "population"), {}
  for at = section and section.first or 1, section and section.stop or 0 do
    local bullet, text, id = lists.marked(doc.lines[at])
    local record = id and not doc:scan().hidden[at] and record_of(id)
    local right = type(record) == "table" and entries.member(record, entries.status(record))
    if right then
      local now, said = compare(text, right)
      if now then
        say(at, ("%s in Population is not what the journal has: put back"):format(id))
        doc:replace(at, ("%s%s (%s)%s"):format(bullet, now, id, texts.ending(doc.lines[at])))
      end
      table.move(said, 1, #said, #found + 1, found)
    end
  end
  return found
end

-- Removes the candidates before experiment `oldest`: their values do not compare with what follows. What people have
-- said with one stays, as an item of theirs.
function members.drop(doc, oldest, record_of)
  local section = sections.find(doc, "population")
  for at = section and section.stop or 0, section and section.first or 1, -1 do
    local _, text, id = lists.marked(doc.lines[at])
    local record = id and tonumber(id:sub(2)) < oldest and not doc:scan().hidden[at] and record_of(id)
    local right = type(record) == "table" and entries.member(record, entries.status(record))
    if right then
      local _, said = compare(text, right)
      for index, words in ipairs(said) do said[index] = "- " .. words end
      doc:splice(at, at, said)
    end
  end
end

return members
