-- intake: updates a goal's state file from the journal and the program, and obeys or puts back people's edits: the
-- journal decides what was measured, people decide what to do. Writes no file. Called by upkeep.
local display = require("apsis.project.manifest").display
local statefile = require "apsis.goals.statefile.document"

local intake = {}

-- Logs each text once, wherever its line is by then.
local function say_once(self, texts)
  for _, text in ipairs(texts or {}) do
    local known = text:gsub("^line %d+: ", "")
    if not self.said[known] then
      self.said[known] = true
      self.session:log("warn", ("%s.md: %s"):format(self.session.manifest.program_name, text))
    end
  end
end

-- The journal's lines from an index on, as records, and the number of iterations among them.
local function lines_from(history, first)
  local records, iterations = {}, 0
  for index = first, history.count do
    local record = history:at(index)
    records[#records + 1] = record
    local outcome = record.outcome
    if outcome ~= "baseline" and outcome ~= "measured" and outcome ~= "asked" then iterations = iterations + 1 end
  end
  return records, iterations
end

-- The best before a line.
local function best_before(history)
  return function(record)
    local index = history:line_of(record.experiment)
    return index and index > 1 and history:at(index - 1).best or nil
  end
end

-- The first baseline whose value compares with the newest ones: what a goal began from.
function intake.initial(history)
  for index = math.max(1, history.renewed), history.count do
    local record = history:at(index)
    if record.outcome == "baseline" and record.value then return record end
  end
end

-- Whether the target is met; under acceptance, by the value that the evidence supports.
function intake.reached(self)
  local engine = self.session.engine
  return engine.history.best and self.target ~= nil
    and engine.metric:reaches(engine.judge and engine.judge:level() or engine.history.best, self.target)
end

-- The error if the file mentions experiments that are missing in this clone's journal: its history would be taken for
-- wrong. Else nil.
function intake.lacks(self, doc)
  local history, home = self.session.engine.history, self.session.home
  local newest = doc:furthest(function(id) return tonumber(id:sub(2)) end)
  if newest <= math.max(0, history.last_experiment) or not doc:fields().journal_lines then return nil end
  return ("it has an entry for c%04d, but the journal here (%s/logs/results.jsonl) ends before it: copy the journal "
    .. "from where it was written; or, to start over, remove the row Journal Lines and the entries "
      .. "from the file"):format(
    newest, display(home))
end

-- How many journal lines the document has taken in: by its row, and by its entries if somebody changed the row.
local function seen_of(self, doc)
  local history, row = self.session.engine.history, doc:fields().journal_lines
  local entered = doc:furthest(function(id) return history:line_of(math.tointeger(tonumber(id:sub(2)))) end)
  if row and row < entered then
    say_once(self, { ("Journal Lines is %d, but there is an entry for line %d: put back"):format(row, entered) })
    doc:set("Journal Lines", ("%d"):format(entered))
  end
  return math.min(math.max(row or 0, entered), history.count)
end

-- What people's edits and an older file say against the journal and the program.
local function put_right(self, doc, seen, iterations)
  local history, metric = self.session.engine.history, self.session.engine.metric
  local said = doc:fields()
  if seen == 0 and said.best_metric and (said.journal_lines or 0) == 0 then
    say_once(self, { ("Best Metric says %.10g, which is from before apsis kept a journal here: it goes to the row "
      .. "Earlier Best Metric, and what apsis measures itself takes its place"):format(said.best_metric) })
    doc:set("Earlier Best Metric", doc:value "Best Metric")
    doc:set("Best Metric", nil)
  end
  local initial = history.renewed <= seen and self.initial or said.initial_metric
  say_once(self, doc:check { best = seen > 0 and history:at(seen).best or nil, initial = initial, target = self.target,
    direction = metric.direction, iterations = function(id) return history:get(id) end, count = seen > 0
    and history.totals.iterations - iterations or nil })
end

-- Completes the goal by its current target. A person who set Completed to false under apsis's own reason wants more.
local function complete(self, doc, events, record)
  local metric, said = self.session.engine.metric, doc:fields()
  local met = statefile.met(said.completed_reason, metric, self.target)
  self.undone = not said.completed and met == "this"
  if met == "another" and not intake.reached(self) then
    doc:set("Completed", "false")
    doc:set("Completed Reason", nil)
    if said.completed then say_once(self, { "the target has changed, so the goal goes on" }) end
  end
  if said.completed or self.undone or not intake.reached(self) then return end
  doc:complete(metric, self.session.engine.history.bar, self.target)
  events[#events + 1] = { kind = "completed", reason = doc:fields().completed_reason, record = record }
end

-- Takes the new records into the document; existed: whether there was a file. Returns its records and events.
function intake.take(self, doc, existed)
  local history = self.session.engine.history
  self.initial = (intake.initial(history) or {}).value
  say_once(self, doc.warnings)
  local seen = seen_of(self, doc)
  local records, iterations = lines_from(history, seen + 1)
  if existed then put_right(self, doc, seen, iterations) end
  local events = doc:absorb(records, { metric = self.session.engine.metric, target = self.target,
    previous = best_before(history), initial = self.initial, branch = self.session.manifest.branch,
    lines = history.count, oldest = history.oldest, record_of = function(id) return history:get(id) end })
  complete(self, doc, events, records[#records] or history.newest)
  return records, events
end

return intake
