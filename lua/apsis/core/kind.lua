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

local wrong

local function wrong_in_list(list, wanted)
  for index, value in pairs(list) do
    if math.type(index) ~= "integer" then return ": not a list" end
    local problem = wrong(value, wanted)
    if problem then return ("[%d]%s"):format(index, problem) end
  end
end

local function wrong_in_map(map, wanted)
  for name, value in pairs(map) do
    if type(name) ~= "string" then return ": not a mapping" end
    local problem = wrong(value, wanted)
    if problem then return (".%s%s"):format(name, problem) end
  end
end

-- What is wrong with a value, and where in it; nil if nothing is. Every line of a journal goes through here.
function wrong(value, wanted)
  if type(wanted) == "string" then return not is(value, wanted) and ": not a " .. (words[wanted] or wanted) or nil end
  if type(value) ~= "table" then return wanted.list and ": not a list" or ": not a mapping" end
  if wanted.keys and value[1] ~= nil then return ": not a mapping" end
  if wanted.list then return wrong_in_list(value, wanted.list) end
  if wanted.map then return wrong_in_map(value, wanted.map) end
  for _, name in ipairs(wanted.needs or {}) do
    if value[name] == nil then return (".%s: missing"):format(name) end
  end
  for name, of in pairs(wanted.keys) do
    local problem = value[name] ~= nil and wrong(value[name], of)
    if problem then return (".%s%s"):format(name, problem) end
  end
end

-- What is wrong with a value, which path names; nil if nothing is.
function kind.problem(value, wanted, path)
  local problem = wrong(value, wanted)
  return problem and path .. problem
end

return kind
