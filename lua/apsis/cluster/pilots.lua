-- pilots: a queue in front of another one: a few long jobs of that one, the pilots, measure all jobs of the project
-- (pilot.lua). A job is where the pilot that has claimed it is; one that nobody has claimed waits. A pilot that ends is
-- replaced. Those that end before they serve are lost: they are replaced one at a time and less and less often, and
-- after `requeue` + 1 of them in a row, no job waits for them until the queue has one. Called by evaluations.
local describe = require "apsis.cluster.describe"
local folder = require "apsis.cluster.folder"
local host = require "apsis.host"
local wait = require "apsis.wait"

local pilots = {}

local GRACE <const> = 3 -- of poll_sec: how long a pilot must have been missing
local SOONEST_S <const> = 0.02 -- between two looks whether another task has asked
local SLOWEST <const> = 16 -- of poll_sec: the longest time between two pilots after some that were lost

local Pilots = {}
Pilots.__index = function(self, key) return Pilots[key] or self.queue[key] end -- its trouble, when it is asked

-- new(evaluations, its queue). mine: the pilots by name, { since when an answer must have it, serves, why it was not
-- sent }. lost: answers in a row that show lost ones. due: when the next may be sent. why: jobs are given up.
-- unmanned: no pilot of an earlier process is left, so the jobs of that process begin their wait again.
function pilots.new(owner, queue)
  return setmetatable({ owner = owner, queue = queue, mine = {}, answer = false, lost = 0, due = 0, why = false },
    Pilots)
end

local function count_of(self)
  local count = 0
  for _ in pairs(self.mine) do count = count + 1 end
  return count
end

-- The next pilot is due in a while if some were lost; if no job waits for them, once all of these were given up.
local function slow_down(self)
  if self.lost == 0 then return end
  local polls = self.lost > self.owner.spec.requeue and SLOWEST or math.min(SLOWEST, 2 ^ self.lost)
  self.due = wait.now() + polls * self.owner.spec.poll_sec
end

-- Submits what is missing of the pilots and due. true | nil, why.
local function fill(self)
  local spec = self.owner.spec
  if self.owner:away() then return true end -- later
  while count_of(self) < spec.pilots and wait.now() >= self.due do
    slow_down(self)
    local name = describe.mark(self.owner.place) .. folder.PILOT .. describe.nonce():sub(1, 12)
    local pilot = { name = name, version = host.version, slots = math.ceil(spec.workers / spec.pilots) }
    local ok, message = self.owner.folder:write(pilot, "pilot.json")
    if not ok then return nil, message end
    local one = { since = math.huge } -- no answer can have it yet
    self.mine[name] = one
    ok, message = self.queue:submit(name, self.owner:variables(name))
    one.since, one.why = wait.now(), message
    if not ok then return nil, message end
  end
  return true
end

-- Forgets a pilot that is gone. Its last words, if it is lost.
local function forget(self, name, one)
  local words = not one.serves and (self.owner.folder:last_words(name) or one.why or "the scheduler has lost it")
  if words and not one.why then self.owner.world:log("warn", "a pilot ended before it measured: " .. words) end
  self.mine[name] = nil
  self.owner.folder:remove(name)
  return words
end

-- Whether a pilot serves no more though the queue has it: one that was started again has left, and removed its
-- description; one of another version measures nothing. nil if that cannot be seen.
local function has_left(self, name)
  local there = self.owner.folder:has(name, "pilot.json")
  local spec = there and self.owner.folder:read(name, "pilot.json")
  if spec then return spec.version ~= host.version end
  if there == false then return true end
end

-- Takes the pilots from an answer: those of an earlier process are adopted, and those that are gone forgotten. Those
-- that have left, by name.
local function follow(self, answer)
  local mark, lost, hope, left = describe.mark(self.owner.place) .. folder.PILOT, nil, false, {}
  for name in pairs(answer.jobs) do
    if name:sub(1, #mark) == mark then
      left[name] = has_left(self, name)
      if left[name] == false and not self.mine[name] then
        self.mine[name] = { since = answer.began, ran = self.owner.folder:has(name, "serving") }
      end
      if left[name] and not self.mine[name] then self.owner.folder:remove(name) end
    end
  end
  for name, one in pairs(self.mine) do
    one.missing = not answer.jobs[name] and one.since < answer.began and (one.missing or answer.began) or nil
    local gone = left[name] or one.missing and answer.began - one.missing >= GRACE * self.owner.spec.poll_sec
    local begins = not one.serves and self.owner.folder:has(name, "serving")
    one.serves, one.ran = one.serves or begins, one.ran or (answer.jobs[name] or {}).state == "running"
    if begins or gone and one.serves then self.lost, self.due = 0, 0 end
    if gone then lost = forget(self, name, one) or lost end
    hope = hope or not gone and (one.serves or answer.jobs[name] ~= nil)
  end
  if lost then
    self.lost = self.lost + 1
    slow_down(self)
  end
  if hope or self.lost <= self.owner.spec.requeue then self.why = false
  elseif lost then self.why = "no pilot measures: " .. lost end
  return left
end

-- Where the jobs of these names are, by an answer of the queue: one that was sent without pilots is where that says,
-- one whose folder is gone is nowhere. A pilot that ran, and waits again, has lost what it had claimed.
local function places(self, answer, names)
  local jobs = {}
  for _, name in ipairs(names) do
    local claim = self.owner.folder:read(name, "claim")
    local pilot = claim and claim.pilot
    local one, at = self.mine[pilot or ""], answer.jobs[pilot or name]
    if pilot and not one or one and one.ran and at and at.state ~= "running" then at = nil end
    if at then
      jobs[name] = { state = claim and "running" or at.state, node = at.node or claim and claim.node }
    elseif not claim and not self.why and (self.owner.folder:has(name, "job.json") or self.owner:away()) then
      jobs[name] = { state = "queued", node = "the pilots" }
    end
  end
  return jobs
end

function Pilots:ask(names)
  local all = self.owner:pilots()
  local answer, message = self.queue:ask(table.move(names, 1, #names, #all + 1, all))
  if not answer then return nil, message end
  local over = {}
  local left = follow(self, answer)
  if self.unmanned == nil then self.unmanned = next(self.mine) == nil end
  for name, has in pairs(left) do over[#over + 1] = has and name or nil end
  self.answer = { jobs = places(self, answer, names), began = answer.began, why = self.why }
  local ok
  ok, message = fill(self)
  if not ok then self.owner.world:log("warn", "a pilot could not be sent: " .. message) end
  if #over > 0 then self.queue:cancel(over) end
  return self.answer
end

function Pilots:look(names)
  if not self.queue.asking and wait.now() >= self.queue.due then self:ask(names()) end
  return self.answer
end

-- A job needs no submit of its own: a pilot finds it.
function Pilots:submit()
  while not self.answer and self.queue.asking do wait.sleep(SOONEST_S) end
  if self.why then return nil, self.why end
  if self.answer then return fill(self) end
  return self:ask(self.owner:names()) ~= nil, self.queue.trouble
end

-- The pilots see that a job is marked, or gone; the queue may have some that were sent without pilots.
function Pilots:cancel(names)
  local answer, own = self.queue.answer, {}
  for _, name in ipairs(names) do
    if not answer or answer.jobs[name] then own[#own + 1] = name end
  end
  return self.queue:cancel(own)
end

return pilots
