-- rules: what a valid packing is. Loads the candidate in an environment without the evaluator, and finds the first
-- rule that its circles break. Used by check.lua (the gate) and evaluate.lua (the metric), so the two cannot
-- disagree.

local rules = {}

local COUNT = 26
local TOLERANCE = 1e-9 -- rounding in the last digits is not an overlap
local INSTRUCTIONS = 200000000 -- about a second, then an endless candidate is stopped

-- Copies, because a candidate could replace the functions that judge it. Random numbers are the same in every run, so
-- one candidate always means the same packing.
local function environment()
  local env = {}
  for _, name in ipairs { "assert", "error", "ipairs", "next", "pairs", "select", "tonumber", "tostring", "type" } do
    env[name] = _G[name]
  end
  for _, name in ipairs { "math", "table" } do
    env[name] = {}
    for key, value in pairs(_G[name]) do env[name][key] = value end
  end
  math.randomseed(1)
  env.math.randomseed = nil
  return env
end

-- The list that the program at `path` returns; or nil and the reason.
function rules.load(path)
  local file, missing = io.open(path, "rb")
  if not file then return nil, missing end
  local text = file:read("a")
  file:close()
  local program, malformed = load(text, "=" .. path, "t", environment())
  if not program then return nil, malformed end
  debug.sethook(function() error("stopped after " .. INSTRUCTIONS .. " instructions", 0) end, "", INSTRUCTIONS)
  local ok, result = pcall(program)
  debug.sethook()
  if not ok then return nil, type(result) == "string" and result or "packing.lua raised an error" end
  return result
end

-- Written as `not (a <= b)`, so that NaN breaks the rule too.
local function circle_violation(i, circle)
  if type(circle) ~= "table" then return ("circle %d is not a table"):format(i) end
  for k = 1, 3 do
    if not math.type(circle[k]) then return ("circle %d is not { x, y, radius }"):format(i) end
  end
  local x, y, r = circle[1], circle[2], circle[3]
  if not (r >= 0) then return ("circle %d has radius %.15g"):format(i, r) end
  if not (r <= math.min(x, y, 1 - x, 1 - y) + TOLERANCE) then return ("circle %d leaves the square"):format(i) end
end

-- The first rule the circles break, in words; nil when they are valid.
function rules.violation(circles)
  if type(circles) ~= "table" then return "packing.lua returns no table" end
  if #circles ~= COUNT then return ("packing.lua returns %d circles, not %d"):format(#circles, COUNT) end
  for i = 1, COUNT do
    local reason = circle_violation(i, circles[i])
    if reason then return reason end
    for j = 1, i - 1 do
      local a, b = circles[i], circles[j]
      local distance = math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2)
      if not (a[3] + b[3] <= distance + TOLERANCE) then
        return ("circles %d and %d overlap by %.3g"):format(j, i, a[3] + b[3] - distance)
      end
    end
  end
end

-- The valid circles of the program at `path`; or nil and the reason to refuse it.
function rules.read(path)
  local circles, unusable = rules.load(path)
  local reason = unusable or rules.violation(circles)
  if reason then return nil, reason end
  return circles
end

return rules
