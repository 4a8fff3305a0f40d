-- keeper: keeps a standing goal's state file in step with its journal: after every line, and at the start of every command for what a
-- crash left out. The journal is the truth of what was measured, the file of what people want: their pauses, priorities, lessons and
-- foreclosed avenues reach the provider from here. Then the user's own commands (`on:`) hear of the line. Called by common, amend and
-- programs.
local fs = require "apsis.fs"
local memory = require "apsis.project.memory"
local notify = require "apsis.live.notify"
local program = require "apsis.project.program"
local store = require "apsis.live.memory"
local wait = require "apsis.wait"

local keeper = {}

local Keeper = {}
Keeper.__index = Keeper

-- The store of a standing goal's state file. store | nil, message, code.
function keeper.store(repo, manifest, log)
  local spec = manifest.memory
  return store.open(repo, { name = manifest.program_name, kind = spec.kind, branch = spec.branch, log = log,
    folder = manifest.dir .. "/" .. spec.folder })
end

-- The first line of the prose under its heading Goal, else its first line.
local function goal_of(manifest)
  local read = program.load(manifest.program_file or manifest.dir .. "/" .. manifest.program)
  local text = read and read.text or ""
  local below = text:match("\n#+%s*Goal[^\n]*\n+([^\n#]+)") or text:match("^#+%s*Goal[^\n]*\n+([^\n#]+)") or text:match("([^\n#]+)") or ""
  return below:match("^%s*(.-)%s*$")
end

-- The state file as a document; a new one where there is none.
function keeper.document(text, manifest)
  local name = manifest.program_name
  if text then return memory.parse(text, name) end
  return memory.new { name = name, branch = manifest.branch, goal = goal_of(manifest), metric = manifest.metric.name,
    direction = manifest.metric.direction }
end

