-- search: looks for the least value of a function of two numbers by calling it. This is the file to improve: the part
-- between the EVOLVE-BLOCK lines; the rest stays as it is. It begins with random points.
--
-- Returns search(f, box, evaluations, random) -> x, y. f(x, y) may be called `evaluations` times; x and y of its
-- minimum lie between box.low and box.high; random() is in [0, 1). math, table and the basic functions are available.

local routine = {}

-- EVOLVE-BLOCK-START
-- Each section can be read by itself: mutate.lua replaces it by another of the same kind.

-- [settings]
local settings = {
  samples = 1,
}

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

-- [accept better] Whether to go on from a point of value `new` instead of one of value `old`.
function routine.accept(_, new, old)
  return new < old
end

-- [descend nothing] Goes from a point to better ones near it, until it is stuck.
function routine.descend() end

-- [plan one-after-another] Spends the evaluations.
function routine.plan(s)
  while s.left() > 0 do
    routine.descend(s, routine.start(s))
  end
end
-- EVOLVE-BLOCK-END

-- What the routine works with. After the last evaluation s.try returns infinity without calling f.
local function surroundings(f, box, evaluations, random)
  local s = { box = box, width = box.high - box.low, evaluations = evaluations, random = random, tried = {} }
  function s.left() return evaluations - #s.tried end
  function s.anywhere() return box.low + s.width * random(), box.low + s.width * random() end
  function s.normal() -- mean 0, standard deviation 1 (Box and Muller, 1958)
    return math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random())
  end
  function s.try(x, y)
    if s.left() <= 0 then return math.huge end
    local point = { x = x, y = y, value = f(x, y) }
    s.tried[#s.tried + 1] = point
    if not s.best or point.value < s.best.value then s.best = point end
    return point.value
  end
  return s
end

return function(f, box, evaluations, random)
  local s = surroundings(f, box, evaluations, random)
  routine.plan(s)
  return s.best.x, s.best.y
end
