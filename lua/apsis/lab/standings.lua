-- standings: how a campaign's rows and comparisons are shown, in tables and in pages: who comes first, which way round
-- a comparison reads, and whose runs ended early. Plain data in and out; prints nothing.
local direction = require "apsis.direction"

local standings = {}

-- Rows of one world with the best median first; of equal ones the one that is sooner solved.
function standings.ranked(rows)
  local list = {}
  for index, row in ipairs(rows) do
    list[index] = { value = row.median, ert = row.ert or math.huge, row = row, index = index }
  end
  table.sort(list, function(a, b)
    if a.ert ~= b.ert then return a.ert < b.ert end
    return a.index < b.index
  end)
  local metric = direction.new { direction = rows[1] and rows[1].direction }
  metric:sort(list)
  for index, element in ipairs(list) do list[index] = element.row end
  return list
end

-- A comparison so that the one that is better, or leads, comes first.
function standings.turned(comparison)
  local difference, ratio = comparison.difference, comparison.ratio
  local leads = difference and difference >= 0 or ratio and ratio <= 1
  if not difference and not ratio or leads and comparison.verdict ~= "worse" then return comparison end
  local verdicts, copy = { better = "worse", worse = "better" }, {}
  for key, value in pairs(comparison) do copy[key] = value end
  local function turned(value) return value and (ratio and 1 / value or -value) end
  copy.a, copy.b, copy.difference, copy.ratio = comparison.b, comparison.a, difference and -difference, turned(ratio)
  copy.low, copy.high = turned(comparison.high), turned(comparison.low)
  copy.plus, copy.minus = comparison.minus, comparison.plus
  copy.faster, copy.slower = comparison.slower, comparison.faster
  copy.verdict = verdicts[comparison.verdict] or comparison.verdict
  return copy
end

-- The comparisons of one world, turned, in the order of its ranked rows: { shown, upper, lower (the places of the two)
-- }...
function standings.pairs(comparisons, world, rows)
  local list, rank = {}, {}
  for place, row in ipairs(rows) do rank[row.strategy] = place end
  for index, comparison in ipairs(comparisons) do
    if comparison.world == world then
      local first, second = rank[comparison.a], rank[comparison.b]
      list[#list + 1] = { shown = standings.turned(comparison), upper = math.min(first, second),
        lower = math.max(first, second), index = index }
    end
  end
  table.sort(list, function(a, b)
    if a.upper ~= b.upper then return a.upper < b.upper end
    if a.lower ~= b.lower then return a.lower < b.lower end
    return a.index < b.index
  end)
  return list
end

-- Of an entry's runs, those that ended neither solved nor by the campaign's own limit of evaluations: { count, runs,
-- unspent (the share of the evaluations that these left, on average), reason (of the first) }; nil if there are none.
function standings.early_ends(entry, evaluations)
  local count, left, reason = 0, 0, nil
  for _, record in ipairs(entry.records) do
    if not record.hit and record.evaluations < evaluations and not record.reason:find "^budget: [im][te][ea][rs]" then
      count, left, reason = count + 1, left + 1 - record.evaluations / evaluations, reason or record.reason
    end
  end
  if count == 0 then return nil end
  return { count = count, runs = #entry.records, unspent = left / count, reason = reason }
end

-- A phase's rows and comparisons as they are shown: world by world, the best first, the one that leads first.
function standings.ordered(found)
  local rows, comparisons, seen, worlds = {}, {}, {}, {}
  for _, row in ipairs(found.rows) do
    if not seen[row.world] then seen[row.world], worlds[#worlds + 1] = {}, row.world end
    table.insert(seen[row.world], row)
  end
  for _, world in ipairs(worlds) do
    local ranked = standings.ranked(seen[world])
    for _, row in ipairs(ranked) do rows[#rows + 1] = row end
    for _, pair in ipairs(standings.pairs(found.comparisons, world, ranked)) do
      comparisons[#comparisons + 1] = pair.shown
    end
  end
  return rows, comparisons
end

return standings
