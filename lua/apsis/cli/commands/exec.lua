-- exec: runs any Lua file with the primitives and the library, without the engine: for evaluators and custom loops.
local exec = { raw = true, place = 180, summary = "run a Lua file with apsis's primitives",
  example = "apsis exec evaluate.lua" }

local usage = [[
usage: apsis exec FILE.lua [ARGUMENTS]

Runs a Lua 5.4 file with apsis.git, apsis.process, apsis.metric, apsis.state, apsis.json and the library at hand.
`require` also finds files beside FILE. Arguments are in `arg` and `...`; the exit code is the script's.

example: echo 'print("METRIC a=1")' > a.lua && apsis exec a.lua
]]

function exec.run(arguments)
  local path = arguments[1]
  if not path or path == "--help" or path == "-h" then
    (path and io.stdout or io.stderr):write(usage)
    return path and 0 or 2
  end
  local dir = path:match("^(.*)/[^/]*$") or "."
  package.path = dir .. "/?.lua;" .. package.path
  local chunk, message = loadfile(path)
  if not chunk then
    io.stderr:write("apsis: ", message, "\n")
    return 2
  end
  arg = { [0] = path, table.unpack(arguments, 2) } -- luacheck: ignore
  local ok, result = xpcall(chunk, function(what) return debug.traceback(tostring(what), 2) end,
    table.unpack(arguments, 2))
  if not ok then
    io.stderr:write("apsis: ", result, "\n")
    return 1
  end
  return math.type(result) == "integer" and result or 0
end

return exec
