-- provider: the provider of every problem here, for the project in a folder. Which C program changes the answer, and
-- how, is in problems.lua under the folder's name.
return function(folder)
  local hall, name = folder:match "^(.*)/([^/]+)$"
  local shared = hall .. "/../circle-packing"
  for _, problem in ipairs(dofile(hall .. "/problems.lua")) do
    if problem.name == name then
      return dofile(shared .. "/propose.lua")(shared, { source = hall .. "/" .. problem.search.program,
        columns = problem.search.columns, changes = problem.search.changes, arguments = problem.arguments,
        answer = name:find "^circles" and "packing.lua" or "answer.lua" })
    end
  end
  return nil, "problems.lua has no problem " .. name
end
