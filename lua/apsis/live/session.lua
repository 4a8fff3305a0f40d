-- session: a project opened for a command: its configuration, its lock, its log, its journal, its world and its engine, each
-- only as far as the command needs. Errors come back as message and exit code. Called by the commands.
local clock = require "apsis.core.clock"
local config = require "apsis.project.config"
local contract = require "apsis.core.strategy"
local fs = require "apsis.fs"
local guard = require "apsis.guard"
local journal = require "apsis.core.journal"
local loop = require "apsis.core.loop"
local note = require "apsis.live.note"
local display = require("apsis.project.manifest").display
local program = require "apsis.project.program"
local show = require "apsis.cli.table"
local links = require "apsis.project.links"
local providers = require "apsis.project.providers"
local prompts = require "apsis.project.prompts"
local rooms = require "apsis.core.rooms"
local state = require "apsis.state"
local suggest = require "apsis.suggest"
local world = require "apsis.live.world"

local session = {}

local Session = {}
Session.__index = Session

local levels = { debug = 1, info = 2, warn = 3, error = 4 }

-- The effective configuration of the project at or above dir. session | nil, message, 2.
function session.configure(dir, overrides)
  local good, wrong = clock.check()
  if not good then return nil, wrong, 2 end
  local manifest, errors = config.load(dir or ".", overrides or {})
  if not manifest then return nil, table.concat(errors, "\n"), 2 end
  local plain, link, code = links.check(manifest)
  if not plain then return nil, link, code end
  local self = setmetatable({ manifest = manifest, dir = manifest.dir, home = manifest.home, overrides = overrides }, Session)
  self.seed, self.target = manifest.seed or 1, manifest.metric.target
  return self
end

-- logs/apsis.log, and the user's terminal for warnings.
function Session:log(level, text)
  local threshold = levels[self.manifest.log_level or "info"]
  if levels[level] < threshold then return end
  if level == "warn" or level == "error" then self:say(text) end
  local clean = text:gsub("\t", "  "):gsub("[%z\1-\8\11-\31\127]", "?")
  fs.append(self.home .. "/logs/apsis.log", ("%s %-5s %s\n"):format(journal.timestamp(clock.time()), level, clean))
end

-- The log as a function, for whoever knows no session.
function Session:logger()
  return function(level, text) self:log(level, text) end
end

-- A line for the user, on stderr, clear of a progress line.
function Session:say(text)
  if self.progress_line then self.progress_line:clear() end
  text = text:gsub("[%z\1-\8\11-\31\127]", "?"):gsub("\xC2[\x80-\x9F]", "?")
  if not utf8.len(text) then text = text:gsub("[\x80-\xFF]", "?") end
  io.stderr:write("apsis: ", text, "\n")
end

-- One process at a time may write a project's state. true | nil, message, 3, "LOCKED" if another one does.
function Session:lock()
  fs.mkdir(self.home)
  for _, folder in ipairs { "/.apsis", "/logs", "/runs" } do -- what apsis writes is no change of the user's
    local ours = folder == "/.apsis" and "/.apsis/.gitignore" or folder -- a folder that is there is the user's to track or not
    if not fs.stat(self.home .. ours) and fs.mkdir(self.home .. folder) then fs.write(self.home .. folder .. "/.gitignore", "*\n") end
  end
  local lock, message, why = state.lock(self.home .. "/.apsis/lock")
  if not lock then return nil, ("another apsis works on this project: %s"):format(message), 3, why end
  self.held = lock
  return true
end

function Session:unlock()
  if self.held then self.held:close() end
  self.held = nil
end

-- Opens the journal for append (a torn tail is cut and said).
function Session:open_journal()
  local ok, message = fs.mkdir(self.home .. "/logs")
  if not ok then return nil, message, 3 end
  local opened, cut = journal.open(self.home .. "/logs/results.jsonl")
  if not opened then return nil, cut, 3 end
  if cut then
    self:log("warn", ("logs/results.jsonl: the last line was torn (%d bytes, from a crash in the middle of writing) and was cut")
      :format(cut.cut_bytes))
  end
  self.journal = opened
  return true
