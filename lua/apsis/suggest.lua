-- suggest: the nearest known name to a mistyped one, for error messages.
local suggest = {}

-- Edit distance with transpositions of neighbours (Damerau, optimal string alignment).
local function distance(a, b)
  local previous, current, before = {}, {}, {}
  for j = 0, #b do current[j] = j end
  for i = 1, #a do
    before, previous, current = previous, current, before
    current[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local least = math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        least = math.min(least, before[j - 2] + 1)
      end
      current[j] = least
    end
  end
  return current[#b]
end

local SHORT <const> = 4 -- letters of a name: of two edits it would be any other one

-- The nearest of `known` to `name`, or nil.
function suggest.nearest(name, known)
  local best, best_distance
  for _, candidate in ipairs(known) do
    local apart = distance(name:lower(), candidate:lower())
    if not best_distance or apart < best_distance then best, best_distance = candidate, apart end
  end
  local most = #name <= SHORT and 1 or math.max(2, #name // 3)
  if best and best_distance <= most and best_distance < math.max(2, #name) then return best end
end

-- "; did you mean 'x'?" or "".
function suggest.sentence(name, known)
  local nearest = suggest.nearest(name, known)
  return nearest and ("; did you mean %q?"):format(nearest) or ""
end

-- The keys of a map, sorted: the known names, for nearest and for a message that lists them.
function suggest.names(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return names
end

return suggest
