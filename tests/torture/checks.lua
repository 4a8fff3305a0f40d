-- checks: what must hold of a project after a kill, after a session, and at its end. Each fails the project with what differed. Called
-- by session and torture.
local fs = require "apsis.fs"
local git = require "apsis.git"
local json = require "apsis.json"
local project = require "project"
local victims = require "victims"
local wait = require "apsis.wait"

local checks = {}

local STRAY_S = 5

-- The complete lines of the journal, as text and decoded.
function checks.lines_of(one)
  local text = fs.read(one.dir .. "/logs/results.jsonl"):match("^(.*\n)") or ""
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    local value, message = json.decode(line, true)
    if not value then one:fail("journal line %d: %s", #lines + 1, message) end
    lines[#lines + 1] = value
  end
  return text, lines
end

-- That nothing of the torture runs; how long that took to become true.
function checks.strays(one)
  local began, found = wait.now(), victims.tagged(project.at.tag)
  while #found > 0 and wait.now() - began < STRAY_S do
    wait.sleep(0.005)
    found = victims.tagged(project.at.tag)
  end
  if #found > 0 then one:fail("still running: %s", table.concat(found, "; ")) end
  return wait.now() - began
end

local function check_refs(one, lines)
  local refs, ids = {}, {}
  for id, ref in one:output({ "git", "for-each-ref", "--format=%(objectname) %(refname)", "refs/apsis/torture/" })
    :gmatch "(%x+) refs/apsis/torture/(%S+)" do refs[ref] = id end
  for number, line in ipairs(lines) do
    if line.commit and refs[line.candidate] ~= line.commit then
      one:fail("line %d: the ref of %s is %s, its commit %s", number, line.candidate, refs[line.candidate], line.commit)
    end
    ids[line.experiment] = (ids[line.experiment] or 0) + 1
    if ids[line.experiment] > 1 then one:fail("experiment %d stands twice", line.experiment) end
  end
end

-- That no experiment was asked for again after its command had ended, or it had its line; who is answered now. Adds to totals the answers
-- that outlive a kill, and how many of these apsis has not read yet.
function checks.asked_once(one, lines, totals)
  local counts = one:askings()
  for number, count in pairs(one.answered) do
    if counts[number] ~= count then
      one:fail("experiment %d was answered, and then asked for %d times more", number, counts[number] - count)
    end
  end
  one.answered = {}
  for _, line in ipairs(lines) do one.answered[line.experiment] = counts[line.experiment] end
  for _, name in ipairs(fs.list(one.dir .. "/runs") or {}) do
    local number = math.tointeger(tonumber(name))
    local asked, dir = number and counts[number] and not one.answered[number], one.dir .. "/runs/" .. name
    local is_kept = asked and (fs.read(dir .. "/answers.jsonl") or ""):find "\n"
    local has_ended = asked and (fs.read(dir .. "/ended_implement.txt") or ""):find "\nexit 0 0 0 "
    if is_kept or has_ended then
      one.answered[number], totals.answers_kept = counts[number], totals.answers_kept + 1
      totals.unread = totals.unread + (is_kept and 0 or 1)
    end
  end
end

-- What was journalled before is there still, byte by byte.
function checks.kept(one)
  local text, lines = checks.lines_of(one)
  if text:sub(1, #one.seen) ~= one.seen then one:fail("the journal no longer begins with the %d bytes it had", #one.seen) end
  one.seen = text
  check_refs(one, lines)
  return lines
end

-- After the kill of a part of a cage: that nothing of it runs any more once apsis has gone on: once it has written the measurement or
-- the line. How long it took; nil where apsis ended.
function checks.cage_gone(one, hit, is_running)
  local began = wait.now()
  local line, measured = ('"experiment":%d,'):format(hit.experiment), ("%s/runs/%04d/metrics.json"):format(one.dir, hit.experiment)
  repeat
    local done = fs.read(one.dir .. "/logs/results.jsonl"):find(line, hit.offset, true)
      or hit.role == "verifier" and not hit.measured and fs.stat(measured)
    local left = {}
    for _, process in ipairs(hit.tree) do
      if victims.is_alive(process) then left[#left + 1] = process.pid .. " " .. (fs.read("/proc/" .. process.pid .. "/cmdline") or "") end
    end
    if #left == 0 then return wait.now() - began end
    if done then
      one:fail("%s of experiment %d was killed (%s), apsis has gone on, and still running: %s", hit.kind, hit.experiment, hit.role,
        table.concat(left, "; "):gsub("%z", " "))
    end
    wait.sleep(0.0005)
  until not is_running() or wait.now() - began > STRAY_S
  if is_running() then one:fail("%s of experiment %d was killed, and its processes run on", hit.kind, hit.experiment) end
end

-- Whether a line is that of a command that a kill of the torture ended, as far as it says. hit: there was one, so that a command that
-- was about to kill itself may have been killed by it.
local function is_booked(line, hit)
  local reason = line.rollback_reason or ""
  return line.outcome == "skipped_provider_failure" and reason == "the provider was killed by SIGKILL"
    or line.outcome == "skipped_verification_crash" and reason:find "^measure: killed by SIGKILL" ~= nil
      and (hit or not reason:find "by its own hand")
end

-- What a line that nobody disturbed says must be what the two scripts make of the numbers.
local function check_undisturbed(one, repo, line)
  local function number_of(rev) return math.tointeger(tonumber((repo:read(rev, "value.txt")))) end
  local value = line.commit and number_of(line.commit)
  if line.commit and not value then one:fail("experiment %d: its value.txt is torn", line.experiment) end
  if one.provider == "command" and line.experiment > 0 then
    local answer = project.answer(one.number, line.experiment, number_of("refs/apsis/torture/" .. line.parents[1]))
    local said = ({ skipped_provider_failure = "fails", skipped_no_change = "same", reverted_scope_violation = "outside" })[line.outcome]
    if answer ~= (said or value) then one:fail("experiment %d: %s, where the provider says %s", line.experiment, said or value, answer) end
  end
  if not value or line.outcome == "skipped_duplicate" then return end
  local measured, reason = project.measured(value)
  local told = line.rollback_reason or ""
  if line.primary_metric ~= measured or not measured and not told:find(reason, 1, true) then
    one:fail("experiment %d: %s of value %d is %s (%s)", line.experiment, line.outcome, value, line.primary_metric, told)
  end
end

local function check_booked(one, line)
  if line.primary_metric or line.status ~= "crash" then
    one:fail("experiment %d was killed, and is %s", line.experiment, line.status)
  end
  if line.outcome == "skipped_provider_failure" and line.commit then
    one:fail("experiment %d: its provider was killed, and it has a commit", line.experiment)
  end
end

local script_outcomes = { verifier = "skipped_verification_crash", provider = "skipped_provider_failure" }

-- The lines that came in a session, against the kills that hit parts of cages in it. Adds to counts: booked (crashes of the right kind),
-- late (what was killed had reported its command's end already: the line is as if nothing had happened), and redone (apsis was killed
-- before the line).
function checks.booked(one, lines, first, hits, counts)
  local repo <close> = assert(git.open(one.dir))
  local of, seen = {}, {}
  for _, hit in ipairs(hits) do
    of[hit.experiment] = of[hit.experiment] or {}
    table.insert(of[hit.experiment], hit)
  end
  for index = first, #lines do
    local line = lines[index]
    seen[line.experiment] = true
    local booked, matched = is_booked(line, of[line.experiment]), false
    for _, hit in ipairs(of[line.experiment] or {}) do
      local its = booked and not matched and line.outcome == script_outcomes[hit.role]
      if its then matched = true
      elseif victims.scripts[hit.kind] then
        one:fail("the %s's shell of experiment %d was killed, and it is %s: %s", hit.role, line.experiment, line.outcome,
          tostring(line.rollback_reason))
      end
      counts[its and "booked" or "late"] = counts[its and "booked" or "late"] + 1
    end
    if is_booked(line) and not matched then
      one:fail("experiment %d is %s (%s), and nobody killed it", line.experiment, line.outcome, line.rollback_reason)
    end
    if matched then check_booked(one, line) else check_undisturbed(one, repo, line) end
  end
  for experiment, list in pairs(of) do
    if not seen[experiment] then counts.redone = counts.redone + #list end
  end
end

-- The best of the journal by the rules of DESIGN: lower is better here, and a kept tie takes the lead.
local function best_of(lines)
  local best
  for _, line in ipairs(lines) do
    if line.status == "keep" and (not best or line.primary_metric <= best.primary_metric) then best = line end
  end
  return best
end

function checks.finished(one, lines)
  if #lines ~= one.experiments + 1 then one:fail("%d lines, not %d", #lines, one.experiments + 1) end
  local there = {}
  for _, line in ipairs(lines) do there[line.experiment] = true end
  for number = 0, one.experiments do
    if not there[number] then one:fail("no experiment %d: a gap in the numbers", number) end
  end
  local best = best_of(lines)
  if is_booked(best) then one:fail("the best, %s, was killed", best.candidate) end
  local tree = one:output({ "git", "rev-parse", "refs/heads/apsis/torture^{tree}" }):match "%x+"
  if tree ~= best.tree then one:fail("the branch's tree is %s, that of the best (%s) %s", tree, best.candidate, best.tree) end
  one:output { "git", "fsck", "--strict", "--no-dangling", "--no-progress" }
  one:output { project.at.apsis, "replay", "--check" }
end

-- That two runs of one project are the same.
function checks.same(one, lines, reference)
  for index, line in ipairs(lines) do
    local other = reference[index]
    for _, key in ipairs { "candidate", "outcome", "primary_metric", "tree" } do
      if line[key] ~= other[key] then
        one:fail("line %d: %s is %s; in a run that was left alone %s", index, key, line[key], other[key])
      end
    end
  end
end

return checks
