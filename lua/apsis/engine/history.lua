-- history: what a journal says, folded: columns of what is asked often, the records of baseline, best and current, and
-- counters. Records are read again from the journal when someone asks for an old one. Compares values only by direction.
local stats = require "apsis.stats"
local journal = require "apsis.engine.journal"

local history = {}

local History = {}
History.__index = History

-- Short names of a record, worked out when asked for.
local short_names = {
  id = function(line) return line.candidate end,
  value = function(line) return line.primary_metric end,
  kept = function(line) return line.outcome == "kept" or line.outcome == "baseline" end,
  metrics = function(line, primary)
    local metrics = {}
    for name, value in pairs(line.secondary_metrics or {}) do metrics[name] = value end
    if primary and line.value then metrics[primary] = line.value end
    return metrics
  end,
}

-- Methods read, sources, diff and artifacts are the world's; see history.methods.
local methods = {}

-- What looks up a record's absent field: a method, a short name, or by `load` what a fold left in the journal.
local function record_class(primary, load)
  return { __index = function(line, key)
    local name = short_names[key]
    local value
    if name then value = name(line, primary)
    elseif methods[key] then return methods[key]
    elseif load and journal.other[key] and not rawget(line, "timestamp") then return load(line)[key]
    end
    if value ~= nil then rawset(line, key, value) end
    return value
  end }
end

-- The class of a candidate that has no line yet.
history.candidate = record_class()

-- world:read(record, path), world:sources(record), world:diff(record), world:artifacts(record)
function history.methods(world)
  for _, name in ipairs { "read", "sources", "diff", "artifacts" } do
    methods[name] = function(record, ...) return world[name](world, record, ...) end
  end
end

-- Fills in what a fold left out of a line.
local function load_rest(self, line)
  local whole = self.source:read(self.lines_by_experiment[line.experiment])
  for key, value in pairs(whole) do
    if rawget(line, key) == nil then rawset(line, key, value) end
  end
  rawset(line, "timestamp", whole.timestamp or "")
  return line
end

-- asked: how many lines tell what a provider took.
local function no_totals()
  return { tokens = 0, usd = 0, iterations = 0, measurements = 0, asked = 0 }
end

-- history.new(metric, source): source:read(index) gives a line again.
function history.new(metric, source)
  local self = setmetatable({
    metric = metric, source = source, count = 0, by_tree = {}, values = {}, kept_lines = {}, more = {},
    cache = setmetatable({}, { __mode = "v" }), remembered = {}, turn = 0, lines_by_experiment = {}, lines_by_id = {},
    last_experiment = -1, run = 0,
    since_kept = 0, since_best = 0, errors = 0, totals = no_totals(), run_totals = no_totals(), outcomes = {},
  }, History)
  self.class = record_class(metric.name, function(line) return load_rest(self, line) end)
  return self
end

