-- survey: all standing goals of a repository: configuration, state file, and whether the journal has lines that the
-- state file lacks. Changes nothing. Called by schedule, status, steer and tick.
local clock = require "apsis.core.clock"
local config = require "apsis.project.config"
local direction = require "apsis.direction"
local due = require "apsis.goals.due"
local fs = require "apsis.fs"
local git = require "apsis.git"
local json = require "apsis.json"
local links = require "apsis.project.links"
local lock = require "apsis.live.lock"
local upkeep = require "apsis.goals.upkeep"
local statefile = require "apsis.goals.statefile.document"
local programs = require "apsis.goals.find"
local projects = require "apsis.live.projects"
local schedule = require "apsis.goals.schedule"
local state = require "apsis.state"

local survey, place = {}, {}
place.__index = place

-- By name the program files that HEAD has in other folders than root (paths in the repository).
local function programs_elsewhere(entries, info, root)
  local elsewhere, inside = {}, #root > #info.workdir and root:sub(#info.workdir + 2) .. "/" or ""
  for _, entry in ipairs(entries) do
    local folder, below = entry.path:match("^(.-)%.autoloop/programs/(.*)%.md$")
    local name = folder and folder ~= inside and (below:match("^([^/]+)/program$") or below:match("^[^/]+$"))
    if name then elsewhere[name] = entry.path end
  end
  return elsewhere
end

-- A journal's last line: its time (seconds) and the best after it; each nil if missing.
local function last_of(line)
  local record = line and json.decode(line, true)
  if type(record) ~= "table" then return nil, nil end
  return type(record.timestamp) == "string" and clock.parse(record.timestamp) or nil, type(record.best) == "number"
    and record.best or nil
end

-- The number of journal lines, and last_of of the last one.
function survey.journal_facts(path)
  if not fs.stat(path) then return 0 end
  local count, last = 0, nil
  for line in state.lines(path) do count, last = count + 1, line end
  return count, last_of(last)
end

-- If the state file could not be written, the turn was noted in .apsis/turn and counts from there.
local function take_turn(program, manifest)
  local turn = fs.read(manifest.home .. "/.apsis/turn")
  local at = turn and clock.parse(turn)
  local said = program.fields or { recent_statuses = {} }
  if at and at > (said.last_run and clock.parse(said.last_run) or 0) then
    said.last_run = turn
    program.fields = said
  end
end

-- A goal that was completed with another target goes on, unless the new target is met too.
local function reopen(program, manifest)
  local said, metric = program.fields, direction.new(manifest.metric)
  if said.completed and statefile.met(said.completed_reason, metric, metric.target) == "another"
    and not (metric.target and metric:reaches(program.best, metric.target)) then
    said.completed, said.completed_reason = false, nil
  end
end

-- Reads the state file into the program; an unreadable file makes the program invalid.
local function read_state(program, repo, manifest)
  local notes = program.warnings
  local store, message = upkeep.store(repo, manifest, function(_, text) notes[#notes + 1] = text end)
  local read
  if store then read, message = store:read() end
  if not read then
    program.status, program.reason = "invalid", message
    return
  end
  program.state_bytes = read.text and #read.text or 0
  program.lines, program.last_line, program.best = survey.journal_facts(manifest.home .. "/logs/results.jsonl")
  if program.lines == 0 and read.journal then
    program.last_line, program.best = last_of(read.journal:match("([^\n]*)\n?$"))
  end
  if not read.text then return take_turn(program, manifest) end
  local doc = statefile.parse(read.text, program.name)
  program.fields = doc:fields()
  program.best = program.best or program.lines == 0 and program.fields.best_metric or nil
  reopen(program, manifest)
  take_turn(program, manifest)
  for _, text in ipairs(doc.warnings) do notes[#notes + 1] = ("%s.md: %s"):format(program.name, text) end
end

local function complete(program, repo)
  local manifest = program.config
  program.warnings = program.warnings or {}
  if program.status ~= "ready" then return end
  program.schedule_text = manifest.schedule
  program.schedule = manifest.schedule and schedule.parse(manifest.schedule)
  program.direction, program.target, program.metric = manifest.metric.direction, manifest.metric.target,
    manifest.metric.name
  if not manifest.provider then
    program.status, program.reason = "invalid", ("%s: provider: no provider proposes changes: add provider: {kind: "
      .. "command, preset: claude}, or one for all goals in .autoloop/config.yaml"):format(program.file)
    return
  end
  local plain, link = links.check(manifest)
  if not plain then
    program.status, program.reason = "invalid", link
    return
  end
  program.held = fs.stat(manifest.home .. "/.apsis/pause") and "paused by `apsis pause`" or nil
  read_state(program, repo, manifest)
  program.behind = program.lines ~= nil and program.lines > (program.fields and program.fields.journal_lines or 0)
end

-- The file of the goal with that name, anywhere in dir's repository; nil if there is none.
function survey.named(name, dir)
  local self = survey.open(dir)
  local found = self and self:find(name)
  if self then self:close() end
  return found and found.path
end

-- place { root, repo, programs } | nil, message, code. The caller closes it.
function survey.open(dir)
  local good, wrong = clock.check()
  if not good then return nil, wrong, 2 end
  local start, message = fs.realpath(dir or ".")
  if not start then return nil, ("no such directory: %s"):format(message), 2 end
  local repo, code
  repo, message, code = git.open(start)
  if not repo then
    return nil, code == "ENOREPO" and start .. " is not in a git repository; create one: git init && git add -A && "
      .. "git commit -m start" or message, 3
  end
  local info = repo:info()
  local lacks = info.bare and "is bare: work in a clone with files"
    or not info.head and "has no commit yet: git add -A && git commit -m start"
  if lacks then
    repo:close()
    return nil, "the repository " .. lacks, 3
  end
  local self = setmetatable({ root = programs.root(start) or info.workdir, repo = repo, gitdir = info.gitdir }, place)
  local entries = repo:entries(info.head) or {}
  local elsewhere = programs_elsewhere(entries, info, self.root)
  self.programs, message = programs.list(self.root, projects.manifests(repo, info, entries), config.load)
  if message then
    repo:close()
    return nil, message, 2
  end
  for _, program in ipairs(self.programs) do
    local twin = program.status == "ready" and elsewhere[program.name]
    if twin then
      program.status, program.reason = "invalid", ("%s: %s also names a goal %s, and the two would share a "
        .. "branch: rename one"):format(program.file, twin, program.name)
    end
    complete(program, repo)
  end
  return self
end

function place:find(name)
  for _, program in ipairs(self.programs) do
    if program.name == name then return program end
  end
end

-- The verdicts on all programs at `now`, in order.
function place:judge(now)
  local verdicts = {}
  for index, program in ipairs(self.programs) do verdicts[index] = due.judge(program, now) end
  return verdicts
end

-- The git directory that all worktrees of the repository share.
function place:common_dir()
  return lock.common_dir(self.gitdir)
end

function place:close()
  self.repo:close()
end

return survey
