-- driven: kill -9 of whoever works on what was submitted: `submit`, `submit --no-wait` and the process that it leaves in the background,
-- `wait`, and a `run` beside them. Each submission has one line at the end, whoever was killed. Called by torture.
local checks = require "checks"
local fs = require "apsis.fs"
local json = require "apsis.json"
local project = require "project"
local victims = require "victims"
local wait = require "apsis.wait"

local driven = {}

local END_S = 300
local KILLED <const>, INTERRUPTED <const> = 137, 130
-- Exit codes of commands that nobody killed: kept, not kept, not yet; 4: a run whose provider failed in a row.
local good = { [0] = true, [1] = true, [4] = true, [6] = true }

-- The ids of submissions that wait.
local function waiting(one)
  local ids = {}
  for _, name in ipairs(fs.list(one.dir .. "/.apsis/inbox") or {}) do ids[#ids + 1] = name:match "^(s%d+)%.json$" end
  return ids
end

-- The processes in the background that work on a project's submissions.
local function background()
  local pids = {}
  for _, text in ipairs(victims.tagged(project.at.tag)) do
    pids[#pids + 1] = text:match "^(%d+) %S*apsis wait s%d+ "
  end
  return pids
end

-- What is started next: its name, and its words.
local function words_of(one, rng, number)
  local ids = waiting(one)
  local name = #ids > 0 and rng:choice { "submit", "submit --no-wait", "wait", "wait", "run" }
    or rng:choice { "submit", "submit --no-wait" }
  if name == "run" then return name, { "run", "-q", one.dir } end
  if name == "wait" then return name, { "wait", rng:choice(ids), "-C", one.dir } end
  assert(fs.write(one.dir .. "/value.txt", 1000 - 3 * number .. "\n"))
  local words = { "submit", one.dir }
  if name ~= "submit" then table.insert(words, 2, "--no-wait") end
  return name, words
end

-- Kills what was started, or what it has left in the background; the name of what was hit, or nil.
local function kill(apsis, name)
  local hit = victims.is_running(apsis.pid) and name or nil
  if hit then victims.signal(apsis.pid, "KILL") end
  for _, pid in ipairs(background()) do
    victims.signal(math.tointeger(tonumber(pid)), "KILL")
    hit = hit or "wait"
  end
  return hit
end

-- Works off what waits, without a kill.
local function drain(one)
  for _, id in ipairs(waiting(one)) do
    local code = one:start({ "wait", id, "-C", one.dir }).ended()
    if code ~= 0 and code ~= 1 then one:fail("wait %s: exit %s", id, code) end
  end
  if #waiting(one) > 0 then one:fail("still waiting: %s", table.concat(waiting(one), " ")) end
end

-- That each submission has one line: the one that it was closed with.
local function check_lines(one, lines)
  local of, closed = {}, 0
  for _, line in ipairs(lines) do
    local id = (line.proposal or {}).handed
    if id then
      if of[id] then one:fail("submission %s has two lines", id) end
      of[id] = line.experiment
    end
  end
  for _, name in ipairs(fs.list(one.dir .. "/.apsis/inbox/done") or {}) do
    local id = name:match "^(s%d+)%.json$"
    local done = id and json.decode(fs.read(one.dir .. "/.apsis/inbox/done/" .. name), true)
    if done and done.experiment ~= of[id] then one:fail("submission %s: experiment %s, in the journal %s", id, done.experiment, of[id]) end
    closed = closed + (done and 1 or 0)
  end
  if one:output({ "git", "for-each-ref", "refs/apsis/torture/submitted" }) ~= "" then one:fail "refs of submissions are left" end
  return closed
end

-- How long a submission takes that nobody kills.
local function unkilled(one)
  assert(fs.write(one.dir .. "/value.txt", "1001\n"))
  local began, code = wait.now(), one:start({ "submit", one.dir }).ended()
  if code ~= 0 and code ~= 1 then one:fail("apsis submit: exit %s", code) end
  return wait.now() - began
end

-- A run plans three experiments, for replay to compare, and is interrupted. Its exit code.
local function plan_some(one)
  local function lines() return select(2, fs.read(one.dir .. "/logs/results.jsonl"):gsub("\n", "")) end
  local before, apsis, until_s = lines(), one:start({ "run", "-q", one.dir }), wait.now() + END_S
  while victims.is_running(apsis.pid) and lines() < before + 3 and wait.now() < until_s do wait.sleep(0.01) end
  victims.signal(apsis.pid, "INT")
  return apsis.ended()
end

-- A project is driven until it has had its kills. The lines that its journal has then.
function driven.torture(one, rng, kinds, totals)
  local number, longest = 0, unkilled(one) * 4 / 3 -- kills come at any time of it, and a little later
  while kinds.draw(one) do
    number = number + 1
    local name, words = words_of(one, rng, number)
    local apsis = one:start(words)
    wait.sleep(rng:random() * longest)
    local hit = kill(apsis, name)
    local until_s = wait.now() + END_S
    while victims.is_running(apsis.pid) and wait.now() < until_s do wait.sleep(0.002) end
    local code = apsis.ended()
    if code ~= KILLED and not good[code] then one:fail("apsis %s: exit %s", table.concat(words, " "), code) end
    if hit then
      kinds.hit(one, "apsis")
      totals.driven[hit] = (totals.driven[hit] or 0) + 1
    end
    totals.sessions = totals.sessions + 1
    if rng:random() < 0.5 then totals.slowest = math.max(totals.slowest, checks.strays(one)) end
    checks.asked_once(one, checks.kept(one), totals)
  end
  drain(one)
  local code = plan_some(one)
  if code ~= INTERRUPTED and not good[code] then one:fail("the last run: exit %s", code) end
  checks.strays(one)
  local lines = checks.kept(one)
  totals.submissions = totals.submissions + check_lines(one, lines)
  one:output { "git", "fsck", "--strict", "--no-dangling", "--no-progress" }
  one:output { project.at.apsis, "replay", "--check" }
  return lines
end

return driven
