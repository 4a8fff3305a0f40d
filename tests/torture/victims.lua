-- victims: the processes of a torture as /proc shows them from outside of their namespaces: which there are below an apsis, what each
-- is (supervisor, init, the shell of a verifier or of a provider), and killing one of them so that it is known to have hit. Called by
-- session and checks.
local fs = require "apsis.fs"
local wait = require "apsis.wait"

local victims = {}

-- What each kind's shell is started with.
victims.scripts = { verifier = "measure.sh", provider = "agent.sh" }

local killer = assert(io.popen("exec sh 2> /dev/null", "w")) -- one shell for all signals: a new one each would take milliseconds

function victims.signal(pid, name)
  assert(killer:write(("kill -%s %d\n"):format(name, pid)))
  assert(killer:flush())
end

local function stat_of(pid)
  local state, parent, rest = (fs.read("/proc/" .. pid .. "/stat") or ""):match("^%d+ %(.*%) (%a) (%d+) (.*)$")
  if not state then return nil end
  return { pid = math.tointeger(tonumber(pid)), state = state, parent = math.tointeger(tonumber(parent)), group = rest:match "^%d+",
    start = rest:match("^" .. ("%S+ "):rep(17) .. "(%d+)") }
end

-- Whether it still runs: the same one, and no zombie.
local function is_alive(process)
  local now = stat_of(process.pid)
  return now ~= nil and now.start == process.start and now.state ~= "Z" and now.state ~= "X"
end

victims.is_alive = is_alive

-- Whether there is a process of an id that is no zombie.
function victims.is_running(pid)
  local now = stat_of(pid)
  return now ~= nil and now.state ~= "Z" and now.state ~= "X"
end

-- The children of a process of one thread, as all are here that have any.
local function children_of(pid)
  local list = {}
  for child in (fs.read(("/proc/%d/task/%d/children"):format(pid, pid)) or ""):gmatch "%d+" do list[#list + 1] = stat_of(child) end
  return list
end

local function below(pid, found)
  for _, process in ipairs(children_of(pid)) do
    found[#found + 1] = process
    below(process.pid, found)
  end
  return found
end

local function words_of(pid)
  return fs.read("/proc/" .. pid .. "/cmdline") or ""
end

local function is_cage(words)
  return words:find("^apsis%-cage%z") ~= nil
end

local function role_of(words)
  for role, script in pairs(victims.scripts) do
    if words:find(script, 1, true) then return role end
  end
end

-- The cages below an apsis: { role, supervisor, init, command }; init and command nil where they are not there yet, or no longer.
local function cages(apsis)
  local list = {}
  for _, supervisor in ipairs(children_of(apsis)) do
    local words = words_of(supervisor.pid)
    local cage = is_cage(words) and { role = role_of(words), supervisor = supervisor }
    for _, init in ipairs(cage and children_of(supervisor.pid) or {}) do
      if is_cage(words_of(init.pid)) then cage.init = init end
      for _, command in ipairs(cage.init and children_of(init.pid) or {}) do -- a child of the command's is there, too, once orphaned
        local its = words_of(command.pid)
        if command.group == tostring(command.pid) and role_of(its) == cage.role and not is_cage(its) then cage.command = command end
      end
    end
    list[#list + 1] = cage and cage.role and cage or nil
  end
  return list
end

-- Those that a kill of a kind could hit now: { kind, role, process, supervisor }.
function victims.find(apsis, kind)
  local list = {}
  for _, cage in ipairs(cages(apsis)) do
    local process = cage[kind]
    if victims.scripts[kind] then process = cage.role == kind and cage.command or nil end
    if process then list[#list + 1] = { kind = kind, role = cage.role, process = process, supervisor = cage.supervisor } end
  end
  return list
end

-- Which experiment a cage works for: its environment says it, and where that may not be read its command's line.
local function experiment_of(victim, tree)
  local environment = fs.read("/proc/" .. victim.supervisor.pid .. "/environ") or ""
  local number = ("\0" .. environment):match "%zAPSIS_EXPERIMENT=(%d+)"
  for _, process in ipairs(tree) do
    number = number or words_of(process.pid):match("%.sh%z(%d+)%z")
  end
  return math.tointeger(tonumber(number))
end

local STOP_S = 0.2

-- Kills a victim, unless it ended before. It is stopped first: what has stopped has not ended, so that its death is the kill's.
-- victim, with experiment and tree (what there was of the cage then), or nil. before(victim): called just before the kill.
function victims.strike(victim, before)
  local process = victim.process
  victims.signal(process.pid, "STOP")
  local until_s, now = wait.now() + STOP_S, stat_of(process.pid)
  while now and now.state ~= "T" and now.state ~= "Z" and wait.now() < until_s do
    wait.sleep(0.0002)
    now = stat_of(process.pid)
  end
  if now and now.state == "T" and now.start == process.start then
    victim.tree = below(victim.supervisor.pid, {})
    victim.experiment = experiment_of(victim, victim.tree)
    if victim.experiment then
      before(victim)
      victims.signal(process.pid, "KILL")
      table.insert(victim.tree, victim.supervisor)
      return victim
    end
  end
  if now then victims.signal(process.pid, "CONT") end
end

-- Processes that carry a tag in their environment, which every descendant inherits, or in their command line.
function victims.tagged(tag)
  local found = {}
  for _, pid in ipairs(assert(fs.list "/proc")) do
    local words = pid:find "^%d+$" and words_of(pid) or ""
    if words ~= "" and (words:find(tag, 1, true) or (fs.read("/proc/" .. pid .. "/environ") or ""):find(tag, 1, true)) then
      found[#found + 1] = pid .. " " .. words:gsub("%z", " ")
    end
  end
  return found
end

return victims
