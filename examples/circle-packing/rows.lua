-- rows: what a candidate returns, rows of numbers. Runs the candidate's file in an environment without the verifier,
-- files, modules or a clock, and stops it after about a second. The result is a copy: nothing in it can change or
-- compute anything any more.
local rows = {}

local INSTRUCTIONS = 200000000 -- about a second

-- Copies, because a candidate could replace the functions that judge it. Random numbers are the same in every run, so
-- one candidate always means the same rows.
local function environment()
  local env = {}
  for _, name in ipairs { "assert", "error", "ipairs", "next", "pairs", "select", "tonumber", "tostring", "type" } do
    env[name] = _G[name]
  end
  for _, name in ipairs { "math", "table" } do
    env[name] = {}
    for key, value in pairs(_G[name]) do env[name][key] = value end
  end
  math.randomseed(1)
  env.math.randomseed = nil
  return env
end

local function result_of(text, name)
  local program, malformed = load(text, "=" .. name, "t", environment())
  if not program then return nil, malformed end
  debug.sethook(function() error("stopped after " .. INSTRUCTIONS .. " instructions", 0) end, "", INSTRUCTIONS)
  local ok, result = pcall(program)
  debug.sethook()
  if not ok then return nil, type(result) == "string" and result or name .. " raised an error" end
  return result
end

-- of(text, name, columns) -> the rows that the program returns, each of `columns` numbers; or nil and the reason.
function rows.of(text, name, columns)
  local result, reason = result_of(text, name)
  if reason then return nil, reason end
  if type(result) ~= "table" then return nil, name .. " returns no list" end
  local found = {}
  for index, given in ipairs(result) do
    if type(given) ~= "table" or #given ~= columns then
      return nil, ("%s: row %d is not a list of %d numbers"):format(name, index, columns)
    end
    found[index] = {}
    for place = 1, columns do
      local number = given[place]
      if not math.type(number) or number - number ~= 0 then
        return nil, ("%s: row %d has a value that is not a finite number"):format(name, index)
      end
      found[index][place] = number
    end
  end
  return found
end

-- read(path, columns) -> the rows of a file. Without such rows it ends the verifier with the reason.
function rows.read(path, columns)
  local file, missing = io.open(path, "rb")
  rows.demand(file, missing)
  local text = file:read "a"
  file:close()
  return rows.demand(rows.of(text, path, columns))
end

-- demand(condition, REASON) -> condition; without it the answer is refused: exit code 1, no metric.
function rows.demand(condition, reason, ...)
  if condition then return condition end
  io.stderr:write("refused: ", select("#", ...) > 0 and reason:format(...) or reason, "\n")
  os.exit(1)
end

return rows
