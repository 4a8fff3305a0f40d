-- torture: kill -9 at random moments. `apsis exec tests/torture/torture.lua BUILD [KILLS [SEED]]` makes small projects, starts
-- BUILD/apsis run on each, and kills: apsis itself, which is started again, and so on until the run's budget is used up; or the
-- supervisor or the init of a command's cage, or the shell of a verifier or of a provider. Projects have 1, 4 and 16 workers, a Lua
-- function or a command as provider, cages in namespaces or as subreapers, in turn, until KILLS kills have hit. Each line journalled
-- before a kill is there after it, byte by byte, with its ref, and nothing of the commands runs; what lost a part of its cage is booked
-- once, as such a crash; what was answered is not asked for again;
-- at the end numbers, branch, objects and the strategy's plans are as if nothing had happened, and where apsis
-- alone was killed, with one worker, the journal equals that of a run that was left alone. Some projects are driven: submit, wait and
-- run are killed in turn, and each submission has one line. Exit 1 says what differed, and keeps the
-- project.
local checks = require "checks"
local driven = require "driven"
local fs = require "apsis.fs"
local host = require "apsis.host"
local project = require "project"
local random = require "apsis.random"
local session = require "session"

local build = assert(fs.realpath(arg[1] or "build"))
local wanted, seed = math.tointeger(tonumber(arg[2] or 1000)), math.tointeger(tonumber(arg[3] or os.time()))
if not wanted or not seed then
  io.stderr:write("usage: apsis exec torture.lua BUILD [KILLS [SEED]]\n")
  os.exit(2)
end
local tag = ("%d%d"):format(host.pid, os.time())
project.place { apsis = build .. "/apsis", root = ("%s/torture-%s"):format(build, tag), tag = tag, seed = seed }
local rng = random.stream(seed, "torture")

