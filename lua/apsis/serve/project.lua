-- project: what browsers are shown of one project: its page, and events with what a run has written since. An event's
-- place is "G-N": N lines of the journal, in its generation G, which is another one if the journal was replaced. Work
-- for a new line does not depend on how many there are; the whole page's data is gathered again only now and then.
local direction = require "apsis.direction"
local headline = require "apsis.view.headline"
local held = require "apsis.live.held"
local host = require "apsis.host"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local progress = require "apsis.cli.progress"
local reader = require "apsis.live.reader"
local standing = require "apsis.live.standing"
local wait = require "apsis.wait"

local project = {}

local Project = {}
Project.__index = Project

local BEHIND <const> = 5000 -- most lines that events bring; further behind, the page is taken as a whole
local LEAST_S <const>, SHARE <const> = 1, 400 -- between two gatherings; and times the processor time of the last
local TITLE <const>, SLOTS <const> = 160, 16

local fields = { experiment = true, outcome = true, candidate = true, parents = true, primary_metric = true,
  best = true, operator = true, tokens = true, cost = true, machines = true, seconds = true, description = true,
  hypothesis = true }

-- settings: { tools (of the report), control }.
function project.open(dir, settings)
  local opened, message, code = reader.open(dir)
  if not opened then return nil, message, code end
  return setmetatable({ dir = dir, tools = settings.tools, control = settings.control, reader = opened, generation = 1,
    due = 0 }, Project)
end

function Project:place() return ("%d-%d"):format(self.generation, self.reader.history.count) end

-- ---- following ----

local function reopen(self)
  local before = self.reader.history.count
  local opened, message = reader.open(self.dir)
  if not opened then return nil, message end
  self.reader, self.generation, self.whole = opened, self.generation + 1, nil
  self.removed = opened.history.count == 0 and before > 0 and "the journal was removed: nothing is measured" or nil
  return true
end

-- Takes in what was written since; `problem` is why it cannot be read. While data is gathered the history stands still.
function Project:follow()
  if self.gathering then return end
  local changed, message = self.reader:follow()
  if changed == nil and not message then changed, message = reopen(self) end
  self.problem = changed == nil and message or nil
end

-- ---- the page ----

-- Gathers the page's data; pause(), called now and then, lets others do something. true | nil, message.
function Project:gather(pause)
  local history, spent, since = self.reader.history, 0, os.clock()
  self.running = lock.holder(self.reader.home) ~= nil
  local data, message = self.tools.data(self.reader, self.dir, function()
    spent = spent + os.clock() - since
    pause()
    since = os.clock()
  end)
  if not data then return nil, message end
  data.live = { at = self:place(), control = self.control or json.null }
  self.whole = { data = data, count = history.count, began = history.began, gain = history.gain,
    running = self.running }
  self.due = wait.now() + math.max(LEAST_S, SHARE * (spent + os.clock() - since))
  return true
end

-- Whether the page that was gathered differs in more than events can tell.
local function is_other(self)
  local whole, history = self.whole, self.reader.history
  return not whole or whole.began ~= history.began or whole.gain ~= history.gain
    or whole.count == 0 and history.count > 0
end

-- Whether who takes the page now has enough with what was gathered last and with events.
function Project:is_fresh()
  local behind = not is_other(self) and self.reader.history.count - self.whole.count
  return behind and behind <= BEHIND and (behind == 0 or self.gathering or wait.now() < self.due)
end

local function asset(name) return assert(host.read("lua/apsis/serve/" .. name), name .. " is missing") end

-- The page as HTML, of what was gathered | nil, message.
function Project:page()
  if self.problem then return nil, self.problem end
  local whole = self.whole
  whole.html = whole.html or self.tools.page(whole.data, { style = asset "live.css", script = asset "live.js" })
  return whole.html
end

-- Its data as JSON | nil, message.
function Project:data()
  if self.problem then return nil, self.problem end
  self.whole.json = self.whole.json or self.tools.json(self.whole.data)
  return self.whole.json
end

-- ---- events ----

-- An event as a browser gets it.
function project.event(kind, place, text)
  return ("event: %s\n%sdata: %s\n\n"):format(kind, place and ("id: %s\n"):format(place) or "", text)
end

local function cut(text)
  local from = utf8.len(text) and utf8.offset(text, TITLE + 1)
  return from and text:sub(1, from - 1) .. "..." or text:sub(1, 4 * TITLE)
end

local function parents_of(line)
  local list = json.array()
  for at, id in ipairs(line.parents or {}) do
    list[at] = math.tointeger(tonumber(tostring(id):match "^c(%d+)$")) or -1
  end
  return list
end

