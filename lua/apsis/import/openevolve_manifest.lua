-- openevolve_manifest: the text of an OpenEvolve project's manifest.yaml, with comments for first-time readers. Only
-- makes text. Called by openevolve.lua.
local common = require "apsis.import.common"
local endpoint = require "apsis.project.endpoint"
local json = require "apsis.json"
local ensemble = require "apsis.import.openevolve_models"
local secrets = require "apsis.import.openevolve_secrets"

local text = {}

local scalar = common.scalar

local Draft = {}
Draft.__index = Draft

function Draft:line(format, ...)
  self.lines[#self.lines + 1] = select("#", ...) > 0 and format:format(...) or format
end

function Draft:head(plan)
  self:line("# Imported from the OpenEvolve project %s. `apsis setup` checks it; errors name the line.",
    (json.encode(plan.name):gsub("^\"(.*)\"$", "%1")))
  self:line("version: 1")
  self:line("project: {name: %s}", scalar(plan.name))
  self:line("seed: %d", plan.settings.random_seed or 42)
  local settings = plan.settings
  if settings.diff_based_evolution == false then self:line("prompt: {answer: rewrite} # whole files")
  elseif settings.allow_full_rewrites then self:line("prompt: {answer: either} # blocks or whole files") end
  self:line("")
end

function Draft:files(plan)
  self:line("files:                                  # other paths are read_only; only verification sees hidden ones")
  if plan.folder then self:line("  - {path: %s, mode: writable}", scalar(plan.program .. "/**"))
  else self:line("%s", common.rule(plan.program, "writable")) end
  self:line("%s # calls the evaluator", common.rule(plan.runner, "hidden"))
  for _, rule in ipairs(plan.hidden) do
    if rule.path ~= plan.runner then
      local line = rule.folder and ("  - {path: %s, mode: hidden}"):format(scalar(rule.path .. "/**"))
        or common.rule(rule.path, "hidden")
      self:line("%s", line)
    end
  end
  self:line("")
end

-- The dimensions that the grid computes itself; others are metrics.
local computed = { complexity = true, diversity = true, score = true }

local function command_line(plan, stage)
  local settings = plan.settings
  local run = { plan.options.python or "python3", plan.runner, plan.evaluator, plan.program }
  local function add(...) for _, word in ipairs { ... } do run[#run + 1] = word end end
  if stage then add("--stage", tostring(stage)) end
  for _, name in ipairs(settings.database.feature_dimensions or {}) do add("--feature", name) end
  if settings.evaluator.evaluator_args and not stage then
    add("--args", json.encode(settings.evaluator.evaluator_args, { sorted = true }))
  end
  if settings.evaluator.enable_artifacts == false then add("--no-artifacts") end
  if settings.evaluator.max_artifact_storage then
    add("--max-artifact-bytes", tostring(settings.evaluator.max_artifact_storage))
  end
  for index, word in ipairs(run) do
    run[index] = word:find("^[A-Za-z_][%w_./-]*$") and scalar(word) or json.encode(word)
  end
  return "[" .. table.concat(run, ", ") .. "]"
end

function Draft:verification(plan)
  local timeout = scalar(plan.settings.evaluator.timeout or 300)
  self:line("verification:")
  self:line("  commands:")
  for _, stage in ipairs(plan.stages) do
    local name = stage.stage and ("stage%d"):format(stage.stage) or "evaluate"
    self:line("    - name: %s", name)
    self:line("      run: %s", command_line(plan, stage.stage))
    self:line("      timeout_sec: %s", timeout)
    if stage.stage then self:line("      stage: %d", stage.stage) end
    if stage.threshold then
      self:line("      threshold: %s # what combined_score must reach to go on", scalar(stage.threshold))
      self:line("      threshold_of: threshold_score # without combined_score, as there: the mean of all numbers")
    end
  end
  local most = plan.settings.evaluator.max_artifact_storage
  -- never less than asked for
  if most then self:line("  artifacts: {max_mb: %.12g}", math.ceil(most / 2 ^ 20 * 1000) / 1000) end
  self:line("# evaluator: {serve: true} # one Python process measures many candidates: faster, but less isolated")
  self:line("")
  self:line("metric:")
  self:line("  name: combined_score # %s", plan.mean or "as the evaluator gives it, else the mean of its numbers")
  self:line("  direction: higher")
  if plan.settings.target_score then self:line("  target: %s", scalar(plan.settings.target_score)) end
  self:line("")
end

-- The grid's features in the strategy's form.
local function features_of(settings)
  local names, bins = settings.database.feature_dimensions, settings.database.feature_bins
  if not names then return nil end
  local list = {}
  for index, name in ipairs(names) do
    local plain = name == "score" and "combined_score" or computed[name] and name or (name:gsub("[^%w_.]", "_"))
    local own = type(bins) == "table" and bins[name]
    list[index] = own and { name = plain, bins = own } or plain
  end
  return list
end

local MOST_ISLANDS = 60

local function islands_of(database, report)
  local asked = database.num_islands
  if not asked or asked <= MOST_ISLANDS then return asked end
  report:note("database.num_islands is %d: using %d islands, the maximum", asked, MOST_ISLANDS)
  return MOST_ISLANDS
end

-- OpenEvolve draws exploration first, so exploitation gets at most the rest.
local function ratios_of(database, report)
  local exploration, exploitation = database.exploration_ratio, database.exploitation_ratio
  local room = 1 - (exploration or 0.2)
  if (exploitation or 0.7) <= room + 1e-9 then return exploration, exploitation end
  exploitation = math.tointeger(room) or tonumber(("%.10g"):format(room))
  report:note("database.exploration_ratio and exploitation_ratio add up to more than 1: exploitation_ratio is %s, its "
    .. "effect in OpenEvolve", exploitation)
  return exploration, exploitation
end

function Draft:strategy(plan)
  local settings, options = plan.settings, plan.options
  local database, prompt = settings.database, settings.prompt
  self:line("strategy:")
  self:line("  use: openevolve")
  self:line("  options:")
  self:line("    selection: %s # or %s: `apsis strategies openevolve` shows what each uses", options.selection,
    options.selection == "playbook" and "openevolve" or "playbook")
  local only = options.selection == "playbook" and " # used by selection: openevolve" or ""
  local function option(name, value, comment)
    if value ~= nil then self:line("    %s: %s%s", name, scalar(value), comment or "") end
  end
  local islands = islands_of(database, plan.report)
  option("islands", islands)
  option("max_islands", islands and islands > 10 and islands or nil) -- never below islands; 10 is the default
  option("population_size", database.population_size)
  option("archive_size", database.archive_size)
  option("features", features_of(settings))
  option("feature_bins", type(database.feature_bins) ~= "table" and database.feature_bins or nil)
  option("elite_selection_ratio", database.elite_selection_ratio, only)
  local exploration, exploitation = ratios_of(database, plan.report)
  option("exploration_ratio", exploration, only)
  option("exploitation_ratio", exploitation, only)
  option("migration_interval", database.migration_interval, only)
  option("migration_rate", database.migration_rate, only)
  option("near_duplicate", database.embedding_model and (database.similarity_threshold or 0.99) or nil)
  option("top_programs", prompt.num_top_programs)
  option("diverse_programs", prompt.num_diverse_programs)
  option("patience", settings.early_stopping_patience)
  self:line("")
end

local function nonempty(fields)
  return next(fields) ~= nil and fields or nil
end

local function reasons(model) return endpoint.reasons(model.asked or model.name) end

local sampling = { ["provider.models[].temperature"] = true, ["provider.models[].top_p"] = true }

-- Reports the sampling settings that no request to a reasoning model has.
local function report_sampling(plan, models)
  local names, listed = {}, plan.settings.llm.models or {}
  for _, model in ipairs(models) do
    if reasons(model) then names[#names + 1] = model.asked or model.name end
  end
  if #names == 0 then return end
  local why = ("not sent to %s: OpenAI's reasoning models refuse it"):format(table.concat(names, ", "))
  for _, entry in ipairs(plan.report.entries) do
    if entry.state == "mapped" and sampling[entry.about] then
      local own = listed[tonumber(entry.key:match "^llm%.models%[(%d+)%]" or 0)]
      if #names == #models or own and reasons(own) then entry.state, entry.about = "not_taken_over", why
      elseif not own then entry.about = entry.about .. "; " .. why end
    end
  end
end

local function model_line(plan, model)
  local llm = plan.settings.llm
  local function own(name)
    if model[name] ~= nil then return model[name] end
    return llm[name]
  end
  local temperature = own("temperature")
  if temperature == nil then temperature = 0.7 end
  if model.no_temperature or (model.temperature == nil and llm.no_temperature) then temperature = nil end
  local top_p = own "top_p"
  if reasons(model) then temperature, top_p = nil, nil end
  local parameters = nonempty { reasoning_effort = own "reasoning_effort", seed = own "random_seed",
    model = model.asked }
  return "    - " .. common.flow { { "name", model.name }, { "weight", model.weight }, { "temperature", temperature },
    { "top_p", top_p }, { "max_tokens", own "max_tokens" or 4096 }, { "timeout_sec", own "timeout" or 60 },
    { "base_url", plan.secrets.own_base[model] }, { "api_key_env", plan.secrets.own_key[model] },
      { "parameters", parameters } }
end

function Draft:no_model(plan)
  self:line("# provider: {kind: chat, base_url: %s, api_key_env: OPENAI_API_KEY, models: [{name: MODEL}]}",
    scalar(plan.secrets.base))
  self:line("")
  plan.report:note("no model is named: `apsis baseline` works; for `apsis run` add the provider to manifest.yaml, or "
    .. "import with --model NAME")
end

-- Claude Code, if the config names it instead of an endpoint.
local function agent_of(plan, models)
  local options, llm = plan.options, plan.settings.llm
  if options.base_url or options.model or options.api_key_env then return nil end
  local kind = llm.provider or models[1] and models[1].provider
  if kind == "claude_code" then return "claude" end
  if kind and kind ~= "openai" then
    plan.report:note("llm.provider is %s, which apsis does not know; a chat provider was written", kind)
  end
end

-- What a chat model is given and an agent has no option for.
local of_chat = { "temperature", "top_p", "max_tokens", "random_seed" }

-- An agent's keys of the manifest; reports what they are made of.
local function agent_keys(plan, agent, model)
  local llm, report = plan.settings.llm, plan.report
  local function given(name)
    local own = model and model[name]
    if own == nil then return llm[name] end
    return own
  end
  local options = given "claude_code_options"
  local turns = type(options) == "table" and math.tointeger(tonumber(options.max_turns)) or nil
  local effort = given "reasoning_effort"
  for _, prefix in ipairs { "llm.", "llm.models[1]." } do
    for _, name in ipairs(of_chat) do
      report:amend(prefix .. name, "the agent has no option for it", "not_taken_over")
    end
    report:amend(prefix .. "reasoning_effort", "provider.args (--effort)")
    if not turns then
      report:amend(prefix .. "claude_code_options", "of its keys only max_turns is known", "not_taken_over")
    end
    report:amend(prefix .. "timeout", "provider.timeout_sec")
  end
  return { { "kind", "command" }, { "preset", agent }, { "model", model and model.name },
    { "args", effort and { "--effort", effort } or nil }, { "max_turns", turns },
    { "timeout_sec", given "timeout" }, { "retries", llm.retries } }
end

-- Says so if the program does not fit into an answer of max_tokens, at 3 bytes a token.
local function note_length(plan, models)
  local most, bytes = math.maxinteger, plan.bytes
  for _, model in ipairs(models) do
    most = math.min(most, model.max_tokens or plan.settings.llm.max_tokens or 4096)
  end
  if #models == 0 or bytes <= most * 3 then return end
  local blocks = "from scratch, too, models are asked for SEARCH/REPLACE blocks, not for the whole"
  local whole = "whole files, which prompt: {answer: rewrite} asks for, will be cut off, and no such answer is used"
  plan.report:note("%s has %d bytes, and an answer of max_tokens: %d has room for about %d: %s; if the model can "
    .. "answer that much, write max_tokens: %d in manifest.yaml", plan.program, bytes, most, most * 3,
    plan.settings.diff_based_evolution == false and whole or blocks, math.ceil(bytes / 3))
end

function Draft:provider(plan)
  local llm = plan.settings.llm
  local models = ensemble.of(llm, plan.options, plan.report)
  local agent = agent_of(plan, models)
  plan.secrets = secrets.of(plan.settings.llm, plan.options, agent and {} or models, plan.report)
  if agent then
    for index = 2, #models do
      ensemble.left_out(plan.report, llm, models[index], "is not the first, and an agent is asked with one")
    end
    self:line("provider: %s", common.flow(agent_keys(plan, agent, models[1])))
    return self:line("")
  end
  if #models == 0 then return self:no_model(plan) end
  self:line("provider:")
  self:line("  kind: chat")
  self:line("  base_url: %s", scalar(plan.secrets.base))
  if plan.secrets.key then
    self:line("  api_key_env: %s # the environment variable that holds the key", scalar(plan.secrets.key))
  end
  self:line("  models: # asked by weight; if one fails, the next")
  for _, model in ipairs(models) do self:line("%s", model_line(plan, model)) end
  report_sampling(plan, models)
  note_length(plan, models)
  if llm.retries then self:line("  retries: %d", llm.retries) end
  self:line("")
end

local levels = { debug = "debug", info = "info", warning = "warn", warn = "warn", error = "error", critical = "error" }

function Draft:tail(plan)
  local settings = plan.settings
  self:line("budget: {iterations: %d}", settings.max_iterations or 10000)
  if settings.evaluator.parallel_evaluations then
    self:line("execution: {workers: %d}", math.min(settings.evaluator.parallel_evaluations, 256))
  end
  local level = settings.log_level and levels[settings.log_level:lower()]
  if level then self:line("log_level: %s", level) end
  local first = true
  for _, entry in ipairs(plan.report.entries) do
    if entry.state == "unknown" then
      if first then self:line("\n# Keys of config.yaml that neither OpenEvolve nor apsis knows:") end
      first = false
      self:line("%s", ("# %s: %s"):format(entry.key, entry.about):gsub("[%c\127]", "?"))
    end
  end
end

-- The manifest's text. plan: name, program, bytes (of the program), evaluator, runner, stages, settings, hidden
-- (rules), options, report.
function text.make(plan)
  local draft = setmetatable({ lines = {} }, Draft)
  draft:head(plan)
  draft:files(plan)
  draft:verification(plan)
  draft:strategy(plan)
  draft:provider(plan)
  draft:tail(plan)
  return table.concat(draft.lines, "\n") .. "\n"
end

return text
