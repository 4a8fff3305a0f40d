-- intake: hands to the loop what is in the inbox. Any run that holds the lock does this between its own experiments;
-- one that a driving agent started takes nothing else, and ends when nothing is left to do. A request is closed after
-- its journal line is written. The engine's `intake` (see core/DETAILS.md).
local experiment = require "apsis.core.experiment"
local fs = require "apsis.fs"
local held = require "apsis.live.held"
local inboxes = require "apsis.drive.inbox"
local json = require "apsis.json"
local judge = require "apsis.drive.judge"
local line = require "apsis.core.line"
local place = require "apsis.drive.place"
local slots = require "apsis.core.slot"
local state = require "apsis.state"
local wait = require "apsis.wait"

local intake = {}

local Intake = {}
Intake.__index = Intake

slots.add { "answered_by", "string", "drive/intake", "the request that answered it, of one that was put aside" }

local POLL_S <const> = 0.1

-- The experiment whose line a request has, if a process was killed between the line and closing it.
local function journalled(session, request)
  if request.kind == "answer" then
    return session.engine.history:line_of(request.experiment) and request.experiment
  end
  local mark = ('"handed":%q'):format(request.id)
  for text in state.lines(session.journal.path, request.from or 0) do
    if text:find(mark, 1, true) then return (json.decode(text) or {}).experiment end
  end
end

-- Of a session that is ready to run. only: nothing else is tried.
function intake.new(session, only)
  local world = session.world
  local self = setmetatable({ inbox = inboxes.new(session.home), world = world, home = session.home, only = only,
    history = session.engine.history, refs = world.refs .. "submitted/" }, Intake)
  for _, request in ipairs(self.inbox:waiting()) do
    local number = request.kind ~= "next" and journalled(session, request)
    if number then self:close(request.id, { experiment = number }) end
  end
  self:sweep()
  local others = world.listener
  function world.listener(record)
    if others then others(record) end
    self:has_line(record)
  end
  return self
end

-- Removes the refs of requests that a killed process did not come to close, or to write.
function Intake:sweep()
  local repo = self.world.repo
  if #self.world:need(repo:refs(self.refs)) == 0 then return end
  self.inbox:alone(function()
    for _, ref in ipairs(self.world:need(repo:refs(self.refs))) do
      if not self.inbox:read(ref.name:sub(#self.refs + 1)) then repo:delete_ref(ref.name) end
    end
  end)
end

-- Whether a plan without a line is of a submission that had one, which somebody removed from the journal.
function Intake:is_closed(plan)
  local id = plan.proposal.handed
  return id ~= nil and (self.inbox:closed(id) or {}).experiment == plan.number
end

-- Whether a person lets another run begin for something that waits.
function Intake:begins_another()
  for _, request in ipairs(self.inbox:waiting()) do
    if request.new_run then return true end
  end
  return false
end

function Intake:close(id, became)
  self.world:need(self.inbox:close(id, became))
  self.world.repo:delete_ref(self.refs .. id)
end

-- Closes what a line came of.
function Intake:has_line(record)
  local id, number = (record.proposal or {}).handed, record.experiment
  for _, request in ipairs(self.inbox:waiting()) do
    if request.id == id or request.kind == "answer" and request.experiment == number then
      self:close(request.id, { experiment = number })
    end
  end
end

-- Closes what waits: the loop is over, or takes nothing more now. What was tried and waits for a person's answer stays.
-- engine: answers to what it put aside stay, too.
function Intake:refuse(reason, engine)
  for _, request in ipairs(self.inbox:waiting()) do
    local slot = engine and request.kind == "answer" and engine.slots[request.experiment]
    local tried = held.of(self.home, request.kind == "answer" and request.experiment or request.id, self.history)
    if not slot and not tried then self:close(request.id, { over = reason }) end
  end
end

-- ---- what next gives out ----

-- Ends one that was put aside without an answer.
local function without_answer(slot, reason)
  return { slot = slot, ended = { outcome = "skipped_not_selected", reason = reason } }
end

-- The experiments that were given out and are not answered, oldest first.
local function given_out(engine)
  local list = {}
  for _, number in ipairs(engine:in_flight()) do
    local slot = engine.slots[number]
    if slot.offered then list[#list + 1] = slot end
  end
  return list
end

-- Whether the process that asked for one was killed before it could show it.
local function is_unseen(self, slot)
  return not fs.stat(place.checkout(self.home, slot.number)) and not fs.stat("/proc/" .. tostring(slot.offered.pid))
end

-- What a request of `apsis next` gets. An experiment that nobody has seen is given again; beyond as many as there are
-- workers the oldest one ends. nil: it has been given one.
local function plan_for(self, engine, request)
  if not fs.stat("/proc/" .. tostring(request.pid)) then
    self:close(request.id, { refused = "nobody waits for it any more" })
    return nil
  end
  local list = given_out(engine)
  for _, slot in ipairs(list) do
    if slot.offered.request == request.id or is_unseen(self, slot) then
      local ended = self:offer(engine, slot, request)
      return ended and { slot = slot, ended = ended } or nil
    end
  end
  if #list >= engine.workers then
    return without_answer(list[1], "it was not submitted, and `apsis next` was asked again")
  end
  return { id = request.id, offer = { request = request.id, pid = request.pid or 0,
    till = engine.world:now() + (request.expires_s or 3600) } }
end

-- Writes the prompt of an experiment that was put aside, and gives its number to who asked for it. nil, or how it
-- ended.
function Intake:offer(engine, slot, request)
  local project = engine.project
  engine.project = setmetatable({ provider = "command", reads_answers = false }, { __index = project })
  local text, ended = experiment.prompt(engine, slot)
  engine.project = project
  if not text then return ended end
  engine.world:write_prompt(slot, text)
  self:close(request and request.id or slot.offered.request, { experiment = slot.number })
end

-- ---- what is tried next ----

-- An answer to what was put aside; one that is nobody's is refused. nil if it has to wait.
local function answer_to(self, engine, request)
  local slot = engine.slots[request.experiment]
  if slot and slot.offered then
    slot.answered_by = request.id
    return { slot = slot }
  elseif not slot then
    self:close(request.id, { refused = ("%s is not in flight"):format(line.id(request.experiment)) })
  end
end

local function in_flight(engine)
  local ids = {}
  for _, slot in pairs(engine.slots) do ids[slot.proposal.handed or false] = true end
  return ids
end

local of_kind = { answer = answer_to, next = plan_for }

function of_kind.submit(_, _, request)
  return { id = request.id, proposal = { parents = { request.parent }, operator = "submitted",
    title = request.title, notes = judge.texts(request).notes } }
end

-- What is to be tried next: { id, proposal }; { slot, ended } of one that was put aside; { id, offer } if the strategy
-- is to plan for who asked; nil: what the strategy plans; false: nothing now.
function Intake:next(engine)
  local flying, waiting = in_flight(engine), self.inbox:waiting()
  for _, wanted in ipairs { "answer", "submit", "next" } do
    for _, request in ipairs(waiting) do
      local given = request.kind == wanted and not flying[request.id] and of_kind[wanted](self, engine, request)
      if given then return given end
    end
  end
  for _, slot in ipairs(given_out(engine)) do
    local till = slot.offered.till
    if type(till) == "number" and till < engine.world:now() then
      return without_answer(slot, "it was not submitted in time")
    end
  end
  if self.only then return false end
end

-- The answers to a slot's proposal that were handed in; nil if its provider is to be asked.
function Intake:answers(slot)
  local id = slot.proposal.handed or slot.answered_by
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
