-- evaluate: the metric. Runs search.lua's routine once for each of several seeds and prints the mean of f at the
-- points it returned, computed here. Each run shifts the function by a different amount that the routine does not
-- know, so a hard-coded minimum gains nothing. Exits 1 with the reason if the routine fails, returns no point, or
-- calls f too often; the manifest's timeout stops an endless one.

local SEEDS = 40
local EVALUATIONS = 60 -- of f, in one run
local BOX = { low = -5, high = 5 }
local MINIMUM = { x = -1.7041, y = 0.6775 } -- of f; its value there is -1.518686

local function f(x, y)
  return math.sin(x) * math.cos(y) + math.sin(x * y) + (x * x + y * y) / 20
end

-- Copies, because a routine could replace the functions that judge it. No pcall, which could swallow the refusal, and
-- no random numbers but the given ones.
local function environment()
  local env = {}
  for _, name in ipairs { "assert", "error", "ipairs", "next", "pairs", "select", "tonumber", "tostring", "type" } do
    env[name] = _G[name]
  end
  for _, name in ipairs { "math", "table" } do
    env[name] = {}
    for key, value in pairs(_G[name]) do env[name][key] = value end
  end
  env.math.random, env.math.randomseed = nil, nil
  return env
end

local function fail(reason)
  io.stderr:write("search.lua: ", tostring(reason), "\n")
  os.exit(1)
end

local function finite(value)
  return math.type(value) and value == value and math.abs(value) < math.huge
end

-- One run of a freshly loaded routine, which remembers nothing of earlier runs: f at its point, the distance to the
-- minimum, and the number of calls.
local function measure(code, seed)
  math.randomseed(seed, 1)
  local room = BOX.high - BOX.low - 2 -- the minimum is at least one from the walls
  local left = MINIMUM.x - (BOX.low + 1 + room * math.random())
  local down = MINIMUM.y - (BOX.low + 1 + room * math.random())
  local asked = 0
  local function moved(x, y)
    if not (finite(x) and finite(y)) then error("f of something that is not a number", 0) end
    asked = asked + 1
    if asked > EVALUATIONS then error("more than " .. EVALUATIONS .. " evaluations of f", 0) end
    return f(x + left, y + down)
  end
  math.randomseed(seed, 2) -- the routine's random numbers reveal nothing about the minimum
  local random = math.random
  local function run()
    local search = load(code, "=search.lua", "b", environment())()
    return search(moved, { low = BOX.low, high = BOX.high }, EVALUATIONS, function() return random() end)
  end
  local ok, x, y = pcall(run)
  if not ok then fail(type(x) == "string" and x or "raised an error") end
  if not (finite(x) and finite(y)) then fail "must return two finite numbers, x and y" end
  x, y = x + left, y + down
  return f(x, y), math.sqrt((x - MINIMUM.x) ^ 2 + (y - MINIMUM.y) ^ 2), asked
end

-- Means over the seeds from first on, and the least value of all.
local function mean(code, first)
  local value, distance, asked, best = 0, 0, 0, math.huge
  for seed = first, first + SEEDS - 1 do
    local found, away, count = measure(code, seed)
    value, distance, asked = value + found, distance + away, asked + count
    best = math.min(best, found)
  end
  return value / SEEDS, distance / SEEDS, asked / SEEDS, best
end

local function compile()
  local file, missing = io.open("search.lua", "rb")
  if not file then fail(missing) end
  local program, malformed = load(file:read("a"), "=search.lua", "t")
  file:close()
  if not program then fail(malformed) end
  return string.dump(program)
end

local code = compile()
local value, distance, evaluations, best = mean(code, 1)
print(("METRIC value=%.12g"):format(value))
print(("METRIC best=%.12g"):format(best))
print(("METRIC distance=%.12g"):format(distance))
print(("METRIC evaluations=%.12g"):format(evaluations))
print(("METRIC unseen=%.12g"):format((mean(code, 1001)))) -- the same on unseen seeds: shows overfitting
