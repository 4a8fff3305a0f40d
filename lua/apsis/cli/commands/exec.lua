-- exec: runs any Lua file with the primitives and the library, without the engine: for evaluators and custom loops.
local exec = { raw = true, place = 180, summary = "run a Lua file with apsis's primitives",
  example = "apsis exec evaluate.lua" }

local usage = [[
usage: apsis exec [-i] FILE.lua [ARGUMENTS]
       apsis exec -i

Runs a Lua 5.4 file with apsis.git, apsis.process, apsis.metric, apsis.state, apsis.json and the library at hand.
`require` also finds files beside FILE. Arguments are in `arg` and `...`; the exit code is the script's.

  -i   then read Lua from standard input, line by line, and show the values
       of expressions; without FILE.lua at once

example: echo 'print("METRIC a=1")' > a.lua && apsis exec a.lua
]]

-- For the manual: `run` reads its arguments itself.
function exec.options(parser)
  parser:argument("file", "the script"):argname("FILE.lua"):args "?"
  parser:argument("arguments", "what it finds in `arg` and `...`"):argname("ARGUMENTS"):args "*"
  parser:flag("-i", "then read Lua from standard input, line by line, and show the values of expressions")
end

-- Runs a file: the exit code, and whether it came to its end.
local function run_file(path, arguments)
  local dir = path:match("^(.*)/[^/]*$") or "."
  package.path = dir .. "/?.lua;" .. package.path
  local chunk, message = loadfile(path)
  if not chunk then
    io.stderr:write("apsis: ", message, "\n")
    return 2
  end
  arg = { [0] = path, table.unpack(arguments) } -- luacheck: ignore
  local ok, result = xpcall(chunk, function(what) return debug.traceback(tostring(what), 2) end,
    table.unpack(arguments))
  if not ok then
    io.stderr:write("apsis: ", result, "\n")
    return 1
  end
  return math.type(result) == "integer" and result or 0, true
end

function exec.run(arguments)
  local interactive = arguments[1] == "-i"
  local first = interactive and 2 or 1
  local path = arguments[first]
  if path == "--help" or path == "-h" or not path and not interactive then
    (path and io.stdout or io.stderr):write(usage)
    return path and 0 or 2
  end
  local code, done = 0, true
  if path then code, done = run_file(path, table.move(arguments, first + 1, #arguments, 1, {})) end
  if interactive and done then require("apsis.cli.repl").run() end
  return code
end

return exec
