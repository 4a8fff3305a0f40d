-- probe: the job that doctor sends, and what the node that ran it lacks: its own answer. Called by room and node.
local describe = require "apsis.cluster.describe"
local environment = require "apsis.live.cage.environment"
local executors = require "apsis.project.executors"
local host = require "apsis.host"
local programs = require "apsis.live.programs"
local wait = require "apsis.wait"
local ways = require "apsis.live.cage.ways"

local probe = {}

local LONGEST_S <const>, PAUSE_S <const> = 60, 0.1
local CLOCK_S <const> = 5 -- off by more is worth a warning: file times are compared

-- On the node: what is here.
function probe.answer(job)
  local way, refused, unknown = ways.find()
  local reason = unknown or refused[1] and refused[1][2]
  return { version = host.version, way = way, reason = reason, missing = programs.missing(job.manifest, "/"),
    time = wait.time() }
end

-- What is good and what is not about an answer: lines, and whether all is good.
local function words(given, job)
  local lines, good = {}, true
  local function add(ok, text)
    good = good and ok
    lines[#lines + 1] = text
  end
  local found = given.probe
  add(true, ("a job ran on %s after %.1f s in the queue, with apsis %s"):format(given.node, given.queue_s,
    found.version))
  if job.manifest.sandbox.mode == "off" then add(false, "the sandbox is off in the manifest")
  elseif found.way then add(found.way ~= "landlock", "commands are kept in by " .. ways.words(found.way))
  else add(false, "nothing keeps commands in there: " .. tostring(found.reason)) end
  for _, text in ipairs(found.missing) do add(false, text) end
  local off = found.time - job.created - given.queue_s - given.wall_s
  if math.abs(off) > CLOCK_S then add(false, ("its clock is off by about %.0f s"):format(off)) end
  return good, table.concat(lines, "\n      ")
end

-- Sends the job and waits for it: whether all is good, and lines for people.
local function send(executor, manifest)
  local folder, message = executor:shared()
  if not folder then return false, message end
  local job = describe.attempt({ key = describe.nonce(), version = host.version, created = wait.time(),
    tree = "",
    manifest = { sandbox = manifest.sandbox, verification = manifest.verification }, probe = true, experiment = -1,
    env = {} }, 1)
  local ok
  ok, message = folder:write(job)
  if not ok then return false, message end
  ok, message = executor.scheduler:submit(job.name, executor:variables(job.name))
  local until_s, given = wait.now() + LONGEST_S, nil
  while ok and not given and wait.now() < until_s and wait.interrupts() == 0 do
    wait.sleep(PAUSE_S)
    given = folder:has(job.name, "result.json") and folder:read(job.name, "result.json")
  end
  local last = folder:last_words(job.name)
  if not given then executor.scheduler:cancel { job.name } end
  folder:remove(job.name)
  if not ok then return false, message end
  if not given then
    return false, last or ("no node has answered a job in %d s: it may still be queued, or the node does not have the "
      .. "folder %s or the program"):format(LONGEST_S, manifest.execution.folder)
  end
  if given.token ~= job.token or not given.probe then return false, given.failed or "the answer is not the job's" end
  return words(given, job)
end

-- What doctor asks of a project whose verifications run elsewhere.
function probe.run(manifest)
  environment.withhold_all(manifest)
  local world = { manifest = manifest, log = function() end }
  local executor = executors.of(manifest.execution.target).open(world):elsewhere("doctor" .. describe.nonce())
  local ran, ok, detail = pcall(send, executor, manifest)
  executor:close()
  if not ran then error(ok, 0) end
  return ok, detail
end

return probe
