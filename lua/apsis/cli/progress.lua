-- progress: shows a running loop on stderr: on a terminal one live line (experiment, best, signed delta, rate,
-- sparkline), else a plain line at most every second for a new best, or every few seconds. Never decides anything.
local direction = require "apsis.direction"
local host = require "apsis.host"
local wait = require "apsis.wait"

local progress = {}

local Line = {}
Line.__index = Line

local EVERY_S = 5
local bars = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

function progress.new(options)
  local terminal = host.isatty(2) and os.getenv "TERM" ~= "dumb"
  return setmetatable({ terminal = terminal, quiet = options.quiet, began = wait.now(), spoken = wait.now(), done = 0,
    bests = {}, drawn = 0 }, Line)
end

-- The last bests as a sparkline, scaled to their range.
function progress.sparkline(values)
  local low, high
  for _, value in ipairs(values) do
    low, high = math.min(low or value, value), math.max(high or value, value)
  end
  local cells = {}
  for index, value in ipairs(values) do
    local share = high > low and (value - low) / (high - low) or 0.5
    cells[index] = bars[1 + math.floor(share * 7 + 0.5)]
  end
  return table.concat(cells)
end

local function number(value)
  return value and ("%.10g"):format(value) or "-"
end

local function minutes(seconds)
  return ("%d:%02d"):format(seconds // 60, seconds % 60)
end

function Line:clear()
  if self.drawn > 0 then
    io.stderr:write("\r\27[K")
    self.drawn = 0
  end
end

function Line:text(engine, record)
  local elapsed = wait.now() - self.began
  local best = engine.history.best
  local gained = engine.history.baseline and engine.metric:delta(best, engine.history.baseline)
  return ("%s  experiment %d  best %s (%s)  %s  %.3g/s  %s"):format(minutes(elapsed // 1), record.experiment,
    number(best and best.value), best and best.id or "-", direction.delta_text(gained), self.done / math.max(elapsed,
      1e-3), progress.sparkline(self.bests))
end

-- Called after every journal line.
function Line:update(engine, record, led)
  self.done = self.done + 1
  local now = wait.now()
  if led and record.value then
    table.insert(self.bests, record.value)
    if #self.bests > 24 then table.remove(self.bests, 1) end
  end
  if self.quiet or record.outcome == "baseline" then return end
  if self.terminal then
    if now - self.spoken >= 0.1 or led then
      io.stderr:write("\r\27[K", self:text(engine, record))
      self.drawn, self.spoken = 1, now
    end
  elseif now - self.spoken >= (led and 1 or EVERY_S) or self.done == 1 then
    io.stderr:write(self:text(engine, record), led and "" or "  " .. record.outcome, "\n")
    self.spoken = now
  end
end

return progress
