-- opening: what a session needs to run experiments: strategy, world and engine, and the errors that prevent them.
-- Methods of session, loaded on first use.
local config = require "apsis.project.config"
local contract = require "apsis.core.strategy"
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local guard = require "apsis.guard"
local loop = require "apsis.core.loop"
local paths = require "apsis.project.path"
local program = require "apsis.project.program"
local prompts = require "apsis.project.prompts"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"
local suggest = require "apsis.suggest"
local world = require "apsis.live.world"

local opening = {}

-- A tie_breaker that the strategy does not ask for: an error if both are the manifest's. true | nil, message, 2.
local function check_ties(self, strategy)
  if strategy.breaks_ties or not self.manifest.states "metric.tie_breaker" then return true end
  local text = ("%s: metric.tie_breaker: strategy %s does not break ties, so this would do nothing"):format(
    self.manifest.where "metric.tie_breaker", strategy.name)
  if not self.strategy_from then return nil, text .. "; remove it, or take hillclimb or openevolve", 2 end
  self:say(text)
  return true
end

-- What gave the strategy the option that the message names, else the strategy.
local function origin(self, message)
  local named = message:match 'unknown option "([^"]*)"' or message:match "option ([%w_]+) must be"
  for key in pairs(self.set or {}) do
    if key == named or not named and message:find("option.*%f[%w_]" .. key .. "%f[^%w_]") then return "--set" end
  end
  return self.strategy_from or self.manifest.where "strategy" .. ": strategy"
end

function opening:load_strategy()
  local spec = self.manifest.strategy
  guard.limits { cpu_s = self.manifest.limits.hook_cpu_sec, memory_mb = self.manifest.limits.hook_memory_mb }
  local loaded, message = contract.load { use = spec.use, options = spec.options, dir = self.dir,
    prepare = self.prepare }
  if not loaded then return nil, ("%s: %s"):format(origin(self, message), message), 2 end
  self.strategy = loaded
  return check_ties(self, loaded)
end

-- A writable rule that matches no file is an error unless another matches: with nothing writable no candidate could
-- differ.
local function check_writable(self, live)
  local info = live.repo:commit_info(live.head)
  local files = live:files_of { commit = live.head, tree = info.tree }
  for _, path in ipairs(files) do
    if live.scope:mode(path) == "writable" then return true end
  end
  for index, rule in ipairs(self.manifest.files) do
    if rule.mode == "writable" and not rule.path:find("[*?%[]") then
      return nil, ("%s: files: %q matches no committed file, and nothing else is writable%s"):format(
        self.manifest.where(("files[%d].path"):format(index)), rule.path, suggest.sentence(rule.path, files)), 2
    end
  end
  return true
end

