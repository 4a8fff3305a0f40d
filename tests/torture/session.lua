-- session: one start of apsis on a project: who of its processes is killed when, until it is killed itself or ends. Called by torture.
local checks = require "checks"
local fs = require "apsis.fs"
local json = require "apsis.json"
local project = require "project"
local victims = require "victims"
local wait = require "apsis.wait"

local session = {}

local WINDOW_S, NAP_S, LOOK_S, END_S = 0.3, 0.006, 0.3, 300
local PROVIDER_DOWN = 4 -- the exit code after failures of the provider in a row, as kills of it cause; the next start goes on

local function is_finished(one)
  local state = json.decode(fs.read(one.dir .. "/logs/state.json") or "", true)
  return state and state.status == "finished"
end

-- Tries for a while to hit a process of a kind that stands below apsis.
local function strike(one, apsis, kind, rng)
  local until_s = wait.now() + LOOK_S
  repeat
    local found = victims.find(apsis.pid, kind)
    if #found > 0 then
      wait.sleep(rng:random() * NAP_S)
      local hit = victims.strike(rng:choice(found), function(hit)
        hit.offset = #one.seen + 1
        hit.measured = fs.stat(("%s/runs/%04d/metrics.json"):format(one.dir, hit.experiment)) ~= nil
      end)
      if hit then return hit end
    end
  until not victims.is_running(apsis.pid) or wait.now() > until_s
end

-- Starts apsis and kills: kinds is the torture's { draw(project) -> kind or nil: no more, hit(project, kind) }. Its exit code, and the
-- kills that hit parts of cages.
local function start(one, rng, kinds, totals)
  local apsis, hits, killed = one:start(), {}, false
  local function is_running() return victims.is_running(apsis.pid) end
  local kind = kinds.draw(one)
  while kind and is_running() do
    wait.sleep(rng:random() * (kind == "apsis" and WINDOW_S or WINDOW_S / 6))
    if kind == "apsis" then
      if is_running() then victims.signal(apsis.pid, "KILL") end
      killed = true
      break
    end
    local hit = strike(one, apsis, kind, rng)
    if hit then
      hits[#hits + 1] = hit
      kinds.hit(one, kind)
      totals.slowest_cage = math.max(totals.slowest_cage, checks.cage_gone(one, hit, is_running) or 0)
    end
    kind = kinds.draw(one)
  end
  local until_s = wait.now() + END_S
  while is_running() and wait.now() < until_s do wait.sleep(0.002) end
  if is_running() then one:fail("apsis does not end within %d s", END_S) end
  local code = apsis.ended()
  if code == 137 and killed then kinds.hit(one, "apsis")
  elseif code ~= 0 and code ~= PROVIDER_DOWN then one:fail("apsis run: exit %s", code) end
  return code, hits
end

-- One session with its checks. The project's lines, and whether it is finished.
function session.run(one, rng, kinds, totals)
  local _, before = checks.lines_of(one)
  local code, hits = start(one, rng, kinds, totals)
  totals.sessions = totals.sessions + 1
  -- half of the time the next run starts at once, beside what is still dying
  if code == 137 and rng:random() < 0.5 then totals.slowest = math.max(totals.slowest, checks.strays(one)) end
  local lines = checks.kept(one)
  checks.asked_once(one, lines, totals)
  checks.booked(one, lines, #before + 1, hits, totals)
  return lines, code == 0 or is_finished(one)
end

-- The same project in a folder of its own, run without a kill: its lines.
function session.alone(one)
  local what = { name = one.name .. "-alone", victims = "none", cage = one.cage }
  for _, key in ipairs { "number", "workers", "provider", "experiments" } do what[key] = one[key] end
  local alone = project.make(what)
  local code
  repeat code = alone:start().ended() until code ~= PROVIDER_DOWN
  if code ~= 0 then alone:fail("the run that was left alone: exit %s", code) end
  local _, lines = checks.lines_of(alone)
  checks.finished(alone, lines)
  alone:remove()
  return lines
end

return session
