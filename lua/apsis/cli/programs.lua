-- programs: the standing goals of a repository as `schedule` and `tick` see them: each with its configuration, what its state file
-- says, and whether its journal has lines that the file has not taken in. Changes nothing. Called by schedule and tick.
local clock = require "apsis.engine.clock"
local config = require "apsis.project.config"
local fs = require "apsis.fs"
local git = require "apsis.git"
local json = require "apsis.json"
local keeper = require "apsis.cli.keeper"
local memory = require "apsis.project.memory"
local programs = require "apsis.project.programs"
local schedule = require "apsis.project.schedule"
local state = require "apsis.state"

local listing, place = {}, {}
place.__index = place

-- The manifest.yaml files of HEAD and those not committed yet, as far as they lie in the working tree: absolute paths.
local function manifests_of(repo, info)
  local found, seen = {}, {}
  local function take(path)
    local whole = info.workdir .. "/" .. path
    if path:find("%f[^/\0]manifest%.yaml$") and not seen[whole] and fs.stat(whole) then
      seen[whole], found[#found + 1] = true, whole
    end
  end
  for _, entry in ipairs(repo:entries(info.head) or {}) do take(entry.path) end
  for _, path in ipairs(repo:dirty { untracked = true } or {}) do take(path:sub(-1) == "/" and path .. "manifest.yaml" or path) end
  return found
end

-- How many lines the journal has, and when the last was written (seconds, or nil).
function listing.journal_facts(path)
  if not fs.stat(path) then return 0 end
  local count, last = 0, nil
  for line in state.lines(path) do count, last = count + 1, line end
  local record = last and json.decode(last)
  return count, type(record) == "table" and type(record.timestamp) == "string" and clock.parse(record.timestamp) or nil
end

-- What the state file says, into the program; a file that cannot be read makes the program invalid.
local function read_state(program, repo, manifest)
  local notes = program.warnings
  local store, message = keeper.store(repo, manifest, function(_, text) notes[#notes + 1] = text end)
  local read
  if store then read, message = store:read() end
  if not read then
    program.status, program.reason = "invalid", message
    return
  end
  program.state_bytes = read.text and #read.text or 0
  program.lines, program.last_line = listing.journal_facts(manifest.home .. "/logs/results.jsonl")
  if not read.text then return end
  local doc = memory.parse(read.text, program.name)
  program.memory = doc:fields()
  program.best = program.memory.best_metric
  for _, text in ipairs(doc.warnings) do notes[#notes + 1] = ("%s.md: %s"):format(program.name, text) end
end

local function complete(program, repo)
  local manifest = program.config
  program.warnings = program.warnings or {}
  if program.status ~= "ready" then return end
  program.schedule_text = manifest.schedule
  program.schedule = manifest.schedule and schedule.parse(manifest.schedule)
  program.direction, program.target, program.metric = manifest.metric.direction, manifest.metric.target, manifest.metric.name
  program.held = fs.stat(manifest.home .. "/.apsis/pause") and "paused by `apsis pause`" or nil
  read_state(program, repo, manifest)
  program.behind = program.lines ~= nil and program.lines > (program.memory and program.memory.journal_lines or 0)
end

-- place { root, repo, programs } | nil, message, code. Closed by its user.
function listing.open(dir)
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
  self.programs = programs.list(self.root, manifests_of(repo, info), config.load)
  for _, program in ipairs(self.programs) do complete(program, repo) end
  return self
end

function place:find(name)
  for _, program in ipairs(self.programs) do
    if program.name == name then return program end
  end
end

function place:close()
  self.repo:close()
end

return listing
