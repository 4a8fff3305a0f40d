-- checkpoint: .apsis/fold: what the fold of the journal had come to at some line. Who only reads a long journal goes on
-- from there. Whoever appends to the journal writes it; a reader never does. The journal is the truth: a checkpoint
-- that is missing, torn, edited, of another version or of another journal is passed over without a word. Called by
-- reader and running.
local fs = require "apsis.fs"
local history = require "apsis.core.history"
local host = require "apsis.host"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local packed = require "apsis.core.packed"
local state = require "apsis.state"

local checkpoint = {}

local Checkpoint = {}
Checkpoint.__index = Checkpoint

local EVERY, TAIL = 4096, 4096 -- lines between two; bytes of the journal that must still be there before the line
local DIGEST <const> = 16 -- bytes at the end: the digest of all before

local function path_in(home)
  return home .. "/.apsis/fold"
end

-- The last TAIL bytes of a journal of `size` bytes; nil if they cannot be read.
local function tail_of(path, size)
  local file <close> = io.open(path, "rb")
  local from = math.max(0, size - TAIL)
  return file and file:seek("set", from) and (size == 0 and "" or file:read(size - from))
end

-- The first line of a checkpoint of this version, the text, and where in it the journal's tail begins; or nil.
local function read(home)
  local bytes = fs.read(path_in(home)) or ""
  local text = bytes:sub(1, -DIGEST - 1)
  local stop = state.digest(text) == bytes:sub(-DIGEST) and text:find("\n", 1, true)
  local head = stop and json.decode(text:sub(1, stop - 1), true)
  if type(head) ~= "table" or head.apsis ~= host.version or math.type(head.size) ~= "integer"
    or math.type(head.tail) ~= "integer" or head.tail < 0 or math.type(head.lines) ~= "integer" then return nil end
  return head, text, stop + 1
end

-- Whether nobody has written to the journal since.
local function settled(head, stat)
  return stat.ino == head.ino and stat.size == head.size and stat.ctime == head.ctime
end

-- Whether the journal is the one that was folded: untouched since; or a run is going on, which goes by what it has
-- folded itself, and has appended since. (After a kill somebody may have edited an old line.)
local function is_of(home, path, head, text, at)
  local stat = fs.stat(path)
  if not stat or not settled(head, stat) and not (stat.ino == head.ino and stat.size > head.size and lock.holder(home))
  then return false end
  return tail_of(path, head.size) == text:sub(at, at + head.tail - 1)
end

-- A reader's history of a project's journal, folded as far as its checkpoint goes; one that begins at the first line if
-- there is none of use.
function checkpoint.history(home, journal, metric, of_branch)
  local head, text, at = read(home)
  for _, try in ipairs { head ~= nil, false } do
    local made = history.new(metric, journal, of_branch)
    made.trees = nil -- only who commits asks for twins
    if not try or is_of(home, journal.path, head, text, at) and packed.restore(made, text, at + head.tail) then
      return made
    end
    journal:resume({}, 0)
  end
end

-- For who holds the lock and is about to fold the journal for appending: the writer of its checkpoint. One that a
-- reader would believe only because the lock is held is removed.
function checkpoint.writer(home, journal)
  local head, stat = read(home), fs.stat(journal.path)
  local good = head and stat and settled(head, stat)
  if not good then fs.remove(path_in(home)) end
  return setmetatable({ home = home, journal = journal, written = good and head.lines or 0, newest = 0 }, Checkpoint)
end

-- Writes it if lines were folded since. If it cannot be written, readers are slower, and nothing else.
function Checkpoint:write(folded)
  if self.journal.altered then
    fs.remove(path_in(self.home))
    return
  end
  local path, size, count = self.journal.path, self.journal.file:size(), folded.count
  if count == self.written or count ~= self.newest or count ~= self.journal.count then return end
  local stat = fs.stat(path)
  local tail = stat and stat.size == size and tail_of(path, size)
  if not tail then return end
  local head = { apsis = host.version, lines = count, ino = stat.ino, size = size, ctime = stat.ctime, tail = #tail }
  local parts = { json.encode(head), "\n", tail }
  packed.add(parts, folded)
  local text = table.concat(parts)
  if state.replace(path_in(self.home), text .. state.digest(text), { sync = true }) then self.written = count end
end

-- Lines were folded, every one of them without a fault.
function Checkpoint:note(folded)
  self.newest = folded.count
  if folded.count - self.written >= EVERY then self:write(folded) end
end

return checkpoint