end

-- For commands that only read: the journal as it stands.
function Session:read_journal()
  local path = self.home .. "/logs/results.jsonl"
  if not fs.stat(path) then return nil, "no experiments yet: run `apsis baseline` first", 3 end
  self.journal = journal.reader(path)
  return true
end

function Session:load_strategy()
  local spec = self.manifest.strategy
  guard.limits { cpu_s = self.manifest.limits.hook_cpu_sec, memory_mb = self.manifest.limits.hook_memory_mb }
  local loaded, message = contract.load { use = spec.use, options = spec.options, dir = self.dir }
  if not loaded then
    local from = self.strategy_from or self.manifest.where "strategy" .. ": strategy"
    return nil, ("%s: %s"):format(from, message), 2
  end
  self.strategy = loaded
  return true
end

-- A rule that names no file there is a mistake unless another one does: with nothing writable no candidate could differ.
local function check_writable(self, live)
  local info = live.repo:commit_info(live.head)
  local paths = live:files_of { commit = live.head, tree = info.tree }
  for _, path in ipairs(paths) do
    if live.scope:mode(path) == "writable" then return true end
  end
  for index, rule in ipairs(self.manifest.files) do
    if rule.mode == "writable" and not rule.path:find("[*?%[]") then
      return nil, ("%s: files: %q is writable and not there, and nothing else is writable%s"):format(
        self.manifest.where(("files[%d].path"):format(index)), rule.path, suggest.sentence(rule.path, paths)), 2
    end
  end
  return true
end

