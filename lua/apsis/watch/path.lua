-- path: the screen of the best path: the best and its ancestors down to the baseline, each with what it changed and its
-- share of the gain. An ancestor is read when it comes into sight.
local list = require "apsis.watch.list"
local progress = require "apsis.cli.progress"
local show = require "apsis.cli.table"

local path = { name = "best path" }

local Page = {}
Page.__index = Page

local FORM <const> = "%-7s %12s  %8s  %s"

function path.new(view)
  local self = setmetatable({ view = view, name = path.name, steps = {}, known = {} }, Page)
  self.list = list.new { count = function(wanted) return self:count(wanted) end,
    row = function(place) return self:row(place) end }
  return self
end

-- Begins again when another one is the best.
local function begin(self)
  local best = self.view.history.best
  if best == self.best then return end
  self.best, self.steps, self.known = best, { best }, { [best and best.id or ""] = true }
end

-- The parent from which a candidate was made; nil if it is the first. A journal that names itself as a parent ends.
local function next_step(self)
  local last = self.steps[#self.steps]
  local id = last and last.outcome ~= "baseline" and last.parents and last.parents[1]
  local parent = id and not self.known[id] and self.view.history:get(id)
  if not parent then return nil end
  self.known[id] = true
  self.steps[#self.steps + 1] = parent
  return parent
end

function Page:count(wanted)
  begin(self)
  while #self.steps <= wanted and next_step(self) do end -- one more: a share needs the parent
  return math.min(#self.steps, wanted)
end

-- The share of the gain between baseline and best that a step made, in per cent: "+12 %".
function path.share(metric, baseline, best, parent, step)
  local whole, gained = metric:delta(best, baseline), metric:delta(step, parent)
  if not whole or whole == 0 or not gained then return "" end
  return ("%+.1f %%"):format(100 * gained / whole)
end

function Page:row(place)
  local step, parent = self.steps[place], self.steps[place + 1]
  local view = self.view
  local share = parent and path.share(view.reader.metric, view.history.baseline, self.best, parent, step) or ""
  return FORM:format(step.id, step.value and progress.number(step.value) or "-", share,
    parent and show.what(step, view.home) or "where it starts"), place == 1 and "bold" or nil
end

function Page:rows(_, width, height)
  local rows = { { { "  " .. FORM:format("", "value", "of gain", "what was changed"), "dim" } } }
  local shown = self.list:rows(width, height - 1)
  table.move(shown, 1, #shown, 2, rows)
  if #shown == 0 then rows[2] = "  nothing is measured yet" end
  return rows
end

function Page:key(key, app)
  if self.list:key(key) then return true end
  local step = self.steps[self.list.at]
  if key == "enter" and step then
    app:open(require("apsis.watch.candidate").new(self.view, step, "diff"))
    return true
  end
  return false
end

return path
