-- seal: .apsis/digests has a digest of each line of the journal as apsis appended it, so that a line that somebody
-- adds, changes or removes beside apsis is found out, and shown as a warning. A line's digest is written before the
-- line, and its newline after it: after a kill the last digest may have no newline, and then a line of its own or none.
-- It protects from nobody who removes or rewrites that file, too: it has the user's rights. No digests at all (an older
-- journal, a clone) are no fault: the next run adds them. Called by running, session, reader.
local fs = require "apsis.fs"
local state = require "apsis.state"

local seal = {}

local Seal = {}
Seal.__index = Seal

local FILE <const> = "/.apsis/digests"
local WIDTH <const> = 17 -- of a digest: 16 hexadecimal digits and the end of its line
local TAIL <const> = 65536 -- bytes at the end in which a power cut may leave anything
local REMEDY <const> = "; what it shows may not have been measured: restore the file from a backup, or, if the change "
  .. "is meant, remove .apsis/digests"

-- What a project's digests are, to compare lines with. Read before the journal, which may grow meanwhile. rest: what is
-- behind the last newline.
function seal.open(home)
  local self = setmetatable({ home = home, path = home .. FILE, more = {} }, Seal)
  local bytes, refused = fs.read(self.path)
  self.unreadable = not bytes and fs.stat(self.path) and refused or nil
  self.there, bytes = (bytes or self.unreadable) ~= nil, bytes or ""
  local _, whole = bytes:find("^[%x\n]*", math.max(1, #bytes - TAIL))
  self.count = whole // WIDTH
  self.known, self.rest = bytes:sub(1, self.count * WIDTH), bytes:sub(self.count * WIDTH + 1)
  return self
end

-- The journal's next line was read.
function Seal:see(number, text)
  local row = state.digest(text) .. "\n"
  if number > self.count then self.more[number - self.count] = row
  elseif row ~= self.known:sub((number - 1) * WIDTH + 1, number * WIDTH) then
    self.wrong = math.min(self.wrong or number, number)
  end
end

-- Whether apsis wrote a line, which has this row, or began to; row nil: it was not read.
local function is_known(self, number, row)
  if number > self.count + 1 then return false end
  local from = (number - 1) * WIDTH
  local there = number > self.count and self.rest or self.known:sub(from + 1, from + WIDTH)
  return there ~= "" and (not row or row:sub(1, #there) == there)
end

-- The number of the first journal line that apsis did not write; nil if it wrote all. lines: how many there are.
local function added(self, lines)
  if not self.there or lines <= self.count then return nil end
  local now = seal.open(self.home) -- a run may have written more meanwhile
  if not now.there then return nil end
  for number = self.count + 1, lines do
    if not is_known(now, number, self.more[number - self.count]) then return number end
  end
end

-- Of a journal that was read to its end, lines in all: what somebody did to it, for people; nil if nothing.
function Seal:problem(lines)
  local first = not self.wrong and added(self, lines)
  if self.unreadable then
    return ("logs/results.jsonl: apsis has no record of its lines: %s%s"):format(self.unreadable, REMEDY)
  elseif self.wrong then
    return ("logs/results.jsonl:%d: this is not the line that apsis wrote there%s"):format(self.wrong, REMEDY)
  elseif lines < self.count then
    return ("logs/results.jsonl: apsis wrote %d lines, and %d are there%s"):format(self.count, lines, REMEDY)
  elseif first then
    local which = first == lines and "line: somebody added it" or ("%d lines: somebody added them"):format(lines
      - first + 1)
    return ("logs/results.jsonl:%d: apsis has no record of the last %s, or the power failed%s"):format(first, which,
      REMEDY)
  end
end

-- The same of a project's journal as it is now, read again.
function seal.problem(home)
  local self, count = seal.open(home), 0
  if not self.there then return nil end
  local following, _, _, handle = state.lines(home .. "/logs/results.jsonl")
  if not following then return nil end
  local _ <close> = handle
  for text, number in following do
    self:see(number, text)
    count = number
  end
  return self:problem(count)
end

-- The journal is gone, and another one will take its place.
function seal.forget(home) fs.remove(home .. FILE) end

-- For who holds the lock, before it folds the journal for appending.
function seal.writer(home, journal)
  if journal.file:size() == 0 then seal.forget(home) end
  journal.seal = seal.open(home)
end

-- The digests cannot be written: there are none, rather than fewer than lines.
local function give_up(self)
  self.off = true
  fs.remove(self.path)
end

-- After that: makes the digests those of the lines, and from now on adds one for each line. Returns as problem does. If
-- lines are missing or were added by somebody, no digest is added: it would stand for another line, or for one of
-- theirs.
function Seal:follow(lines)
  local problem = self:problem(lines)
  self.off = self.unreadable ~= nil or lines < self.count or added(self, lines) ~= nil
  if not self.off and (self.rest ~= "" or #self.more > 0 or not self.there)
    and not state.replace(self.path, self.known .. table.concat(self.more)) then
    give_up(self)
  end
  self.size = lines * WIDTH
  self.known, self.more, self.see = "", {}, function() end
  return problem
end

-- A line will be appended. No digest is added if somebody has removed or changed the file meanwhile. If the line cannot
-- be written, the run ends, and the next one drops the digest.
function Seal:before(text)
  local stat = not self.off and fs.stat(self.path)
  self.off = not stat or stat.size ~= self.size
  if not self.off and not fs.append(self.path, state.digest(text)) then give_up(self) end
end

-- It was appended. Somebody may have removed the file since.
function Seal:after()
  self.size = self.size + WIDTH
  self.off = self.off or not fs.stat(self.path)
  if not self.off and not fs.append(self.path, "\n") then give_up(self) end
end

return seal
