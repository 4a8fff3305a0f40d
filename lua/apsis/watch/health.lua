-- health: the screen of the search: which operators, models and islands propose what is kept, over the run; what was
-- tried twice; how experiments fail; where the time goes.
local columns = require "apsis.cli.columns"
local healths = require "apsis.view.health"
local progress = require "apsis.cli.progress"
local show = require "apsis.cli.table"
local terminal = require "apsis.cli.terminal"

local health = { name = "search" }

local Page = {}
Page.__index = Page

local NAME <const>, NAMES <const>, CRASHES <const> = 24, 8, 12
local phases = { "PLAN", "APPLY_CHANGE", "COMMIT", "VERIFY", "GATE", "DECIDE" }

function health.new(view) return setmetatable({ view = view, name = health.name, top = 1 }, Page) end

local function percent(part, whole) return ("%.3g %%"):format(whole > 0 and 100 * part / whole or 0) end

local function padded(text, width)
  text = show.line(text, width)
  return text .. (" "):rep(width - columns.of(text))
end

-- The shares of what was kept, a mark for each part of the run; "." where there was no candidate.
local function over_time(parts)
  local marks = {}
  for index, part in ipairs(parts) do
    local share = part[1] > 0 and part[2] / part[1]
    marks[index] = not share and "." or terminal.utf8() and progress.bar(share)
      or tostring(math.min(9, math.floor(10 * share)))
  end
  return table.concat(marks)
end

local function add_shares(add, found)
  for _, kind in ipairs(healths.kinds) do
    local list, count = found:shares(kind, NAMES)
    if #list > 0 then
      add { { padded(kind, NAME) .. "   kept of proposed        over the run", "bold" } }
    end
    for _, one in ipairs(list) do
      add(("%s %6d of %-6d %7s  %s"):format(padded(one.name, NAME), one.kept, one.count, percent(one.kept, one.count),
        over_time(one.parts)))
    end
    if count > #list then add(("  and %d more"):format(count - #list)) end
  end
end

local function add_failures(add, found)
  local list, count = found:crashes(CRASHES)
  add { { "failures", "bold" }, { ("  %d in all"):format(found.failed) } }
  for _, one in ipairs(list) do
    add { { ("%6d  "):format(one.count) }, { show.line(one.signature, 300), "yellow" },
      { ("  (last: experiment %d)"):format(one.last), "dim" } }
  end
  if count > #list then add(("        and %d more kinds"):format(count - #list)) end
end

local function add_times(add, found)
  local all, longest = 0, 0
  for _, phase in ipairs(phases) do
    all, longest = all + (found.phases[phase] or 0), math.max(longest, found.phases[phase] or 0)
  end
  if all == 0 then return end
  add { { "time by phase", "bold" }, { "  all workers together", "dim" } }
  for _, phase in ipairs(phases) do
    local seconds = found.phases[phase]
    if seconds then
      add(("%-13s %9s %7s  %s"):format(progress.doing[phase], progress.clock(seconds), percent(seconds, all),
        (terminal.utf8() and "▇" or "#"):rep(math.floor(30 * seconds / longest + 0.5))))
    end
  end
  if found.waiting_s > 0 then add(("%-13s %9s"):format("in the queue", progress.clock(found.waiting_s))) end
end

-- All that is known, as rows; --plain prints the same.
function health.lines(view)
  local found, rows = view.fold.health, {}
  local function add(row) rows[#rows + 1] = row end
  if found.candidates == 0 and found.failed == 0 then return { "nothing was proposed yet" } end
  add_shares(add, found)
  add { { "tried before", "bold" }, { ("  %d duplicates (%s of %d candidates), %d without a change"):format(
    found.duplicates, percent(found.duplicates, found.candidates), found.candidates, found.unchanged) } }
  add_failures(add, found)
  add_times(add, found)
  return rows
end

function Page:rows(_, _, height)
  local lines = health.lines(self.view)
  self.most, self.height = math.max(1, #lines - height + 1), height
  self.top = math.max(1, math.min(self.top, self.most))
  return table.move(lines, self.top, math.min(#lines, self.top + height - 1), 1, {})
end

local steps = { up = -1, k = -1, down = 1, j = 1 }

function Page:key(key)
  if steps[key] then self.top = self.top + steps[key]
  elseif key == "pageup" then self.top = self.top - self.height
  elseif key == "pagedown" or key == " " then self.top = self.top + self.height
  elseif key == "home" or key == "g" then self.top = 1
  elseif key == "end" or key == "G" then self.top = self.most
  else return false end
  return true
end

return health
