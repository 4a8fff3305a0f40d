-- mutate: changes the gaps at random: adds one, removes one, or changes one a little.
return function(_, workspace)
  local rng, gaps = workspace.rng, {}
  for gap in workspace:read("gaps.lua"):gmatch "%d+" do gaps[#gaps + 1] = tonumber(gap) end
  gaps[#gaps] = nil -- the last is 1, always
  local way = rng:integer(1, 3)
  if way == 1 or #gaps == 0 then gaps[#gaps + 1] = rng:integer(2, 100)
  elseif way == 2 then table.remove(gaps, rng:integer(1, #gaps))
  else
    local at = rng:integer(1, #gaps)
    gaps[at] = math.max(2, gaps[at] + rng:integer(1, 5) * (rng:integer(0, 1) * 2 - 1))
  end
  table.sort(gaps, function(a, b) return a > b end)
  local said = table.concat(gaps, ", ")
  return { ["gaps.lua"] = ("return { %s%s1 }\n"):format(said, #gaps > 0 and ", " or "") },
    { description = "gaps " .. said .. ", 1" }
end
