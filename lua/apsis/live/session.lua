-- session: a project opened for a command: configuration, lock, log and journal; and by opening.lua, which read-only
-- commands never load, strategy, world and engine. Errors come back as message and exit code. Called by the commands.
local clock = require "apsis.core.clock"
local config = require "apsis.project.config"
local fs = require "apsis.fs"
local journal = require "apsis.core.journal"
local lock = require "apsis.live.lock"
local note = require "apsis.live.note"
local links = require "apsis.project.links"
local paths = require "apsis.project.path"
local plain = require "apsis.project.plain"
local seal = require "apsis.live.seal"

local session = {}

local Session = {}
Session.__index = Session

for _, name in ipairs { "load_strategy", "open_world", "check_files", "check_prompts", "project_facts", "new_engine",
  "open_engine" } do
  Session[name] = function(...) return require("apsis.live.opening")[name](...) end
end

local levels = { debug = 1, info = 2, warn = 3, error = 4 }

-- The effective configuration of the project at or above dir; text: instead of its manifest.yaml's. session | nil,
-- message, 2.
function session.configure(dir, overrides, text)
  local good, wrong = clock.check()
  if not good then return nil, wrong, 2 end
  local manifest, errors = config.load(dir or ".", overrides or {}, text)
  if not manifest then return nil, table.concat(errors, "\n"), 2 end
  local without_links, link, code = links.check(manifest)
  if not without_links then return nil, link, code end
  local self = setmetatable({ manifest = manifest, dir = manifest.dir, home = manifest.home, overrides = overrides },
    Session)
  self.seed, self.target = manifest.seed or 1, manifest.metric.target
  return self
end

-- logs/apsis.log, and the user's terminal for warnings.
function Session:log(level, text)
  local threshold = levels[self.manifest.log_level or "info"]
  if levels[level] < threshold then return end
  if level == "warn" or level == "error" then self:say(text) end
  local clean = plain.text(text:gsub("\t", "  "))
  fs.append(self.home .. "/logs/apsis.log", ("%s %-5s %s\n"):format(journal.timestamp(clock.time()), level, clean))
end

-- The log as a function, for code that knows no session.
function Session:logger()
  return function(level, text) self:log(level, text) end
end

-- Prints a line on stderr, clear of the progress line.
function Session:say(text)
  if self.progress_line then self.progress_line:clear() end
  io.stderr:write("apsis: ", plain.text(text), "\n")
end

-- Takes the project's lock. true | nil, message, 3, "LOCKED" if another process has it.
function Session:lock()
  fs.mkdir(self.home)
  for _, folder in ipairs { "/.apsis", "/logs", "/runs" } do -- apsis's files are no change of the user's
    -- the user decides whether an existing folder is tracked
    local ours = folder == "/.apsis" and "/.apsis/.gitignore" or folder
    if not fs.stat(self.home .. ours) and fs.mkdir(self.home .. folder) then
      fs.write(self.home .. folder .. "/.gitignore", "*\n")
    end
  end
  local message, code, why
  self.held, message, code, why = lock.take(self.home)
  return self.held and true, message, code, why
end

-- Takes the project's refs, which other working trees of the repository share; returns as lock does.
function Session:claim()
  local code, why
  local info, message = self.world.repo:info()
  if not info then return nil, message, 3 end
  self.claimed, message, code, why = lock.claim(info.gitdir, self.manifest.project.ref, self.home)
  return self.claimed and true, message, code, why
end

function Session:unlock()
  if self.claimed then self.claimed:close() end
  self.claimed = nil
  if self.held then self.held:close() end
  self.held = nil
end

-- The way back to a journal that was removed beside a run, which then saved what it held; nil if there is none.
function session.saved(home)
  local from, to = home .. "/logs/results.jsonl.kept", home .. "/logs/results.jsonl"
  local now = fs.stat(to)
  if now and now.size > 0 or not fs.stat(from) then return nil end
  return ("%s is a journal that was removed beside a run: `mv %s %s` brings it back"):format(from, paths.quoted(from),
    paths.quoted(to))
end

-- Opens the journal for append; cuts a torn tail and reports that.
function Session:open_journal()
  local ok, message = fs.mkdir(self.home .. "/logs")
  local saved = session.saved(self.home)
  if saved or not ok then return nil, saved or message, 3 end
  local opened, cut = journal.open(self.home .. "/logs/results.jsonl")
  if not opened then return nil, cut, 3 end
  if cut then
    self:log("warn", ("logs/results.jsonl: the last line was torn (%d bytes, from a crash in the middle of writing) "
      .. "and was cut")
      :format(cut.cut_bytes))
  end
  self.journal = opened
  return true
end

-- The journal, for commands that only read.
function Session:read_journal()
  local path = self.home .. "/logs/results.jsonl"
  if not fs.stat(path) then
    return nil, session.saved(self.home) or "no experiments yet: run `apsis baseline` first", 3
  end
  self.journal = journal.reader(path)
  return true
end

-- The last process's state note.
function Session:last_state()
  local last, remark = note.read(self.home)
  if remark then self:log("warn", remark) end
  return last
end

-- Calls each step until one fails. true | nil, message, code, why (of lock).
function session.steps(self, ...)
  for _, step in ipairs { ... } do
    local ok, message, code, why = (type(step) == "function" and step or self[step])(self)
    if not ok then return nil, message, code, why end
  end
  return true
end

-- problem: what somebody did to the journal beside apsis, or nil. Then readers are to see each line: no checkpoint.
function Session:note_altered(problem)
  if not problem or self.journal.altered then return end
  self.journal.altered, self.altered = true, self.altered or problem
  self:log("warn", problem)
end

function Session:close()
  if self.checkpoint then
    local read, problem = pcall(seal.problem, self.home)
    self:note_altered(read and problem or nil) -- a journal that cannot be read any more: its next reader says so
    self.checkpoint:write(self.engine.history)
  end
  self.checkpoint = nil
  if self.journal then self.journal:close() end
  if self.world then self.world:close() end
  self:unlock()
end

return session
