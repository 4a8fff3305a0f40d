-- probe: the job that doctor sends, and what the node that ran it lacks: its own answer. Called by room and node.
local attempt = require "apsis.cluster.attempt"
local describe = require "apsis.cluster.describe"
local environment = require "apsis.live.cage.environment"
local executors = require "apsis.project.executors"
local host = require "apsis.host"
local leavings = require "apsis.cluster.leavings"
local programs = require "apsis.live.programs"
local state = require "apsis.state"
local wait = require "apsis.wait"
local ways = require "apsis.live.cage.ways"

local probe = {}

local LONGEST_S <const>, PAUSE_S <const> = 60, 0.1
local CLOCK_S <const> = 5 -- off by more is worth a warning: file times are compared

-- On the node: what is here.
function probe.answer(job)
  local way, refused, unknown = ways.find()
  local reason = unknown or refused[1] and refused[1][2]
  local missing, keys = programs.missing(job.manifest, "/")
  return { version = host.version, way = way, reason = reason, missing = missing, keys = keys, time = wait.time() }
end

local FAILED <const>, INTERRUPTED <const> = 3, 130 -- exit codes: no job can run; as by SIGINT

-- What is good and what is not about an answer: whether all is good, lines, and an exit code if no job can run.
local function words(given, job, where)
  local lines, good, code = {}, true, nil
  local function add(ok, text, key)
    good, code = good and ok, key and FAILED or code
    lines[#lines + 1] = (key and ("%s: %s: "):format(where(key), key) or "") .. text
  end
  local found = given.probe
  add(true, ("a job ran on %s after %.1f s in the queue, with apsis %s"):format(given.node, given.queue_s,
    found.version))
  if job.manifest.sandbox.mode == "off" then add(false, "`sandbox: off` turns the sandbox off")
  elseif found.way then add(found.way ~= "landlock", "commands are confined by " .. ways.words(found.way))
  else
    local required = job.manifest.sandbox.mode == "required"
    add(false, "commands are not confined there: " .. tostring(found.reason), required and "sandbox" or nil)
  end
  for index, text in ipairs(found.missing) do add(false, text, found.keys[index]) end
  local off = found.time - job.created - given.queue_s - given.wall_s
  if math.abs(off) > CLOCK_S then add(false, ("its clock is off by about %.0f s"):format(off)) end
  return good, table.concat(lines, "\n      "), code
end

-- Waits for the answer of a job that was sent: it | nil, why there is none, and an exit code unless the job may be
-- waiting.
local function await(executor, folder, name)
  local manifest, execution = executor.world.manifest, executor.spec
  local one, slot = { name = name, since = wait.now() }, { outside = true }
  local longest = math.min(LONGEST_S, execution.queue_sec)
  io.stderr:write(("apsis: job %s is sent to target %s; waiting for its answer, at most %g s\n"):format(name,
    execution.target, longest))
  local gone
  repeat
    wait.sleep(PAUSE_S)
    gone = attempt.look(executor, one, executor.scheduler:look(function() return { name } end), slot)
    local given = folder:has(name, "result.json") and folder:read(name, "result.json")
    if given then return given end
  until gone or wait.now() >= one.since + longest or wait.interrupts() > 0
  if wait.interrupts() > 0 then return nil, "interrupted", INTERRUPTED end
  local last, trouble = folder:last_words(name), executor.scheduler.trouble
  local text = gone and "the job ended without an answer" or ("no answer in %.0f s; the job is %s"):format(
    wait.now() - one.since, slot.where or "in no answer of the scheduler" .. (trouble and " (" .. trouble .. ")" or ""))
  if last then text = text .. ": " .. last end
  if not gone then return nil, text end
  local program = execution.program and manifest.where "execution.program" .. ": execution.program"
    or "`execution: {program: ...}` names another"
  return nil, ("%s; a node must have the program %s (%s) and the folder %s (%s: execution.folder)"):format(text,
    execution.program or host.executable, program, execution.folder, manifest.where "execution.folder"), FAILED
end

-- Sends the job and waits for it: whether all is good, lines for people, and an exit code if no job can run.
local function send(executor, manifest)
  local folder, message = executor:shared()
  if not folder then return false, message, FAILED end
  executor.held = state.lock(folder:dir "lock")
  leavings.clear(executor)
  local job = describe.attempt({ key = describe.nonce(), version = host.version, created = wait.time(), tree = "",
    project = manifest.home, beside = leavings.machine(),
    manifest = { sandbox = manifest.sandbox, verification = manifest.verification }, probe = true, experiment = -1,
    env = {} }, 1)
  local ok
  ok, message = folder:write(job)
  if not ok then return false, message, FAILED end
  local given
  local code = FAILED
  ok, message = executor.scheduler:submit(job.name, executor:variables(job.name))
  if ok then given, message, code = await(executor, folder, job.name) end
  if not given then
    local cancelled, why = executor.scheduler:cancel { job.name }
    if ok and not cancelled then message = ("%s; the job may go on: %s"):format(message, why) end
  end
  folder:remove(job.name)
  if not given then return false, message, code end
  if given.token ~= job.token or not given.probe then
    return false, given.failed or "the answer is not the job's", FAILED
  end
  return words(given, job, manifest.where)
end

-- What doctor asks of a project whose verifications run elsewhere.
function probe.run(manifest)
  environment.withhold_all(manifest)
  local world = { manifest = manifest, log = function() end }
  local executor = executors.of(manifest.execution.target).open(world):elsewhere("doctor" .. describe.nonce())
  wait.trap()
  local ran, ok, detail, code = pcall(send, executor, manifest)
  executor:close()
  if executor.held then executor.held:close() end
  if not ran then error(ok, 0) end
  return ok, detail, code
end

return probe
