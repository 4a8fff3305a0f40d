-- card: a run as one picture of 1200x675 to share: what was gained, from what to what, in how many experiments, and the
-- curve. Made from the data of the page (run.lua). One style with plain colours, so that every program draws it alike;
-- as PNG if rsvg-convert or chromium is there.
local direction = require "apsis.direction"
local draw = require "apsis.report.draw"
local fs = require "apsis.fs"
local process = require "apsis.process"
local state = require "apsis.state"

local card = {}

local WIDTH <const>, HEIGHT <const>, EDGE <const> = 1200, 675, 64
local BOX <const> = { left = EDGE, top = 330, right = WIDTH - EDGE, bottom = 600 }

local STYLE <const> = [[
<style>
text { font-family: system-ui, "DejaVu Sans", sans-serif; fill: #9aa2af; font-size: 28px }
.small { font-size: 23px } .name { font-size: 34px; fill: #e6e8ec }
.gain { font-size: 92px; font-weight: 700; fill: #ffffff }
.best { fill: none; stroke: #56b4e9; stroke-width: 5 } .kept { fill: #56b4e9 }
.rejected { fill: none; stroke: #5d6470; stroke-width: 1.5 }
</style>]]

-- What was gained, as short as it can be said: "8.2x faster", "-64 %", "+0.25"; nil if there is nothing to say.
local function gain_of(data)
  if not data.best or not data.baseline or data.best.id == data.baseline.id then return nil end
  local gain = data.gain
  if gain and gain.candidate ~= data.best.id then return nil end -- of an older best
  if gain and gain.relative then return ("%.3g %% better"):format(100 * gain.relative) end
  if gain then return ("%.3g better"):format(gain.gain) end
  return (data.headline or ""):match "^[%d.]+x %a+" or data.share or direction.delta_text(data.gained)
end

-- How sure that is.
local function care_of(data)
  local gain = data.gain
  if gain then return (", measured again: [%.4g..%.4g]"):format(gain.low, gain.high) end
  return data.doubt and ", " .. data.doubt or ""
end

local function facts_of(data)
  if not data.best or not data.baseline then return "nothing is measured yet" end
  return ("%.6g → %.6g %s (%s)"):format(data.baseline.value, data.best.value, data.metric, data.words)
end

-- The card as a text.
function card.svg(data)
  local parts = { ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">'
    .. '<title>%s</title>'):format(WIDTH, HEIGHT, WIDTH, HEIGHT, draw.short(data.project, 60)), STYLE,
    ('<rect width="%d" height="%d" fill="#14171c"/>'):format(WIDTH, HEIGHT) }
  local gain, y = gain_of(data), 210
  draw.add(parts, '<text class="name" x="%d" y="92">%s</text>', EDGE, draw.short(data.project, 46))
  if gain then draw.add(parts, '<text class="gain" x="%d" y="%d">%s</text>', EDGE - 4, y, draw.short(gain, 22)) end
  draw.add(parts, '<text x="%d" y="%d">%s</text>', EDGE, gain and 272 or y, draw.short(facts_of(data), 64))
  if data.axis then
    local x, place, low, high = draw.scales(BOX, data)
    draw.candidates(parts, data, x, place, low, high, "7", "4")
  end
  draw.add(parts, '<text class="small" x="%d" y="646">%d experiments, %d kept%s</text>', EDGE, data.experiments,
    data.kept, draw.short(gain and care_of(data) or "", 60))
  draw.add(parts, '<text class="small" x="%d" y="646" text-anchor="end">apsis</text>', WIDTH - EDGE)
  return table.concat(parts, "\n") .. "\n</svg>\n"
end

-- The programs that draw an SVG file as PNG, in the order in which they are tried.
local function programs(from, to)
  local root = fs.stat("/proc/self").uid == 0 -- its sandbox refuses root; what it draws is apsis's own
  local function chromium(name)
    return { name, "--headless", root and "--no-sandbox" or "--disable-gpu", "--hide-scrollbars",
      "--force-device-scale-factor=1", ("--window-size=%d,%d"):format(WIDTH, HEIGHT), "--screenshot=" .. to,
      "file://" .. from }
  end
  return { { "rsvg-convert", "-w", tostring(WIDTH), "-h", tostring(HEIGHT), "-o", to, from }, chromium "chromium",
    chromium "chromium-browser", chromium "google-chrome" }
end

local function as_png(svg, path)
  local folder, message = fs.tempdir "apsis-card-"
  if not folder then return nil, message end
  local _ <close> = setmetatable({}, { __close = function() fs.remove_tree(folder) end })
  local ok
  ok, message = fs.write(folder .. "/card.svg", svg)
  if not ok then return nil, message end
  for _, argv in ipairs(programs(folder .. "/card.svg", folder .. "/card.png")) do
    local done = process.run { argv = argv, timeout_s = 60 }
    local bytes = done and done.outcome == "exit" and done.code == 0 and fs.read(folder .. "/card.png")
    if bytes then return state.replace(path, bytes) end
  end
  return nil, "a PNG needs rsvg-convert (Debian: librsvg2-bin) or chromium in PATH; write the card as .svg"
end

-- Writes the card to FILE.svg or FILE.png. true | nil, message.
function card.write(data, path)
  local svg = card.svg(data)
  if path:find "%.png$" then return as_png(svg, path) end
  return state.replace(path, svg)
end

return card
