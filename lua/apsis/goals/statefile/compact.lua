-- compact: keeps a state file below its limit. First, older entries become range lines; if that is not enough, notes
-- and apsis's own items in people's lists are shortened, oldest first. Rows, people's words and unknown sections stay.
-- Idempotent. Called by document.lua.
local entries = require "apsis.goals.statefile.entries"
local lists = require "apsis.goals.statefile.lists"
local ranges = require "apsis.goals.statefile.ranges"
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local compact = {}

local KEPT_ENTRIES, FEW_ENTRIES, NEARLY_FULL = 10, 5, 0.8
local ROOM = 0.05 -- of the limit: the free space to make, so that not every experiment shortens texts
local LONGEST_SPAN = 50 -- iterations of a range that entries may still join
local SHORT_NOTES, SHORT_ITEM, SHORT_SUMMARY = 120, 80, 60

-- ---- entries to ranges ----

-- A baseline's number: that of its older neighbour.
local function number_of(list, index)
  for older = index, #list do
    if list[older].count then return list[older].count end
    if list[older].range then return list[older].range.last end
  end
  return 0
end

-- A range with the text under its heading moved into its summary.
local function with_body(doc, item)
  local body = {}
  for at = item.at + 1, item.stop do body[#body + 1] = doc.lines[at] end
  local text = texts.line(table.concat(body))
  if text == "" then return item.range end
  item.range.summary = item.range.summary == "" and text or item.range.summary .. "; " .. text
  return item.range
end

-- The items, with entries beyond the newest `keep` as ranges; and whether there are any.
local function gather(doc, keep)
  local list = entries.items(doc)
  local pieces, seen, changed = {}, 0, false
  for index, item in ipairs(list) do
    local piece = item
    if item.kind == "entry" then
      seen = seen + 1
      if seen > keep then
        local title = item.kept and entries.field(doc, item, "Change")
        piece = { kind = "range", fresh = true, last = item.last, range = ranges.of(item, number_of(list, index),
          title) }
        changed = true
      end
    end
    pieces[#pieces + 1] = piece
  end
  return pieces, changed, list
end

local function may_join(older, newer, all)
  if older.kind ~= "range" or newer.kind ~= "range" then return false end
  if all then return true end
  if not newer.fresh or older.range.foreign or older.stop and older.stop > older.at then return false end
  return newer.range.last - older.range.first < LONGEST_SPAN
end

-- Joins neighbours, oldest first; and whether any were joined.
local function join(doc, pieces, all)
  local joined = false
  local newest_first = {}
  for index = #pieces, 1, -1 do
    local piece, older = pieces[index], newest_first[#newest_first]
    if older and may_join(older, piece, all) then
      local below = older.at and with_body(doc, older) or older.range
      local above = piece.at and with_body(doc, piece) or piece.range
      newest_first[#newest_first] = { kind = "range", fresh = true, range = ranges.join(below, above),
        last = older.last }
      joined = true
    else
      newest_first[#newest_first + 1] = piece
    end
  end
  local back = {}
  for index = #newest_first, 1, -1 do back[#back + 1] = newest_first[index] end
  return back, joined
end

-- Keeps the newest `keep` entries; all: joins all adjoining ranges.
local function collapse(doc, keep, all)
  local pieces, changed, list = gather(doc, keep)
  local joined
  pieces, joined = join(doc, pieces, all)
  if not changed and not joined then return end
  local first, last, made = list[1].at, list[#list].last, {}
  for index, piece in ipairs(pieces) do
    if piece.at then
      table.move(doc.lines, piece.at, piece.last, #made + 1, made)
    else
      made[#made + 1] = "### " .. ranges.text(piece.range)
      if index < #pieces then made[#made + 1] = "" end
    end
  end
  doc:splice(first, last, made)
end

-- ---- shorter texts ----

-- Applies `change` to the lines in the list until the text fits with some room; drops the lines that become empty.
local function fit(doc, limit, list, change)
  local size, enough = doc:size(), limit * (1 - ROOM)
  for _, at in ipairs(list) do
    if size <= enough then break end
    local old = doc.lines[at]
    local ending = texts.ending(old)
    local text = change(old:sub(1, #old - #ending))
    if text then doc.lines[at] = text == "" and "" or text .. ending end
    size = size - #old + #doc.lines[at]
  end
  doc:drop_empty()
end

-- The lines of entries' notes, oldest first.
local function notes(doc)
  local list, found = entries.items(doc), {}
  for index = #list, 1, -1 do
    local _, at
    if list[index].kind == "entry" then _, at = entries.field(doc, list[index], "Notes") end
    found[#found + 1] = at
  end
  return found
end

-- The lines of apsis's own population, lessons and directions, oldest first, except the newest `spared` of each
-- section.
local function marked(doc, spared)
  local found, numbers, hidden = {}, {}, doc:scan().hidden
  for _, key in ipairs { "population", "lessons", "directions" } do
    local section, own = sections.find(doc, key), {}
    for at = section and section.first or 1, section and section.stop or 0 do
      local _, _, id = lists.marked(doc.lines[at])
      if id and not hidden[at] then
        own[#own + 1] = at
        numbers[at] = tonumber(id:sub(2))
      end
    end
    table.move(own, 1, math.max(0, #own - spared), #found + 1, found)
  end
  table.sort(found, function(a, b)
    if numbers[a] ~= numbers[b] then return numbers[a] < numbers[b] end
    return a < b
  end)
  return found
end

local function summaries(doc)
  local found = {}
  for _, item in ipairs((entries.items(doc))) do
    if item.range then table.insert(found, 1, item.at) end
  end
  return found
end

local function none() return "" end

local function short_note(line)
  local head, text = line:match("^(.-%*%*Notes:?%*%*:?%s*)(.*)$")
  return head and head .. texts.short(text, SHORT_NOTES)
end

local function short_item(line)
  local bullet, text, id = lists.marked(line)
  return ("%s%s (%s)"):format(bullet, texts.short(text, SHORT_ITEM), id)
end

local function short_range(width)
  return function(line)
    local marks, title = line:match("^( ? ? ?#+%s+)(.*)$")
    local range = ranges.parse(texts.trim(title))
    range.summary = width > 0 and ranges.shorten(range.summary, width) or ""
    return marks .. ranges.text(range)
  end
end

-- The steps, in order, while the file is over the limit.
local steps = {
  function(doc, limit) fit(doc, limit, notes(doc), short_note) end,
  function(doc, limit) fit(doc, limit, marked(doc, 0), short_item) end,
  function(doc, limit) fit(doc, limit, marked(doc, 10), none) end,
  function(doc, limit) fit(doc, limit, notes(doc), none) end,
  function(doc, limit) fit(doc, limit, marked(doc, 0), none) end,
  function(doc, limit) fit(doc, limit, summaries(doc), short_range(SHORT_SUMMARY)) end,
  function(doc) collapse(doc, 1, true) end,
  function(doc, limit) fit(doc, limit, summaries(doc), short_range(0)) end,
  function(doc) collapse(doc, 0, true) end,
  function(doc, limit) fit(doc, limit, summaries(doc), short_range(0)) end,
}

local refusal = "the state file has %d bytes and the limit is %d, although the history is as short as possible: apsis "
  .. "never cuts what people wrote. Shorten sections by hand, or raise memory.limit_kb to %d"

-- true; nil and a message if the text that people wrote does not fit.
function compact.to(doc, limit)
  collapse(doc, KEPT_ENTRIES, false)
  if doc:size() > NEARLY_FULL * limit then collapse(doc, FEW_ENTRIES, true) end
  for _, step in ipairs(steps) do
    if doc:size() <= limit then return true end
    step(doc, limit)
  end
  local size = doc:size()
  if size <= limit then return true end
  return nil, refusal:format(size, limit, math.ceil(size / NEARLY_FULL / 1024))
end

return compact
