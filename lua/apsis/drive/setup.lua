-- setup: `apsis init --agent NAME`: the skill and the MCP server, where an agent looks for them in the project. What is
-- there already stays; a file that gets the server keeps all else, and its old text as NAME~. Called by the room.
local agents = require "apsis.drive.agents"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local starter = require "apsis.cli.starter"

local setup = {}

-- The command that starts the server: `apsis`, if the user's PATH has it.
local function own_command()
  for dir in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    if fs.stat(dir .. "/apsis") then return "apsis" end
  end
  return host.executable
end

-- A JSON file's text with the server added: text; nil: it has one; false and a message if it cannot be added.
local function with_json(agent, old, path, force)
  local entry = agent.entry(own_command())
  local shown = ('{"%s": {"apsis": %s}}'):format(agent.key, json.encode(entry))
  local value = json.decode(old or "{}")
  if type(value) ~= "table" or type(value[agent.key] or {}) ~= "table" then
    return false, ("%s is not plain JSON, so nothing was written; add to it by hand: %s"):format(path, shown)
  end
  local servers = value[agent.key] or {}
  if servers.apsis ~= nil and not force then return nil end
  servers.apsis, value[agent.key] = entry, servers
  return json.encode(value, { pretty = true, sorted = true }) .. "\n"
end

-- The same of a TOML file: a table at its end.
local function with_toml(_, old, path, force)
  if ("\n" .. (old or "")):find '\n%s*%[%s*mcp_servers%s*%.%s*"?apsis"?%s*%]' then
    if not force then return nil end
    return false, ("%s has [mcp_servers.apsis]: change it by hand"):format(path)
  end
  return ("%s[mcp_servers.apsis]\ncommand = %s\nargs = [\"mcp\"]\n"):format(old and old:gsub("\n*$", "\n\n") or "",
    json.encode(own_command()))
end

-- Replaces or makes a file, and says so. true | nil, message.
local function write(path, text, what)
  local old = fs.stat(path, { follow = false })
  local ok, message = fs.mkdir(path:match "^(.*)/[^/]*$" or ".")
  if ok and old then ok, message = fs.rename(path, path .. "~") end
  if ok then ok, message = fs.write(path, text) end
  if not ok then return nil, message end
  print(("%s %s (%s)%s"):format(old and "changed" or "wrote", path, what, old and "; its old text is in " .. path .. "~"
    or ""))
  return true
end

-- What each file is to have: { path, text (nil: it has it), what } | nil, message.
local function planned(dir, agent, force)
  local files = {}
  local path, text = starter.path_of(dir, agent.skill), agents.skill(agent.servers ~= nil)
  local old = fs.read(path)
  files[1] = { path = path, text = (not old or force and old ~= text) and text or nil, what = "the skill" }
  if not agent.servers then return files end
  path = starter.path_of(dir, agent.servers)
  local made, message = (agent.toml and with_toml or with_json)(agent, fs.read(path), path, force)
  if made == false then return nil, message end
  files[2] = { path = path, text = made, what = "the MCP server" }
  return files
end

function setup.options(parser)
  parser:option("--agent", "write the skill and the MCP server that let this coding agent drive the loop, instead")
    :choices(agents.names):argname "NAME"
end

local of_manifest = { "measure", "metric", "regex", "lower", "higher", "direction", "writable", "check", "provider" }

-- args of `apsis init`; nil if they do not ask for an agent. Exit code, message.
function setup.init(args)
  local agent = args.agent and agents[args.agent]
  if not agent then return nil end
  for _, name in ipairs(of_manifest) do
    local given = args[name]
    if given and (type(given) ~= "table" or next(given)) then
      return 2, ("--agent writes no manifest, so --%s has no use beside it: run `apsis init` twice, first without it")
        :format(name)
    end
  end
  local files, message = planned(args.dir, agent, args.force)
  if not files then return 2, message end
  for _, file in ipairs(files) do
    local ok, wrong = true, nil
    if file.text then ok, wrong = write(file.path, file.text, file.what)
    else print(("left %s as it is: it has %s already (--force writes it again)"):format(file.path, file.what)) end
    if not ok then return 3, wrong end
  end
  local steps = {}
  if not fs.stat(starter.path_of(args.dir, "manifest.yaml")) then steps[1] = "apsis init" end
  if not fs.stat(starter.path_of(args.dir, "logs/results.jsonl")) then
    table.move({ "commit what is new here", "apsis baseline" }, 1, 2, #steps + 1, steps)
  end
  steps[#steps + 1] = ("start %s here and ask it to improve the metric with apsis"):format(args.agent)
  print("next: " .. table.concat(steps, "; "))
  if agent.note then print("note: " .. agent.note) end
  return 0
end

return setup
