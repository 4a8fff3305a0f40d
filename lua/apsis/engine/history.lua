-- history: what a journal says, folded: columns of what is asked often, the records of baseline, best and current, and
-- counters. Records are read again from the journal when someone asks for an old one. Compares values only by direction.
local stats = require "apsis.stats"
local journal = require "apsis.engine.journal"

local history = {}

local History = {}
History.__index = History

-- A candidate's record: its journal line, with short names, and (outside learn) its methods.
local Record = {}

local short_names = {
  id = function(line) return line.candidate end,
  kept = function(line) return line.outcome == "kept" or line.outcome == "baseline" end,
  metrics = function(line)
    local metrics = {}
    for name, value in pairs(line.secondary_metrics or {}) do metrics[name] = value end
    local primary = rawget(line, "primary_name")
    if primary then metrics[primary] = line.value end
    return metrics
  end,
}

-- Methods read, diff and artifacts are the world's; see history.methods.
local methods = {}

function Record.__index(line, key)
  local method = methods[key]
  if method then return method end
  local name = short_names[key]
  if name then
    local value = name(line)
    rawset(line, key, value)
    return value
  end
end

-- world:read(record, path), world:diff(record), world:artifacts(record)
function history.methods(world)
  for _, name in ipairs { "read", "diff", "artifacts" } do
    methods[name] = function(record, ...) return world[name](world, record, ...) end
  end
end

-- history.new(metric, source): source:read(index) gives a line again.
function history.new(metric, source)
  return setmetatable({
    metric = metric, source = source, count = 0, by_id = {}, by_tree = {}, ids = {}, values = {}, kept_ids = {}, more = {},
    cache = setmetatable({}, { __mode = "v" }), lines_by_experiment = {}, last_experiment = -1, run = 0,
    since_kept = 0, since_best = 0, errors = 0, measurements = 0, totals = { tokens = 0, usd = 0, iterations = 0 },
    run_totals = { tokens = 0, usd = 0, iterations = 0, measurements = 0 }, outcomes = {}, finished = {},
  }, History)
end

local function record_of(self, line)
  line.primary_name = self.metric.name
  line.value = line.primary_metric
  local more = line.candidate and self.more[line.candidate]
  if more then
    line.samples = table.move(line.samples or { line.primary_metric }, 1, #(line.samples or { 1 }), 1, {})
    table.move(more, 1, #more, #line.samples + 1, line.samples)
    line.value = stats.median(line.samples)
  end
  return setmetatable(line, Record)
end

-- The record of line i (1 is the first line), or of a candidate's id.
function History:at(index)
  if index < 1 or index > self.count then return nil end
  local record = self.cache[index]
  if not record then
    record = record_of(self, self.source:read(index))
    self.cache[index] = record
  end
  return record
end

function History:get(id)
  local index = self.by_id[id]
  return index and self:at(index)
end

-- Whether a kept candidate takes the lead, and what it then retains: a kept tie inherits the better of both values.
local function lead(self, record)
  local best = self.best
  if self.metric:better(record, best) then
    record.retained = nil
    self.best = record
    return true
  end
  if best and self.metric:tied(record, best) then
    record.retained = self.metric:better_of(record.value, best.retained or best.value)
    self.best = record
    return true
  end
end

-- New samples of candidates measured again; the lead among the kept is worked out anew where one of them is kept.
local function add_samples(self, trace)
  local again = false
  for _, entry in ipairs(trace) do
    local id, value = entry.id, entry.value
    local index = self.by_id[id]
    if index and value then
      self.more[id] = self.more[id] or {}
      table.insert(self.more[id], value)
      local record = self.cache[index]
      if record then
        local line = self.source:read(index)
        local fresh = record_of(self, line)
        record.samples, record.value = fresh.samples, fresh.value
      else
        record = self:at(index)
      end
      self.values[index] = record.value
      again = again or record.kept
    end
  end
  if not again then return end
  self.best = nil
  for _, kept in ipairs(self.kept_ids) do
    local record = self:get(kept)
    if record.value then lead(self, record) end
  end
end

local function count_totals(totals, line, change)
  totals.tokens = totals.tokens + (line.tokens or 0)
  totals.usd = totals.usd + (line.cost or 0)
  if change then totals.iterations = totals.iterations + 1 end
  totals.measurements = (totals.measurements or 0) + (line.measurements or 0)
end

local function count_line(self, line)
  if line.run and line.run ~= self.run then self:begin(line.run) end
  local change = line.outcome ~= "baseline" and line.outcome ~= "measured" and line.outcome ~= "asked"
  count_totals(self.totals, line, change)
  count_totals(self.run_totals, line, change)
  self.outcomes[line.outcome] = (self.outcomes[line.outcome] or 0) + 1
  self.errors = line.outcome == "skipped_strategy_error" and self.errors + 1 or 0
  if change then
    self.since_kept = self.since_kept + 1
    self.since_best = self.since_best + 1
  end
end

-- Adds a line (as decoded: no nulls). Returns its record and whether it took the lead; or nil and why it cannot be.
function History:add(line)
  if self.lines_by_experiment[line.experiment] then
    return nil, ("experiment %d stands twice, first at line %d"):format(line.experiment, self.lines_by_experiment[line.experiment])
  end
  local index = self.count + 1
  self.count = index
  self.lines_by_experiment[line.experiment] = index
  self.last_experiment = math.max(self.last_experiment, line.experiment)
  count_line(self, line)
  local record = record_of(self, line)
  self.cache[index] = record
  self.values[index] = record.value or false
  if line.candidate then
    self.by_id[line.candidate] = index
    local judged = record.value and line.outcome ~= "skipped_strategy_error" -- else the same tree may be tried again
    if line.tree and judged and not self.by_tree[line.tree] then self.by_tree[line.tree] = line.candidate end
  end
  self.ids[index] = line.candidate or false
  if line.trace then add_samples(self, line.trace) end
  local led = false
  if line.outcome == "kept" or line.outcome == "baseline" then
    if line.outcome == "baseline" and (record.value or not self.baseline) then self.baseline = record end
    if record.value or line.outcome == "kept" then
      self.current = record
      self.kept_ids[#self.kept_ids + 1] = line.candidate
      self.since_kept = 0
      led = lead(self, record) or false
      if led then self.since_best = 0 end
    end
  end
  self.newest = record
  return record, led
end

-- Folds a whole journal; learn(record) is called for each. true | nil, message, code.
function History:fold(from, learn)
  local pause = collectgarbage("setpause", 400) -- most of what a fold makes stays: collecting often is in vain
  local ok, message, code = from:each(function(line)
    local record, refused = self:add(line)
    if not record then return refused end
    if learn then learn(record) end
  end)
  collectgarbage("setpause", pause)
  return ok, message, code
end

function History:next_experiment()
  return self.last_experiment + 1
end

-- A new run begins: since_* and the run's totals start from nothing.
function History:begin(run)
  self.run, self.since_kept, self.since_best = run, 0, 0
  self.run_totals = { tokens = 0, usd = 0, iterations = 0, measurements = 0 }
end

history.candidate = Record
history.id = journal.id
return history
