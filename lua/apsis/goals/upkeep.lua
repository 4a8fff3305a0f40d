-- upkeep: keeps a goal's state file in step with its journal: after every line, and at the start of every command after
-- a crash. The journal decides what was measured; people's pauses, priorities, lessons and foreclosed avenues in the
-- file reach the provider from here. Then runs the user's commands (`on:`).
local fs = require "apsis.fs"
local intake = require "apsis.goals.intake"
local notify = require "apsis.goals.notify"
local program = require "apsis.project.program"
local prose = require "apsis.project.prose"
local store = require "apsis.goals.branch.store"
local statefile = require "apsis.goals.statefile.document"
local texts = require "apsis.goals.statefile.texts"
local tip = require "apsis.goals.branch.tip"
local wait = require "apsis.wait"

local upkeep = {}

local GOAL_WIDTH = 300 -- characters of the goal that the state file repeats

local Upkeep = {}
Upkeep.__index = Upkeep

-- The store of a goal's state file. store | nil, message, code.
function upkeep.store(repo, manifest, log)
  local spec = manifest.memory
  return store.open(repo, { name = manifest.program_name, kind = spec.kind, branch = spec.branch, log = log,
    join = statefile.join, journal = manifest.home .. "/logs/results.jsonl", folder = manifest.dir .. "/"
    .. spec.folder })
end

