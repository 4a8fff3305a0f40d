-- view: what the screens show of a project, kept up to date while a run goes on: the reader's folded history and state
-- note, the facts that status shows, and the curve. Writes nothing.
local Curve = require "apsis.watch.curve"
local direction = require "apsis.direction"
local evaluator = require "apsis.live.evaluator"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local session = require "apsis.live.session"
local standing = require "apsis.live.standing"
local wait = require "apsis.wait"
local ways = require "apsis.live.cage.ways"

local view = {}

local View = {}
View.__index = View

-- What only the repository and the rooms know is looked up so seldom while a run goes on, and after a new best.
local SELDOM_S <const>, BEST_S <const> = 30, 5

-- The facts, and what only the repository and the rooms know, now and then.
local function find_facts(self)
  local was_running, now = self.facts and self.facts.running, wait.now()
  local facts, best = standing.now(self.reader), self.history.best
  local seldom = best ~= self.best and BEST_S or SELDOM_S
  if not self.looked or facts.running ~= was_running or now - self.looked >= seldom then
    facts = standing.facts(self.reader)
    if facts.running ~= was_running then self.trust = nil end -- somebody may have changed what measures
    self.looked, self.best, self.seldom = now, best, facts
  end
  for key, value in pairs(self.seldom) do
    if facts[key] == nil then facts[key] = value end
  end
  facts.branch_left = self.seldom.branch_left
  self.facts = facts
end

local function take(self, opened)
  self.reader, self.history, self.home = opened, opened.history, opened.home
  self.curve, self.looked, self.trust = Curve.new(opened.history.began), nil, nil
  self.reading, self.opened = nil, (self.opened or 0) + 1
  find_facts(self)
end

-- A view of the project at or above dir | nil, message, code.
function view.open(dir)
  local opened, message, code = reader.open(dir)
  if not opened then return nil, message, code end
  local self = setmetatable({ dir = dir }, View)
  take(self, opened)
  return self
end

-- Takes in what was written since. Returns whether there is anything new; nil, message, code if the journal cannot be
-- read any more.
function View:follow()
  local changed, message, code = self.reader:follow()
  if changed == nil and message then return nil, message, code end
  local baseline = self.history.baseline
  if changed == nil or self.of_baseline and baseline ~= self.of_baseline then
    local opened
    opened, message, code = reader.open(self.dir)
    if not opened then return nil, message, code end
    take(self, opened)
    changed = true
  end
  self.of_baseline = self.history.baseline
  find_facts(self)
  return changed
end

-- What measures now and did not when the baseline was measured: a text; nil if nothing, or if it cannot be known here.
local function evaluator_change(self)
  local opened, baseline = session.configure(self.dir), self.history.baseline
  if not opened or not baseline then return nil end
  function opened.log() end -- nothing is written, neither to the project nor to the screen
  function opened.say() end
  local known, changed = pcall(function()
    return opened:open_world(nil, true) and evaluator.changed(opened.world, baseline)
  end)
  opened:close()
  return known and changed or nil
end

-- What each room adds to the facts about trust, whether commands are confined here, and whether the same measures as
-- before. Takes a moment: after the first picture.
local function find_trust(self)
  local mode = self.reader.manifest.sandbox.mode
  local way = mode ~= "off" and ways.find() or nil
  local free = not way or way == "none"
  local text = free and mode == "required" and "none works here, so nothing is run"
    or free and "commands may read and write whatever you may" or way
  self.trust = { { "sandbox", ("%s: %s"):format(mode, text), free } }
  local changed = evaluator_change(self)
  if changed then
    table.insert(self.trust, { "evaluator", changed .. ": not what it was at the baseline, so values would not compare",
      true })
  end
  for _, trust in rooms.each "trust" do
    for _, fact in ipairs(trust(self.reader)) do table.insert(self.trust, fact) end
  end
end

-- Goes on with what takes a while, such as reading lines into the curve, for about these seconds. Whether there is
-- more to do; nil, message, 3.
function View:read(seconds)
  local until_then = wait.now() + seconds
  while self.reading or self.curve.read_to < self.history.count do
    self.reading = self.reading or self.curve:reading(self.history)
    local ok, more = coroutine.resume(self.reading)
    if not ok then error(more, 0) end
    if coroutine.status(self.reading) == "dead" then
      self.reading = nil
      if more then return nil, more, 3 end
    end
    if wait.now() >= until_then then return true end
  end
  if not self.trust then find_trust(self) end
  return false
end

-- Experiments per second of the newest run, and the seconds that its budget may still take; nil if unknown.
function View:pace()
  local elapsed, done = self.reader.last.elapsed_s, self.history.run_totals.iterations
  if not elapsed or elapsed <= 0 or done == 0 then return nil end
  local rate, budget, left = done / elapsed, self.facts.budget, math.huge
  local iterations, minutes = budget.iterations, budget.minutes
  if iterations and direction.finite(iterations.left) then left = iterations.left / rate end
  if minutes and direction.finite(minutes.left) then left = math.min(left, 60 * minutes.left) end
  return rate, left < math.huge and left or nil
end

return view
