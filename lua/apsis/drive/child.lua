-- child: another apsis, started by the MCP server for a call and waited for while other calls go on. It ends with the
-- call; what it leaves working in the background outlives both. Called by tools.
local fs = require "apsis.fs"
local host = require "apsis.host"
local quoted = require("apsis.project.path").quoted
local wait = require "apsis.wait"

local child = {}

local POLL_S <const>, GRACE_S <const> = 0.02, 2
local MOST_BYTES <const> = 1048576

-- Whether a process of this one has ended: nobody has collected its exit code yet, so its number is its own.
local function has_ended(pid)
  local state = (fs.read(("/proc/%d/stat"):format(pid)) or ""):match "^%d+ %(.*%) (%u)"
  return not state or state == "Z"
end

-- Ends a child that still runs. Nothing yields here: the task may be at its end.
local function stop_it(pid)
  local till = wait.now() + GRACE_S
  if has_ended(pid) then return end
  for _, signal in ipairs { "TERM", "KILL" } do
    os.execute(("kill -%s %d 2>/dev/null"):format(signal, pid))
    while not has_ended(pid) and wait.now() < till do wait.any({}, POLL_S) end
  end
end

-- Starts a script: its output, and its process | nil, message.
local function start(script)
  local pipe <const>, message = io.popen("exec sh " .. quoted(script), "r")
  if not pipe then return nil, message end
  local pid = math.tointeger(tonumber(pipe:read "l" or ""))
  if pid then return pipe, pid end
  pipe:close()
  return nil, "no process could be started"
end

-- run(words, dir, stop): apsis with these words, in dir: { code, out, err } | nil, message; stop() -> true: it is no
-- longer waited for. Called in a task; if that is closed, the child ends. APSIS_DRIVEN tells it that an agent reads on.
function child.run(words, dir, stop)
  local folder, message = fs.tempdir "apsis-mcp-"
  if not folder then return nil, message end
  local _ <close> = setmetatable({}, { __close = function() fs.remove_tree(folder) end })
  local line, at = {}, quoted(folder)
  for index, word in ipairs(words) do line[index] = quoted(word) end
  local script = ("echo $$\nexec </dev/null >%s/out 2>%s/err\ncd %s && APSIS_DRIVEN=1 exec %s %s\n"):format(at, at,
    quoted(dir), quoted(host.executable), table.concat(line, " "))
  local ok
  ok, message = fs.write(folder .. "/run", script) -- sh's own argument has a limit
  if not ok then return nil, message end
  local pipe, pid = start(folder .. "/run")
  if not pipe then return nil, pid end
  local code
  do
    local _ <close> = setmetatable({}, { __close = function()
      stop_it(pid)
      code = select(3, pipe:close())
    end })
    while not has_ended(pid) do
      if stop() then return nil, "it took too long, and was ended" end
      wait.sleep(POLL_S)
    end
  end
  return { code = code, out = fs.read(folder .. "/out", MOST_BYTES) or "",
    err = fs.read(folder .. "/err", MOST_BYTES) or "" }
end

return child
