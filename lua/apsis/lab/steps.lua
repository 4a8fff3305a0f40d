-- steps: a trial's best-so-far as the staircase that its curve is: how high it is at an evaluation, and the area below
-- it. It begins at evaluation 1 with the curve's first value, and a run that ended early keeps its last. What is no
-- finite number is not a step. Called by measures and compare.
local direction = require "apsis.direction"

local steps = {}

-- The steps up to an evaluation, { {evaluation, height}... }; empty if the run had no value by then.
function steps.of(record, limit)
  local list = {}
  for _, point in ipairs(record.curve or {}) do
    if point[1] > limit then break end
    if direction.finite(point[2]) then list[#list + 1] = point end
  end
  return list
end

-- The mean height over evaluations 1 to limit; nil if there is none, or no number for it. Equal steps in a row are one:
-- the same staircase has the same area, to the last digit.
function steps.area(record, limit)
  local list = steps.of(record, limit)
  if #list == 0 then return nil end
  local sum, since, height = 0, 1, list[1][2]
  for _, point in ipairs(list) do
    if point[2] ~= height then
      sum = sum + height * (point[1] - since)
      since, height = point[1], point[2]
    end
  end
  local area = (sum + height * (limit + 1 - since)) / limit
  return direction.finite(area) and area or nil
end

-- The heights at ascending evaluations; false if there is none.
function steps.heights(record, evaluations)
  local list, heights, at = steps.of(record, evaluations[#evaluations]), {}, 1
  for index, evaluation in ipairs(evaluations) do
    while list[at + 1] and list[at + 1][1] <= evaluation do at = at + 1 end
    heights[index] = list[at] and list[at][2] or false
  end
  return heights
end

local function same(one, other)
  if one.best ~= other.best or #one.curve ~= #other.curve then return false end
  for index, step in ipairs(one.curve) do
    if step[1] ~= other.curve[index][1] or step[2] ~= other.curve[index][2] then return false end
  end
  return true
end

-- Whether all of several runs are the same, step by step: seeds that change nothing are copies, not samples.
function steps.are_copies(records)
  for index = 2, #records do
    if not same(records[1], records[index]) then return false end
  end
  return #records > 1
end

return steps
