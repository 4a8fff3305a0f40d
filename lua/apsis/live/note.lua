-- note: logs/state.json: the phase of every experiment in flight, and what readers of goalseek's state file expect.
-- Replaced atomically soon after each phase begins. No result is read from it; a run that goes on takes its limits and
-- its time from it. Called by world.
local answers = require "apsis.live.answers"
local fs = require "apsis.fs"
local json = require "apsis.json"
local kind = require "apsis.core.kind"
local state = require "apsis.state"
local wait = require "apsis.wait"

local note = {}

local VERSION, EVERY_S = 1, 0.1

-- What a reader may rely on; core/kind.lua says how to read it.
local amounts = { map = "number" }
note.fields = { keys = { status = "string", run = "whole", elapsed_s = "number", limits = amounts, before = amounts,
  reason = "string", driven = "boolean",
  slots = { list = { keys = { experiment = "whole", phase = "string", operator = "string", tokens = "number",
    cost = "number", commit = "string", where = "string", since = "number", started = "number",
    parents = { list = "string" }, about = "string" } } },
  near_misses = { keys = { experiment = "whole", count = "whole", line = "whole", text = "string", reason = "string" },
    needs = { "experiment", "count", "text", "reason" } }, branch_left = "string",
  reserved = amounts } }

local Note = {}
Note.__index = Note

function note.new(project_dir, world)
  return setmetatable({ path = project_dir .. "/logs/state.json", world = world, slots = {}, waiting = {},
    status = "running", elapsed_before = 0, began = wait.now() }, Note)
end

-- What the last process left: a table, empty if there is none or another version wrote it; and a remark.
function note.read(project_dir)
  local text = fs.read(project_dir .. "/logs/state.json")
  if not text then return {}, nil end
  local value = text ~= "" and json.decode(text, true)
  if type(value) ~= "table" then return {}, "logs/state.json was torn or empty; rebuilt from the journal" end
  if value.version ~= VERSION then return {}, "logs/state.json is from another version; rebuilt from the journal" end
  local problem = kind.problem(value, note.fields, "")
  if problem then return {}, ("logs/state.json: %s; rebuilt from the journal"):format(problem:gsub("^[.:] ?", "")) end
  return value
end

function Note:elapsed()
  return self.elapsed_before + (wait.now() - self.began)
end

local function number_of(value)
  return type(value) == "number" and value - value == 0 and value > 0 and value or 0
end

-- Gives the plans that will be restarted what the last process paid for them; the note keeps it until they begin.
-- as_were: they are not restarted, and the note keeps all that it had of them.
function Note:carry(last, unfinished, as_were)
  local paid = {}
  for _, entry in ipairs(type(last.slots) == "table" and last.slots or {}) do
    if type(entry) == "table" and entry.experiment then paid[entry.experiment] = entry end
  end
  for _, plan in ipairs(unfinished) do
    local noted = paid[plan.number] or {}
    local tokens, cost = answers.taken(plan) -- a kill may have come before the note had that
    tokens, cost = math.max(tokens, number_of(noted.tokens)), math.max(cost, number_of(noted.cost))
    if tokens > 0 or cost > 0 then plan.tokens, plan.cost = tokens, cost end
    if as_were then self.waiting[plan.number] = paid[plan.number]
    elseif plan.tokens then
      self.waiting[plan.number] = { experiment = plan.number, phase = "PLAN", operator = plan.proposal.operator,
        tokens = tokens, cost = cost, commit = noted.commit }
    end
  end
end

local ABOUT_BYTES = 200

-- What is tried, in a line: by the provider, or before it has answered by the strategy; nil if neither tells.
local function about(slot)
  local answer, proposal = slot.answer or {}, slot.proposal
  local text = answer.hypothesis or answer.description or proposal.title
  local line = type(text) == "string" and text:match "[^\r\n]+"
  if not line or #line <= ABOUT_BYTES then return line or nil end
  return utf8.len(line) and line:sub(1, utf8.offset(line, 0, ABOUT_BYTES) - 1) or line:sub(1, ABOUT_BYTES)
end

-- under_way: what a provider has spent on answers that are not complete, and what its open requests may take.
local function slot_list(self)
  local list = {}
  for _, entry in pairs(self.waiting) do list[#list + 1] = entry end
  for _, slot in pairs(self.slots) do
    local more = slot.under_way or {}
    list[#list + 1] = { experiment = slot.number, phase = slot.phase, operator = slot.proposal.operator,
      tokens = (slot.tokens or 0) + (more.tokens or 0), cost = (slot.cost or 0) + (more.cost or 0),
      started = slot.started, commit = slot.change and slot.change.commit, where = slot.where,
      since = slot.since, parents = slot.proposal.parents and json.array(slot.proposal.parents), about = about(slot) }
  end
  table.sort(list, function(a, b) return a.experiment < b.experiment end)
  return json.array(list)
end

-- Writes what has changed. If the last write was just now: returns the seconds to wait. (Each replacement leaves an
-- inode for the file system to reclaim; many of them slow down every new file.)
function Note:flush()
  if not self.changed then return end
  local rest_s = (self.written or 0) + EVERY_S - wait.now()
  if rest_s > 0 then return rest_s end
  self:write()
end

function Note:write()
  self.changed, self.written = false, wait.now()
  local history = self.world.history
  local newest, best = history.newest, history.best
  local slots = slot_list(self)
  local current = slots[1]
  self.world:need(state.replace(self.path, json.encode {
    version = VERSION, status = self.status, pid = self.pid, run = self.world.run_number, slots = slots,
    current_iteration = current and current.experiment or history.last_experiment + 1,
    current_phase = current and current.phase or "READ_CONTEXT", last_outcome = newest and newest.outcome or json.null,
    last_status = newest and newest.status or json.null,
    retained_metric = best and (best.retained or best.value) or json.null, best_candidate = best and best.id
      or json.null,
    elapsed_s = self:elapsed(), limits = self.limits, before = self.before, reason = self.reason,
    driven = self.driven, near_misses = self.near_misses, branch_left = self.world.branch.left,
    reserved = self.budget and self.budget:reservations(),
  }))
end

function Note:phase(slot)
  self.slots[slot.number], self.waiting[slot.number] = slot, nil
  self.changed = true
  self:flush()
end

-- Spending is written at once: a killed process must not forget it.
function Note:spent(slot)
  self.slots[slot.number], self.waiting[slot.number] = slot, nil
  self:write()
end

function Note:finished(slot)
  self.slots[slot.number] = nil
  self.changed = true
  self:flush()
end

function Note:save(status, reason)
  self.status, self.reason = status, reason
  self:write()
  if status == "paused" then self.status = "running" end
end

return note
