-- openevolve: plans the import of an OpenEvolve directory: finds the program, the evaluator and config.yaml, and
-- selects the files. The program is writable; all other files are hidden, because there a model sees only the program.
-- options.inspect lists the evaluator's functions (the caller runs Python). Reads the directory; writes and runs
-- nothing. Called by the command import.
local common = require "apsis.import.common"
local config = require "apsis.import.openevolve_config"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local keys = require "apsis.import.keys"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local text = require "apsis.import.openevolve_manifest"

local openevolve = {}

local RUNNER = "openevolve_evaluate.py"

local function shown(path) return manifest.display(path) end

-- A path that the user gave, inside dir; nil, message.
local function inside(dir, given, option, may_be_folder)
  local path = given:gsub("^%./", ""):gsub("/+$", "")
  if path:sub(1, 1) == "/" or ("/" .. path .. "/"):find("/../", 1, true) then
    return nil, ("%s: %s must be a path inside %s"):format(option, nearest.show(given), shown(dir))
  end
  local full = dir .. "/" .. path
  if common.is_file(full) or may_be_folder and common.is_directory(full) then return path end
  return nil, ("%s: %s: no such file in %s"):format(option, nearest.show(given), shown(dir))
end

-- The files of dir whose names match, in order.
local function named(dir, pattern)
  local found = {}
  for _, name in ipairs(fs.list(dir) or {}) do
    if name:find(pattern) and common.is_file(dir .. "/" .. name) then found[#found + 1] = name end
  end
  table.sort(found)
  return found
end

local function such_as(list)
  return #list > 0 and " (there are " .. table.concat(list, ", ", 1, math.min(#list, 8)) .. ")" or ""
end

-- The folders of dir that have a program and an evaluator of their own, for a message.
local function projects_below(dir)
  local found = {}
  for _, name in ipairs(fs.list(dir) or {}) do
    local below = dir .. "/" .. name
    if common.is_file(below .. "/evaluator.py") and #named(below, "^initial_program%.") > 0 then
      found[#found + 1] = shown(name)
    end
  end
  table.sort(found)
  if #found == 0 then return "" end
  return "; its projects are one folder down: " .. table.concat(found, ", ")
end

-- The only file of dir named STEM or STEM.ANY (.py first), or a folder that the user names; path | nil, message.
local function find_program(dir, given)
  if given then return inside(dir, given, "--program", true) end
  if common.is_file(dir .. "/initial_program.py") then return "initial_program.py" end
  local found = named(dir, "^initial_program%.?[^~]*$")
  if #found == 1 then return found[1] end
  if #found > 1 then
    return nil, ("%s: several programs: %s; name one with --program"):format(shown(dir), table.concat(found, ", "))
  end
  if common.is_directory(dir .. "/initial_program") then return "initial_program" end
  return nil, ("%s: initial_program: there is no initial_program.py (or another extension); name the program with "
    .. "--program FILE%s%s"):format(shown(dir), such_as(named(dir, "^init[%w_]*%.%w+$")), projects_below(dir))
end

-- The evaluator: evaluator.py, or that of a folder evaluator; path | nil, message.
local function find_evaluator(dir, given)
  if given then return inside(dir, given, "--evaluator") end
  for _, path in ipairs { "evaluator.py", "evaluator/evaluator.py" } do
    if common.is_file(dir .. "/" .. path) then return path end
  end
  return nil, ("%s: evaluator: evaluator.py is missing: OpenEvolve's evaluator, with a function "
    .. "evaluate(program_path); name it with --evaluator FILE%s"):format(shown(dir), such_as(named(dir, "%.py$")))
end

local function find_config(dir, given)
  if given then
    if common.is_file(given) then return given end
    if common.is_file(dir .. "/" .. given) then return dir .. "/" .. given end
    return nil, ("--config: %s: no such file"):format(nearest.show(given))
  end
  for _, name in ipairs { "config.yaml", "config.yml" } do
    if common.is_file(dir .. "/" .. name) then return dir .. "/" .. name end
  end
end

-- Reports that OpenEvolve's defaults are used, and the configurations that there are.
local function note_no_config(dir, report)
  local found = named(dir, "^config[%w_.-]*%.ya?ml$")
  for _, name in ipairs(named(dir .. "/configs", "%.ya?ml$")) do found[#found + 1] = "configs/" .. name end
  report:note("there is no config.yaml: OpenEvolve's defaults are used%s", #found > 0
    and ("; to use one of %s, name it with --config"):format(table.concat(found, ", ")) or "")
end

-- Reports the thresholds: each is the score that its stage must reach for the next one to run.
local function report_thresholds(stages, thresholds, has, report)
  local used, spare = {}, {}
  for index, threshold in ipairs(thresholds) do
    local list = stages[index + 1] and used or spare
    list[#list + 1] = ("%.10g"):format(threshold)
  end
  if #spare > 0 then
    report:amend("evaluator.cascade_thresholds", ("%s not used: the evaluator has no stage %d to go on to%s"):format(
      table.concat(spare, ", "), #stages + 1, #used > 0
      and ("; verification.commands[].threshold is " .. table.concat(used, ", ")) or ""), #used == 0 and "not_needed"
      or nil)
  end
  if has["evaluate_stage" .. #stages + 1] and #stages < 3 then
    report:note("evaluate_stage%d is not run, as there: cascade_thresholds has none for stage %d", #stages + 1, #stages)
  end
end

-- Reports the cascade's settings if there is none.
local function report_no_cascade(asked, report)
  local why = "evaluate is called, in one stage: " .. (asked == false and "cascade_evaluation is false"
    or "there is no evaluate_stage1")
  report:amend("evaluator.cascade_evaluation", why)
  report:amend("evaluator.cascade_thresholds", why, "not_needed")
end

-- The stages to run: a list of { stage, threshold }, or { {} } for evaluate only. nil and a message if the evaluator
-- has neither.
local function stages_of(names, settings, label, report)
  local has = {}
  for _, name in ipairs(names) do has[name] = true end
  local thresholds = settings.evaluator.cascade_thresholds or { 0.5, 0.75, 0.9 }
  if settings.evaluator.cascade_evaluation ~= false and has.evaluate_stage1 then
    local stages = { { stage = 1 } }
    for number = 2, 3 do
      if not has["evaluate_stage" .. number] or not thresholds[number - 1] then break end
      stages[number - 1].threshold = thresholds[number - 1]
      stages[number] = { stage = number }
    end
    report_thresholds(stages, thresholds, has, report)
    return stages
  end
  if not (has.evaluate or has["*"]) then
    return nil, ("%s:1: evaluate: the evaluator has no function evaluate(program_path)%s"):format(label,
      has.evaluate_stage1 and "; it has evaluate_stage1, which evaluator.cascade_evaluation: false leaves out" or "")
  end
  report_no_cascade(settings.evaluator.cascade_evaluation, report)
  if settings.evaluator.cascade_evaluation then
    report:note("evaluator.cascade_evaluation is true, but the evaluator has no evaluate_stage1: evaluate is called, "
      .. "in one stage")
  end
  return { {} }
end

-- Whether a settings file has an API key, so that it must not be committed.
local function holds_key(dir, path)
  if not path:find("%.ya?ml$") then return false end
  local content = common.read_text(dir .. "/" .. path)
  for value in (content or ""):gmatch("[%w_]*api_key[\"']?%s*:%s*[\"']?([^%s\"'#]+)") do
    if not value:find("^%${") and value ~= "null" and value ~= "~" then return true end
  end
  return false
end

local function skipper(dir, config_path)
  local own = common.own()
  local root = fs.realpath(dir)
  local config_real = config_path and fs.realpath(config_path)
  return function(path, name)
    if name == "openevolve_output" or name == "checkpoints" then return "what OpenEvolve wrote" end
    if config_real and root .. "/" .. path == config_real then return "its settings are in manifest.yaml" end
    if path == RUNNER then return "apsis uses that name" end
    if holds_key(root, path) then return "it contains an API key" end
    return own(path)
  end
end

-- The hidden rules: every folder or file, but not the program or a folder on the way to it.
local function hidden_rules(files, program)
  local rules, seen = {}, {}
  for _, file in ipairs(files) do
    local path = file.path
    local prefix = ""
    for part in (path:sub(1, #program + 1) == program .. "/" and "" or path):gmatch("[^/]+") do
      local here = common.join(prefix, part)
      if here == path or program:sub(1, #here + 1) ~= here .. "/" then
        local rule = here == path and path or here .. "/**"
        local plain = path:match("[^/]*$"):lower()
        local open = here == path and (path == program or plain:find("^requirements.*%.txt$") or path == ".gitignore")
        if not open and not seen[rule] then
          seen[rule] = true
          rules[#rules + 1] = { path = here, folder = here ~= path }
        end
        break
      end
      prefix = here
    end
  end
  return rules
end

-- program.md: the config's system message, or what is asked.
local function program_md(name, program, settings)
  local parts = { "# " .. name, "" }
  local message = settings.prompt.system_message
  if message and message ~= "system_message" then
    parts[#parts + 1] = editline.trim_end(message)
  else
    parts[#parts + 1] = ("Improve the program in `%s` so that its score, `combined_score`, becomes as high "
      .. "as possible."):format(program)
  end
  parts[#parts + 1] = ("\nOnly `%s` may be changed.%s"):format(program,
    settings.language and (" It is written in %s."):format(settings.language) or "")
  if settings.max_code_length then
    parts[#parts + 1] = ("\nThe program may have at most %d characters."):format(settings.max_code_length)
  end
  return table.concat(parts, "\n") .. "\n"
end

-- A README often has the solution, or what evolution has found.
local function note_readme(files, report)
  for _, file in ipairs(files) do
    if file.path:lower():find("^readme") then
      report:note("%s is hidden from models, as there; prompt: {include: [%s]} in manifest.yaml shows it",
        file.path, file.path)
    end
  end
end

-- OpenEvolve looks for near duplicates only with an embedding model.
local function report_similarity(settings, report)
  if settings.database.embedding_model then return end
  report:amend("database.similarity_threshold", "has no effect in OpenEvolve without embedding_model, and none here",
    "not_needed")
end

-- A negative patience means there: end when the metric has reached convergence_threshold.
local function take_patience(settings, report)
  local patience = settings.early_stopping_patience
  if not patience then
    for _, key in ipairs { "convergence_threshold", "early_stopping_metric" } do
      report:amend(key, "has no effect in OpenEvolve without early_stopping_patience, and none here", "not_needed")
    end
    return
  elseif patience >= 0 then
    return report:amend("convergence_threshold", "here every new best ends the wait of patience, there only one that "
      .. "is better by this; metric.epsilon would not even keep it", "not_taken_over")
  end
  settings.early_stopping_patience = nil
  settings.target_score = settings.target_score or settings.convergence_threshold
  report:amend("early_stopping_patience", settings.convergence_threshold
    and "negative: the run ends at convergence_threshold" or "negative, without convergence_threshold: never",
    "not_needed")
end

-- What the metric is if the evaluator does not name combined_score; reported, for it is the mean that is optimised.
local function mean_of(path, settings, report)
  if (fs.read(path) or ""):find("combined_score", 1, true) then return nil end
  local features = table.concat(settings.database.feature_dimensions or { "complexity", "diversity" }, ", ")
  report:note("%s does not name combined_score: what is optimised is the mean of all numbers that it returns, without "
    .. "the grid's features (%s), as in OpenEvolve; truth values count as 1 and 0, numpy's numbers (but float64) do "
    .. "not; metric mean_of is how many count. To optimise another number, have it return combined_score", shown(path),
    features)
  return "the mean of the evaluator's numbers, without the grid's features"
end

-- Reports the evaluator's other settings, now that its functions are known.
local function report_evaluator(settings, stages, report)
  if settings.evaluator.enable_artifacts then
    report:amend("evaluator.enable_artifacts", "artifacts are kept: the default")
  end
  if stages[1].stage and settings.evaluator.evaluator_args then
    report:amend("evaluator.evaluator_args", "stages are called with only the program's path", "not_needed")
  end
end

-- Reports the settings that command-line options replace.
local function report_replaced(options, report)
  if options.base_url then report:amend("llm.api_base", "--base-url takes its place", "not_needed") end
  if options.api_key_env then report:amend("llm.api_key", "--api-key-env takes its place", "not_needed") end
  for _, entry in ipairs(options.base_url and report.entries or {}) do
    if entry.key:find("^llm%.models%[%d+%]%.api_") then
      entry.state, entry.about = "not_needed", "--base-url takes its place"
    end
  end
  if not options.model then return end
  for _, entry in ipairs(report.entries) do
    if entry.state == "mapped" and (entry.about == "provider.models" or entry.key:find("^llm%.models")) then
      entry.state, entry.about = "not_needed", "--model takes its place"
    end
  end
end

-- The error if an indispensable file contains an API key.
local function key_in(path, literals)
  local line = keys.find(fs.read(path) or "", literals)
  return line and ("%s:%d: key: this looks like an API key, which would be committed; read it from the "
    .. "environment instead"):format(shown(path), line)
end

-- { name, files, report, left_out, stages } | nil, list of errors. options: program, evaluator, config, selection,
-- base_url, api_key_env, model, python, max_mb, into, runner (the text of the Python file), inspect(path) -> names |
-- nil, message.
function openevolve.plan(dir, options)
  local report = common.report()
  local program, message = find_program(dir, options.program)
  if not program then return nil, { message } end
  local evaluator, config_path
  evaluator, message = find_evaluator(dir, options.evaluator)
  if not evaluator then return nil, { message } end
  if program == evaluator then
    return nil, { ("%s: %s cannot be both program and evaluator; name them with --program and --evaluator"):format(
      shown(dir), program) }
  end
  config_path, message = find_config(dir, options.config)
  if message then return nil, { message } end
  local settings, errors = config.read(config_path, options.selection, report)
  if not settings then return nil, errors end
  local literals = config.literals(settings)
  if not config_path then note_no_config(dir, report) end
  local names
  names, message = options.inspect(dir .. "/" .. evaluator)
  if not names then return nil, { message } end
  local stages
  stages, message = stages_of(names, settings, shown(dir .. "/" .. evaluator), report)
  if not stages then return nil, { message } end
  for _, path in ipairs { program, evaluator } do
    message = common.is_file(dir .. "/" .. path) and key_in(dir .. "/" .. path, literals)
    if message then return nil, { message } end
  end
  report_evaluator(settings, stages, report)
  report_similarity(settings, report)
  take_patience(settings, report)
  report_replaced(options, report)
  local files, left_out = common.collect(dir, { into = options.into, max_mb = options.max_mb,
    skip = skipper(dir, config_path), literals = literals })
  local name, mean = common.name_of(dir), mean_of(dir .. "/" .. evaluator, settings, report)
  local made = text.make { name = name, program = program, evaluator = evaluator, runner = RUNNER, stages = stages,
    settings = settings, hidden = hidden_rules(files, program), options = options, report = report, mean = mean,
    bytes = #(fs.read(dir .. "/" .. program) or ""),
    folder = common.is_directory(dir .. "/" .. program) }
  files = common.replaced(files, { common.gitignore(dir), { path = "manifest.yaml", text = made },
    { path = RUNNER, text = options.runner },
    { path = "program.md", text = program_md(name, program, settings) } })
  note_readme(files, report)
  return { name = name, files = files, report = report, left_out = left_out, config = config_path
    and shown(config_path) }
end

return openevolve
