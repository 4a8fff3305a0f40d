-- kind: what a value from a file must be. A kind is "number", "string", "boolean", "table", "whole" (a whole number
-- from 0), "hash" (of an object of git), { list = kind }, { map = kind } by any name, or { keys = { name = kind },
-- needs = names }; other names are free.
local kind = {}

kind.FURTHEST = 1e15 -- of whole numbers; beyond, no next one could be counted

local words = { hash = "hash of git", whole = "whole number from 0 to 10^15", table = "list or mapping" }

local function is(value, wanted)
  if wanted == "hash" then return type(value) == "string" and value:find "^%x+$" ~= nil end
  if wanted ~= "whole" then return type(value) == wanted end
  return math.type(value) == "integer" and value >= 0 and value <= kind.FURTHEST
end

local function problem_of_list(list, wanted, path)
  for index, value in pairs(list) do
    if math.type(index) ~= "integer" then return path .. ": not a list" end
    local problem = kind.problem(value, wanted, ("%s[%d]"):format(path, index))
    if problem then return problem end
  end
end

local function problem_of_map(map, wanted, path)
  for name, value in pairs(map) do
    if type(name) ~= "string" then return path .. ": not a mapping" end
    local problem = kind.problem(value, wanted, path .. "." .. name)
    if problem then return problem end
  end
end

-- What is wrong with a value, which path names; nil if nothing is.
function kind.problem(value, wanted, path)
  if type(wanted) == "string" then
    return not is(value, wanted) and ("%s: not a %s"):format(path, words[wanted] or wanted) or nil
  end
  if type(value) ~= "table" then return ("%s: not a %s"):format(path, wanted.list and "list" or "mapping") end
  if wanted.keys and value[1] ~= nil then return path .. ": not a mapping" end
  if wanted.list then return problem_of_list(value, wanted.list, path) end
  if wanted.map then return problem_of_map(value, wanted.map, path) end
  for _, name in ipairs(wanted.needs or {}) do
    if value[name] == nil then return ("%s.%s: missing"):format(path, name) end
  end
  for name, of in pairs(wanted.keys) do
    local problem = value[name] ~= nil and kind.problem(value[name], of, path .. "." .. name)
    if problem then return problem end
  end
end

return kind
