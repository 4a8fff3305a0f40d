-- parts: sections that mutate.lua may put in place of those of search.lua; nothing runs this file. A section begins
-- at a line `-- [kind name]` and ends at the next. Ranges of the settings are in mutate.lua.

local routine, settings = {}, {} -- luacheck: ignore 241 (they are search.lua's)

-- [start anywhere] Where a descent begins: x, y and the value there.
function routine.start(s)
  local x, y = s.anywhere()
  return x, y, s.try(x, y)
end

-- [start best-of-some] Where a descent begins: the best of a few points; x, y and the value there.
function routine.start(s)
  local x, y, value
  for _ = 1, settings.samples do
    local new_x, new_y = s.anywhere()
    local new = s.try(new_x, new_y)
    if not value or new < value then x, y, value = new_x, new_y, new end
  end
  return x, y, value
end

-- [start far-from-all] Where a descent begins: of a few points, the one farthest from all that were tried.
function routine.start(s)
  local x, y, farthest
  for _ = 1, settings.rivals do
    local new_x, new_y = s.anywhere()
    local nearest = math.huge
    for _, point in ipairs(s.tried) do
      nearest = math.min(nearest, (point.x - new_x) ^ 2 + (point.y - new_y) ^ 2)
    end
    if not farthest or nearest > farthest then x, y, farthest = new_x, new_y, nearest end
  end
  return x, y, s.try(x, y)
end

-- [start near-the-best] Where a descent begins: a long jump from the best point, or else anywhere.
function routine.start(s)
  local x, y = s.anywhere()
  if s.best and s.random() < settings.jump_chance then
    x = s.best.x + settings.jump * s.width * s.normal()
    y = s.best.y + settings.jump * s.width * s.normal()
  end
  return x, y, s.try(x, y)
end

-- [start halton] Where a descent begins: the next point of a sequence that fills the box evenly (Halton, 1960).
function routine.start(s)
  local function reversed(number, base)
    local result, part = 0, 1
    while number > 0 do
      part = part / base
      result, number = result + part * (number % base), number // base
    end
    return result
  end
  s.turn, s.shift = (s.turn or 0) + 1, s.shift or { s.random(), s.random() }
  local x = s.box.low + s.width * ((reversed(s.turn, 2) + s.shift[1]) % 1)
  local y = s.box.low + s.width * ((reversed(s.turn, 3) + s.shift[2]) % 1)
  return x, y, s.try(x, y)
end

-- [accept better] Whether to go on from a point of value `new` instead of one of value `old`.
function routine.accept(_, new, old)
  return new < old
end

-- [accept annealing] Whether to go on from a point: a worse one too, the later and the worse the more rarely.
function routine.accept(s, new, old)
  local heat = settings.heat * settings.cooling ^ (s.evaluations - s.left())
  return new < old or s.random() < math.exp((old - new) / (heat + 1e-12))
end

-- [accept threshold] Whether to go on from a point: one not much worse too, less so as the evaluations run out.
function routine.accept(s, new, old)
  return new < old + settings.slack * s.left() / s.evaluations
end

-- [descend nothing] Goes from a point to better ones near it, until it is stuck.
function routine.descend() end

-- [descend steps] Steps of one length in any direction, until too many in a row fail.
function routine.descend(s, x, y, value)
  local failures = 0
  while s.left() > 0 and failures < settings.patience do
    local new_x = x + settings.step * s.width * s.normal()
    local new_y = y + settings.step * s.width * s.normal()
    local new = s.try(new_x, new_y)
    failures = new < value and 0 or failures + 1
    if routine.accept(s, new, value) then x, y, value = new_x, new_y, new end
  end
end

-- [descend growing-steps] Steps in any direction, longer after a success and shorter after a failure.
function routine.descend(s, x, y, value)
  local size = settings.step * s.width
  while s.left() > 0 and size > settings.tolerance * s.width do
    local new_x, new_y = x + size * s.normal(), y + size * s.normal()
    local new = s.try(new_x, new_y)
    size = size * (new < value and settings.growth or settings.shrink)
    if routine.accept(s, new, value) then x, y, value = new_x, new_y, new end
  end
end

-- [descend compass] Steps along the axes; shorter ones once none of the four helps.
function routine.descend(s, x, y, value)
  local size = settings.step * s.width
  while s.left() > 0 and size > settings.tolerance * s.width do
    local moved = false
    for _, way in ipairs { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } } do
      local new_x, new_y = x + size * way[1], y + size * way[2]
      local new = s.try(new_x, new_y)
      if routine.accept(s, new, value) then x, y, value, moved = new_x, new_y, new, true end
    end
    if not moved then size = size * settings.shrink end
  end