-- What the user types, where they stand, to commit the files that are missing and those of the project's own that are too.
local function commit_line(self, live, missing)
  local words, files = {}, { "manifest.yaml", self.manifest.program, self.manifest.strategy.use:match("^[^/].*%.lua$") }
  for index, path in ipairs(missing) do words[index] = show.at(path) end
  for _, path in ipairs(files) do
    local there = fs.stat(self.dir .. "/" .. path) and not live:read({ commit = live.head }, path)
    if there and not live.repo:is_ignored(live:repository_path(path)) then words[#words + 1] = show.at(path) end
  end
  local here = fs.realpath(self.dir) == fs.cwd()
  local git = here and "git" or "git -C" .. show.at(display(self.dir))
  return ("%s add%s && %s commit -m 'apsis: project files'"):format(git, table.concat(words), git)
end

-- Named files that the candidates would lack: carried along where git ignores them, else an error with the line to run.
local function check_named_files(self, live)
  live.carried = {}
  local missing = {}
  for _, rule in ipairs(self.manifest.files) do
    local path = rule.path
    local stat = not path:find("[*?%[]") and fs.stat(self.dir .. "/" .. path)
    local there = stat and stat.type == "file"
    local committed = there and live:read({ commit = live.head }, path)
    if live.broken then return nil, live.broken.message, live.broken.code end
    if there and not committed then
      if (rule.mode == "read_only" or rule.mode == "hidden") and live.repo:is_ignored(live:repository_path(path)) then
        table.insert(live.carried, { path = path, mode = rule.mode })
      elseif rule.mode ~= "generated" then
        missing[#missing + 1] = path
      end
    end
  end
  if #missing == 0 then return check_writable(self, live) end
  return nil, ("named in the manifest and not committed, so candidates would not have it: %s\n  run: %s"):format(
    table.concat(missing, " "), commit_line(self, live, missing)), 3
end

local function stages_of(manifest)
  local seen, list = {}, {}
  for _, command in ipairs(manifest.verification.commands) do
    if not seen[command.stage] then
      seen[command.stage] = true
      list[#list + 1] = command.stage
    end
  end
  table.sort(list)
  return list
end

-- What a stage must reach for the next one to begin: { [stage] = value }.
local function thresholds_of(manifest)
  local thresholds = {}
  for _, command in ipairs(manifest.verification.commands) do
    if command.threshold then thresholds[command.stage] = command.threshold end
  end
  return thresholds
end

-- What another tool's file says that is not used: shown until there is a baseline, then only logged.
local function report_ignored(self)
  local level = fs.stat(self.home .. "/logs/results.jsonl") and "info" or "warn"
  for _, text in ipairs(self.manifest.ignored or {}) do self:log(level, text) end
end

-- The world of git and processes; unchecked: whether its files are there to be measured is not asked.
function Session:open_world(progress, unchecked)
  local live, message, code = world.open(self.manifest, { seed = self.seed, configuration = config.plain(self.manifest),
    log = function(level, text) self:log(level, text) end, progress = progress })
  if not live then return nil, message, code end
  self.world = live
  live.measurer, message, code = rooms.first("measurer", live)
  if live.measurer == false then return nil, message, code end
  live.stage_list = live.measurer and live.measurer:stages() or stages_of(self.manifest)
  report_ignored(self)
  if unchecked then return true end
  local seen
  seen, message, code = live:check_cage()
  if not seen then return nil, message, code end
  return check_named_files(self, live)
end

-- The project's templates, before a model is asked with them. true | nil, message, 2.
function Session:check_prompts()
  local found = prompts.check(self.home, self.strategy, (providers.of(self.manifest.provider) or {}).reads_answers)
  for _, text in ipairs(found.warnings) do self:log("warn", text) end
  if #found.errors == 0 then return true end
  return nil, table.concat(found.errors, "\n"), 2
end

function Session:project_facts()
  local by_mode, provider = {}, self.manifest.provider or {}
  for _, rule in ipairs(self.manifest.files) do
    by_mode[rule.mode] = by_mode[rule.mode] or {}
    table.insert(by_mode[rule.mode], rule.path)
  end
  local text = program.load(self.dir .. "/" .. self.manifest.program)
  return { name = self.manifest.project.name, description = self.manifest.project.description, files = by_mode,
    program = text and text.text or nil, prompts = prompts.read(self.home), provider = provider.kind,
    reads_answers = (providers.of(provider) or {}).reads_answers }
end

-- The engine that the manifest describes, over a world.
function Session:new_engine(over, budget)
  local manifest = self.manifest
  local provider = manifest.provider or {}
  return loop.new { strategy = self.strategy, world = over, journal = self.journal, metric = manifest.metric,
    metrics = manifest.metrics, tie_breaker = manifest.metric.tie_breaker, seed = self.seed, name = manifest.project.name,
    workers = manifest.execution.workers, budget = budget, project = self:project_facts(), models = provider.models,
    model_choice = provider.choice, thresholds = thresholds_of(manifest), acceptance = manifest.acceptance, guards = manifest.guards,
    trajectory = manifest.trajectory, branch_baselines = manifest.own_branch }
end

-- The engine over the opened world and journal, folded. visit(record) is called for every line.
function Session:open_engine(visit)
  self.engine = self:new_engine(self.world, self.manifest.budget)
  self.world.history, self.world.strategy_name = self.engine.history, self.strategy.name
  local ok, message, code = self.engine:fold(visit)
  if not ok then return nil, message, code == "ESTRATEGY" and 2 or 3 end
  return true
end

-- What the last process left behind.
function Session:last_state()
  local last, remark = note.read(self.home)
  if remark then self:log("warn", remark) end
  return last
end

-- Calls each step in turn; the first that fails ends it. true | nil, message, code, why (of lock).
function session.steps(self, ...)
  for _, step in ipairs { ... } do
    local ok, message, code, why = (type(step) == "function" and step or self[step])(self)
    if not ok then return nil, message, code, why end
  end
  return true
end

function Session:close()
  if self.journal then self.journal:close() end
  if self.world then self.world:close() end
  self:unlock()
end

return session
