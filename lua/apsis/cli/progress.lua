-- progress: shows a running loop on stderr. On a terminal a live line, redrawn each second, never wider than the
-- terminal: what is being done and for how long, the best, how many were kept, the time left, what was spent; with
-- several experiments at a time a line for each, if there is room. Elsewhere a plain line now and then. Decides
-- nothing.
local columns = require "apsis.cli.columns"
local direction = require "apsis.direction"
local host = require "apsis.host"
local ids = require "apsis.core.line"
local paces = require "apsis.view.pace"
local plain = require "apsis.project.plain"
local terminal = require "apsis.cli.terminal"
local wait = require "apsis.wait"

local progress = {}

local Line = {}
Line.__index = Line

local EVERY_S, REDRAW_S, SOONEST_S = 5, 1, 0.1
local SILENT_S = 60 -- elsewhere: after so long without a line, one says what is being done
local SPARE_ROWS = 3 -- of the terminal, that the lines leave free
local CLOCK, BARS = 5, 7 -- ranks
local LEAST_WIDTH = 24 -- for a second line of what the first has no room for
local bars = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

progress.doing = { PLAN = "planning", APPLY_CHANGE = "proposing", COMMIT = "committing", VERIFY = "measuring",
  GATE = "at the gate", DECIDE = "deciding", HELD = "waiting", LOG = "logging" }

-- A phase in words, and after it the place if it is elsewhere; where: "queued on short", "on n2", nil.
function progress.words(phase, where)
  local word, place = (" " .. (where or "")):match "^ ?(.-) (on .+)$"
  if not place then word = where end
  return word and word ~= "" and word or progress.doing[phase] or phase, place
end

function progress.new(options)
  local in_ci = (os.getenv "CI" or "") ~= "" and os.getenv "CI" ~= "false"
  local shows = host.isatty(2) and os.getenv "TERM" ~= "dumb" and not in_ci
  return setmetatable({ terminal = shows, quiet = options.quiet, utf8 = terminal.utf8(),
    began = wait.now(), spoken = wait.now(), done = 0, bests = {}, drawn = 0, flying = {} }, Line)
end

-- A bar for a share from 0 to 1.
function progress.bar(share) return bars[1 + math.floor(math.max(0, math.min(share, 1)) * 7 + 0.5)] end

-- The last bests as a sparkline, scaled to their range.
function progress.sparkline(values)
  local low, high
  for _, value in ipairs(values) do
    low, high = math.min(low or value, value), math.max(high or value, value)
  end
  local cells = {}
  for index, value in ipairs(values) do
    cells[index] = progress.bar(high > low and (value - low) / (high - low) or 0.5)
  end
  return table.concat(cells)
end