end

-- [descend simplex] A triangle that turns over its worst corner (Nelder and Mead, 1965).
function routine.descend(s, x, y, value)
  local size = settings.step * s.width
  local function corner(at_x, at_y) return { x = at_x, y = at_y, value = s.try(at_x, at_y) } end
  local corners = { { x = x, y = y, value = value }, corner(x + size, y), corner(x, y + size) }
  local function order() table.sort(corners, function(a, b) return a.value < b.value end) end
  local function towards(part) -- the worst corner, moved through the middle of the others
    local middle_x, middle_y = (corners[1].x + corners[2].x) / 2, (corners[1].y + corners[2].y) / 2
    return corner(middle_x + part * (middle_x - corners[3].x), middle_y + part * (middle_y - corners[3].y))
  end
  local function extent()
    return math.max(math.abs(corners[1].x - corners[3].x), math.abs(corners[1].y - corners[3].y))
  end
  order()
  while s.left() > 0 and extent() > settings.tolerance * s.width do
    local new = towards(1)
    if new.value < corners[1].value then
      local farther = towards(settings.growth)
      corners[3] = farther.value < new.value and farther or new
    elseif new.value < corners[2].value then
      corners[3] = new
    else
      local nearer = towards(new.value < corners[3].value and settings.shrink or -settings.shrink)
      if nearer.value < math.min(new.value, corners[3].value) then
        corners[3] = nearer
      else
        for i = 2, 3 do
          corners[i] = corner((corners[i].x + corners[1].x) / 2, (corners[i].y + corners[1].y) / 2)
        end
      end
    end
    order()
  end
end

-- [descend slope] Against the slope, as far as it helps; the slope is measured by two small steps.
function routine.descend(s, x, y, value)
  local size, small = settings.step * s.width, settings.probe * s.width
  while s.left() > 2 and size > settings.tolerance * s.width do
    local slope_x = (s.try(x + small, y) - value) / small
    local slope_y = (s.try(x, y + small) - value) / small
    local steepness = math.sqrt(slope_x ^ 2 + slope_y ^ 2)
    if not (steepness > 0 and steepness < math.huge) then return end
    local moved = false
    while not moved and s.left() > 0 and size > settings.tolerance * s.width do
      local new_x, new_y = x - size * slope_x / steepness, y - size * slope_y / steepness
      local new = s.try(new_x, new_y)
      moved = routine.accept(s, new, value)
      if moved then x, y, value = new_x, new_y, new end
      size = size * (moved and settings.growth or settings.shrink)
    end
  end
end

-- [plan one-after-another] Spends the evaluations.
function routine.plan(s)
  while s.left() > 0 do
    routine.descend(s, routine.start(s))
  end
end

-- [plan look-then-descend] Spends the evaluations: a part on looking around, the rest on descents from the best points.
function routine.plan(s)
  while s.left() > (1 - settings.looking) * s.evaluations do routine.start(s) end
  local points = table.move(s.tried, 1, #s.tried, 1, {})
  table.sort(points, function(a, b) return a.value < b.value end)
  for _, point in ipairs(points) do routine.descend(s, point.x, point.y, point.value) end
end

-- [plan refine-the-best] Spends the evaluations: descents from new starts, and at last one from the best point of all.
function routine.plan(s)
  local left = s.left
  local kept = (1 - settings.looking) * s.evaluations
  function s.left() return left() - kept end -- the descents cannot use the reserve
  while s.left() > 0 do routine.descend(s, routine.start(s)) end
  s.left = left
  while s.left() > 0 do
    local before = s.left()
    routine.descend(s, s.best.x, s.best.y, s.best.value)
    if s.left() == before then routine.start(s) end -- a descent may be stuck at once
  end
end

-- [plan population] Spends the evaluations: points that move by the differences of others (Storn and Price, 1997), and
-- at last a descent from the best.
function routine.plan(s)
  local points = {}
  for i = 1, settings.members do
    local x, y, value = routine.start(s)
    points[i] = { x = x, y = y, value = value }
  end
  local function any() return points[1 + math.floor(s.random() * #points)] end
  while s.left() > (1 - settings.looking) * s.evaluations do
    for i, point in ipairs(points) do
      local base, a, b = s.random() < settings.greed and s.best or any(), any(), any()
      local x, y = base.x + settings.weight * (a.x - b.x), base.y + settings.weight * (a.y - b.y)
      local value = s.try(x, y)
      if routine.accept(s, value, point.value) then points[i] = { x = x, y = y, value = value } end
    end
  end
  routine.descend(s, s.best.x, s.best.y, s.best.value)
  while s.left() > 0 do routine.descend(s, routine.start(s)) end
end
