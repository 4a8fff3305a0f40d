-- child: another apsis, started by the MCP server for a call and waited for while other calls go on. It is not below
-- the server: what it leaves working in the background outlives both. Called by tools.
local fs = require "apsis.fs"
local host = require "apsis.host"
local quoted = require("apsis.project.path").quoted
local wait = require "apsis.wait"

local child = {}

local POLL_S <const> = 0.02
local MOST_BYTES <const> = 1048576

-- run(words, dir, stop): apsis with these words, in dir: { code, out, err } | nil, message; stop() -> true: it is no
-- longer waited for. Called in a task.
function child.run(words, dir, stop)
  local folder, message = fs.tempdir "apsis-mcp-"
  if not folder then return nil, message end
  local line = {}
  for index, word in ipairs(words) do line[index] = quoted(word) end
  local at = quoted(folder)
  os.execute(("(cd %s && %s %s </dev/null >%s/out 2>%s/err; echo $? >%s/end; mv %s/end %s/code) &"):format(quoted(dir),
    quoted(host.executable), table.concat(line, " "), at, at, at, at, at))
  while not fs.stat(folder .. "/code") and not stop() do wait.sleep(POLL_S) end
  local result = { code = math.tointeger(tonumber(fs.read(folder .. "/code") or "")),
    out = fs.read(folder .. "/out", MOST_BYTES) or "", err = fs.read(folder .. "/err", MOST_BYTES) or "" }
  fs.remove_tree(folder)
  if result.code then return result end
  return nil, "interrupted"
end

return child