-- The samples of a line and those that later lines added: its own ones are remembered, for a record may be its line itself.
local function add_more(self, line)
  local more = self.more[line.candidate]
  local own = more.own or line.samples or { line.primary_metric }
  more.own = own
  line.samples = table.move(more, 1, #more, #own + 1, table.move(own, 1, #own, 1, {}))
  line.value = stats.median(line.samples)
end

-- A line as its record; with the samples that later lines added to it.
local function record_of(self, line)
  local id = line.candidate -- before it is a record: asked of one, what a fold left out would be read
  setmetatable(line, self.class)
  if id and self.more[id] then add_more(self, line) end
  return line
end

local REMEMBERED = 256 -- records that stay though nobody holds them: strategies ask for the same few again and again

local function remember(self, index, record)
  self.cache[index] = record
  self.turn = self.turn % REMEMBERED + 1
  self.remembered[self.turn] = record
end

-- The record of line i (1 is the first line), or of a candidate's id.
function History:at(index)
  if index < 1 or index > self.count then return nil end
  local record = self.cache[index]
  if not record then
    record = record_of(self, self.source:read(index))
    remember(self, index, record)
  end
  return record
end

-- The line of a candidate, by its id.
local function line_of(self, id)
  return id ~= nil and self.lines_by_id[id] or nil
end

function History:get(id)
  local index = line_of(self, id)
  return index and (self.cache[index] or self:at(index))
end

-- The value of a candidate as it is now; nil where it has none.
function History:value_of(id)
  local index = line_of(self, id)
  return index and self.values[index] or nil
end

-- The id of the first candidate that was measured with this tree.
function History:twin(tree)
  local index = self.by_tree[tree]
  return index and self:at(index).candidate
end

-- Whether a kept candidate of this value takes the lead, and what it then retains: a kept tie inherits the better of both.
local function lead(self, record, value)
  local held = self.held -- what the best counts for: its value, or what it retained
  if self.metric:better(value, held) then
    record.retained = nil
    self.best, self.held = record, value
    return true
  end
  if held and self.metric:tied(value, held) then
    record.retained = self.metric:better_of(value, held)
    self.best, self.held = record, record.retained
    return true
  end
end

-- New samples of candidates measured again; the lead among the kept is worked out anew where one of them is kept.
-- (A line's own candidate has its samples in the line itself.)
local function add_samples(self, trace, own)
  local again = false
  for _, entry in ipairs(trace) do
    local id, value = entry.id, entry.value
    local index = line_of(self, id)
    if index and index ~= own and value then
      self.more[id] = self.more[id] or {}
      table.insert(self.more[id], value)
      local record = self.cache[index]
      if record then add_more(self, record) else record = self:at(index) end
      self.values[index] = record.value
      again = again or record.kept
    end
  end
  if not again then return end
  self.best, self.held = nil, nil
  for _, kept in ipairs(self.kept_lines) do
    local record = self:at(kept)
    if record.value then lead(self, record, record.value) end
  end
end

local function count_totals(totals, line, change)
  totals.tokens = totals.tokens + (line.tokens or 0)
  totals.usd = totals.usd + (line.cost or 0)
  if line.tokens then totals.asked = totals.asked + 1 end
  if change then totals.iterations = totals.iterations + 1 end
  totals.measurements = totals.measurements + (line.measurements or 0)
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

-- A baseline of another tree than the last one's begins anew: what was kept before was measured by other means, perhaps.
local function take_baseline(self, record, value)
  self.newest_baseline = record
  if not value and self.baseline then return end
  if self.baseline and self.baseline.tree ~= record.tree then
    self.kept_lines, self.best, self.held = {}, nil, nil
  end
  self.baseline = record
end

-- Adds a line (as decoded: no nulls). Returns its record and whether it took the lead; or nil and why it cannot be.
function History:add(line)
  local number, index = line.experiment, self.count + 1
  local first = self.lines_by_experiment[number]
  if first then return nil, ("experiment %d stands twice, first at line %d"):format(number, first) end
  self.count, self.lines_by_experiment[number] = index, index
  if line.outcome ~= "measured" and line.outcome ~= "asked" then self.lines_by_id[journal.id(number)] = index end
  if number > self.last_experiment then self.last_experiment = number end
  count_line(self, line)
  local record = record_of(self, line)
  remember(self, index, record)
  local value = line.primary_metric
  self.values[index] = value or false
  local judged = value and line.outcome ~= "skipped_strategy_error" -- else the same tree may be tried again
    or line.outcome == "reverted_stage_failure"
  if judged and line.tree and not self.by_tree[line.tree] then self.by_tree[line.tree] = index end
  if line.trace then add_samples(self, line.trace, index) end
  local led = false
  if line.outcome == "kept" or line.outcome == "baseline" then
    self.cache[index] = record
    if line.outcome == "baseline" then take_baseline(self, record, value) end
    if value or line.outcome == "kept" then
      self.current = record
      self.kept_lines[#self.kept_lines + 1] = index
      self.since_kept = 0
      led = lead(self, record, value) or false
      if led then self.since_best = 0 end
    end
  end
  self.newest = record
  return record, led
end

-- Folds a whole journal; learn(record) is called for each. Without one, or where `fields` names all that it needs, only that
-- and what the fold itself needs is read of a line.
function History:fold(from, learn, fields)
  return from:each(function(line)
    local record, refused = self:add(line)
    if not record then return refused end
    if learn then learn(record) end
  end, fields or not learn and journal.folded or nil)
end

function History:next_experiment()
  return self.last_experiment + 1
end

-- A new run begins: since_*, errors and the run's totals start from nothing.
function History:begin(run)
  self.run, self.since_kept, self.since_best, self.errors = run, 0, 0, 0
  self.run_totals = no_totals()
end

history.id = journal.id
return history
