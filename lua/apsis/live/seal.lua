-- seal: .apsis/digests has a digest of each line of the journal as apsis appended it, so that a line that somebody
-- changes or removes beside apsis is found out, and shown as a warning. It protects from nobody who removes or rewrites
-- that file, too: it has the user's rights. No digests at all (an older journal, a clone) are no fault, nor is one that
-- is missing (apsis was killed before it wrote it): the next run adds them. Called by running, session, reader.
local fs = require "apsis.fs"
local state = require "apsis.state"

local seal = {}

local Seal = {}
Seal.__index = Seal

local FILE <const> = "/.apsis/digests"
local FACTOR <const> = 0x9E3779B97F4A7C15 -- 2^64 divided by the golden ratio: odd, so multiplying loses nothing
local WIDTH <const> = 17 -- of a digest: 16 hexadecimal digits and the end of its line
local MISSING <const> = 1 -- a kill between a line and its digest leaves that many
local REMEDY <const> = "; what it shows may not have been measured: restore the file from a backup, or, if the change "
  .. "is meant, remove .apsis/digests"

-- A line's digest: 64 bits; if 8 bytes of the line are others, so is the digest.
local function row_of(text)
  local hash, padded = #text, text .. ("\0"):rep(-#text % 32)
  for at = 1, #padded, 32 do
    local first, second, third, fourth = string.unpack("<i8i8i8i8", padded, at)
    hash = ((hash ~ first) * FACTOR ~ second) * FACTOR
    hash = ((hash ~ hash >> 29 ~ third) * FACTOR ~ fourth) * FACTOR
    hash = hash ~ hash >> 29
  end
  return ("%016x\n"):format(hash)
end

-- What a project's digests are, to compare lines with. Read before the journal, which may grow meanwhile.
function seal.open(home)
  local self = setmetatable({ path = home .. FILE, more = {} }, Seal)
  local bytes = fs.read(self.path)
  self.there, bytes = bytes ~= nil, bytes or ""
  local whole = bytes:match "^[%x\n]*" -- a power cut may leave anything at the end
  self.known = whole:sub(1, #whole // WIDTH * WIDTH)
  self.count, self.torn = #self.known // WIDTH, #self.known ~= #bytes
  return self
end

-- The journal's next line was read.
function Seal:see(number, text)
  local row = row_of(text)
  if number > self.count then self.more[number - self.count] = row
  elseif row ~= self.known:sub((number - 1) * WIDTH + 1, number * WIDTH) then
    self.wrong = math.min(self.wrong or number, number)
  end
end

-- Of a journal that was read to its end, lines in all: what somebody did to it, for people; nil if nothing.
function Seal:problem(lines)
  if self.wrong then
    return ("logs/results.jsonl:%d: this is not the line that apsis wrote there%s"):format(self.wrong, REMEDY)
  elseif lines < self.count then
    return ("logs/results.jsonl: apsis wrote %d lines, and %d are there%s"):format(self.count, lines, REMEDY)
  elseif self.there and not self.torn and lines > self.count + MISSING then
    local count = seal.open(self.path:sub(1, -#FILE - 1)).count -- a run may have added some meanwhile
    if lines <= count + MISSING then return nil end
    return ("logs/results.jsonl:%d: apsis has no record of the last %d lines: somebody added them, or the power "
      .. "failed%s"):format(count + 1, lines - count, REMEDY)
  end
end

-- The same of a project's journal as it is now, read again.
function seal.problem(home)
  local self, count = seal.open(home), 0
  local following, _, _, handle = state.lines(home .. "/logs/results.jsonl")
  if not following then return nil end
  local _ <close> = handle
  for text, number in following do
    if number <= self.count then self:see(number, text) end
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

-- After that: adds the digests that are missing, and from now on one for each line. Returns as problem does. If lines
-- are missing or were added by somebody, no digest is added: it would stand for another line, or for one of theirs.
function Seal:follow(lines)
  local problem = self:problem(lines)
  self.off = lines < self.count or problem ~= nil and not self.wrong
  if not self.off and (self.torn or #self.more > 0 or not self.there) then
    self.off = not state.replace(self.path, self.known .. table.concat(self.more))
  end
  self.size = lines * WIDTH
  self.known, self.more, self.see = "", {}, function() end
  return problem
end

-- A line was appended. If its digest cannot be written, there are none, rather than fewer than lines. None is added if
-- somebody has removed or changed the file meanwhile.
function Seal:add(text)
  local stat = not self.off and fs.stat(self.path)
  self.off = not stat or stat.size ~= self.size
  if self.off then return end
  self.size = self.size + WIDTH
  if fs.append(self.path, row_of(text)) then return end
  self.off = true
  fs.remove(self.path)
end

return seal
