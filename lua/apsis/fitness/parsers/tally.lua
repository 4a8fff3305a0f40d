-- tally: helpers for parsers of test outputs: lines without colours, and a collector of items with unique ids, in
-- order. Knows no format. Called by the parsers of apsis.fitness.
local editline = require "apsis.edit.line"

local tally = {}

local Tally = {}
Tally.__index = Tally

local LONGEST, MESSAGE = 8192, 1000 -- most bytes read of a line, and kept of a message

function tally.new()
  return setmetatable({ passed = 0, failed = 0, skipped = 0, items = {}, names = {}, by_name = {}, warnings = {} },
    Tally)
end

-- A text without terminal escapes; one that moves to a column ends the line, as what follows overwrites it.
function tally.plain(text)
  if not text:find("\27", 1, true) then return text end
  return (text:gsub("\27%[%d*G", "\n"):gsub("\27%[[%d;:?]*%a", ""))
end

-- Goes over the lines of a text: its number, and the line without its end, without colours, and without what is too
-- long.
function tally.lines(text)
  text = tally.plain(text)
  local at, number = 1, 0
  return function()
    if at > #text then return nil end
    local stop = text:find("\n", at, true) or #text + 1
    local line = text:sub(at, math.min(stop - 1, at + LONGEST - 1))
    at, number = stop + 1, number + 1
    if line:byte(-1) == 13 then line = line:sub(1, -2) end
    return number, line
  end
end

tally.trim = editline.trim

function tally.cut(text)
  text = tally.trim(text)
  if #text <= MESSAGE then return text end
  local last = utf8.offset(text, 0, MESSAGE + 1) or MESSAGE + 1
  return text:sub(1, last - 1) .. " ..."
end

-- An id in one line that no other item has: the second of a name is NAME#2.
function Tally:unique(name)
  name = tally.trim((name:gsub("[%c]+", " ")))
  if name == "" then name = "unnamed" end
  local count = (self.names[name] or 0) + 1
  local id = count == 1 and name or name .. "#" .. count
  while count > 1 and self.names[id] do
    count = count + 1
    id = name .. "#" .. count
  end
  self.names[name] = count
  if id ~= name then self.names[id] = 1 end
  return id
end

-- One test's result: state is passed, failed or skipped, and skipped ones are counted, but are no items.
function Tally:add(name, state, message)
  self[state] = self[state] + 1
  if state == "skipped" then return nil end
  local item = { id = self:unique(name), passed = state == "passed" }
  if state == "failed" and message and message ~= "" then item.message = tally.cut(message) end
  self.items[#self.items + 1] = item
  self.by_name[name] = item
  return item
end

-- The item that was added last under a name fails too.
function Tally:fail(name, message)
  local item = self.by_name[name]
  if not item then return self:add(name, "failed", message) end
  if item.passed then
    item.passed, self.passed, self.failed = false, self.passed - 1, self.failed + 1
  end
  if not item.message and message and message ~= "" then item.message = tally.cut(message) end
  return item
end

function Tally:warn(text)
  self.warnings[#self.warnings + 1] = text
end

-- What apsis.fitness.parsers.parse gives; counts: what the runner itself said, if that is the better source.
function Tally:result(format, counts)
  counts = counts or self
  return {
    format = format, passed = counts.passed, failed = counts.failed, skipped = counts.skipped,
    total = counts.passed + counts.failed,
    items = self.items, warnings = self.warnings,
  }
end

-- Why more items were seen than the runner says there are; nil if not.
function Tally:beyond(counts)
  for _, state in ipairs { "passed", "failed" } do
    if self[state] > counts[state] then
      return ("the summary says %d %s, but %d such results stand in the output"):format(counts[state], state,
        self[state])
    end
  end
end

return tally
