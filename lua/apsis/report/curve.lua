-- curve: a run as one SVG picture for a README: every measured candidate, kept or not, and the best so far, over the
-- experiments. Made from the data of the page (run.lua); the same data gives the same bytes.
local direction = require "apsis.direction"
local plain = require "apsis.project.plain"

local WIDTH <const>, HEIGHT <const> = 760, 360
local LEFT <const>, RIGHT <const>, TOP <const>, BOTTOM <const> = 76, 20, 64, 44
local TICKS <const> = 5

local STYLE <const> = [[
<style>
svg { --page: #ffffff; --ink: #1b1e24; --muted: #5d6470; --rule: #e2e5ea; --line: #0072b2; --other: #a9b0bb }
@media (prefers-color-scheme: dark) {
  svg { --page: #14171c; --ink: #e6e8ec; --muted: #9aa2af; --rule: #2b3038; --line: #56b4e9; --other: #5d6470 } }
text { font: 12px system-ui, sans-serif; fill: var(--muted) }
.title { font-size: 16px; font-weight: 600; fill: var(--ink) }
.rule { stroke: var(--rule) } .best { fill: none; stroke: var(--line); stroke-width: 2 }
.kept { fill: var(--line) } .rejected { fill: none; stroke: var(--other) }
</style>
]]

local function escaped(text)
  return (plain.visible(text):gsub("[%c\127]+", " "):gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"))
end

-- A round step for about that many ticks over a range.
local function step_of(range, ticks)
  local rough = range / ticks
  local power = 10 ^ math.floor(math.log(rough, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= rough then return factor * power end
  end
  return 10 * power
end

-- The two axes: functions from an experiment and a value to a place in the picture. axis: { low, high }.
local function scales(axis, last)
  local margin = (axis.high - axis.low) * 0.05
  if margin == 0 then margin = math.max(math.abs(axis.high), 1) * 0.05 end
  local low, high = axis.low - margin, axis.high + margin
  local function x(number) return LEFT + (WIDTH - LEFT - RIGHT) * number / math.max(last, 1) end
  local function y(value) return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low) end
  return x, y, low, high
end

local function add(parts, form, ...) parts[#parts + 1] = form:format(...) end

local function draw_axes(parts, x, y, low, high, last)
  local step = step_of(high - low, TICKS)
  for tick = math.ceil(low / step), math.floor(high / step) do
    local at = y(tick * step)
    add(parts, '<path class="rule" d="M%d %.1fH%d"/>', LEFT, at, WIDTH - RIGHT)
    add(parts, '<text x="%d" y="%.1f" text-anchor="end">%.6g</text>', LEFT - 8, at + 4, tick * step)
  end
  step = math.max(1, step_of(math.max(last, 1), 8))
  for number = 0, last, math.floor(step) do
    add(parts, '<text x="%.1f" y="%d" text-anchor="middle">%d</text>', x(number), HEIGHT - BOTTOM + 18, number)
  end
  add(parts, '<text x="%.1f" y="%d" text-anchor="middle">experiments</text>', (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8)
end

-- Candidates since the newest baseline that started a new comparison.
local function draw_candidates(parts, data, x, y, low, high)
  local columns, path = data.columns, {}
  for index = data.earlier + 1, #columns.number do
    local number, value, best = columns.number[index], columns.value[index], columns.best[index]
    local name = data.outcomes[columns.outcome[index] + 1].name
    local kept = name == "kept" or name == "baseline"
    if direction.finite(value) and value == math.min(math.max(value, low), high) then
      add(parts, '<circle class="%s" cx="%.1f" cy="%.1f" r="%s"/>', kept and "kept" or "rejected", x(number), y(value),
        kept and "4" or "2.5")
    end
    if direction.finite(best) then
      path[#path + 1] = (#path == 0 and "M%.1f %.1f" or "H%.1fV%.1f"):format(x(number), y(best))
    end
  end
  add(parts, '<path class="best" d="%s"/>', table.concat(path))
end

local function heading(data)
  local title = ("%s: %s, %s"):format(data.project, data.metric, data.words)
  local from, to = data.baseline, data.best
  if not from or not to then return title, "nothing is measured yet" end
  return title, ("%d experiments, %d kept; %s %.6g, best %s %.6g"):format(data.experiments, data.kept, from.id,
    from.value, to.id, to.value)
end

-- The picture as a text. data: as run.data returns it.
return function(data)
  local title, facts = heading(data)
  local parts = { ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">'):format(WIDTH, HEIGHT),
    ("<title>%s</title>"):format(escaped(title)), STYLE:match "^(.-)\n$",
    ('<rect width="%d" height="%d" fill="var(--page)"/>'):format(WIDTH, HEIGHT) }
  add(parts, '<text class="title" x="%d" y="26">%s</text><text x="%d" y="46">%s</text>', 16, escaped(title), 16,
    escaped(facts))
  if data.axis then
    local last = data.columns.number[#data.columns.number]
    for _, number in ipairs(data.columns.number) do last = math.max(last, number) end
    local x, y, low, high = scales(data.axis, last)
    draw_axes(parts, x, y, low, high, last)
    draw_candidates(parts, data, x, y, low, high)
  end
  return table.concat(parts, "\n") .. "\n</svg>\n"
end
