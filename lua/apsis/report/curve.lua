-- curve: a run as one SVG picture for a README: every measured candidate, kept or not, and the best so far, over the
-- experiments. Made from the data of the page (run.lua); the same data gives the same bytes. Animated, it is drawn from
-- left to right again and again, by CSS alone, and stands still for who wants reduced motion.
local draw = require "apsis.report.draw"

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

-- What is drawn appears from left to right in three quarters of the time, and stays for the rest.
local MOTION <const> = [[
<style>
.sweep { animation: sweep 8s linear infinite }
@keyframes sweep { from { transform: scaleX(0) } 75%, to { transform: scaleX(1) } }
@media (prefers-reduced-motion: reduce) { .sweep { animation: none } }
</style>
]]

local add, escaped = draw.add, draw.escaped

-- A round step for about that many ticks over a range.
local function step_of(range, ticks)
  local rough = range / ticks
  local power = 10 ^ math.floor(math.log(rough, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= rough then return factor * power end
  end
  return 10 * power
end

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

local function heading(data)
  local title = ("%s: %s, %s"):format(data.project, data.metric, data.words)
  local from, to = data.baseline, data.best
  if not from or not to then return title, "nothing is measured yet" end
  return title, ("%d experiments, %d kept; %s %.6g, best %s %.6g"):format(data.experiments, data.kept, from.id,
    from.value, to.id, to.value)
end

-- What is drawn of the candidates, in a group that comes into sight.
local function moving(parts)
  add(parts, '%s<clipPath id="seen"><rect class="sweep" width="%d" height="%d"/></clipPath><g clip-path="url(#seen)">',
    MOTION, WIDTH, HEIGHT)
end

-- The picture as a text. data: as run.data returns it; animated: whether it moves.
return function(data, animated)
  local title, facts = heading(data)
  local parts = { ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">'):format(WIDTH, HEIGHT),
    ("<title>%s</title>"):format(escaped(title)), STYLE:match "^(.-)\n$",
    ('<rect width="%d" height="%d" fill="var(--page)"/>'):format(WIDTH, HEIGHT) }
  add(parts, '<text class="title" x="%d" y="26">%s</text><text x="%d" y="46">%s</text>', 16, escaped(title), 16,
    escaped(facts))
  if data.axis then
    local box = { left = LEFT, top = TOP, right = WIDTH - RIGHT, bottom = HEIGHT - BOTTOM }
    local x, y, low, high, last = draw.scales(box, data)
    draw_axes(parts, x, y, low, high, last)
    if animated then moving(parts) end
    draw.candidates(parts, data, x, y, low, high, "4", "2.5")
    if animated then parts[#parts + 1] = "</g>" end
  end
  return table.concat(parts, "\n") .. "\n</svg>\n"
end
