-- sort: counts the comparisons of a Shell sort with the gaps of gaps.lua, over the same 20 lists of 200 numbers each
-- time.
local gaps = dofile "gaps.lua"
assert(type(gaps) == "table" and #gaps > 0 and #gaps <= 20 and gaps[#gaps] == 1,
  "gaps.lua: a list of at most 20 gaps, the last of them 1")

local state = 1
local function number()
  state = (state * 48271) % 2147483647 -- Park and Miller's
  return state
end

local comparisons = 0

local function sort(list)
  for _, gap in ipairs(gaps) do
    for place = gap + 1, #list do
      local value, at = list[place], place
      while at > gap do
        comparisons = comparisons + 1
        if list[at - gap] <= value then break end
        list[at] = list[at - gap]
        at = at - gap
      end
      list[at] = value
    end
  end
end

for _ = 1, 20 do
  local list = {}
  for place = 1, 200 do list[place] = number() end
  sort(list)
  for place = 2, #list do assert(list[place - 1] <= list[place], "not sorted") end
end
print("METRIC comparisons=" .. comparisons)
