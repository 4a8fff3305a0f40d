-- history: a journal, folded: the records of baseline, best and current, counters, and which line first measured a
-- tree. Old records are read again from the journal when someone asks for them. Compares values only by direction,
-- under the metric that the baseline before them was measured by.
local direction = require "apsis.direction"
local lines = require "apsis.core.line"
local records = require "apsis.core.record"
local stats = require "apsis.stats"

local history = {}

local History = {}
History.__index = History

-- Fills in what a fold left out of a line, once. The line | nil, why it cannot be read.
local function load_rest(self, line)
  if rawget(line, "timestamp") then return line end
  local whole, refused, code = self.source:read(self:line_of(line.experiment))
  if not whole then return nil, refused, code end
  for key, value in pairs(whole) do
    if rawget(line, key) == nil then rawset(line, key, value) end
  end
  rawset(line, "timestamp", whole.timestamp or "")
  return line
end

-- Who reads may be a hook; a journal that cannot be read ends the command all the same.
local function raise(refused, code)
  error(code == "EJOURNAL" and { fatal = true, message = refused, code = 3 } or refused, 0)
end

local function loader(self)
  return function(line)
    local loaded, refused, code = load_rest(self, line)
    return loaded or raise(refused, code)
  end
end

-- asked: provider answers with known usage; machines: the dollars of `usd` that `priced` measurements cost elsewhere.
local function no_totals()
  return { tokens = 0, usd = 0, machines = 0, priced = 0, iterations = 0, measurements = 0, asked = 0 }
end

-- history.new(metric, source, of_branch): source:read(index) gives a line again. Set `trees` to nil before the fold if
-- nobody will ask for twins: they are most of a long history.
-- began: values are compared from this line on. renewed: the strategy started over at this line. oldest: no experiment
-- before this one may be a parent. Baselines set them (take_baseline).
function history.new(metric, source, of_branch)
  local self = setmetatable({
    metric = metric, source = source, of_branch = of_branch or false, count = 0, trees = {}, tried = {}, renewed = 0,
    kept_lines = {}, more = {}, cache = setmetatable({}, { __mode = "v" }), recent = {}, moved = nil, asked = {},
    parents_read = 0, asked_count = 0, last_experiment = -1, run = 0, oldest = 0,
    since_kept = 0, since_best = 0, began = 1, totals = no_totals(), run_totals = no_totals(), outcomes = {},
    best = nil, current = nil, baseline = nil, newest = nil, newest_baseline = nil, bar = nil, gain = nil, -- room
  }, History)
  self.given, self.classes = metric, { { from = 1, metric = metric, class = records.class(metric, loader(self)) } }
  return self
end

-- From this index on, values are compared and shown under a metric of that name and direction.
function History:begin_metric(name, toward, index)
  local given = self.given
  local is_given = name == given.name and toward == given.direction
  self.metric = is_given and given or direction.new { name = name, direction = toward }
  local epoch = { from = index, metric = self.metric, class = records.class(self.metric, loader(self)) }
  if index == 1 then self.classes[1] = epoch else table.insert(self.classes, epoch) end
end

-- From a baseline that was measured by another metric on, values are compared and shown under that.
local function use_metric(self, line, index)
  local name = line.metric
  local toward = type(name) == "string" and direction.parse(line.direction)
  if not toward or name == self.metric.name and toward == self.metric.direction then return end
  self:begin_metric(name, toward, index)
end

local function class_of(self, index)
  local classes = self.classes
  local at = #classes
  while classes[at].from > index do at = at - 1 end
  return classes[at].class
end

