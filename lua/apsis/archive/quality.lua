-- archive/quality: coverage and QD score (Pugh, Soros and Stanley, 2016) as pyribs defines them, over the cells with a
-- best. Sums are made in the order of the cells, so the same population has the same figures however it came about.
local quality = {}

-- The objective is the metric's gain over the offset, so higher is better in either direction. Island 0 is everyone.
function quality.statistics(archive, number, offset)
  local metric, grid = archive.metric, archive.grid
  local filled, sum, total, most = 0, 0, 0, nil
  local population = archive.population
  for _, slot in ipairs(population:bests(number)) do
    local value = population.member[slot].value -- one that was stopped at a stage may have none
    if value and grid:inside(population.key[slot]) then
      local objective = metric:gain(value, 0)
      filled, sum, total = filled + 1, sum + metric:gain(value, offset), total + objective
      most = most and math.max(most, objective) or objective
    end
  end
  return { cells = grid.cells, num_elites = filled, coverage = filled / grid.cells, qd_score = sum,
    norm_qd_score = sum / grid.cells,
    obj_max = most, obj_mean = filled > 0 and total / filled or nil }
end

return quality
