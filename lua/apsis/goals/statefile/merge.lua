-- merge: joins two texts of a state file that both continue a third: people's edits from both, the journal's part from
-- theirs. In a conflict theirs counts, except that a pause always counts. Changes neither text. Called by document.lua.
local absorb = require "apsis.goals.statefile.absorb"
local rows = require "apsis.goals.statefile.rows"
local texts = require "apsis.goals.statefile.texts"
local units = require "apsis.goals.statefile.units"

local merge = {}

-- ---- control rows ----

-- The rows that people may edit, as texts; absent and empty are equal.
local function control(doc)
  local said = doc:fields()
  return {
    Paused = tostring(said.paused), ["Pause Reason"] = said.pause_reason or "",
    Completed = tostring(said.completed), ["Completed Reason"] = said.completed_reason or "",
    ["Recent Statuses"] = table.concat(said.recent_statuses, ", "),
    ["Consecutive Errors"] = ("%d"):format(said.consecutive_errors), ["Last Run"] = said.last_run or "",
    PR = said.pr and "#" .. said.pr or "", Issue = said.issue and "#" .. said.issue or "",
    ["Iteration Count"] = ("%d"):format(said.iteration_count),
  }, said
end

-- The number of turns that `after` has taken in and `before` has not.
local function turns(before, after)
  local lines = (after.journal_lines or 0) - (before.journal_lines or 0)
  return math.max(after.iteration_count - before.iteration_count, lines, 0)
end