-- The samples of a line and those that later lines added: its own ones are remembered, for a record may be its line
-- itself.
local function add_more(self, line)
  local more = self.more[lines.id(line.experiment)]
  local own = more.own or line.samples or { line.primary_metric }
  more.own = own
  line.samples = table.move(more, 1, #more, #own + 1, table.move(own, 1, #own, 1, {}))
  line.value = stats.median(line.samples)
end

-- A line as its record; with the samples that later lines added to it.
local function record_of(self, line, index)
  setmetatable(line, class_of(self, index))
  if not next(self.more) then return line end
  local id = lines.id(line.experiment)
  if self.more[id] then add_more(self, line) end
  return line
end

local RECENT = 256 -- the newest records stay though nobody holds them: strategies ask for them again and again

-- The record of a line that is in memory; nil if it must be read.
local function known(self, index)
  return self.cache[index] or index > self.count - RECENT and self.recent[index % RECENT] or nil
end

-- The record of a line that is there; nil, why it cannot be read.
local function record_at(self, index)
  local record = known(self, index)
  if not record then
    local line, refused, code = self.source:read(index)
    if not line then return nil, refused, code end
    record = record_of(self, line, index)
  end
  self.cache[index] = record -- the same one again, as long as somebody holds it
  return record
end

-- The record of a whole line that is not written yet.
function History:unwritten(line) return record_of(self, line, self.count) end

-- The whole record of line i (1 is the first line) | nil, why it cannot be read.
function History:whole(index)
  local record, refused = record_at(self, index)
  if not record then return nil, refused end
  return load_rest(self, record)
end

-- The record of line i.
function History:at(index)
  if index < 1 or index > self.count then return nil end
  local record, refused, code = record_at(self, index)
  return record or raise(refused, code)
end

-- The index of an experiment's line; nil if it has none.
function History:line_of(experiment)
  local moved = self.moved
  if moved then return moved[experiment] end
  if experiment >= 0 and experiment < self.count then return experiment + 1 end
end

-- The index of a candidate's line, by its id; nil if there is none.
local function line_of(self, id)
  local number = type(id) == "string" and lines.number(id) or nil
  return number and self:line_of(number)
end

-- Lines that follow their experiments' order need no map from one to the other.
local function place(self, number, index)
  if number == index - 1 and not self.moved then return end
  if not self.moved then
    self.moved = {}
    for earlier = 1, index - 1 do self.moved[earlier - 1] = earlier end
  end
  self.moved[number] = index
end

-- Whether an id is that of a candidate to go on from; false and why not, or nil if there is none of that name.
function History:has(id)
  if self.asked[id] then return true end
  local record = self:get(id)
  if not record then return nil end
  if not record.commit then return false, ("has no commit (%s)"):format(record.outcome) end
  if record.experiment < self.oldest then
    return false, ("is from before %s, from which the search began again"):format(self.baseline.id)
  end
  if self.asked_count == 4096 then self.asked, self.asked_count = {}, 0 end -- the most it holds
  self.asked[id], self.asked_count = true, self.asked_count + 1
  return true
end

-- measured and asked lines have no candidate.
function History:get(id)
  local index = line_of(self, id)
  local record = index and self:at(index)
  if record and record.outcome ~= "measured" and record.outcome ~= "asked" then return record end
end

local no_candidate = { baseline = true, measured = true, asked = true }

-- The records of the experiments that began from a candidate, in the journal's order. Reads each line once, when
-- somebody asks.
function History:children(id)
  local lines_from = self.lines_from or {}
  self.lines_from = lines_from
  for index = self.parents_read + 1, self.count do
    local record = self:at(index)
    for _, parent in ipairs(not no_candidate[record.outcome] and record.parents or {}) do
      lines_from[parent] = lines_from[parent] or {}
      table.insert(lines_from[parent], index)
    end
    self.parents_read = index
  end
  local list = {}
  for at, index in ipairs(lines_from[id] or {}) do list[at] = self:at(index) end
  return list
end

-- The value of a candidate as it is now; nil if it has none.
function History:value_of(id)
  local index = line_of(self, id)
  if not index then return nil end
  return self:at(index).value
end

-- The same if later lines added samples to the candidate; else nil, and its line has the value.
function History:new_value_of(id)
  return self.more[id] and self:value_of(id)
end

-- The id of the first candidate that was measured with this tree.
function History:twin(tree)
  local index = self.trees[tree]
  return index and self:at(index).candidate
end

-- Whether a kept candidate of this value takes the lead, and what it then retains: a kept tie inherits the better of
-- both. One that was judged leads if it was shown to be better, whatever either was measured at.
local function lead(self, record, value)
  local bar = self.bar -- what the best counts for: its value, or what it retained
  local judged = record.acceptance and record.acceptance.verdict
  if judged and judged ~= "kept" then return nil end
  if judged or self.metric:better(value, bar) then
    if record.retained then record.retained = nil end
    self.best, self.bar = record, value
    return true
  end
  if bar and self.metric:tied(value, bar) then
    record.retained = self.metric:better_of(value, bar)
    self.best, self.bar = record, record.retained
    return true
  end
end

-- A record that has more samples now. It | nil, why it cannot be read.
local function grow(self, index)
  local held = known(self, index)
  if not held then return record_at(self, index) end
  local record, refused = load_rest(self, held)
  if not record then return nil, refused end
  add_more(self, record)
  return record
end

-- Works out again who leads among the kept. true | nil, why one of them cannot be read.
local function lead_anew(self)
  self.best, self.bar = nil, nil
  for _, kept in ipairs(self.kept_lines) do
    local record, refused = record_at(self, kept)
    if not record then return nil, refused end
    if record.value then lead(self, record, record.value) end
  end
  return true
end

-- New samples of candidates measured again; the lead among the kept is worked out again if one of them is kept.
-- (A line's own candidate has its samples in the line itself.) true | nil, why a line cannot be read.
local function add_samples(self, trace, own)
  local again, grown = false, {}
  for _, entry in ipairs(trace) do
    local id, value = entry.id, entry.value
    local index = grown[id] or line_of(self, id)
    if index and index ~= own and value then
      self.more[id] = self.more[id] or {}
      table.insert(self.more[id], value)
      grown[id] = index
    end
  end
  for _, index in pairs(grown) do
    local record, refused = grow(self, index)
    if not record then return nil, refused end
    again = again or record.kept
  end
  if again then return lead_anew(self) end
  return true
end

-- Where acceptance begins after other lines, the best of that moment leads until one is shown to be better: what was
-- kept before it was measured once, and luck among that must not lead when the best is measured again.
local function begin_acceptance(self, said, outcome)
  local judged = said ~= nil and said.state ~= nil
  if judged and not self.judged and self.best then self.kept_lines = { line_of(self, self.best.id) } end
  if judged or outcome == "kept" then self.judged = judged end
end

local function add_totals(totals, tokens, asked, cost, iterations, measurements)
  totals.tokens, totals.asked, totals.usd = totals.tokens + tokens, totals.asked + asked, totals.usd + cost
  totals.iterations, totals.measurements = totals.iterations + iterations, totals.measurements + measurements
end

-- What was paid for measurements on other machines.
local function add_machines(totals, usd, measurements)
  totals.usd, totals.machines = totals.usd + usd, totals.machines + usd
  if usd > 0 then totals.priced = totals.priced + measurements end
end

-- Nothing was tried: patience does not count it.
local untried = { skipped_provider_failure = true, skipped_executor_failure = true }

local function count_line(self, line, outcome)
  local run = line.run
  local late = run and run < self.run -- it waited until another run went on
  if run and run > self.run then self:begin(run) end
  local change = outcome ~= "baseline" and outcome ~= "measured" and outcome ~= "asked"
  local tokens, cost, measurements = line.tokens, line.cost or 0, line.measurements or 0
  local asked, iterations = tokens and (line.answers or 1) or 0, change and 1 or 0
  add_totals(self.totals, tokens or 0, asked, cost, iterations, measurements)
  if not late then add_totals(self.run_totals, tokens or 0, asked, cost, iterations, measurements) end
  local machines = line.machines and line.machines.usd
  if machines then add_machines(self.totals, machines, measurements) end
  if machines and not late then add_machines(self.run_totals, machines, measurements) end
  self.outcomes[outcome] = (self.outcomes[outcome] or 0) + 1
  if change and not untried[outcome] then
    self.since_kept = self.since_kept + 1
    self.since_best = self.since_best + 1
  end
end

-- Whether a baseline is of something else than the last one: of another tree, of what somebody made of a branch, or
-- measured by another metric or evaluator.
local function is_other(self, line)
  local before = self.baseline
  return before ~= nil and (self.of_branch or before.tree ~= line.tree or self:measured_otherwise(line))
end

-- Whether the digests of two baselines differ in a part that both have, or in a file that only one has.
local function evaluators_differ(one, other)
  if not (one and other) then return false end
  for key, digest in pairs(one) do
    if other[key] ~= digest and (other[key] or key:find "^file ") and key ~= "apart" then return true end
  end
  for key in pairs(other) do if not one[key] and key:find "^file " then return true end end
  return false
end

-- Whether a baseline was measured by another metric or evaluator than the last one, or one of them on other machines.
function History:measured_otherwise(line)
  local before = self.baseline
  return before ~= nil and before.metric ~= nil and line.metric ~= nil
    and (before.metric ~= line.metric or before.direction ~= line.direction
      or (before.machines == nil) ~= (line.machines == nil) or evaluators_differ(before.evaluator, line.evaluator))
end

-- Whether a baseline starts over instead of being compared with earlier kept candidates: of several baselines the
-- newest counts.
function History:begins_anew(line)
  return is_other(self, line) or self.baseline ~= nil and self.best ~= nil and self.best.outcome == "baseline"
end

-- A baseline of another tree than the last one's starts over: earlier candidates may have been measured differently.
local function take_baseline(self, record, index, value)
  self.newest_baseline = record
  if not value and self.baseline then return end
  if self:begins_anew(record) then self.began = index end -- what is before this line is not compared any more
  local other = is_other(self, record)
  -- No parents any more: their values do not compare, or they lack what HEAD has since (a branch's is merged in).
  if other and (not self.of_branch or self:measured_otherwise(record)) then
    self.trees, self.tried, self.renewed = self.trees and { [record.tree or ""] = index }, {}, index
    self.asked, self.asked_count, self.oldest = {}, 0, record.experiment
  end
  if other then self.kept_lines, self.best, self.bar = {}, nil, nil end
  self.gain = nil
  self.baseline = record
end

-- Whether a best was shown to be better than those before it: then the original, measured again on another day, does
-- not take its place.
local function was_confirmed(best)
  local said = best and best.acceptance
  return said ~= nil and said.verdict == "kept"
end

-- A line that was kept, or a baseline. Returns whether it took the lead.
local function take_kept(self, record, index, outcome, value)
  self.cache[index] = record
  if outcome == "baseline" then take_baseline(self, record, index, value) end
  if not value and outcome == "baseline" then return false end
  self.current = record
  self.since_kept = 0
  local led
  -- Of several, the luckiest is no better than the newest.
  if outcome == "baseline" and self.best and self.best.outcome == "baseline" then
    self.best, self.bar, led = record, value, true
  else led = not (outcome == "baseline" and was_confirmed(self.best)) and lead(self, record, value) or false end
  local forgets = self.source and self.source.forgets
  if led or not forgets then self.kept_lines[#self.kept_lines + 1] = index end
  if led and forgets then self.source.leads[index] = true end
  if led then self.since_best = 0 end
  return led
end

-- A measured tree is not measured again. Exceptions: it failed, the gate failed on it (that may be fixed since), or it
-- was rejected for lack of evidence (once).
local function note_tree(self, tree, outcome, said, index, value)
  local measured = value and outcome ~= "skipped_strategy_error" and outcome ~= "reverted_gate_failure"
    or outcome == "reverted_stage_failure"
  local unlucky = said and said.verdict == "rejected" and not self.tried[tree]
  if unlucky then self.tried[tree] = true
  elseif measured then self.trees[tree] = self.trees[tree] or index end
end

-- Adds a line (as decoded: no nulls), which becomes its record. Returns the record and whether it took the lead; or
-- nil, why it cannot be, and whether that is an earlier line's fault, which the reason names then.
function History:add(line)
  local number, index, outcome = line.experiment, self.count + 1, line.outcome
  if number <= self.last_experiment and self:line_of(number) then
    return nil, ("experiment %d occurs twice, first at line %d"):format(number, self:line_of(number))
  end
  place(self, number, index)
  self.count = index
  if number > self.last_experiment then self.last_experiment = number end
  count_line(self, line, outcome)
  -- Raw: it is no record yet.
  local value, tree, trace, said = line.primary_metric, line.tree, line.trace, line.acceptance
  if outcome == "baseline" and (value or not self.baseline) then use_metric(self, line, index) end
  local record = record_of(self, line, index)
  self.recent[index % RECENT] = record
  if tree and self.trees then note_tree(self, tree, outcome, said, index, value) end
  if said and said.gain then self.gain = said.gain end
  begin_acceptance(self, said, outcome)
  if trace then
    local ok, refused = add_samples(self, trace, index)
    if not ok then return nil, refused, true end
  end
  local led = (outcome == "kept" or outcome == "baseline") and take_kept(self, record, index, outcome, value)
  self.newest = record
  return record, led or false
end

local FOLD_PAUSE = 125 -- per cent: a fold makes much that is garbage at once, and what it once took a process keeps

-- Folds a journal from the first line that is not folded yet; learn(record) is called for each. Without one, or if
-- `fields` names all that it needs, only that and what the fold itself needs is read of a line.
function History:fold(from, learn, fields)
  local pause = collectgarbage("setpause", FOLD_PAUSE)
  local ok, message, code = from:each(function(line)
    local record, refused, elsewhere = self:add(line)
    if not record then return refused, elsewhere end
    if learn then learn(record) end
  end, fields or not learn and lines.folded() or nil, self.count + 1)
  collectgarbage("setpause", pause)
  return ok, message, code
end

-- Calls visit(record, index, text) for every folded line from index `first` (default 1) on, each as it is now; text: as
-- it stands. With fields (a set): visit(line, index, text), of which only those are read. true | nil, message, code.
function History:each(visit, fields, first)
  local pause = collectgarbage("setpause", FOLD_PAUSE)
  local ok, message, code = self.source:each(function(line, index, text)
    if index > self.count then return end -- a run may append meanwhile
    visit(fields and line or record_of(self, line, index), index, text)
  end, fields, first)
  collectgarbage("setpause", pause)
  return ok, message, code
end

function History:next_experiment() return self.last_experiment + 1 end

-- A new run begins: since_* and the run's totals start from nothing.
function History:begin(run)
  self.run, self.since_kept, self.since_best = run, 0, 0
  self.run_totals = no_totals()
end

history.id = lines.id
return history
