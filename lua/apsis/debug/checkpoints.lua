-- checkpoints: copies of this process that sleep at the ends of experiments, so that the way back is short: the newest
-- one before a step is woken and goes on from there in place of this process. What a strategy remembers may be any Lua
-- value, closures and coroutines included, so the whole process is copied, not the memory.
local guard = require "apsis.guard"
local json = require "apsis.json"
local standby = require "apsis.standby"

local checkpoints = {}

local Checkpoints = {}
Checkpoints.__index = Checkpoints

local EVERY_S <const> = 0.08 -- of CPU from one to the next: what going to a step takes at most
-- Beyond this, or if half of the memory that was free is used, every second one is given up, and the next ones are
-- twice as far apart.
local MOST <const> = 512

function checkpoints.new()
  return setmetatable({ list = {}, every_s = EVERY_S, from_s = 0, kept = false }, Checkpoints)
end

-- The memory that programs may still take, in KB; 0 if the system does not show it.
local function available_kb()
  local file = io.open "/proc/meminfo"
  local text = file and file:read "a" or ""
  if file then file:close() end
  return tonumber(text:match "MemAvailable:%s*(%d+)") or 0
end

-- Gives up every second one.
local function thin(self)
  local list = {}
  for index, one in ipairs(self.list) do
    if index % 2 == 1 then list[#list + 1] = one else standby.drop(one.pid) end
  end
  self.list, self.every_s = list, self.every_s * 2
end

-- The first time: the process that was started only waits from here on.
local function keep(self)
  self.kept, self.least_kb = standby.keep(), available_kb() // 2
  if not self.kept then self.every_s = math.huge end
  guard.start()
  return self.kept
end

-- Leaves a copy after `steps` steps, if the way from the last one has become long; highest: the newest experiment so
-- far. In the process that goes on from that copy, whenever it is woken: what wake was given.
function Checkpoints:leave(steps, highest)
  local last = self.list[#self.list]
  if last and steps <= last.steps or os.clock() - self.from_s < self.every_s then return nil end
  if not self.kept and not keep(self) then return nil end
  if #self.list == MOST or available_kb() < self.least_kb then return thin(self) end
  local pid, words = standby.leave()
  self.from_s = os.clock()
  if pid == nil then return thin(self) end
  if pid then
    self.list[#self.list + 1] = { steps = steps, highest = highest, pid = pid }
    return nil
  end
  guard.start()
  local given = json.decode(words)
  self.list, self.every_s = given.list, given.every_s
  return given.wish
end

-- The last one of which key ("steps" or "highest") is below a number; nil if there is none.
function Checkpoints:before(key, number)
  local found
  for _, one in ipairs(self.list) do
    if one[key] < number then found = one end
  end
  return found
end

-- Ends this process; one goes on from a checkpoint, where `leave` returns the wish, which is plain data. Returns only
-- if that cannot be.
function Checkpoints:wake(one, wish)
  local list = json.array(self.list)
  standby.wake(one.pid, json.encode { list = list, every_s = self.every_s, wish = wish })
end

-- Gives all up: they are of a strategy that has changed.
function Checkpoints:clear()
  for _, one in ipairs(self.list) do standby.drop(one.pid) end
  self.list, self.every_s, self.from_s = {}, EVERY_S, os.clock()
end

return checkpoints
