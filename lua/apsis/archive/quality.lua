-- archive/quality: coverage and QD score (Pugh, Soros and Stanley, 2016) as pyribs defines them, over the cells with a best. Sums are made
-- in the order of the cells, so that the same population has the same figures however it came about. Used by archive.
local quality = {}

local function by_key(a, b)
  return a.key < b.key
end

-- The bests of an island's cells: { slot, key } in the order of the cells.
local function of_island(archive, number)
  local list, crowd = {}, archive.crowd
  for index = 1, crowd:filled(number) do
    local slot, key = crowd:best_at(number, index)
    list[index] = { slot = slot, key = key }
  end
  table.sort(list, by_key)
  return list
end

-- Of every cell that holds a best on some island, the best of these; of equals that of the first island.
function quality.bests(archive)
  local list, of, metric, members = {}, {}, archive.metric, archive.members
  for number = 1, #archive.names do
    for _, one in ipairs(of_island(archive, number)) do
      local other = of[one.key]
      if not other then
        list[#list + 1] = one
        of[one.key] = one
      elseif metric:gain(members[one.slot].value, members[other.slot].value) > 0 then other.slot = one.slot
      end
    end
  end
  table.sort(list, by_key)
  return list
end

-- The objective is the metric's gain over the offset, so that higher is better in either direction. Number 0 is everyone.
function quality.statistics(archive, number, offset)
  local metric, grid = archive.metric, archive.grid
  local filled, sum, total, most = 0, 0, 0, nil
  for _, one in ipairs(number == 0 and quality.bests(archive) or of_island(archive, number)) do
    if grid:inside(one.key) then
      local value = archive.members[one.slot].value
      local objective = metric:gain(value, 0)
      filled, sum, total = filled + 1, sum + metric:gain(value, offset), total + objective
      most = most and math.max(most, objective) or objective
    end
  end
  return { cells = grid.cells, num_elites = filled, coverage = filled / grid.cells, qd_score = sum, norm_qd_score = sum / grid.cells,
    obj_max = most, obj_mean = filled > 0 and total / filled or nil }
end

return quality
