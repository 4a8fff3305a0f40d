-- propose: a provider whose changes come from a C program. Compiles the program when apsis loads the provider; then
-- each experiment is one call: the parent's rows go in, the rows of a changed answer come out. Nothing here knows the
-- problem: mutate.lua names the program.
local fs = require "apsis.fs"
local process = require "apsis.process"

local DIGITS = 17

-- The compiled program in a folder of its own, which goes when apsis ends; nil and why there is none.
local function compile(source)
  local folder = assert(fs.tempdir "apsis-search-")
  local built = setmetatable({ path = folder .. "/search" }, { __gc = function() fs.remove_tree(folder) end })
  local result = assert(process.run { argv = { "sh", "-c", 'exec ${CC:-cc} -std=c11 -O2 -o "$1" "$2" -lm', "sh",
    built.path, source } })
  if result.code == 0 then return built end
  return nil, ("cannot compile %s: %s\nThe changes come from this C program, so the example needs a C compiler: "
    .. "install one (Debian: gcc), or name yours: CC=clang"):format(source, result.stderr.head:match "^[^\n]*")
end

-- Rows of numbers as text for the program, and as the Lua that a candidate is.
local function as_text(list, before, between, after)
  local lines = {}
  for index, row in ipairs(list) do
    local numbers = {}
    for place, number in ipairs(row) do
      numbers[place] = math.tointeger(number) and ("%d"):format(number) or ("%.".. DIGITS .. "g"):format(number)
    end
    lines[index] = before .. table.concat(numbers, between) .. after
  end
  return table.concat(lines)
end

local function parsed(text)
  local rows = {}
  for line in text:gmatch "[^\n]+" do
    local row = {}
    for word in line:gmatch "%S+" do row[#row + 1] = tonumber(word) end
    rows[#rows + 1] = row
  end
  return rows
end

-- The comment at the beginning, which every candidate keeps.
local function head_of(text)
  local finish = 1
  while text:match("^%-%-[^\n]*\n", finish) or text:match("^\n", finish) do
    finish = text:find("\n", finish, true) + 1
  end
  return text:sub(1, finish - 1)
end

-- propose(folder, { source, answer, columns, changes, arguments }) -> the provider. folder: where rows.lua is;
-- source: the C file; answer: the candidate's file, of rows of `columns` numbers; changes: what one call tries. The
-- provider's third result is the program's processor seconds.
return function(folder, problem)
  local rows = dofile(folder .. "/rows.lua")
  local built, missing = compile(problem.source)
  if not built then return nil, missing end
  return function(_, workspace)
    local text = assert(workspace:read(problem.answer))
    local parent, reason = rows.of(text, problem.answer, problem.columns)
    if not parent then return nil, reason end
    local seed = workspace.rng:integer(1, 1 << 31)
    local result = assert(process.run { stdin_text = as_text(parent, "", " ", "\n"), head_bytes = 1048576,
      argv = { built.path, tostring(problem.changes), tostring(seed), table.unpack(problem.arguments or {}) } })
    if result.code ~= 0 then return nil, ("%s ended with %s"):format(problem.source, result.code or result.outcome) end
    local rows_text = as_text(parsed(result.stdout.head), "  { ", ", ", " },\n")
    local changed = ("%sreturn {\n%s}\n"):format(head_of(text), rows_text)
    local summary = ("the best of %d changes, seed %d"):format(problem.changes, seed)
    return { [problem.answer] = changed }, { hypothesis = summary, description = summary }, result.user_s + result.sys_s
  end
end