-- In turn; the first four have kinds and numbers of workers enough for a short torture.
local variants = {
  { workers = 1, provider = "command", victims = "all" },
  { workers = 4, provider = "command", victims = "apsis", driven = true },
  { workers = 4, provider = "lua", victims = "all", cage = "subreaper" },
  { workers = 16, provider = "command", victims = "all" },
  { workers = 1, provider = "lua", victims = "apsis" },
  { workers = 4, provider = "command", victims = "all", cage = "subreaper" },
  { workers = 1, provider = "command", victims = "apsis", cage = "subreaper" },
  { workers = 16, provider = "lua", victims = "all" },
  { workers = 4, provider = "lua", victims = "apsis" },
  { workers = 1, provider = "command", victims = "apsis", driven = true },
  { workers = 1, provider = "lua", victims = "all", cage = "subreaper" },
  { workers = 16, provider = "command", victims = "apsis", cage = "subreaper" },
  { workers = 4, provider = "command", victims = "all" },
  { workers = 1, provider = "command", victims = "apsis" },
}
local EXPERIMENTS = wanted < 200 and { [1] = 30, [4] = 40, [16] = 60 } or { [1] = 80, [4] = 120, [16] = 200 }
local MOST_KILLS = math.max(4, math.min(40, wanted // 5)) -- of one project

local names = { "apsis", "supervisor", "init", "verifier", "provider" }
local deck = { apsis = 2, supervisor = 1, init = 1, verifier = 1, provider = 1 } -- how many of each are dealt at once
local totals = { kills = 0, sessions = 0, projects = 0, lines = 0, slowest = 0, slowest_cage = 0, booked = 0, late = 0, redone = 0,
  answers_kept = 0, unread = 0, asked = 0, repeats = { askings = 0, ends = 0 }, submissions = 0, of = {}, workers = {}, driven = {} }
local dealt = {}
for _, kind in ipairs(names) do totals.of[kind], dealt[kind] = 0, 0 end

-- Which kinds are still to be hit of what was dealt; those that were never hit come first.
local function choices(one)
  local new, list = {}, {}
  for _, kind in ipairs(names) do
    if kind ~= "provider" or one.provider == "command" then
      for _ = 1, dealt[kind] do list[#list + 1] = kind end
      if totals.of[kind] == 0 then new[#new + 1] = kind end
    end
  end
  return #new > 0 and new or list
end

local kinds = {}

-- The kind of the next victim; nil where the project or the torture has had its kills.
function kinds.draw(one)
  if totals.kills >= wanted or one.kills >= MOST_KILLS then return nil end
  if one.victims == "apsis" then return "apsis" end
  local list = choices(one)
  if #list == 0 then
    for kind, count in pairs(deck) do dealt[kind] = dealt[kind] + count end
    list = choices(one)
  end
  return rng:choice(list)
end

function kinds.hit(one, kind)
  one.kills, totals.kills, totals.of[kind] = one.kills + 1, totals.kills + 1, totals.of[kind] + 1
  totals.workers[one.workers] = (totals.workers[one.workers] or 0) + 1
  if one.victims == "all" then dealt[kind] = math.max(0, dealt[kind] - 1) end
end

-- One project from its baseline to the end of its budget, killed on the way.
-- How often something happened more than once to an experiment.
local function add_repeats(what, counts)
  for _, count in pairs(counts) do
    totals.repeats[what] = totals.repeats[what] + count - 1
    if what == "askings" then totals.asked = totals.asked + 1 end
  end
end

local function torture(number)
  local what = { name = ("%03d"):format(number), number = number }
  for key, value in pairs(variants[(number - 1) % #variants + 1]) do what[key] = value end
  what.experiments = what.driven and 1000000 or EXPERIMENTS[what.workers]
  local one = project.make(what)
  local lines, finished
  if one.driven then lines = driven.torture(one, rng, kinds, totals)
  else
    repeat lines, finished = session.run(one, rng, kinds, totals) until finished
    checks.strays(one)
    checks.finished(one, lines)
  end
  if one.workers == 1 and one.victims == "apsis" and not one.driven then checks.same(one, lines, session.alone(one)) end
  if one.provider == "command" then
    add_repeats("askings", one:askings())
    add_repeats("ends", one:askings "ends")
  end
  totals.projects, totals.lines = totals.projects + 1, totals.lines + #lines
  print(("project %d, %s: %d kills, %d lines; %d of %d kills in all"):format(number, one.title, one.kills, #lines, totals.kills, wanted))
  io.stdout:flush()
  one:remove()
end

-- 1234567 as 1,234,567.
local function grouped(number)
  return (tostring(number):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

local function counted(keys, of)
  local parts = {}
  for _, key in ipairs(keys) do parts[#parts + 1] = ("%d %s"):format(of[key] or 0, key) end
  return table.concat(parts, ", ")
end

-- The numbers of workers with which something was hit.
local function covered()
  local list = {}
  for workers in pairs(totals.workers) do list[#list + 1] = workers end
  table.sort(list)
  return list
end

assert(fs.mkdir(project.at.root))
print(("torture: seed %d, %d kills"):format(seed, wanted))
local number = 0
while totals.kills < wanted do
  number = number + 1
  torture(number)
end
fs.remove_tree(project.at.root)
assert(totals.booked + totals.late + totals.redone == totals.kills - totals.of.apsis)
print(("nothing lost: %s kills (%s), %d starts, %d projects (workers %s), %s lines; 0 lost, 0 repeated, 0 stray; the last process was "
  .. "gone %.3f s after its kill at most"):format(grouped(totals.kills), counted(names, totals.of), totals.sessions, totals.projects,
  table.concat(covered(), ", "), grouped(totals.lines), math.max(totals.slowest, totals.slowest_cage)))
print(("%d experiments of commands: %d askings were lost to a kill before their command had ended (%d of them after its last step); %d "
  .. "answers were there at a kill, %d of them unread, and none of them was asked for again"):format(totals.asked, totals.repeats.askings,
  totals.repeats.ends, totals.answers_kept, totals.unread))
print(("%d of the kills of apsis were of who drives (%s): each of %d submissions has one line"):format(
  (totals.driven.submit or 0) + (totals.driven["submit --no-wait"] or 0) + (totals.driven.wait or 0) + (totals.driven.run or 0),
  counted({ "submit", "submit --no-wait", "wait", "run" }, totals.driven), totals.submissions))
print(("of the %d kills that were not of apsis %d are a crash in the journal, %d came when the command had ended and its cage was still "
  .. "there, %d were followed by one of apsis, which did the experiment again"):format(totals.kills - totals.of.apsis, totals.booked,
  totals.late, totals.redone))
