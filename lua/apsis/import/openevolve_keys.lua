-- openevolve_keys: every key of OpenEvolve's config.yaml (0.3), as data: its kind, and `to` (a key of our manifest),
-- `only` (the selection that uses it), `other` (with another meaning); or `why` it is not needed or (`lost`) not taken
-- over. Other keys are unknown.
-- Read by openevolve_config.lua.

local keys = {}

local function map(kind, to, only) return { kind = kind, to = to, only = only } end

local function drop(kind, why) return { kind = kind, why = why } end

-- Settings that the user must set up again here, if they are set at all, to something else than default.
local function lost(kind, why, default) return { kind = kind, why = why, lost = true, default = default } end

-- Mapped to something that is not quite the same.
local function other(kind, to) return { kind = kind, to = to, other = true } end

local journal = "the journal and the git refs keep everything; a checkpoint is never needed"
local prompts = "prompts are templates: a file of the same name in the project's prompts/ overrides the shipped one"
local rewrite = "OpenEvolve's templates are not read; rewrite yours in the project's prompts/, each under the name of "
  .. "the shipped one"
local unbuilt = "the Python project does not apply it either"
local unchanged = "a prompt shows the programs themselves, not descriptions of their changes"
local no_judge = "no model judges candidates beside the evaluator; `fitness:` with a domain `judge` does, alone"
local likeness = "likeness is measured on the text, without a model"

keys.top = {
  max_iterations = map("integer", "budget.iterations"),
  checkpoint_interval = drop("any", journal),
  log_level = map("string", "log_level"),
  log_dir = drop("any", "the log is logs/apsis.log"),
  random_seed = map("integer", "seed"),
  language = map("string", "program.md"),
  file_suffix = map("string", "the program's own name"),
  diff_based_evolution = other("boolean", "prompt.answer; a new approach is asked for as whole files either way"),
  allow_full_rewrites = map("boolean", "prompt.answer"),
  max_code_length = other("integer", "program.md, as an instruction; a longer program is measured all the same"),
  enforce_evolve_blocks = drop("any", "EVOLVE-BLOCK regions are always enforced"),
  diff_pattern = lost("any", "the form of SEARCH/REPLACE blocks is fixed",
    [[<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE]]),
  early_stopping_patience = map("integer", "strategy.options.patience"),
  convergence_threshold = map("number", "metric.target"),
  early_stopping_metric = lost("any", "patience counts experiments without a new best by metric.name",
    "combined_score"),
  target_score = map("number", "metric.target"),
  max_tasks_per_child = drop("any", "each evaluation is a process of its own"),
}

keys.llm = {
  models = map("list", "provider.models"),
  primary_model = map("string", "provider.models"),
  primary_model_weight = map("number", "provider.models"),
  secondary_model = map("string", "provider.models"),
  secondary_model_weight = map("number", "provider.models"),
  evaluator_models = lost("any", no_judge),
  api_base = map("string", "provider.base_url"),
  api_key = map("string", "provider.api_key_env"),
  temperature = map("number", "provider.models[].temperature"),
  top_p = map("number", "provider.models[].top_p"),
  max_tokens = map("integer", "provider.models[].max_tokens"),
  timeout = map("number", "provider.models[].timeout_sec"),
  retries = map("integer", "provider.retries"),
  retry_delay = drop("any", "waits between retries grow automatically and follow Retry-After"),
  random_seed = map("integer", "provider.models[].parameters.seed"),
  reasoning_effort = map("string", "provider.models[].parameters.reasoning_effort"),
  provider = map("string", "provider.kind"),
  claude_code_options = map("any", "provider.max_turns"),
  cli_path = lost("any", "a preset starts its agent from PATH; provider: {run: [...]} starts another program"),
  cwd = drop("any", "an agent works in the candidate's checkout"),
  system_message = lost("any", "OpenEvolve asks with prompt.system_message, not with this; here program.md is sent: "
    .. "write it there if it is meant"),
  manual_mode = lost("any", "no model is asked by hand; `apsis direct` steers a run"),
  init_client = drop("any", "a client of Python's; a provider of kind lua or command takes its place"),
  max_budget_usd = lost("any", "budget: {usd: N} limits a run; add it to manifest.yaml"),
  max_ai_credits = lost("any", "budget: {tokens: N} limits a run; add it to manifest.yaml"),
  allow_all_tools = drop("any", "set by a command provider's own options"),
}

-- The keys of a model in llm.models.
keys.model = { name = map("string", "provider.models[].name"), weight = map("number", "provider.models[].weight") }
for _, name in ipairs { "api_base", "api_key", "temperature", "top_p", "max_tokens", "timeout", "retries",
  "retry_delay", "random_seed", "reasoning_effort", "provider", "system_message", "manual_mode", "init_client",
  "max_budget_usd", "max_ai_credits", "allow_all_tools", "claude_code_options", "cli_path", "cwd" } do
  keys.model[name] = keys.llm[name]