-- "8:45", "1:02:03"
function progress.clock(seconds)
  seconds = math.floor(seconds)
  if seconds < 3600 then return ("%d:%02d"):format(seconds // 60, seconds % 60) end
  return ("%d:%02d:%02d"):format(seconds // 3600, seconds // 60 % 60, seconds % 60)
end

local clock = progress.clock

-- Six digits, and none less of a large whole part.
function progress.number(value)
  local size = math.abs(value)
  return (size >= 1e5 and size < 1e12 and "%.0f" or "%.6g"):format(value)
end

local function best_text(self, engine)
  local best, baseline = engine.history.best, engine.history.baseline
  if not (best and best.value) then return "no value yet" end
  local against = baseline and baseline.value and best ~= baseline and
    (direction.percent_text(best.value, baseline.value) or direction.delta_text(engine.metric:delta(best, baseline)))
  local unit = self.unit and " " .. plain.text(self.unit) or ""
  return ("best %s%s (%s%s)"):format(progress.number(best.value), unit, best.id,
    against and ", " .. against or "")
end

local function kept_text(engine) return ("%d kept"):format(engine.history.outcomes.kept or 0) end

-- Experiments per second, for people.
function progress.rate(rate)
  return rate >= 1 and ("%.3g/s"):format(rate) or ("%.3g/min"):format(60 * rate)
end

-- The rate until the newest result, or how long the budget may still take. What is in flight is not done yet.
local function pace_text(self, engine, now, in_flight)
  local budget, since = engine.budget, now - (self.newest or now)
  local rate, left = paces.of(engine.history.run_totals.iterations, budget:spent "minutes" * 60 - since,
    { iterations = budget:left "iterations" + in_flight, minutes = math.huge })
  local seconds = math.min(left and left - since or math.huge, budget:left "minutes" * 60)
  if seconds < math.huge then return seconds >= 1 and clock(seconds) .. " left" or nil end
  return rate and progress.rate(rate)
end

local function spend_text(engine)
  local parts = {}
  local tokens, usd = engine.budget:spent "tokens", engine.budget:spent "usd"
  if usd > 0 then parts[1] = ("$%.2f"):format(usd) end
  if tokens > 0 then parts[#parts + 1] = ("%.3gk tokens"):format(tokens / 1000) end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function doing_text(one, now)
  local name = one.phase == "HELD" and ids.id(one.number) or "experiment " .. one.number
  local doing, place = progress.words(one.phase, one.waiting)
  return ("%s %s%s %s"):format(name, doing, place and " " .. place or "", clock(now - one.since))
end

-- The parts that fit, joined: what has the largest rank goes first. parts: { text or nil, rank } in order. The parts
-- that did not fit.
local function fitted(parts, width)
  local dropped = {}
  while true do
    local list, last = {}, nil
    for index, part in ipairs(parts) do
      if part[1] then
        list[#list + 1] = part[1]
        if not last or part[2] > parts[last][2] then last = index end
      end
    end
    local text = table.concat(list, "  ")
    local length = columns.of(text)
    if length <= width then return text, dropped end
    if #list == 1 then return columns.cut(text, width), dropped end
    table.insert(dropped, 1, table.remove(parts, last))
  end
end

-- In order, those first that a worker is at; and how many these are.
local function in_flight(self)
  local list, busy = {}, 0
  for _, one in pairs(self.flying) do
    list[#list + 1] = one
    busy = busy + (one.phase ~= "HELD" and 1 or 0)
  end
  table.sort(list, function(a, b)
    if (a.phase == "HELD") ~= (b.phase == "HELD") then return b.phase == "HELD" end
    return a.number < b.number
  end)
  return list, busy
end

-- The lines to show now. width, rows: the terminal's; nil elsewhere.
function Line:lines(engine, width, rows)
  local now, flying, busy = wait.now(), in_flight(self)
  width = (width or math.huge) - 1 -- a full line would wrap in some terminals
  local several = #flying > 1
  local spark = self.utf8 and #self.bests > 1 and progress.sparkline(self.bests) or nil
  local first = self.noted or busy > 1 and ("%d experiments at a time"):format(busy)
    or flying[1] and doing_text(flying[1], now)
  local text, dropped = fitted({ { clock(now - self.began), CLOCK }, { first or "planning", 2 },
    { best_text(self, engine), 1 }, { kept_text(engine), 4 }, { pace_text(self, engine, now, busy), 3 },
    { spend_text(engine), 6 }, { spark, BARS } }, width)
  local lines = { text }
  for index = #dropped, 1, -1 do -- the clock and the bars mean nothing there
    if dropped[index][2] == CLOCK or dropped[index][2] == BARS then table.remove(dropped, index) end
  end
  if #dropped > 0 and width > LEAST_WIDTH and rows and 2 + SPARE_ROWS < rows then
    lines[2] = "  " .. fitted(dropped, width - 2)
  end
  if not several or not rows or #lines + #flying + SPARE_ROWS > rows then return lines end
  for _, one in ipairs(flying) do lines[#lines + 1] = fitted({ { "  " .. doing_text(one, now), 1 } }, width) end
  return lines
end

-- Removes what is drawn.
function Line:clear()
  if self.drawn > 0 then
    io.stderr:write("\r", self.drawn > 1 and ("\27[%dA"):format(self.drawn - 1) or "", "\27[J")
    self.drawn = 0
  end
end

local function draw(self)
  local width, rows = host.columns(2)
  local lines = self:lines(self.engine, width or 80, rows)
  self:clear()
  io.stderr:write(table.concat(lines, "\n"))
  self.drawn, self.spoken = #lines, wait.now()
end

-- Whether there is a live line to draw.
local function is_live(self) return self.terminal and not self.quiet and self.engine ~= nil end

-- The loop that is shown from now on; unit: of its metric.
function Line:watch(engine, unit)
  self.engine, self.unit = engine, unit ~= "" and unit or nil
  self.began = wait.now()
end

-- Shows a text in place of what is being done, such as how far a baseline is.
function Line:note(text)
  self.noted = text
  if self.quiet then return end
  if is_live(self) then return draw(self) end
  if not self.terminal and wait.now() - self.spoken >= EVERY_S then
    io.stderr:write(text, "\n")
    self.spoken = wait.now()
  end
end

-- A slot has entered a phase; waiting: what it does in place of the phase's usual word.
function Line:phase(slot, waiting)
  local before = waiting and slot.since and math.max(0, wait.time() - slot.since) or 0
  self.flying[slot.number] = slot.phase ~= "LOG" and { number = slot.number, phase = slot.phase,
    since = wait.now() - before, waiting = waiting } or nil
  if is_live(self) then
    if wait.now() - self.spoken >= SOONEST_S then draw(self) end
  elseif slot.phase == "HELD" and not self.terminal and not self.quiet then
    io.stderr:write(("%s  %s %s\n"):format(clock(wait.now() - self.began), ids.id(slot.number), waiting))
    self.spoken = wait.now()
  end
end

-- Draws if a second has passed, elsewhere after a minute of silence; the seconds until it wants to be asked again, or
-- nil.
function Line:tick()
  if self.quiet or not self.engine then return nil end
  local every = self.terminal and REDRAW_S or SILENT_S
  local rest = self.spoken + every - wait.now()
  if rest > 0 then return rest end
  if self.terminal then draw(self)
  else
    io.stderr:write(self:lines(self.engine)[1], "\n")
    self.spoken = wait.now()
  end
  return every
end

-- Called after every journal line.
function Line:update(engine, record, led)
  self.newest = wait.now()
  self.done = self.done + 1
  self.flying[record.experiment] = nil
  if led and record.value then
    table.insert(self.bests, record.value)
    if #self.bests > 24 then table.remove(self.bests, 1) end
  end
  if self.quiet or record.outcome == "baseline" then return end
  local now = wait.now()
  if self.terminal then
    if self.engine and (now - self.spoken >= SOONEST_S or led) then draw(self) end
  elseif now - self.spoken >= (led and 1 or EVERY_S) or self.done == 1 then
    io.stderr:write(("%s  experiment %d %s  %s  %s\n"):format(clock(now - self.began), record.experiment,
      record.outcome, best_text(self, engine), kept_text(engine)))
    self.spoken = now
  end
end

return progress