-- Whether the later list is the earlier one plus at most `most` new statuses, minus the oldest.
local function follows(before, after, most)
  for new = 0, math.min(most, #after) do
    local kept, same = #after - new, true
    for index = 1, kept do
      if after[index] ~= before[#before - kept + index] then same = false end
    end
    if same and (kept == #before or #after >= absorb.recent) then return true end
  end
  return false
end

local Joiner = {}
Joiner.__index = Joiner

function Joiner:warn(name, ours, theirs, counts)
  local function shown(text) return text == "" and "empty" or '"' .. texts.short(texts.line(text), 60) .. '"' end
  table.insert(self.warnings, ("%s is %s %s and %s %s, and %s counts"):format(name, shown(ours), self.names[1],
    shown(theirs), self.names[2], shown(counts)))
end

-- Whether ours counts of two rows that both sides changed differently.
local function prevails(name, reason, ours, theirs)
  if name ~= "Paused" then return false end
  if ours[name] ~= theirs[name] then return ours[name] == "true" end
  return not absorb.is_own(ours[reason]) and absorb.is_own(theirs[reason])
end

-- Whether our rows of a group (a row and its reason) count.
function Joiner:counts(name, reason)
  local base, ours, theirs = self.base.control, self.ours.control, self.theirs.control
  local function same(one, other) return one[name] == other[name] and (not reason or one[reason] == other[reason]) end
  if same(ours, theirs) or same(ours, base) then return false end
  if same(theirs, base) then return true end
  local won = prevails(name, reason, ours, theirs)
  if name == "Last Run" or name == "Iteration Count" then return false end -- two turns, no contradiction
  local row = ours[name] ~= theirs[name] and name or reason
  local other = won and theirs or ours
  local own = name == "Paused" and other.Paused == "true" and absorb.is_own(other[reason])
  if not own then self:warn(row, ours[row], theirs[row], (won and ours or theirs)[row]) end
  return won
end

local unset = { Paused = "false", Completed = "false", ["Consecutive Errors"] = "0", ["Iteration Count"] = "0" }

-- Copies our row into the document, byte for byte if possible.
local function copy(doc, from, name)
  local mine, row = rows.find(from, name), rows.find(doc, name)
  if not mine and not row and name:find " Reason$" then return end
  if not mine or not row or mine.bare then
    local value = mine and mine.value or name == "Issue" and rows.value(from, "Steering Issue") or unset[name]
    return rows.set(doc, name, value)
  end
  local line = from.lines[mine.at]
  local bare = line:sub(1, #line - #texts.ending(line))
  doc:replace(row.at, bare .. texts.ending(doc.lines[row.at]))
end

-- The statuses that people edited here. Turns that the result has not taken in bring theirs later.
function Joiner:statuses(doc)
  local base, ours, theirs = self.base.said, self.ours.said, self.theirs.said
  local own = not self.idle and follows(base.recent_statuses, ours.recent_statuses, turns(base, ours))
  if own or not self:counts "Recent Statuses" then return end
  local again = self.idle and 0 or math.max(ours.iteration_count - theirs.iteration_count, 0)
  if again == 0 then return copy(doc, self.ours.doc, "Recent Statuses") end
  rows.set(doc, "Recent Statuses",
    table.concat(ours.recent_statuses, ", ", 1, math.max(#ours.recent_statuses - again, 0)))
end

local groups = { { "Paused", "Pause Reason" }, { "Completed", "Completed Reason" }, { "PR" }, { "Issue" },
  { "Last Run" } }
-- from the journal, except for a turn without a line
local counters = { { "Iteration Count" }, { "Consecutive Errors" } }

function Joiner:control(doc)
  for _, list in ipairs { groups, self.idle and counters or {} } do
    for _, group in ipairs(list) do
      if self:counts(group[1], group[2]) then
        for _, name in ipairs(group) do copy(doc, self.ours.doc, name) end
      end
    end
  end
  self:statuses(doc)
end

-- ---- parts ----

-- A part's heading, the given lines, and the part's trailing space.
local function dressed(part, lines)
  local made = part.id ~= "" and { part.doc.lines[part.first] } or {}
  table.move(lines, 1, #lines, #made + 1, made)
  return table.move(part.doc.lines, part.stop + 1, part.last, #made + 1, made)
end

function Joiner:merged(base, ours, theirs)
  return units.merge(base, ours, theirs, function(mine, other) self:warn("a line", mine, other, other) end)
end

-- The lines of a part that exists on their side; nil if it was removed.
function Joiner:part(base, ours, theirs)
  if theirs.key == "machine" then
    return ours and dressed(theirs, self:merged(base, ours, theirs)) or units.lines(theirs)
  end
  if theirs.key == "history" and not (self.idle and ours) then return units.lines(theirs) end
  if base and not ours then return theirs.said ~= base.said and units.lines(theirs) or nil end
  if not ours or base and ours.said == base.said or ours.said == theirs.said then return units.lines(theirs) end
  if not base or base.said ~= theirs.said then return dressed(theirs, self:merged(base, ours, theirs)) end
  local same = table.concat(units.lines(base)) == table.concat(units.lines(theirs))
  if same then return units.lines(ours) end
  local lines = units.lines(ours, ours.first, ours.stop)
  return table.move(theirs.doc.lines, theirs.stop + 1, theirs.last, #lines + 1, lines)
end

-- The lines of a part that exists only on our side; nil if they removed it and nothing was added here.
function Joiner:left(base, ours)
  if not base then return units.lines(ours) end
  if ours.said == base.said then return nil end
  local nothing = { doc = ours.doc, id = ours.id, key = ours.key, first = 1, stop = 0, last = 0 }
  local lines = units.merge(base, ours, nothing, function() end)
  return #lines > 0 and dressed(ours, lines) or nil
end

local function place_of(made, id)
  for index, part in ipairs(made) do
    if part.id == id then return index end
  end
end

-- All parts: theirs in their order, and ours after the part that they follow here.
function Joiner:parts()
  local made, before = {}, 1
  for _, part in ipairs(self.theirs.list) do
    made[#made + 1] = { id = part.id, lines = self:part(self.base.by_id[part.id], self.ours.by_id[part.id], part)
      or {} }
  end
  for _, part in ipairs(self.ours.list) do
    local at = place_of(made, part.id)
    local lines = not at and self:left(self.base.by_id[part.id], part)
    if lines then
      at = before + 1
      table.insert(made, at, { id = part.id, lines = lines, added = true })
    end
    before = at or before
  end
  return made
end

-- Joins the parts into one text; adds a missing line end, and a blank line before an inserted part.
local function text_of(parts, eol)
  local pieces = {}
  for _, part in ipairs(parts) do
    for at = 1, #part.lines - 1 do
      if not part.lines[at]:find "\n$" then part.lines[at] = part.lines[at] .. eol end
    end
    local text, last = table.concat(part.lines), pieces[#pieces]
    if last and text ~= "" then
      if not last:find "\n$" then last = last .. eol end
      if part.added and not last:find "\n%s*\n$" then last = last .. eol end
      pieces[#pieces] = last
    end
    if text ~= "" then pieces[#pieces + 1] = text end
  end
  return table.concat(pieces)
end

-- parse: document.lua's; names: see document.join. Returns the text and the warnings.
function merge.texts(parse, base, ours, theirs, names)
  if ours == theirs or ours == base then return theirs, {} end
  if theirs == base then return ours, {} end
  local self = setmetatable({ warnings = {}, names = names or { "here", "at origin" } }, Joiner)
  local eol = parse(theirs).eol
  local bom = theirs:match "^\u{FEFF}" or ""
  for name, text in pairs { base = base or "", ours = ours, theirs = theirs } do
    text = text:gsub("^\u{FEFF}", "")
    if name ~= "theirs" then text = text:gsub("\r?\n", eol) end
    local side = { doc = parse(text) }
    side.list, side.by_id = units.parts(side.doc)
    side.control, side.said = control(side.doc)
    self[name] = side
  end
  local function lines(side) return self[side].said.journal_lines or 0 end
  self.idle = lines "ours" <= lines "base" or lines "ours" == lines "theirs" -- else the journal brings our part again
  local doc = parse(text_of(self:parts(), eol))
  self:control(doc)
  return bom .. doc:text(), self.warnings
end

return merge
