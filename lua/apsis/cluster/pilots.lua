-- pilots: a queue in front of another one: a few long jobs of that one, the pilots, measure all jobs of the project
-- (pilot.lua). A job is where the pilot that has claimed it is; one that nobody has claimed waits. A pilot that ends is
-- replaced. Called by evaluations.
local describe = require "apsis.cluster.describe"
local wait = require "apsis.wait"

local pilots = {}

local Pilots = {}
Pilots.__index = function(self, key) return Pilots[key] or self.queue[key] end -- its trouble, when it is asked

local NAME <const> = "-pilot-"

-- new(evaluations, its queue). mine: the pilots by name, and since when an answer must have them.
function pilots.new(owner, queue)
  return setmetatable({ owner = owner, queue = queue, mine = {}, answer = false }, Pilots)
end

local function names_of(self)
  local names = {}
  for name in pairs(self.mine) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Submits what is missing of the pilots. true | nil, why.
local function fill(self)
  local spec, folder = self.owner.spec, self.owner.folder
  while #names_of(self) < spec.pilots do
    local name = describe.mark(self.owner.place) .. NAME .. describe.nonce():sub(1, 12)
    local ok, message = folder:write({ name = name, slots = math.ceil(spec.workers / spec.pilots) }, "pilot.json")
    if not ok then return nil, message end
    self.mine[name] = math.huge -- no answer can have it yet
    ok, message = self.queue:submit(name, self.owner:variables(name))
    self.mine[name] = wait.now()
    if not ok then return nil, message end
  end
  return true
end

-- Takes the pilots from an answer: those of an earlier process are adopted, and those that are gone forgotten.
local function follow(self, answer)
  local mark = describe.mark(self.owner.place) .. NAME
  for name in pairs(answer.jobs) do
    if name:sub(1, #mark) == mark then self.mine[name] = self.mine[name] or answer.began end
  end
  for name, since in pairs(self.mine) do
    if not answer.jobs[name] and since < answer.began then
      self.mine[name] = nil
      self.owner.folder:remove(name)
    end
  end
end

-- Where the jobs of these names are, by an answer of the queue.
local function places(self, answer, names)
  local jobs = {}
  for _, name in ipairs(names) do
    local claim = self.owner.folder:read(name, "claim")
    local at = claim and answer.jobs[claim.pilot]
    if at then jobs[name] = { state = "running", node = at.node or claim.node }
    elseif not claim then jobs[name] = { state = "queued", node = "the pilots" } end
  end
  return jobs
end

function Pilots:ask(names)
  local answer, message = self.queue:ask(names_of(self))
  if not answer then return nil, message end
  follow(self, answer)
  self.answer = { jobs = places(self, answer, names), began = answer.began }
  local ok
  ok, message = fill(self)
  if not ok then self.owner.world:log("warn", "a pilot could not be sent: " .. message) end
  return self.answer
end

function Pilots:look(names)
  if not self.queue.asking and wait.now() >= self.queue.due then self:ask(names()) end
  return self.answer
end

-- A job needs no submit of its own: a pilot finds it.
function Pilots:submit()
  if self.answer then return fill(self) end
  return self:ask {} ~= nil, self.queue.trouble
end

-- The pilots see that a job is marked, or gone.
function Pilots.cancel() return true end

function Pilots:close()
  self.queue:cancel(names_of(self))
  for name in pairs(self.mine) do self.owner.folder:remove(name) end
  self.mine = {}
end

return pilots
