-- journal: the file of lines, and how it is read. The fsynced append is the commit point of an experiment; all that
-- follows from results can be rebuilt from here. What a line has is line.lua's. Knows no git and no process. If it has
-- a seal, that sees each line that is read or appended.
local json = require "apsis.json"
local lines = require "apsis.core.line"
local state = require "apsis.state"

local journal = { id = lines.id, timestamp = lines.timestamp }

local Journal = {}
Journal.__index = Journal

local remedy = "; the journal is the record of what was measured, so nothing is skipped: restore that line from "
  .. "a backup, or move it out of the file by hand, then run again"

-- The line of a text | nil, message. What was found to be a line is not looked at again.
local function decoded(self, text, number, fields)
  local line, message = json.decode(text, fields)
  local problem = line == nil and message or number > self.checked and lines.problem(line)
  if problem then return nil, ("%s:%d: %s%s"):format(self.path, number, problem, remedy) end
  return line
end

-- open(path) -> journal, cut | nil, message, code. cut describes a torn last line that was removed.
function journal.open(path)
  local file, cut, code = state.journal(path)
  if not file then return nil, cut, code end
  return setmetatable({ path = path, file = file, marks = {}, count = 0, checked = 0 }, Journal), cut
end

-- The journal of a project that may be running: only read; a torn last line is passed over.
function journal.reader(path)
  return setmetatable({ path = path, marks = {}, count = 0, checked = 0 }, Journal)
end

-- The same of a journal that is no file here, from its bytes; path: how messages name it.
function journal.of_bytes(path, bytes)
  return setmetatable({ path = path, bytes = bytes, marks = {}, count = 0, checked = 0 }, Journal)
end

-- What was written cannot be read. Who reads may be a hook; after this no line is written all the same.
local function breaks(self, message)
  self.broken = { fatal = true, message = message, code = 3 }
  return self.broken
end

local function fail(self, message)
  error(breaks(self, message))
end

local STRIDE = 4 -- the offset of every 4th line is remembered; the others are found from there

-- Notes the offset of the line at an index; lines are noted in order.
local function mark(self, index, offset)
  if index % STRIDE == 1 then self.marks[index // STRIDE + 1] = offset end
  self.count = math.max(self.count, index)
end

local function lines_of(bytes, offset, before)
  local at, number = offset + 1, before
  return function()
    local from, stop = at, bytes:find("\n", at, true)
    if not stop then return nil end
    at, number = stop + 1, number + 1
    return bytes:sub(from, stop - 1), number, from - 1
  end
end

-- The complete lines, as state.lines gives them, from the nearest one before index `first` (default 1) whose offset is
-- remembered.
function Journal:lines(first)
  local place = ((first or 1) - 1) // STRIDE + 1
  while place > 1 and not self.marks[place] do place = place - 1 end
  local offset, before = self.marks[place] or 0, (place - 1) * STRIDE
  if self.bytes then return lines_of(self.bytes, offset, before) end
  return state.lines(self.path, offset, before + 1)
end

-- The offsets that are remembered, and how many lines are known: what resume takes.
function Journal:known() return self.marks, self.count end

-- Lets a reader continue after `count` lines, whose offsets are `marks`.
function Journal:resume(marks, count) self.marks, self.count = marks, count end

-- Calls visit(line, number, text) for every line in file order, from index `first` (default 1) on; fields: a set of
-- those wanted. true | nil, message, "EJOURNAL" or the system's code. What visit returns is why the line is refused
-- (and true if that names a line itself).
function Journal:each(visit, fields, first)
  local following, unread, code, handle = self:lines(first)
  if not following then return nil, unread, code end
  local _ <close> = handle
  while true do
    local read, text, number, offset = pcall(following)
    if not read then return nil, ("%s: %s"):format(self.path, text), "EIO" end
    if not text then return true end
    if number >= (first or 1) then
      local line, message = decoded(self, text, number, fields or true)
      if not line then return nil, breaks(self, message).message, "EJOURNAL" end
      mark(self, number, offset)
      if not fields and number == self.checked + 1 then self.checked = number end
      if self.seal then self.seal:see(number, text) end
      local refused, named = visit(line, number, text)
      if refused then
        return nil, named and refused or ("%s:%d: %s%s"):format(self.path, number, refused, remedy), "EJOURNAL"
      end
    end
  end
end

-- The text of the line that is `skip` lines after the one at an offset.
local function text_in(bytes, offset, skip)
  local at = offset + 1
  for _ = 1, skip do at = bytes:find("\n", at, true) + 1 end
  return bytes:match("[^\n]*", at)
end

-- The text of the line at an index, read again from the file; nil if there is none.
function Journal:text(index)
  if index < 1 or index > self.count then return nil end
  if self.bytes then return text_in(self.bytes, self.marks[(index - 1) // STRIDE + 1], (index - 1) % STRIDE) end
  local reader = self.reader
  if not reader then
    local opened, refused = io.open(self.path, "rb")
    reader = opened or fail(self, refused)
    self.reader = reader
  end
  if index ~= self.reader_at then
    reader:seek("set", self.marks[(index - 1) // STRIDE + 1])
    for _ = 1, (index - 1) % STRIDE do reader:read "l" end
  end
  local text, message = reader:read "l"
  self.reader_at = text and index + 1
  return text or fail(self, ("%s: a line that was there cannot be read: %s"):format(self.path, message or "it is gone"))
end

-- The same, decoded; nil, message, code if what a fold left out of the line is not as it must be. fields: a set of
-- those wanted; nil: all.
function Journal:read(index, fields)
  local text = self:text(index)
  if not text then return nil end
  local line, message = decoded(self, text, index, fields or true)
  if not line then return nil, breaks(self, message).message, "EJOURNAL" end
  return line
end

-- Appends and fsyncs; metric: the run's. Returns the line as a reader of the file would see it, or nil, message, code.
function Journal:append(line, metric)
  local text = json.encode(lines.for_file(line, metric))
  local offset = self.file:size()
  if self.seal then self.seal:before(text) end
  local ok, message, code = self.file:append(text)
  if not ok then return nil, message, code end
  mark(self, self.count + 1, offset)
  if self.seal then self.seal:after() end
  return assert(json.decode(text, true))
end

-- Has lines read again by a descriptor of this process's own, once it is a copy of another one.
function Journal:reopen()
  if self.reader then self.reader:close() end
  self.reader, self.reader_at = nil, nil
end

function Journal:close()
  self:reopen()
  if self.file then self.file:close() end
end

return journal