-- A line as the page takes it in.
local function brief(line)
  local title = line.candidate and (line.outcome == "kept" or line.outcome == "baseline")
    and (line.description or line.hypothesis)
  local operator = type(line.operator) == "string" and line.candidate and line.outcome ~= "baseline" and line.operator
  return { number = line.experiment, outcome = line.outcome, value = line.primary_metric, best = line.best,
    operator = operator or nil, parents = parents_of(line), title = type(title) == "string" and cut(title) or nil,
    tokens = line.tokens, usd = (line.cost or 0) + (line.machines and line.machines.usd or 0),
    seconds = type(line.seconds) == "number" and line.seconds or nil }
end

-- The event with the lines after the first `from`; "" if there are none.
function Project:lines(from)
  local history, list = self.reader.history, json.array()
  if from >= history.count then return "" end
  local ok, message = history.source:each(function(line, index)
    if index > history.count then return false end
    list[#list + 1] = brief(line)
  end, fields, from + 1)
  if not ok and #list < history.count - from then
    self.problem = message
    return ""
  end
  return project.event("lines", self:place(), self.tools.json { from = from, lines = list })
end

local function slots_of(facts)
  local list = json.array()
  for at, slot in ipairs(facts.in_flight) do
    if at > SLOTS then break end
    local parents = type(slot.parents) == "table" and table.concat(slot.parents, " ") or nil
    local doing, place = progress.words(slot.phase, slot.where)
    local since = slot.where and slot.since or slot.started
    list[at] = { experiment = slot.experiment, doing = place and doing .. " " .. place or doing,
      started = type(since) == "number" and since or nil, operator = slot.operator, parents = parents,
      about = slot.about }
  end
  return list
end

-- The candidates that wait for an answer.
local function waiting_of(opened)
  local list = json.array()
  for _, one in ipairs(held.waiting(opened.home, opened.history)) do
    if #list < SLOTS and not held.answer(opened.home, one.experiment) then
      list[#list + 1] = { id = one.line.candidate, value = one.line.primary_metric,
        gain = held.gain_text(opened, one),
        title = type(one.line.hypothesis) == "string" and cut(one.line.hypothesis) or nil }
    end
  end
  return list
end

-- How the page's header changes while the run goes on: keys of its data, and what is in flight.
local function facts_of(self)
  local opened = self.reader
  local facts, history, metric = standing.now(opened), opened.history, opened.metric
  local best, first = history.best, history.baseline
  self.running = facts.running
  local compared = best and first and best.value and first.value
  local gathered = self.whole and self.whole.data
  local said = gathered and not gathered.judged and not opened.manifest.metric.names and headline(metric, history,
    gathered.since + history.count - self.whole.count, opened.manifest.metric.unit)
  return { status = facts.status, reason = type(facts.reason) == "string" and facts.reason or json.null,
    best = best and best.value and { id = best.id, value = best.value } or json.null,
    gained = compared and metric:delta(best.value, first.value) or json.null,
    share = compared and direction.percent_text(best.value, first.value) or json.null,
    doubt = compared and metric:doubt_text(best, first) or json.null,
    headline = said or json.null,
    experiments = facts.experiments, kept = history.outcomes.kept or 0,
    now = { running = facts.running, paused = facts.paused, of = #facts.in_flight, slots = slots_of(facts),
      waiting = waiting_of(opened),
      problem = self.problem or self.removed or json.null } }
end

-- The event with what the header shows.
function Project:facts() return project.event("facts", nil, self.tools.json(facts_of(self))) end

-- The project's row in the index: what its header shows, and what it is.
function Project:row()
  local opened, row = self.reader, facts_of(self)
  local history, metric = opened.history, opened.metric
  local best, first, gain = history.best, history.baseline, history.gain
  row.name, row.goal = opened.manifest.project.name, opened.manifest.program_name ~= nil
  row.metric, row.words, row.baseline = metric.name, metric:words(), first and first.id
  row.measured = history.count > 0
  row.gain = gain and best and gain.candidate == best.id and { gain = gain.gain, low = gain.low, high = gain.high,
    exact = gain.exact } or nil
  row.now.slots = nil
  return row
end

-- Whether browsers should take the whole page again: what events do not bring is out of date, and gathering it costs
-- little of the time that has passed; or the run has ended.
function Project:is_due()
  if not self.whole or self.gathering then return false end
  if is_other(self) then return true end
  if self.whole.count == self.reader.history.count and self.whole.running == self.running then return false end
  return wait.now() >= self.due or self.whole.running and not self.running
end

-- The event by which browsers take the whole page again.
function project.again() return project.event("whole", nil, "{}") end

-- The lines that a place ("G-N") has; nil if events cannot bring what came since.
function Project:lines_at(place)
  local generation, count = tostring(place):match "^(%d+)%-(%d+)$"
  count = math.tointeger(tonumber(count or ""))
  local behind = count and self.reader.history.count - count
  if tonumber(generation) ~= self.generation or not behind or behind < 0 or behind > BEHIND then return nil end
  return count
end

return project
