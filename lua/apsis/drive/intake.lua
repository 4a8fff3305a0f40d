-- intake: hands to the loop what is in the inbox. Any run that holds the lock does this between its own experiments;
-- one that a driving agent started takes nothing else, and ends when nothing is left to do. A request is closed after
-- its journal line is written. The engine's `intake` (see core/README.md).
local inboxes = require "apsis.drive.inbox"
local judge = require "apsis.drive.judge"
local json = require "apsis.json"
local state = require "apsis.state"
local wait = require "apsis.wait"

local intake = {}

local Intake = {}
Intake.__index = Intake

local POLL_S <const> = 0.1

-- The experiment whose line a request has, if a process was killed between the line and closing it.
local function journalled(journal, request)
  local mark = ('"handed":%q'):format(request.id)
  for text in state.lines(journal.path, request.from or 0) do
    if text:find(mark, 1, true) then return (json.decode(text) or {}).experiment end
  end
end

-- Of a session that is ready to run. only: nothing else is tried.
function intake.new(session, only)
  local world = session.world
  local self = setmetatable({ inbox = inboxes.new(session.home), world = world, only = only,
    refs = world.refs .. "submitted/" }, Intake)
  for _, request in ipairs(self.inbox:waiting()) do
    local experiment = journalled(session.journal, request)
    if experiment then self:close(request.id, { experiment = experiment }) end
  end
  local others = world.listener
  function world.listener(record)
    if others then others(record) end
    local id = (record.proposal or {}).handed
    if id then self:close(id, { experiment = record.experiment }) end
  end
  return self
end

function Intake:close(id, became)
  self.world:need(self.inbox:close(id, became))
  self.world.repo:delete_ref(self.refs .. id)
end

-- Closes all that waits: the loop is over.
function Intake:refuse(reason)
  for _, request in ipairs(self.inbox:waiting()) do self:close(request.id, { over = reason }) end
end

local function in_flight(engine)
  local ids = {}
  for _, slot in pairs(engine.slots) do ids[slot.proposal.handed or false] = true end
  return ids
end

-- What is to be tried next: { id, proposal }; nil: what the strategy plans; false: nothing now.
function Intake:next(engine)
  local flying = in_flight(engine)
  for _, request in ipairs(self.inbox:waiting()) do
    if not flying[request.id] then
      return { id = request.id, proposal = { parents = { request.parent }, operator = "submitted",
        title = request.title, notes = judge.texts(request).notes } }
    end
  end
  if self.only then return false end
end

-- The answers to a slot's proposal that were handed in; nil if its provider is to be asked.
function Intake:answers(slot)
  local id = slot.proposal.handed
  if not id then return nil end
  local request = self.inbox:read(id)
  if not request then return { { error = ("the submission %s is not there any more"):format(id) } } end
  return { judge.answer(self.world, self.world:candidate(slot.proposal.parents[1]), request) }
end

-- While experiments are in flight and nothing else is to be done.
function Intake:pause()
  wait.sleep(POLL_S)
end

return intake