-- The journal's lines from the index on, as records.
local function lines_from(history, first)
  local records = {}
  for index = first, history.count do records[#records + 1] = history:at(index) end
  return records
end

-- The best before a line, as the line before it says.
local function best_before(history)
  return function(record)
    local index = history:line_of(record.experiment)
    local before = index and index > 1 and history:at(index - 1)
    return before and before.best or nil
  end
end

local function initial_of(history)
  for index = 1, history.count do
    local record = history:at(index)
    if record.outcome == "baseline" and record.value then return record.value end
  end
end

-- What is told once, however often the file is written.
local function say_once(self, texts)
  for _, text in ipairs(texts or {}) do
    if not self.said[text] then
      self.said[text] = true
      self.session:log("warn", ("%s.md: %s"):format(self.session.manifest.program_name, text))
    end
  end
end

-- The target is met by what counts: under acceptance, what was shown.
local function reached(self)
  local engine = self.session.engine
  return engine.history.best and self.target ~= nil
    and engine.metric:reaches(engine.confirm and engine.confirm:level() or engine.history.best, self.target)
end

-- Takes what is new into the document: its records and events.
local function take_in(self, doc)
  local history, metric = self.session.engine.history, self.session.engine.metric
  local seen = math.min(doc:fields().journal_lines or 0, history.count)
  local before = seen > 0 and history:at(seen).best
  self.initial = self.initial or initial_of(history)
  say_once(self, doc.warnings)
  if seen > 0 then
    say_once(self, doc:check { best = before or nil, initial = self.initial, target = self.target, direction = metric.direction,
      iterations = function(id) return (history:get(id) or {}).primary_metric end })
  end
  local records = lines_from(history, seen + 1)
  local context = { metric = metric, target = self.target, previous = best_before(history), initial = self.initial,
    branch = self.session.manifest.branch, lines = history.count }
  local events = doc:absorb(records, context)
  local complete = reached(self) and not doc:fields().completed
  if complete then
    doc:complete(metric, history.held, self.target)
    events[#events + 1] = { kind = "completed", reason = doc:fields().completed_reason, record = records[#records] or history.newest }
  end
  return records, events
end

local function commit_message(self, doc, records)
  local newest, name = records[#records], self.session.manifest.program_name
  local count = doc:fields().iteration_count
  if not newest then return ("%s: state"):format(name) end
  if newest.outcome == "baseline" then return ("%s: baseline %s"):format(name, newest.candidate or "") end
  return ("%s: iteration %d (%s): %s"):format(name, count, newest.candidate or "-", newest.outcome)
end

-- The journal's file, whole lines only; nil where there is none yet.
local function journal_bytes(self)
  local bytes = fs.read(self.session.home .. "/logs/results.jsonl")
  return bytes and bytes:match("^(.*\n)") or nil
end

-- Brings the state file up to date and returns what came of it: records, events. nil, message, code where it cannot be written.
function Keeper:update()
  local name, history = self.session.manifest.program_name, self.session.engine.history
  if history.count == 0 and not (self.store:read() or {}).text then return {}, {} end -- nothing to say yet
  local records, events
  local ok, message, code = self.store:write(function(text)
    local doc = keeper.document(text, self.session.manifest)
    records, events = take_in(self, doc)
    local fits, why = doc:compact(self.limit)
    if not fits then return nil, ("%s.md: %s"):format(name, why), 3 end
    local fields = doc:fields()
    self.session.world.guidance, self.paused = doc:steering(), fields.paused and (fields.pause_reason or "no reason given") or nil
    return doc:text(), journal_bytes(self), commit_message(self, doc, records)
  end)
  if not ok then return nil, message, code end
  return records, events
end

-- The user's own commands hear of lines and events.
function Keeper:tell(records, events)
  if not self.notify then return end
  for _, record in ipairs(records) do
    if record.outcome == "kept" then self.notify:tell("kept", record)
    elseif record.outcome ~= "baseline" and record.outcome ~= "measured" and record.outcome ~= "asked" then
      self.notify:tell("rejected", record)
    end
  end
  for _, event in ipairs(events) do self.notify:tell(event.kind, event.record, { reason = event.reason }) end
end

local function stop(message, code)
  error({ fatal = true, message = message, code = code }, 0)
end

-- Brings the state file up to date, ends the run where the goal was paused since it began, and tells the user and the user's commands.
local function publish(self)
  local records, events, code = self:update()
  if not records then stop(events, code) end
  self.written = wait.now()
  local session = self.session
  for _, event in ipairs(events) do
    session:log("warn", ("%s %s: %s"):format(session.manifest.program_name, event.kind, event.reason))
  end
  if self.paused and not self.was_paused then session.engine.stopping = session.engine.stopping or "paused: " .. self.paused end
  self:tell(records, events)
end

local EVERY_S = 5

-- After a journal line. What changes nothing that anybody waits for may wait a little: each copy of a long journal takes room in the
-- repository, and what is not written is made good at the next start.
function Keeper:line(record)
  if not self.store then return self:tell({ record }, self:plain_events(record)) end
  local waits = record.status == "discard" and record.outcome ~= "reverted_gate_failure" and not self.notify
  self.behind = waits and wait.now() - (self.written or 0) < EVERY_S
  if not self.behind then publish(self) end
end

-- At the end of a run.
function Keeper:flush()
  if self.behind then publish(self) end
  self.behind = false
end

-- What a project without a state file has of pauses and completions: the gate gave up, the best reached the target.
function Keeper:plain_events(record)
  local events = {}
  if record.outcome == "reverted_gate_failure" then
    events[1] = { kind = "paused", reason = record.gate and record.gate.reason or record.rollback_reason, record = record }
  end
  if record.outcome == "kept" and reached(self) then
    events[#events + 1] = { kind = "completed", reason = "target reached", record = record }
  end
  return events
end

-- Before the journal is opened: where the branch of the state file has more of it than this clone, it is brought here. true | nil,
-- message, code.
function keeper.restore(self, repo)
  local held, message, code = keeper.store(repo, self.manifest, function(level, text) self:log(level, text) end)
  if not held then return nil, message, code end
  local ok
  ok, message, code = held:ready()
  if not ok then return nil, message, code end
  local done
  done, message, code = held:restore_journal(self.home .. "/logs/results.jsonl")
  if not done then return nil, message, code end
  if done == "restored" then self:log("info", "the journal was brought here from the branch of the state file") end
  return true
end

-- Who tells the user's commands; nil where there are none.
function keeper.notify(manifest, log, run_dir)
  return notify.new { on = manifest.on, dir = manifest.dir, run_dir = run_dir, log = log, facts = {
    program = manifest.program_name or manifest.project.name, branch = manifest.branch,
    state_branch = manifest.program_name and manifest.memory.kind == "branch" and manifest.memory.branch or nil } }
end

-- A keeper of an opened session; nil where there is nothing to keep and nobody to tell; false, message, code where the world refuses.
function keeper.attach(self)
  local manifest = self.manifest
  local own = { session = self, target = self.target, limit = math.floor(manifest.memory.limit_kb * 1024), said = {} }
  local message, code
  if manifest.program_name then
    own.store, message, code = keeper.store(self.world.repo, manifest, function(level, text) self:log(level, text) end)
    if not own.store then return false, message, code end
  end
  own.notify = keeper.notify(manifest, function(level, text) self:log(level, text) end, function(record)
    return record.experiment and self.world.runs:dir(record.experiment, record.outcome == "baseline") or self.home .. "/logs"
  end)
  if not own.store and not own.notify then return nil end
  setmetatable(own, Keeper)
  self.world.listener = function(record) own:line(record) end
  return own
end

return keeper