-- The command line that commits the missing files, and the project's own if they are missing too.
local function commit_line(self, live, missing)
  local words, files = {}, { "manifest.yaml", self.manifest.program, self.manifest.strategy.use:match("^[^/].*%.lua$") }
  for index, path in ipairs(missing) do words[index] = paths.argument(path) end
  for _, path in ipairs(files) do
    local there = fs.stat(self.dir .. "/" .. path) and not live:read({ commit = live.head }, path)
    if there and not live.repo:is_ignored(live:repository_path(path)) then words[#words + 1] = paths.argument(path) end
  end
  local here = fs.realpath(self.dir) == fs.cwd()
  local git = here and "git" or "git -C" .. paths.argument(paths.display(self.dir))
  return ("%s add%s && %s commit -m 'apsis: project files'"):format(git, table.concat(words), git)
end

-- Files that the manifest names and candidates would lack: carried along if git ignores them, else an error with the
-- command to run.
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

-- The value a stage must reach before the next begins, and the metric that it is about: { [stage] = value or name }.
local function thresholds_of(manifest)
  local thresholds, names = {}, {}
  for _, command in ipairs(manifest.verification.commands) do
    if command.threshold then
      thresholds[command.stage], names[command.stage] = command.threshold, command.threshold_of
    end
  end
  return thresholds, names
end

-- Parts of another tool's file that apsis ignores: shown until there is a baseline, then only logged.
local function report_ignored(self)
  local level = fs.stat(self.home .. "/logs/results.jsonl") and "info" or "warn"
  for _, text in ipairs(self.manifest.ignored or {}) do self:log(level, text) end
  for _, part in ipairs { "verification", "provider" } do
    local spec = self.manifest[part] or {}
    local names = environment.suspicious(spec.pass_env, spec.network)
    local runs = part ~= "provider" or (providers.of(spec) or {}).command
    if runs and #names > 0 then
      self:log(level, ("%s: the value looks like a credential, so the %s's commands do not get it; "
        .. "`%s: {pass_env: [%s]}` passes it on"):format(table.concat(names, ", "), part, part, names[1]))
    end
  end
end

-- The world of git and processes; unchecked: do not ask whether its files can be measured.
function opening:open_world(progress, unchecked)
  local live, message, code = world.open(self.manifest, { seed = self.seed, configuration = config.plain(self.manifest),
    log = function(level, text) self:log(level, text) end, progress = progress })
  if not live then return nil, message, code end
  self.world, live.climbs = live, not self.strategy or self.strategy.climbs
  live.measurer, message, code = rooms.first("measurer", live)
  if live.measurer == false then return nil, message, code end
  live.stage_list = live.measurer and live.measurer:stages() or stages_of(self.manifest)
  report_ignored(self)
  if unchecked then return true end
  return self:check_files()
end

-- Whether commands see their programs, candidates have the files that the manifest names, and, unless unasked, where
-- measurements are sent answers. true | nil, message, exit code.
function opening:check_files(unasked)
  local seen, message, code = self.world:check_cage()
  if not seen then return nil, message, code end
  local ok
  ok, message, code = check_named_files(self, self.world)
  if not ok or unasked then return ok, message, code end
  return self.world.executor:ready()
end

-- Checks the project's templates before a model is asked with them. true | nil, message, 2.
function opening:check_prompts()
  local found = prompts.check(self.home, self.strategy, (providers.of(self.manifest.provider) or {}).reads_answers)
  local _, errors = prompts.included(self.dir, self.manifest.prompt.include)
  table.move(errors, 1, #errors, #found.errors + 1, found.errors)
  for _, text in ipairs(found.warnings) do self:log("warn", text) end
  if #found.errors == 0 then return true end
  return nil, table.concat(found.errors, "\n"), 2
end

function opening:project_facts()
  local by_mode, provider = {}, self.manifest.provider or {}
  local kind = providers.of(provider) or {}
  for _, rule in ipairs(self.manifest.files) do
    by_mode[rule.mode] = by_mode[rule.mode] or {}
    table.insert(by_mode[rule.mode], rule.path)
  end
  local prompt = self.manifest.prompt
  local text = program.load(self.dir .. "/" .. self.manifest.program)
  local included = prompts.included(self.dir, prompt.include)
  text = text and text.text or nil
  if included ~= "" then text = (text and text .. "\n\n" or "") .. included end
  return { name = self.manifest.project.name, description = self.manifest.project.description, files = by_mode,
    program = text, prompts = prompts.read(self.home), provider = provider.kind,
    reads_answers = kind.reads_answers, answer_bytes = kind.answer_bytes and kind.answer_bytes(provider),
    prompt_kb = prompt.max_kb, answer = prompt.answer }
end

-- The manifest's engine over a world.
function opening:new_engine(over, budget)
  local manifest = self.manifest
  local provider, thresholds, threshold_of = manifest.provider or {}, thresholds_of(manifest)
  return loop.new { strategy = self.strategy, world = over, journal = self.journal, metric = manifest.metric,
    metrics = manifest.metrics, tie_breaker = manifest.metric.tie_breaker, seed = self.seed,
    name = manifest.project.name,
    workers = manifest.execution.workers, proposals = manifest.execution.proposals, budget = budget,
    project = self:project_facts(), models = provider.models,
    model_choice = provider.choice, thresholds = thresholds, threshold_of = threshold_of,
    acceptance = manifest.acceptance,
    guards = manifest.guards, reflect = manifest.reflect, trajectory = manifest.trajectory,
    branch_baselines = manifest.own_branch }
end

-- The engine over the opened world and the folded journal; visit(record) is called for every line.
function opening:open_engine(visit)
  self.engine = self:new_engine(self.world, self.manifest.budget)
  self.world.history, self.world.strategy_name = self.engine.history, self.strategy.name
  local ok, message, code = self.engine:fold(visit)
  if not ok then return nil, message, code == "ESTRATEGY" and 2 or 3 end
  return true
end

return opening
