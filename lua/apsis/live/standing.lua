-- standing: where a loop stands, from its journal, its state note and its lock. Writes nothing.
local branch = require "apsis.live.branch"
local budget = require "apsis.core.budget"
local fs = require "apsis.fs"
local held = require "apsis.live.held"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local moved = require "apsis.live.moved"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"

local standing = {}

local function brief(record)
  return record and { candidate = record.id, value = record.value or json.null, commit = record.commit } or json.null
end

-- The reserved budget: a running loop's own number; of one that does not run, what its experiments in flight had spent,
-- which counts when they are restarted, and the candidates of `run` (false: of none) that wait for an answer.
local function reserve(self, spent, running, run)
  local last = self.last
  local reserved = running and type(last.reserved) == "table" and last.reserved or {}
  for kind, amount in pairs(reserved) do
    if type(amount) == "number" then spent:reserve(kind, amount) end
  end
  if running then return end
  for _, slot in ipairs(type(last.slots) == "table" and last.slots or {}) do
    if type(slot.tokens) == "number" then spent:reserve("tokens", slot.tokens) end
    if type(slot.cost) == "number" then spent:reserve("usd", slot.cost) end
  end
  for _, one in ipairs(held.waiting(self.home, self.history)) do
    if one.run == run then spent:reserve("iterations", 1) end
  end
end

-- A sum of what answers took, tokens or usd; json.null if the provider's command does not report it, or did not for any
-- of the experiments that totals counts.
local function reported(self, kind, sum, totals)
  return providers.reported(self.manifest.provider, kind, sum, totals.iterations > 0 and totals.asked == 0)
end

-- What the newest run has spent of its budget, running or not. before: what it had spent when it went on, of a kind
-- that was then asked for by --iterations or --minutes. spent and left: json.null if the provider does not report it.
local function budget_of(self, running)
  local history, last = self.history, self.last
  local limits = type(last.limits) == "table" and next(last.limits) and last.limits or self.manifest.budget
  if last.run and last.run > history.run then history:begin(last.run) end
  local fresh = last.status == "ready" -- there was no run since the baseline
  local spent = budget.new(limits, fresh and { run_totals = {} } or history,
    function() return not fresh and last.elapsed_s or 0 end)
  reserve(self, spent, running, not fresh and history.run)
  local view = spent:table()
  if fresh then return view end
  for kind, amount in pairs(last.before or {}) do
    if view[kind] then view[kind].before = amount end
  end
  for _, kind in ipairs { "tokens", "usd" } do
    local one = view[kind]
    if one and reported(self, kind, one.spent, history.run_totals) == json.null then
      one.spent, one.left = json.null, json.null
    end
  end
  return view
end

-- One word for the loop of a reader that has folded; pid: of the process that works on it, or nil.
function standing.word(self, pid)
  local last = self.last
  if pid then return fs.stat(self.home .. "/.apsis/pause") and "paused" or "running" end
  if last.status == "running" or last.status == "paused" then return "stopped in the middle" end
  local newest = self.history.newest_baseline
  if last.status == "ready" and newest and not newest.value then return "not ready" end
  return last.status or self.history.count > 0 and "stopped" or "not started"
end

-- nil, too, if git cannot tell.
local function dirty_of(repo)
  local paths, count = repo:dirty()
  return paths and count > 0 and { count = count, first = paths[1] } or nil
end

-- Why the run's branch is not at the best; nil if it is, or if the run goes on or was killed, when it may lag behind.
local function branch_left(self, running)
  if self.last.branch_left or running or self.manifest.own_branch or not moved.ended[self.last.status] then
    return self.last.branch_left
  end
  return self:with_repository(moved.branch, self.refs, branch.of(self.manifest, self.history.best), self.history.best)
end

-- The experiments in flight; of a loop that was killed, those that other machines measure.
local function in_flight(last, pid)
  local list, killed = {}, last.status == "running" or last.status == "paused"
  for _, slot in ipairs(type(last.slots) == "table" and last.slots or {}) do
    if pid or last.status == "waiting" or killed and slot.where then list[#list + 1] = slot end
  end
  return json.array(list)
end

-- What there is to report of the loop, as JSON has it, without what only the repository knows.
function standing.now(self)
  local history, last = self.history, self.last
  local pid, since = lock.holder(self.home)
  local spent = budget_of(self, pid ~= nil)
  return {
    project = self.manifest.project.name, directory = self.dir,
    metric = self.metric.name, direction = self.metric.direction,
    status = standing.word(self, pid), running = pid ~= nil, pid = pid or json.null, since = since or json.null,
    paused = fs.stat(self.home .. "/.apsis/pause") ~= nil, run = last.run or history.run,
    reason = last.reason or json.null, in_flight = in_flight(last, pid),
    experiments = history.count - (history.outcomes.baseline or 0), outcomes = history.outcomes,
    best = brief(history.best), baseline = brief(history.baseline), gain = history.gain or json.null,
    current = brief(history.current), since_kept = history.since_kept, since_best = history.since_best, budget = spent,
    tokens = reported(self, "tokens", history.totals.tokens, history.totals),
    cost = reported(self, "usd", history.totals.usd, history.totals), near_misses = last.near_misses or json.null,
    altered = self.altered or json.null, branch = branch.of(self.manifest, history.best),
    branch_left = last.branch_left or json.null,
  }
end

-- All that there is to report.
function standing.facts(self)
  self:check_refs()
  local facts = standing.now(self)
  facts.branch_left = branch_left(self, facts.running) or json.null
  facts.dirty = self:with_repository(dirty_of) or json.null
  rooms.call("status", self, facts)
  return facts
end

return standing
