-- path: the screen of the best path: the steps from the baseline to the best as report and split have them, newest
-- first, each with what it changed and its share of the gain.
local list = require "apsis.watch.list"
local paths = require "apsis.view.path"
local progress = require "apsis.cli.progress"
local show = require "apsis.cli.table"

local path = { name = "path" }

local Page = {}
Page.__index = Page

local FORM <const> = "%-7s %12s  %8s  %s"

function path.new(view)
  local self = setmetatable({ view = view, name = path.name, steps = {} }, Page)
  self.list = list.new { count = function() return self:count() end,
    row = function(place) return self:row(place) end }
  return self
end

-- The steps to the best as they are now, newest first; the last one is where they begin.
local function find_steps(self)
  local history = self.view.history
  local best = history.best
  if best == self.best then return end
  self.best, self.steps = best, {}
  if not best then return end
  local way, base = paths.of(self.view.reader.metric, history)
  for index = #(way or {}), 1, -1 do self.steps[#self.steps + 1] = way[index] end
  self.steps[#self.steps + 1] = { record = base or best, folded = {} }
end

function Page:count()
  find_steps(self)
  return #self.steps
end

function Page:row(place)
  local step = self.steps[place]
  local record, folded = step.record, #step.folded
  local share = step.share and ("%+.1f %%"):format(100 * step.share) or ""
  local what = step.from and show.what(record, self.view.home) or "where it starts"
  if folded > 0 then
    what = ("%s (with %d step%s without gain before it)"):format(what, folded, folded == 1 and "" or "s")
  end
  return FORM:format(record.id, record.value and progress.number(record.value) or "-", share, what),
    place == 1 and "bold" or nil
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
    app:look_at(step.record, "diff")
    return true
  end
  return false
end

return path
