-- reader: a project opened read-only: its configuration, its folded journal and the last state note. Takes no lock, so
-- it works while a loop runs. Called by the commands.
local allowance = require "apsis.live.allowance"
local checkpoint = require "apsis.live.checkpoint"
local config = require "apsis.project.config"
local direction = require "apsis.direction"
local clock = require "apsis.core.clock"
local fs = require "apsis.fs"
local git = require "apsis.git"
local held = require "apsis.live.held"
local history = require "apsis.core.history"
local note = require "apsis.live.note"
local moved = require "apsis.live.moved"
local links = require "apsis.project.links"
local rooms = require "apsis.core.rooms"
local seal = require "apsis.live.seal"
local session = require "apsis.live.session"
local paths = require "apsis.project.path"
local suggest = require "apsis.suggest"

local reader = {}

local Reader = {}
Reader.__index = Reader

function reader.directory_option(parser)
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
end

-- The text of dir's manifest.yaml as committed in HEAD; nil if there is none.
local function committed(dir)
  local path = config.find(dir or ".")
  local folder = path and path:match "^(.*)/manifest.yaml$"
  local repo = folder and git.open(folder)
  if not repo then return nil end
  local text = repo:read("HEAD", path:sub(#repo:info().workdir + 2))
  repo:close()
  return text
end

-- The project with only its configuration; if its manifest.yaml is wrong, by the committed one. reader | nil, message,
-- 2.
function reader.configure(dir)
  local opened, message, code = session.configure(dir)
  local text = not opened and committed(dir)
  local before = text and session.configure(dir, nil, text)
  if before then
    before:say(message)
    before:say "manifest.yaml as committed in HEAD is used to read"
    opened = before
  end
  if not opened then return nil, message, code end
  local self = setmetatable({ manifest = opened.manifest, dir = opened.dir, home = opened.home, session = opened },
    Reader)
  self.metric = direction.new(opened.manifest.metric)
  self.refs = "refs/apsis/" .. opened.manifest.project.ref .. "/"
  self.branch = opened.manifest.branch
  return self
end

-- The history to fold: of the project's journal, from where its checkpoint ends; or of what a room finds elsewhere (on
-- the branch of a goal's state file in a fresh clone), or of nothing.
local function find_history(self)
  local opened, own_branch = self.session, self.manifest.own_branch
  if fs.stat(self.home .. "/logs/results.jsonl") then
    opened:read_journal()
    self.has_journal = true
    local sealed = seal.open(self.home)
    opened.journal.seal = sealed.there and sealed or nil -- else there is nothing to compare with
    return checkpoint.history(self.home, opened.journal, self.metric, own_branch)
  end
  opened.journal = rooms.first("stored_journal", self)
  return history.new(self.metric, opened.journal, own_branch)
end

-- Tells the user that the journal's values are of another metric than the manifest's.
function reader.say_metric(opened, given, metric)
  opened:say(("%s: metric: the manifest has %s (%s), but the journal's values are of %s (%s), and are shown so; "
    .. "`apsis baseline --again` measures by the manifest"):format(opened.manifest.where "metric", given.name,
    given.direction, metric.name, metric.direction))
end

-- Folds the journal. Without one the history is empty. true | nil, message, 3.
function Reader:fold()
  local ok, message = true, nil
  self.history = find_history(self)
  if self.session.journal then ok, message = self.history:fold(self.session.journal) end
  self.last, self.remark = note.read(self.home)
  if not ok then return nil, message, 3 end
  local journal = self.session.journal
  local sealed = journal and journal.seal
  self.lines_altered = sealed and sealed:problem(self.history.count)
  self:note_altered(self.lines_altered)
  self:note_altered(self.has_journal and allowance.problem(self.home, self.last))
  local given, metric = self.metric, self.history.metric
  if metric ~= given then
    self.metric = metric
    reader.say_metric(self.session, given, metric)
  end
  return true
end

-- problem: what somebody changed beside apsis; nil or false if nothing.
function Reader:note_altered(problem)
  self.altered = self.altered or problem or nil
  if problem then self.session:say(problem) end
end

-- Looks for refs that somebody moved; for commands that open the repository anyway, as that takes longer than all else
-- that a reader does.
function Reader:check_refs()
  self:note_altered(self.has_journal and self:with_repository(moved.ref, self, self.history))
end

-- Folds what a run has written since, and reads its note again; the work is as long as what is new. Returns whether
-- something changed; nil, message, 3 if the journal cannot be read; nil without a message if it is another one now, or
-- the first: then the project is to be opened again.
function Reader:follow()
  local stat, note_stat = fs.stat(self.home .. "/logs/results.jsonl"), fs.stat(self.home .. "/logs/state.json")
  local before = self.followed or {}
  if (stat ~= nil) ~= (self.has_journal == true) then return nil end
  if stat and before.ino and (stat.ino ~= before.ino or stat.size < before.size) then return nil end
  local grown = stat and stat.size ~= before.size
  local noted = note_stat and (note_stat.ino ~= before.note_ino or note_stat.ctime ~= before.note_ctime)
  self.followed = { ino = stat and stat.ino, size = stat and stat.size, note_ino = note_stat and note_stat.ino,
    note_ctime = note_stat and note_stat.ctime }
  if noted then self.last, self.remark = note.read(self.home) end
  if not grown then return noted or false end
  local count = self.history.count
  self.session.journal.seal = nil -- it was compared when the project was opened
  local ok, message = self.history:fold(self.session.journal)
  if not ok then return nil, message, 3 end
  self.metric = self.history.metric
  return noted or self.history.count > count
end

-- Configured and folded. reader | nil, message, code.
function reader.open(dir)
  local self, message, code = reader.configure(dir)
  if not self then return nil, message, code end
  local ok
  ok, message, code = self:fold()
  if not ok then return nil, message, code end
  return self
end

-- As open, but at least one line is required. reader | nil, message, code.
function reader.with_lines(dir)
  local self, message, code = reader.open(dir)
  if not self then return nil, message, code end
  if self.history.count == 0 then
    return nil, session.saved(self.home)
      or ("no experiments yet: run `apsis baseline%s` first"):format(paths.argument(dir)), 3
  end
  return self
end

local function known_ids(self)
  local ids = {}
  for index = 1, self.history.count do
    ids[#ids + 1] = self.history:at(index).candidate
  end
  return ids
end

-- At most five ids near a number, or the newest ones.
local function near(ids, number)
  local sorted = table.move(ids, 1, #ids, 1, {})
  if number then
    table.sort(sorted, function(a, b)
      local x, y = math.abs(tonumber(a:sub(2)) - number), math.abs(tonumber(b:sub(2)) - number)
      if x ~= y then return x < y end
      return a < b
    end)
  else
    table.sort(sorted, function(a, b) return tonumber(a:sub(2)) > tonumber(b:sub(2)) end)
  end
  return table.concat(sorted, ", ", 1, math.min(5, #sorted))
end

local named = { best = true, current = true, baseline = true }

-- runs/0042, or runs/0000_baseline.
local function run_path(record)
  return ("runs/%04d%s"):format(record.experiment, record.outcome == "baseline" and "_baseline" or "")
end

-- A candidate that waits for an answer, as a record whose outcome says so.
local function waiting_record(self, waits)
  local fields = waits.line
  fields.timestamp, fields.outcome = clock.iso(waits.since), waits.text
  return self.history:unwritten(fields)
end

-- The record of ID: c0042, 42, best, current or baseline. waiting: also one that waits for an answer. record | nil,
-- message, 2.
function Reader:find(id, waiting)
  local number = math.tointeger(tonumber(id:match("^c?(%d+)$")))
  local record = named[id] and self.history[id] or number and self.history:get(("c%04d"):format(number))
  if record then
    local plain, message, code = links.none_in(self.home, run_path(record))
    if not plain then return nil, message, code end
    return record
  end
  if named[id] then return nil, ("there is no %s yet"):format(id), 2 end
  local waits = number and held.of(self.home, number, self.history)
  if waits and waiting then return waiting_record(self, waits) end
  if waits then return nil, ("%s has no line yet: it %s"):format(waits.line.candidate, waits.text), 2 end
  local ids = known_ids(self)
  return nil, ("no candidate %q%s; %s: %s; or best, current, baseline"):format(id,
    reader.misplaced(id) .. suggest.sentence(id, { "best", "current",
    "baseline" }), number and "nearest" or "newest", near(ids, number)), 2
end

-- A hint if an id is a directory, so probably meant as the project; else "".
function reader.misplaced(...)
  for _, id in ipairs { ... } do
    local stat = fs.stat(id)
    if stat and stat.type == "directory" then
      return ("; %s is a directory: name the project with -C%s"):format(id, paths.argument(id))
    end
  end
  return ""
end

-- The repository. handle | nil, message, 3. The caller closes it.
function Reader:repository()
  local repo, message = git.open(self.dir)
  if not repo then return nil, message, 3 end
  return repo
end

-- What read(repository, ...) returns; nil if there is no repository.
function Reader:with_repository(read, ...)
  local repo <close> = self:repository()
  return repo and read(repo, ...)
end

function Reader:run_dir(record)
  return self.home .. "/" .. run_path(record)
end

-- Why an experiment's folder is missing, for people; nil if it is there.
function Reader:removed(record)
  local dir = self:run_dir(record)
  if fs.stat(dir) then return nil end
  local keep = self.manifest.keep_runs
  if not keep then
    return ("%s is not there any more: what the provider was asked, logs and artifacts were in it"):format(dir)
  end
  return ("%s was removed (keep_runs: %d in the manifest): what the provider was asked, logs and artifacts were in "
    .. "it; its commit and its "
    .. "line in the journal stay"):format(dir, keep)
end

return reader
