-- survey: the standing goals of a repository as `schedule` and `tick` see them: each with its configuration, what its
-- state file says, and whether its journal has lines that the file has not taken in. Changes nothing. Called by
-- schedule, status, steer and tick.
local clock = require "apsis.core.clock"
local config = require "apsis.project.config"
local direction = require "apsis.direction"
local due = require "apsis.goals.due"
local fs = require "apsis.fs"
local git = require "apsis.git"
local json = require "apsis.json"
local links = require "apsis.project.links"
local upkeep = require "apsis.goals.upkeep"
local statefile = require "apsis.goals.statefile.document"
local programs = require "apsis.goals.program.find"
local schedule = require "apsis.goals.schedule"
local state = require "apsis.state"

local survey, place = {}, {}
place.__index = place

-- What of HEAD matters here, and of what is not committed yet: the manifest.yaml files that lie in the working tree
-- (absolute paths), and the program files of other folders than root by their names (paths of the repository).
local function files_of(repo, info, root)
  local found, seen, elsewhere, inside = {}, {}, {}, #root > #info.workdir and root:sub(#info.workdir + 2) .. "/" or ""
  local function take(path)
    local whole = info.workdir .. "/" .. path
    if path:find("%f[^/\0]manifest%.yaml$") and not seen[whole] and fs.stat(whole) then
      seen[whole], found[#found + 1] = true, whole
    end
  end
  for _, entry in ipairs(repo:entries(info.head) or {}) do
    take(entry.path)
    local folder, below = entry.path:match("^(.-)%.autoloop/programs/(.*)%.md$")
    local name = folder and folder ~= inside and (below:match("^([^/]+)/program$") or below:match("^[^/]+$"))
    if name then elsewhere[name] = entry.path end
  end
  for _, path in ipairs(repo:dirty { untracked = true } or {}) do take(path:sub(-1) == "/" and path .. "manifest.yaml" or path) end
  return found, elsewhere
end

-- What a journal's last line says: when it was written (seconds), and the best after it; each nil where it does not
-- say.
local function last_of(line)
  local record = line and json.decode(line, true)
  if type(record) ~= "table" then return nil, nil end
  return type(record.timestamp) == "string" and clock.parse(record.timestamp) or nil, type(record.best) == "number" and record.best or nil
end

-- How many lines the journal has, and of the last one when it was written (seconds) and the best after it.
function survey.journal_facts(path)
  if not fs.stat(path) then return 0 end
  local count, last = 0, nil
  for line in state.lines(path) do count, last = count + 1, line end
  return count, last_of(last)
end

-- The newest turn of a goal whose state file could not be written counts from where it was noted instead.
local function take_turn(program, manifest)
  local turn = fs.read(manifest.home .. "/.apsis/turn")
  local at = turn and clock.parse(turn)
  local said = program.fields or { recent_statuses = {} }
  if at and at > (said.last_run and clock.parse(said.last_run) or 0) then
    said.last_run = turn
    program.fields = said
  end
end

-- A goal that was completed by another target than it has now goes on, unless that one is met too.
local function reopen(program, manifest)
  local said, metric = program.fields, direction.new(manifest.metric)
  if said.completed and statefile.met(said.completed_reason, metric, metric.target) == "another"
    and not (metric.target and metric:reaches(program.best, metric.target)) then
    said.completed, said.completed_reason = false, nil
  end
end

-- What the state file says, into the program; a file that cannot be read makes the program invalid.
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
  if program.lines == 0 and read.journal then program.last_line, program.best = last_of(read.journal:match("([^\n]*)\n?$")) end
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
  program.direction, program.target, program.metric = manifest.metric.direction, manifest.metric.target, manifest.metric.name
  if not manifest.provider then
    program.status, program.reason = "invalid", ("%s: provider: nothing says who proposes changes: add provider: {kind: command, "
      .. "preset: claude}, or one for all goals in .autoloop/config.yaml"):format(program.file)
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

-- The file of the goal of a name, wherever it is in the repository of a directory; nil where there is none.
function survey.named(name, dir)
  local self = survey.open(dir)
  local found = self and self:find(name)
  if self then self:close() end
  return found and found.path
end

-- place { root, repo, programs } | nil, message, code. Closed by its user.
function survey.open(dir)
  local good, wrong = clock.check()
  if not good then return nil, wrong, 2 end
  local start, message = fs.realpath(dir or ".")
  if not start then return nil, ("no such directory: %s"):format(message), 2 end
  local repo, code
  repo, message, code = git.open(start)
  if not repo then
    return nil, code == "ENOREPO" and start .. " is not in a git repository; make it one: git init && git add -A && git commit -m start"
      or message, 3
  end
  local info = repo:info()
  local lacks = info.bare and "is bare: work in a clone of it, which has files"
    or not info.head and "has no commit yet: git add -A && git commit -m start"
  if lacks then
    repo:close()
    return nil, "the repository " .. lacks, 3
  end
  local self = setmetatable({ root = programs.root(start) or info.workdir, repo = repo, gitdir = info.gitdir }, place)
  local manifests, elsewhere = files_of(repo, info, self.root)
  self.programs, message = programs.list(self.root, manifests, config.load)
  if message then
    repo:close()
    return nil, message, 2
  end
  for _, program in ipairs(self.programs) do
    local twin = program.status == "ready" and elsewhere[program.name]
    if twin then
      program.status, program.reason = "invalid", ("%s: %s names a goal %s too, and the two would share a branch: rename one"):format(
        program.file, twin, program.name)
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

-- Whether each program is due at `now`, in their order.
function place:judge(now)
  local verdicts = {}
  for index, program in ipairs(self.programs) do verdicts[index] = due.judge(program, now) end
  return verdicts
end

-- The git directory that all working trees of the repository share.
function place:common_dir()
  local other = fs.read(self.gitdir .. "/commondir")
  return other and fs.realpath(self.gitdir .. "/" .. other:match "^[^\n]*") or self.gitdir
end

function place:close()
  self.repo:close()
end

return survey
