-- draw: what the pictures of a run share: texts, scales, candidates and the best so far, from the data of the page
-- (run.lua). Only numbers of apsis's own and escaped text become markup.
local direction = require "apsis.direction"
local plain = require "apsis.project.plain"

local draw = {}

function draw.escaped(text)
  return (plain.visible(text):gsub("[%c\127]+", " "):gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"))
end

-- A text escaped, cut to `most` characters.
function draw.short(text, most)
  text = plain.visible(text):gsub("[%c\127]+", " ")
  if (utf8.len(text) or #text) > most then text = text:sub(1, (utf8.offset(text, most) or most) - 1) .. "…" end
  return draw.escaped(text)
end

function draw.add(parts, form, ...) parts[#parts + 1] = form:format(...) end

-- The two axes in a box { left, top, right, bottom }: functions from an experiment and a value to a place in the
-- picture; the least and the greatest value; the last experiment.
function draw.scales(box, data)
  local axis, last = data.axis, data.columns.number[#data.columns.number]
  for _, number in ipairs(data.columns.number) do last = math.max(last, number) end
  local margin = (axis.high - axis.low) * 0.05
  if margin == 0 then margin = math.max(math.abs(axis.high), 1) * 0.05 end
  local low, high = axis.low - margin, axis.high + margin
  local function x(number) return box.left + (box.right - box.left) * number / math.max(last, 1) end
  local function y(value) return box.bottom - (box.bottom - box.top) * (value - low) / (high - low) end
  return x, y, low, high, last
end

-- Candidates since the newest baseline that started a new comparison; large, small: radii of kept ones and others.
-- Experiment numbers may go back, because lines are in the order of their end; the line of the best does not.
function draw.candidates(parts, data, x, y, low, high, large, small)
  local columns, path, furthest = data.columns, {}, 0
  for index = data.earlier + 1, #columns.number do
    local number, value, best = columns.number[index], columns.value[index], columns.best[index]
    local name = data.outcomes[columns.outcome[index] + 1].name
    local kept = name == "kept" or name == "baseline"
    if direction.finite(value) and value == math.min(math.max(value, low), high) then
      draw.add(parts, '<circle class="%s" cx="%.1f" cy="%.1f" r="%s"/>', kept and "kept" or "rejected", x(number),
        y(value), kept and large or small)
    end
    furthest = math.max(furthest, number)
    if direction.finite(best) then
      path[#path + 1] = (#path == 0 and "M%.1f %.1f" or "H%.1fV%.1f"):format(x(furthest), y(best))
    end
  end
  draw.add(parts, '<path class="best" d="%s"/>', table.concat(path))
end

return draw
