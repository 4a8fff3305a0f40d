-- Proposes a change of one coefficient, by a step of random size.
return function(_, workspace)
  local rng, lines = workspace.rng, {}
  for line in workspace:read("coefficients.txt"):gmatch "[^\n]+" do lines[#lines + 1] = line end
  local place = rng:integer(1, #lines)
  lines[place] = ("%.6g"):format(tonumber(lines[place]) + rng:normal() * 2.0 ^ rng:integer(-4, 1))
  return { ["coefficients.txt"] = table.concat(lines, "\n") .. "\n" }
end