-- The first paragraph of these lines as one line; nil if there is none. headings: they count as text too.
local function paragraph(lines, headings)
  local words = {}
  for _, line in ipairs(lines) do
    local word = not line.rank and line.text:match("^%s*(.*%S)") or headings and line.title or nil
    if word and word ~= "" then words[#words + 1] = word end
    if #words > 0 and (line.rank or not word) then break end
  end
  return #words > 0 and texts.short(table.concat(words, " "), GOAL_WIDTH) or nil
end

-- The goal's text: the prose under the heading Goal, else the project's description, else the first paragraph.
local function goal_of(manifest)
  local read = program.load(manifest.program_file or manifest.dir .. "/" .. manifest.program)
  local document = prose.scan(read and read.text or "")
  local section, description = document:section "Goal", manifest.project.description
  return section and paragraph(section.lines) or description ~= "" and description or paragraph(document.lines, true)
    or nil
end

-- The state file as a document; a new one if text is nil.
function upkeep.document(text, manifest)
  local name = manifest.program_name
  if text then return statefile.parse(text, name) end
  return statefile.new { name = name, branch = manifest.branch, goal = goal_of(manifest), metric = manifest.metric.name,
    direction = manifest.metric.direction, target = manifest.metric.target }
end

local function commit_message(self, doc, records)
  local newest, name = records[#records], self.session.manifest.program_name
  local count = doc:fields().iteration_count
  if not newest then return ("%s: state"):format(name) end
  if newest.outcome == "baseline" then return ("%s: baseline %s"):format(name, newest.candidate or "") end
  return ("%s: iteration %d (%s): %s"):format(name, count, newest.candidate or "-", newest.outcome)
end

-- The journal's complete lines; nil if there is no journal yet.
local function journal_bytes(self)
  local bytes = fs.read(self.session.home .. "/logs/results.jsonl")
  return bytes and bytes:match("^(.*\n)") or nil
end

-- Records and events without those that were already reported with another text of the file, which gave way when two
-- clones were joined.
local function untold(records, events, other, count)
  local told = other and statefile.parse(other):fields().journal_lines or 0
  local left, known, news = {}, {}, {}
  for index, record in ipairs(records) do
    if count - #records + index > told then left[#left + 1] = record else known[record] = true end
  end
  for _, event in ipairs(events) do
    if not known[event.record] then news[#news + 1] = event end
  end
  return left, news
end

-- Compacts the file to its limit. edited: a person's edit, which stays unchanged if it fits. true | nil, message, 3.
function upkeep.fit(doc, manifest, edited)
  local limit = math.floor(manifest.memory.limit_kb * 1024)
  if edited and doc:size() <= limit then return true end
  local fits, why = doc:compact(limit)
  if fits then return true end
  return nil, ("%s.md: %s"):format(manifest.program_name, why), 3
end

-- Brings the state file up to date and returns the new records and events. nil, message, code if it cannot be written.
function Upkeep:update()
  local name, history = self.session.manifest.program_name, self.session.engine.history
  if history.count == 0 and not (self.store:read() or {}).text then return {}, {} end -- nothing to say yet
  local records, events
  local ok, message, code = self.store:write(function(text, _, other)
    local doc = upkeep.document(text, self.session.manifest)
    local lost = intake.lacks(self, doc)
    if lost then return nil, ("%s.md: %s"):format(name, lost), 3 end
    records, events = intake.take(self, doc, text ~= nil)
    local fits, why, with = upkeep.fit(doc, self.session.manifest)
    if not fits then return nil, why, with end
    local fields = doc:fields()
    self.session.world.guidance, self.paused = doc:steering(), fields.paused
      and (fields.pause_reason or "no reason given") or nil
    self.completed = fields.completed
    local said = commit_message(self, doc, records)
    records, events = untold(records, events, other, history.count)
    return doc:text(), journal_bytes(self), said
  end)
  if not ok then return nil, message, code end
  return records, events
end

-- Runs the user's commands for records and events.
function Upkeep:tell(records, events)
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

-- Brings the state file up to date, stops the run if the goal was paused meanwhile, and reports the news.
local function publish(self)
  local records, events, code = self:update()
  if not records then stop(events, code) end
  self.written = wait.now()
  local session = self.session
  for _, event in ipairs(events) do
    session:log("warn", ("%s %s: %s"):format(session.manifest.program_name, event.kind, event.reason))
  end
  local stops = self.paused and not self.was_paused and "paused: " .. self.paused
    or self.completed and not self.was_completed and "completed"
  if stops then session.engine.stopping = session.engine.stopping or stops end
  self:tell(records, events)
end

local EVERY_S = 5

-- After a journal line. An update that nobody waits for may be late: each copy of a long journal takes space in the
-- repository, and the next start writes what is missing.
function Upkeep:line(record)
  if not self.store then return self:tell({ record }, self:plain_events(record)) end
  local waits = record.status == "discard" and record.outcome ~= "reverted_gate_failure" and not self.notify
  self.behind = waits and wait.now() - (self.written or 0) < EVERY_S
  if not self.behind then publish(self) end
end

-- At the end of a run.
function Upkeep:flush()
  if self.behind then publish(self) end
  self.behind = false
end

-- The pauses and completions of a project without a state file: the gate gave up, or the best reached the target.
function Upkeep:plain_events(record)
  local events = {}
  if record.outcome == "reverted_gate_failure" then
    events[1] = { kind = "paused", reason = record.gate and record.gate.reason or record.rollback_reason,
      record = record }
  end
  if record.outcome == "kept" and intake.reached(self) then
    events[#events + 1] = { kind = "completed", reason = "target reached", record = record }
  end
  local news = {}
  for _, event in ipairs(events) do -- of several in flight the first says it
    if not self.said[event.kind] then news[#news + 1] = event end
    self.said[event.kind] = true
  end
  return news
end

-- The runner of the user's commands; nil if there are none.
function upkeep.notify(manifest, log, run_dir, line)
  return notify.new { on = manifest.on, dir = manifest.dir, run_dir = run_dir, line = line, log = log, facts = {
    program = manifest.program_name or manifest.project.name, branch = manifest.branch,
    state_branch = manifest.program_name and manifest.memory.kind == "branch" and manifest.memory.branch or nil } }
end

-- The upkeep of an open session; nil if there is neither a state file nor a command; false, message, code on failure.
function upkeep.attach(self)
  local manifest = self.manifest
  local own = { session = self, target = self.target, said = {} }
  local message, code
  if manifest.program_name then
    own.store, message, code = upkeep.store(self.world.repo, manifest, self:logger())
    if not own.store then return false, message, code end
  end
  own.notify = upkeep.notify(manifest, self:logger(), function(record)
    return record.experiment and self.world:run_dir(record) or self.home
      .. "/logs"
  end, function(record)
    local index = record.experiment and self.engine.history:line_of(record.experiment)
    return index and self.journal:text(index)
  end)
  if not own.store and not own.notify then return nil end
  setmetatable(own, Upkeep)
  self.world.listener = function(record) own:line(record) end
  return own
end

-- When a session opens: restores the branch, then the state file, then runs the user's commands. nil, or false,
-- message, code.
function upkeep.opened(self)
  local manifest = self.manifest
  if not manifest.program_name and not notify.any(manifest.on) then return nil end
  local held, message, code = upkeep.attach(self)
  if held == false then return false, message, code end
  self.upkeep = held
  if not manifest.program_name then return nil end
  if not tip.is_strange(self.world) then self.world:repair_branch() end
  local records, events
  records, events, code = held:update()
  if not records then return false, events, code end
  held:tell(records, events)
  -- whoever runs a paused goal wants experiments all the same
  held.was_paused, held.was_completed = held.paused ~= nil, held.completed
  self.initial, self.past_target = held.initial, held.undone
end

return upkeep
