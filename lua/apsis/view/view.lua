-- view: what the faces show of a project, kept up to date while a run goes on: the reader's folded history and state
-- note, the facts that status shows (live/standing.lua), and the fold of what else they show. Writes nothing.
local direction = require "apsis.direction"
local folds = require "apsis.view.fold"
local paces = require "apsis.view.pace"
local reader = require "apsis.live.reader"
local standing = require "apsis.live.standing"
local trust = require "apsis.view.trust"
local wait = require "apsis.wait"

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
    if facts.running ~= was_running then self.slow = nil end -- somebody may have changed what measures
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
  self.fold, self.looked, self.slow = folds.new(opened.history), nil, nil
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

-- Goes on with what takes a while, such as reading lines into the fold, for about these seconds. Whether there is
-- more to do; nil, message, 3.
function View:read(seconds)
  local until_then = wait.now() + seconds
  while self.reading or self.fold.read_to < self.history.count do
    self.reading = self.reading or self.fold:reading()
    local ok, more = coroutine.resume(self.reading)
    if not ok then error(more, 0) end
    if coroutine.status(self.reading) == "dead" then
      self.reading = nil
      if more then return nil, more, 3 end
    end
    if wait.now() >= until_then then return true end
  end
  self.slow = self.slow or trust.slow(self.reader, self.dir)
  return false
end

-- What to know before believing the figures: { label, text, doubt }... What takes a moment is missing until `read` has
-- found it.
function View:trust() return trust.of(self.slow or {}, self.facts, self.history) end

-- Experiments per second of the newest run, and the seconds that its budget may still take; nil if unknown.
function View:pace()
  local budget, left = self.facts.budget, {}
  for _, kind in ipairs { "iterations", "minutes" } do
    local rest = budget[kind] and budget[kind].left
    if direction.finite(rest) then left[kind] = rest + (kind == "iterations" and #self.facts.in_flight or 0) end
  end
  return paces.of(self.history.run_totals.iterations, self.reader.last.elapsed_s or 0, left)
end

return view
