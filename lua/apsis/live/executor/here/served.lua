-- served: commands whose program is kept running from one candidate to the next (`evaluator: {serve: true}`). A server
-- in the cage belongs to a workspace and is given one command at a time; a client in a cage of its own waits for it, so
-- timeout, output and exit code are as without. The server is ended after a failure of any kind, and after `every`
-- commands. What it must do is in executor/README.md. Called by executor/here.
local fs = require "apsis.fs"
local json = require "apsis.json"
local process = require "apsis.process"
local wait = require "apsis.wait"

local served = {}

-- Asks, passes both streams on, and ends as the command did: with its exit code, or by the signal of a negative number.
local CLIENT <const> = [[: >"$1/ask"; exec 3<"$1/end"; cat "$1/err" >&2 & cat "$1/out"; wait
read -r code <&3 || { echo "the evaluator's process has ended" >&2; exit 70; }
case $code in -*) kill "$code" $$;; esac
exit "$code"]]

local READY_PAUSE_S <const>, ENDED_S <const> = 0.003, 0.2

local function close(server)
  server.handle:close()
  fs.remove_tree(server.folder)
end

-- Ends a workspace's server.
function served.close(space)
  if space.server then close(space.server) end
  space.server = nil
end

-- Waits until a server is ready; its result if it ends instead, or takes longer than timeout_s.
local function wait_ready(server, timeout_s)
  local deadline = wait.now() + timeout_s
  while not fs.stat(server.folder .. "/ask", { follow = false }) do
    if wait.now() > deadline then server.handle:kill(0) end
    if wait.now() > deadline or #(wait.any({ server.handle }, 0) or {}) > 0 then
      local result, message, code = server.handle:wait()
      return result or { failed = true }, message, code
    end
    wait.sleep(READY_PAUSE_S)
  end
end

-- Starts a server for the place's workspace -> server | nil, its result or nil, message, code.
local function start(place, command, spec)
  local folder, message, code = place.here.pool:folder("serve", place.space)
  if not folder then return nil, nil, message, code end
  fs.mkdir(folder .. "/tmp")
  fs.write(folder .. "/serve", command.server.text)
  local argv, env = {}, { APSIS_SERVE = folder }
  for index, word in ipairs(command.server.run) do argv[index] = word == "" and folder .. "/serve" or word end
  for name, value in pairs(spec.env) do env[name] = env[name] or value end
  local handle
  handle, message, code = process.start(place:in_cage({ argv = argv, cwd = spec.cwd, env = env, clean_env = true,
    limits = spec.limits }, command.run, { folder, place.root }, folder .. "/tmp"))
  if not handle then return nil, nil, message, code end
  local server = { handle = handle, folder = folder, count = 0, ino = place.space.ino,
    run = table.concat(command.server.run, "\0") }
  local result
  result, message, code = wait_ready(server, command.timeout_s or math.huge)
  if not result then return server end
  close(server)
  return nil, not result.failed and result or nil, message, code
end

-- The workspace's server if it can take one more of this command; another one is ended.
local function running(place, command)
  local space, server = place.space, place.space.server
  if server and server.ino == space.ino and server.count < command.server.every
    and server.run == table.concat(command.server.run, "\0") and #(wait.any({ server.handle }, 0) or {}) == 0 then
    return server
  end
  served.close(space)
end

-- Hands a server the command: its scratch folder is moved to where the server sees it. nil, message if a candidate has
-- left something in the way.
local function hand_over(place, server, command, spec)
  local folder, env, argv = server.folder, {}, spec.argv
  fs.remove_tree(folder .. "/tmp")
  local ok, message = fs.mkdir(folder .. "/tmp")
  for name, value in pairs(spec.env) do
    if value and value:sub(1, #place.scratch) == place.scratch then
      value = folder .. "/run" .. value:sub(#place.scratch + 1)
    end
    env[name] = value or nil
  end
  env.TMPDIR = folder .. "/tmp"
  local request = json.encode { argv = json.array(table.move(argv, command.server.from, #argv, 1, {})), cwd = spec.cwd,
    env = env }
  if ok then ok, message = fs.write(folder .. "/request.json", request) end
  if ok then ok, message = fs.rename(place.scratch, folder .. "/run") end
  return ok, message
end

-- Takes the scratch folder back; false if a candidate has put something else in its place.
local function take_back(place, server)
  local path = server.folder .. "/run"
  local stat = fs.stat(path, { follow = false })
  if stat and stat.type == "directory" and fs.rename(path, place.scratch) then return true end
  fs.mkdir(place.scratch .. "/artifacts")
  return false
end

-- How the command ended; if the server did, as that.
local function ending(server, result)
  if result.code ~= 70 or #(wait.any({ server.handle }, ENDED_S) or {}) == 0 then return result end
  local own = server.handle:wait() or result
  for _, name in ipairs { "outcome", "code", "signal", "signal_name", "excess" } do result[name] = own[name] end
  if result.code == 0 then result.code = 70 end
  return result
end

-- A server that has been given the command | nil, the command's result or nil, message. A second one is tried if a
-- candidate has spoilt the first one's folder.
local function given(place, command)
  local spec, server = place:spec(command), running(place, command)
  place.space.server = nil -- until it has answered: a run that is interrupted leaves none
  local ok, why
  if server then
    ok = hand_over(place, server, command, spec)
    if ok then return server end
    close(server)
  end
  local result, message, code
  server, result, message, code = start(place, command, spec)
  place.world:need_started(command.name, message, code)
  if not server then return nil, result, message end
  ok, why = hand_over(place, server, command, spec)
  if ok then return server end
  close(server)
  return nil, nil, why
end

-- Runs a command in its place's server: as Place:run.
function served.run(place, command)
  local server, early, why = given(place, command)
  if not server then return early, why end
  local client = place:spec(command)
  client.argv, client.shell = { "/bin/sh", "-c", CLIENT, "sh", server.folder }, nil
  local result, message, code = process.run(place:in_cage(client, command.run, { server.folder, place.root }))
  local whole = take_back(place, server)
  place.world:need_started(command.name, message, code)
  server.count = server.count + 1
  if result then result = ending(server, result) end
  if whole and result and result.outcome == "exit" and result.code == 0 then place.space.server = server
  else close(server) end
  return result, message
end

return served
