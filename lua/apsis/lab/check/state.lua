-- state: what values hold, as a flat map from a path to a plain value, so that two moments can be compared: of tables,
-- and of what a strategy's functions keep in the locals of their file. Changes nothing.
local state = {}

-- The library's tables hold no strategy's state.
local function is_library(value)
  for _, module in pairs(package.loaded) do
    if module == value then return true end
  end
  return false
end

local function step(path, key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return path .. "." .. key end
  return ("%s[%s]"):format(path, tostring(key))
end

-- Adds what a value holds under a path; seen: tables and functions that are in the map already. of_function(value), if
-- given, adds what a function keeps.
local function add(into, path, value, seen, of_function)
  if type(value) == "function" and of_function then of_function(value) end
  if type(value) ~= "table" then
    into[path] = value ~= value and "nan" or value
    return
  end
  into[path] = "table"
  local meta = getmetatable(value)
  if seen[value] or type(meta) == "table" and rawget(meta, "__mode") then return end -- a weak table is a cache
  seen[value] = true
  for key, element in next, value do add(into, step(path, key), element, seen, of_function) end
end

function state.of_table(into, path, value)
  add(into, path, value, {})
end

-- Whether a function is written in a strategy's own files.
function state.is_own(body)
  local source = debug.getinfo(body, "S").source
  return source ~= "=[C]" and not source:find "^@lua/apsis/"
end

-- What a strategy's hooks keep in locals of its file (its own table too), by the locals' names.
function state.of_strategy(strategy)
  local into, seen = {}, {}
  local function of_function(body)
    if seen[body] or not state.is_own(body) then return end
    seen[body] = true
    for index = 1, math.maxinteger do
      local name, value = debug.getupvalue(body, index)
      if not name then break end
      if name ~= "_ENV" and not is_library(value) then add(into, name, value, seen, of_function) end
    end
  end
  add(into, "the strategy's table", strategy.own, seen, of_function)
  return into
end

-- The first path, in order, at which two maps differ; nil if they are the same.
function state.difference(before, after)
  local found
  local function look(path, value, other)
    if value ~= other and (not found or path < found) then found = path end
  end
  for path, value in pairs(before) do look(path, value, after[path]) end
  for path, value in pairs(after) do look(path, value, before[path]) end
  return found
end

-- The names of locals that hold an object whose state cannot be seen, such as a random stream.
function state.opaque(map)
  local names = {}
  for path, value in pairs(map) do
    if type(value) == "userdata" or type(value) == "thread" then names[#names + 1] = path end
  end
  table.sort(names)
  return names
end

return state
