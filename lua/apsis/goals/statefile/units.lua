-- units: splits a state file into parts (one per heading) and parts into units, which are kept, removed or added whole;
-- knows which are people's; merges them. Changes no document. Called by join.
local lists = require "apsis.goals.statefile.lists"
local rows = require "apsis.goals.statefile.rows"
local sections = require "apsis.goals.statefile.sections"
local texts = require "apsis.goals.statefile.texts"

local units = {}

-- ---- parts ----

local function finish(doc, part, last)
  part.last, part.stop = last, last
  while part.stop >= part.first and (sections.is_blank(doc.lines[part.stop])
    or sections.is_rule(doc.lines[part.stop])) do
    part.stop = part.stop - 1
  end
  local said = {}
  for at = part.first, part.stop do said[#said + 1] = texts.trim(doc.lines[at]) end
  part.said = table.concat(said, "\n") -- white space at the ends of lines is nobody's word
end

-- Whether a heading is within the part: a known section includes its deeper headings.
local function within(part, head)
  return part.key and head.level > part.level and not head.key
end

-- The parts of a document in order, and by id: { doc, id, key, first, stop, last, said }, from the heading to the last
-- line; stop is the last that is neither blank nor a rule. The text above the first heading is a part too.
function units.parts(doc)
  local list, by_id = { { doc = doc, id = "", first = 1 } }, {}
  by_id[""] = list[1]
  for _, head in ipairs(doc:scan().headings) do
    local part = list[#list]
    if not within(part, head) then
      finish(doc, part, head.at - 1)
      local name, number = head.key or ("%d %s"):format(head.level, head.title), 1
      while by_id[name .. "\n" .. number] do number = number + 1 end
      part = { doc = doc, id = name .. "\n" .. number, key = number == 1 and head.key or nil, level = head.level,
        first = head.at }
      list[#list + 1], by_id[part.id] = part, part
    end
  end
  finish(doc, list[#list], #doc.lines)
  return list, by_id
end

-- The lines of a part, or those in from..to.
function units.lines(part, from, to)
  return table.move(part.doc.lines, from or part.first, to or part.last, 1, {})
end

-- ---- units ----

-- The table rows by line: apsis's own, or a named row.
local function row_units(doc)
  local found = {}
  for _, row in ipairs((rows.all(doc))) do
    local own = rows.is_known(row.name) or row.name == "field" or row.name:find "^[- ]*$"
    found[row.at] = { own = own, row = true, key = "|" .. row.name }
  end
  return found
end

-- The last line of the unit at a line: a fence or comment is one unit.
local function block_end(doc, at, stop)
  local hidden = doc:scan().hidden
  if not hidden[at] then return at end
  while at < stop and hidden[at + 1] do at = at + 1 end
  return at
end

-- The units of a part's lines below its heading: { lines, key } (no key: only space); own: apsis's; named: the key is a
-- name, and the lines may change.
function units.of(part)
  if not part then return {} end
  local doc, list, head = part.doc, {}, ""
  local of_table = part.key == "machine" and row_units(doc) or {}
  local marked = part.key == "lessons" or part.key == "directions" or part.key == "population"
  local at = part.first + (part.id ~= "" and 1 or 0)
  while at <= part.stop do
    local last, line = block_end(doc, at, part.stop), doc.lines[at]
    local unit = { lines = table.move(doc.lines, at, last, 1, {}) }
    local row, id = of_table[at], marked and select(3, lists.marked(line))
    if row then unit.key, unit.own, unit.row, unit.named = row.key, row.own, true, true
    elseif id then unit.key, unit.named = "(" .. id .. ")", true
    elseif last > at or not sections.is_blank(line) then
      if part.key == "history" and line:find "^#" then head = texts.trim(line) end -- entries have lines in common
      unit.key = head .. "\n" .. texts.trim(table.concat(unit.lines))
    end
    list[#list + 1] = unit
    at = last + 1
  end
  return list
end

-- ---- merging ----

local function keyed(list)
  local by_key = {}
  for _, unit in ipairs(list) do
    if unit.key then by_key[unit.key] = by_key[unit.key] or unit end
  end
  return by_key
end

local function text_of(unit) return unit and texts.trim(table.concat(unit.lines)) end

-- Their units without those removed here, and with our changes to named units that they left unchanged.
local function kept_units(base, ours, theirs, changed)
  local result = {}
  for _, unit in ipairs(theirs) do
    local was, mine = base[unit.key], ours[unit.key]
    local removed = unit.key and not unit.own and was and not mine and text_of(was) == text_of(unit)
    local space = not unit.key and result.gap and (#result == 0 or not result[#result].key)
    if unit.named and not unit.own and mine and text_of(mine) ~= text_of(unit) and text_of(mine) ~= text_of(was) then
      local shortened = mine.lines[1]:find("... (c", 1, true) -- by a compaction
      if text_of(was) == text_of(unit) then unit = mine elseif not shortened then changed(text_of(mine),
        text_of(unit)) end
    end
    if not removed and not space then result[#result + 1] = unit end
    if removed or unit.key then result.gap = removed end
  end
  return result
end

-- The runs of units that are only here, with the space inside, and the key of the unit before.
local function added_runs(base, ours, theirs)
  local runs, run, before, space = {}, nil, nil, {}
  for _, unit in ipairs(ours) do
    local added = unit.key and not unit.own and not base[unit.key] and not theirs[unit.key]
      and not sections.is_stand_in(unit.lines[1])
    if not unit.key then space[#space + 1] = unit
    elseif not added then run, space, before = nil, {}, unit.key
    else
      if not run then
        run = { after = before, row = unit.row }
        runs[#runs + 1] = run
      else
        table.move(space, 1, #space, #run + 1, run)
      end
      run[#run + 1], space = unit, {}
    end
  end
  return runs
end

local function in_list(line)
  return line:find "^%s*[-*+]%s" or line:find "^%s*%d+[.)]%s" or line:find "^%s+%S"
end

-- Inserts a run after unit `place`, with a blank line unless it continues a list or table.
local function insert(result, place, run, eol)
  local before = result[place]
  local made = table.move(run, 1, #run, 1, {})
  local line = before and before.key and before.lines[#before.lines]
  local goes_on = run.row and before and before.row or line and in_list(line) and in_list(run[1].lines[1])
  if not goes_on and (not before or before.key) then table.insert(made, 1, { lines = { eol } }) end
  local after = result[place + 1]
  if after and after.key and not (after.row and run.row) and not (goes_on and in_list(after.lines[1])) then
    made[#made + 1] = { lines = { eol } }
  end
  table.move(result, place + 1, #result, place + #made + 1)
  table.move(made, 1, #made, place + 1, result)
end

local function place_of(result, key)
  for index = #result, 1, -1 do
    if result[index].key == key then return index end
  end
  return #result
end

-- Merges the lines below a part's heading: theirs, minus what was removed here, plus what was added here, at the end
-- or, if order matters, after the unit that precedes it here. changed(ours, theirs) is called for a name that both
-- changed; theirs counts.
function units.merge(base, ours, theirs, changed)
  local list_o, list_t = units.of(ours), units.of(theirs)
  local by_b, by_o, by_t = keyed(units.of(base)), keyed(list_o), keyed(list_t)
  local ordered, eol = theirs.key == "machine" or theirs.key == "history", theirs.doc.eol
  local result = kept_units(by_b, by_o, list_t, changed)
  local runs = added_runs(by_b, list_o, by_t)
  for index = #result, 1, -1 do
    if #runs > 0 and not ordered and sections.is_stand_in(result[index].lines[1]) then table.remove(result, index) end
  end
  for _, run in ipairs(runs) do
    while not ordered and #result > 0 and not result[#result].key do result[#result] = nil end
    insert(result, ordered and run.after and place_of(result, run.after) or #result, run, eol)
  end
  while #result > 0 and not result[#result].key do result[#result] = nil end
  local lines = {}
  for _, unit in ipairs(result) do table.move(unit.lines, 1, #unit.lines, #lines + 1, lines) end
  return lines
end

return units