end
keys.model.api_base = map("string", "provider.models[].base_url")
keys.model.api_key = map("string", "provider.models[].api_key_env")
keys.model.retries = drop("any", "retries are the provider's, not a model's")

keys.prompt = {
  system_message = map("string", "program.md"),
  num_top_programs = map("integer", "strategy.options.top_programs"),
  num_diverse_programs = map("integer", "strategy.options.diverse_programs"),
  template_dir = lost("any", rewrite),
  template_variations = lost("any", rewrite),
  use_template_stochasticity = drop("any", prompts),
  island_system_messages = lost("any", "every island gets the same instructions, program.md"),
  evaluator_system_message = lost("any", no_judge),
  programs_as_changes_description = lost("any", unchanged),
  system_message_changes_description = lost("any", unchanged),
  initial_changes_description = lost("any", unchanged),
  use_meta_prompting = drop("any", unbuilt),
  meta_prompt_weight = drop("any", unbuilt),
  include_artifacts = lost("any", "a parent's own artifacts are always shown; evaluator.enable_artifacts: false keeps "
    .. "none", true),
  max_artifact_bytes = other("any",
    "a prompt shows 4,000 bytes of each artifact: of a long one the beginning and the end"),
  artifact_security_filter = drop("any", "artifacts are shown as text, escaped"),
  suggest_simplification_after_chars = drop("any", prompts),
  include_changes_under_chars = drop("any", prompts),
  concise_implementation_max_lines = drop("any", prompts),
  comprehensive_implementation_min_lines = drop("any", prompts),
  diff_summary_max_line_len = drop("any", prompts),
  diff_summary_max_lines = drop("any", prompts),
  code_length_threshold = drop("any", prompts),
}

keys.database = {
  population_size = map("integer", "strategy.options.population_size"),
  archive_size = map("integer", "strategy.options.archive_size"),
  num_islands = other("integer", "strategy.options.islands, at the start: selection playbook adds some"),
  feature_dimensions = map("list", "strategy.options.features"),
  feature_bins = map("any", "strategy.options.feature_bins"),
  elite_selection_ratio = map("number", "strategy.options.elite_selection_ratio", "openevolve"),
  exploration_ratio = map("number", "strategy.options.exploration_ratio", "openevolve"),
  exploitation_ratio = map("number", "strategy.options.exploitation_ratio", "openevolve"),
  migration_interval = map("integer", "strategy.options.migration_interval", "openevolve"),
  migration_rate = map("number", "strategy.options.migration_rate", "openevolve"),
  similarity_threshold = other("number", "strategy.options.near_duplicate, if there is an embedding_model"),
  embedding_model = other("any", "likeness is that of the text, without a model: only names and comments may differ"),
  embedding_api_base = drop("any", likeness),
  novelty_llm = drop("any", likeness),
  diversity_metric = drop("any", "diversity is the text's unlikeness to the others"),
  diversity_reference_size = drop("any", "diversity is measured against the whole population"),
  random_seed = drop("any", "there is one seed"),
  db_path = drop("any", journal),
  in_memory = drop("any", journal),
  log_prompts = drop("any", "runs/NNNN/prompt.md is always written"),
  artifacts_base_path = drop("any", "artifacts are in runs/NNNN"),
  artifact_size_threshold = drop("any", "artifacts are files in runs/NNNN"),
  cleanup_old_artifacts = drop("any", "keep_runs says how many folders of runs/ are kept"),
  artifact_retention_days = drop("any", "keep_runs says how many folders of runs/ are kept"),
  max_snapshot_artifacts = drop("any", "the artifacts shown are the parent's own"),
}

keys.evaluator = {
  timeout = map("number", "verification.commands[].timeout_sec"),
  max_retries = lost("any",
    "a crashed evaluation is an outcome and is not repeated; verification.repeats is for noise"),
  memory_limit_mb = drop("any", unbuilt .. "; here limits.memory_mb would"),
  cpu_limit = drop("any", unbuilt .. "; here limits.cpu_sec would"),
  cascade_evaluation = map("boolean", "verification.commands[].stage"),
  cascade_thresholds = map("list", "verification.commands[].threshold"),
  parallel_evaluations = map("integer", "execution.workers"),
  distributed = drop("any", unbuilt),
  use_llm_feedback = lost("any", no_judge),
  llm_feedback_weight = lost("any", no_judge),
  enable_artifacts = map("boolean", "verification.commands[].run (--no-artifacts)"),
  max_artifact_storage = map("integer", "verification.artifacts.max_mb"),
  evaluator_args = map("mapping", "verification.commands[].run (--args)"),
}

keys.evolution_trace = drop("any", "logs/results.jsonl is the trace")

return keys
