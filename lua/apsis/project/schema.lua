-- schema: every key of a manifest, as data. Each node has a kind, a doc, and limits (allowed, min, max, above,
-- required, default); shape.lua interprets it, and help texts come from it. Rooms add keys (hook `keys`). Rules that
-- join several keys are in rules.lua. `fill` makes an absent mapping or list appear with its defaults; `short` is the
-- key that a plain string stands for; `variants`: which keys go with which kind; `whole`: a later layer replaces it.
local confinement = require "apsis.project.confinement"
local edit = require "apsis.edit"
local endpoint = require "apsis.project.endpoint"
local executors = require "apsis.project.executors"
local nodes = require "apsis.project.node"
local prompt = require "apsis.prompt"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"
local trajectory = require "apsis.project.trajectory"

local schema = {}

local node, map, set = nodes.node, nodes.map, nodes.set

local environment = node("dict", "environment variables, added to the command's", {
  item = node("text", "its value"), key_pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
  key_text = "letters, digits and _, not beginning with a digit", fill = true,
})

-- more: fields that only these commands have.
local function command(timeout_doc, more)
  local made = map("one command", {
    { "name", node("string", "its name in logs (default command-1, command-2, ...)") },
    { "run", node("command_line", "what to run; text goes to sh -c, a list is run as it is", { required = true }) },
    { "cwd", node("path", "where, inside the project", { default = "." }) },
    { "timeout_sec", node("number", timeout_doc, { above = 0, default = 600 }) },
    { "env", environment },
  })
  for _, field in ipairs(more or {}) do table.insert(made.fields, #made.fields, field) end
  return made
end

local stages = {
  { "stage", node("integer", "commands of stage 1 run first; the strategy may stop between stages",
    { min = 1, default = 1 }) },
  { "threshold", node("number", "what the metric must have reached after this stage for the next one to begin") },
  { "threshold_of", node("string",
    "threshold: the metric that must have reached it, wherever the command prints one of that name (default: the "
    .. "project's metric)") },
}

local file = map("a rule for some files", {
  { "path", node("path", "a path, a directory, dir/** or a glob in which * crosses /", { required = true }) },
  { "mode", node("enum", "what a candidate may do with them; hidden files are shown to verification only", {
    allowed = { "writable", "read_only", "generated", "hidden" }, required = true,
  }) },
})

local verification = map("how a candidate is measured; or fitness: DOMAIN, which scores it by domains", {
  { "checks", node("list", "a correctness gate: all must succeed before anything is measured", {
    items = "commands ({name, run})", item = command("seconds after which the check has failed"), fill = true,
  }) },
  { "commands", node("list", "the commands that measure, in order", {
    items = "commands ({name, run})", item = command("seconds after which the candidate has crashed", stages),
    required = true,
  }) },
  { "repeats", node("integer", "how often they are run; the value is the median", { min = 1, default = 1 }) },
  { "warmup", node("integer", "how often they are run before that, in each measurement, without counting (default 0)", {
    min = 0, max = 1000,
  }) },
  { "cases", node("list", "globs of test cases; each command runs once per case, its path as the last argument", {
    items = "globs", item = node("path", "a glob"), fill = true,
  }) },
  { "keep", node("list", "globs of what a command adds and later ones need (build/**); all else that it adds is "
    .. "removed before the next command", { items = "globs", item = node("path", "a glob"), fill = true }) },
  { "aggregate", node("dict", "how values over cases become one: a word, or {METRIC: WORD} (default mean)", {
    short = "*", fill = true,
    item = node("enum", "how", { allowed = { "mean", "median", "min", "max", "sum" } }),
  }) },
  { "log_limit_mb", node("number", "how much of a command's output is kept", { above = 0, default = 256 }) },
  { "artifacts", map("what is kept of APSIS_ARTIFACTS, per experiment", {
    { "max_mb", node("number", "in all", { above = 0, default = 100 }) },
    { "max_files", node("integer", "in all", { min = 1, default = 1000 }) },
  }, { fill = true }) },
  confinement.allow "to be read; PATH:rw to be written too", confinement.network(false), confinement.pass_env,
})

local extractor = map("where the value comes from", {
  { "type", node("enum", "METRIC lines on standard output, or one of the others", {
    allowed = { "metric_lines", "json_file", "stdout_json", "stdout_regex", "stderr_regex" }, default = "metric_lines",
  }) },
  { "path", node("path", "json_file: the file, in the project") },
  { "json_pointer", node("string", "json_file, stdout_json: where in it, such as /metrics/score", { empty = true }) },
  { "json", node("string",
    "metric_lines: a name in JSON on standard output, whose number counts where no METRIC line names the metric; "
    .. "of several objects the last that has it at its top; a.b is b in a") },
  { "regex", node("string", "stdout_regex, stderr_regex: PCRE2, multi-line, first match, group 1") },
}, {
  fill = true,
  variants = {
    by = "type",
    metric_lines = { need = set(), may = set("json") },
    json_file = { need = set("path", "json_pointer"), may = set() },
    stdout_json = { need = set("json_pointer"), may = set() },
    stdout_regex = { need = set("regex"), may = set() },
    stderr_regex = { need = set("regex"), may = set() },
  },
})

local metric = map("the number that is to go up or down", {
  { "name", node("string", "its name", { default = "score" }) },
  { "direction", node("direction", "which way is better", { default = "higher" }) },
  { "target", node("number", "the run ends when the best has reached it") },
  { "epsilon", node("number", "better means better by more than this", { min = 0, default = 0 }) },
  { "tie_breaker", node("enum",
    "what decides between equal values, for strategies that ask (hillclimb, openevolve); others refuse it", {
    allowed = { "changed_loc", "none" }, default = "changed_loc",
  }) },
  { "min_pass", node("number", "below it a candidate is rejected") },
  { "max_pass", node("number", "above it a candidate is rejected") },
  { "unit", node("string", "shown after the value", { empty = true }) },
  { "samples", node("enum",
    "if one run prints several METRIC lines of one name: whether the last one counts, or the median of all; "
    .. "acceptance takes a run as one draw either way, because its lines are not independent", {
    allowed = { "last", "all" }, default = "last",
  }) },
  { "extractor", extractor },
}, { required = true })

local metrics = node("dict", "secondary metrics that may be compared", {
  fill = true,
  item = map("one of them", {
    { "direction", node("direction", "which way is better", { required = true }) },
    { "epsilon", node("number", "better means better by more than this", { min = 0, default = 0 }) },
    { "target", node("number", "for strategies") },
    { "unit", node("string", "shown after the value", { empty = true }) },
  }),
})

local strategy = map("the policy", {
  { "use", node("string", "a shipped strategy's name, or a path to a .lua file", { default = "hillclimb" }) },
  { "options", node("any", "its options, which it names itself", { fill = true, mapping = true }) },
}, { short = "use", fill = true, whole = true })

local provider = map("what turns a proposal into file edits", providers.fields {
  { "model", node("string", "command: the model's name, in APSIS_MODEL; a preset passes it to its agent") },
  { "timeout_sec", node("number", "seconds after which it is stopped (chat: for one request; default 600)",
    { above = 0, default = 1800 }) },
  { "output_limit_mb", node("number", "how much of its output is kept", { above = 0, default = 64 }) },
  { "cpu_sec", node("number", "command: processor seconds of one of its processes", { above = 0 }) },
  { "memory_mb", node("number", "command: address space of one of its processes; Node.js takes far more than it uses",
    { min = 16 }) },
  { "retries", node("integer", "how often a failed answer is asked for again (chat: of each model; default 3)",
    { min = 0, default = 1 }) },
  { "env", environment },
  confinement.allow "readable and writable; PATH:ro only readable", confinement.network(true), confinement.pass_env,
}, { whole = true, variants = providers.variants() })

local budget = map("when a run ends; without any, at halt or by hand", {
  { "iterations", node("integer", "change experiments", { min = 1 }) },
  { "measurements", node("integer", "verifications", { min = 1 }) },
  { "minutes", node("number", "of wall-clock time", { above = 0 }) },
  { "tokens", node("integer", "as far as the provider reports them", { min = 1 }) },
  { "usd", node("number", "as far as the provider reports its cost", { above = 0 }) },
}, { fill = true })

local execution = map("where experiments run", executors.fields {
  { "workers", node("integer", "experiments at a time", { min = 1, max = 256, default = 1 }) },
  { "proposals", node("integer", "how many of them may wait for their provider at a time (default: all)",
    { min = 1, max = 256 }) },
}, { fill = true })

local workspace = map("the scratch checkouts", {
  { "root", node("string", "their directory (default ~/.cache/apsis)") },
  { "git", node("boolean", "give a command provider a throwaway repository of one commit", { default = false }) },
  { "link", node("list", "untracked directories of the project shown read-only", {
    items = "paths", item = node("path", "a path inside the project"), fill = true,
  }) },
}, { fill = true })

local limits = map("what hooks and commands may use", {
  { "hook_cpu_sec", node("number", "processor seconds of one strategy hook", { above = 0, default = 10 }) },
  { "hook_memory_mb", node("number", "memory of the strategy", { above = 0, default = 512 }) },
  { "cpu_sec", node("number", "processor seconds of a verifier's process (a provider's: provider.cpu_sec)",
    { above = 0 }) },
  { "memory_mb", node("number", "address space of a verifier's process (a provider's: provider.memory_mb)",
    { min = 16 }) },
  { "file_mb", node("number", "the largest file that a command may write", { above = 0, default = 4096 }) },
  { "processes", node("integer", "processes of a command", { min = 1, default = 4096 }) },
  { "open_files", node("integer", "open files of a command's process", { min = 16, default = 16384 }) },
  { "tmp_mb", node("number",
    "what a command may write to its own /tmp and home, which are in memory; 1024 files for each MB",
    { min = 1, default = 1024 }) },
  { "disk_reserve_mb", node("number",
    "a command that fills the disk of its workspace until less than this is free is ended",
    { min = 0, default = 512 }) },
}, { fill = true })

local fields = {
  { "version", node("integer", "of the manifest's format: 1", { required = true }) },
  { "project", map("the project", {
    { "name", node("string",
      "any text; made fit for a ref, it names the branch apsis/NAME (default: the directory's)") },
    { "description", node("string", "in a line", { empty = true, default = "" }) },
  }, { fill = true }) },
  { "seed", node("integer", "of all random choices", { default = 1 }) },
  { "program", node("path", "the prose instructions; a name without .md makes the project a standing goal of that name",
    {
    default = "program.md" }) },
  { "prompt", map("what a provider is asked with", {
    { "answer", node("enum", "how a chat model is asked to answer: with SEARCH/REPLACE blocks, with whole files, or "
      .. "with either. All are taken; but with diff, less than half of a file of 1,000 bytes or more is not. A program "
      .. "from scratch is asked for as whole files", { allowed = edit.forms, default = "diff" }) },
    { "include", node("list", "files of the project that are shown with program.md, hidden ones too", {
      items = "paths", item = node("path", "a path inside the project"), fill = true }) },
    { "max_kb", node("number", "the longest prompt: where it does not fit, other programs are left out, then history; "
      .. "the parent never is", { above = 0, default = prompt.MAX_KB }) },
  }, { fill = true }) },
  { "files", node("list", "what may be changed; a path no rule names is read_only", {
    items = "rules ({path, mode})", item = file, required = true,
  }) },
  { "max_file_mb", node("number", "no candidate may have a larger changed file", { above = 0, default = 100 }) },
  { "verification", verification },
  { "metric", metric },
  { "metrics", metrics },
  { "trajectory", trajectory.node },
  { "strategy", strategy },
  { "provider", provider },
  { "budget", budget },
  { "execution", execution },
  { "history", node("enum", "clean leaves rejected work off the branch, revert commits and reverts it there", {
    allowed = { "clean", "revert" }, default = "clean",
  }) },
  { "workspace", workspace },
  { "limits", limits },
  { "sandbox", confinement.sandbox },
  { "log_level", node("enum", "how much is printed on standard error", {
    allowed = { "debug", "info", "warn", "error" }, default = "info",
  }) },
  { "keep_runs", node("integer",
    "how many of the newest folders in runs/ are kept, besides those of baselines and of the best "
    .. "(default: all); commits, refs and the journal always are", { min = 0 }) },
}
verification.required = true

-- The rooms' keys, each after the one that it names, at the top or under the mapping that it names.
local function add(field)
  local list = fields
  for _, other in ipairs(fields) do
    if other[1] == field.under then list = other[2].fields end
  end
  for index, other in ipairs(list) do
    if other[1] == field.after then return table.insert(list, index + 1, field) end
  end
  error(("the key %s is to stand behind %s, which is not there"):format(field[1], tostring(field.after)))
end

for _, keys in rooms.each "keys" do
  for _, field in ipairs(keys { environment = environment, endpoint = endpoint.node, model = endpoint.model_node }) do
    add(field)
  end
end

schema.manifest = map("the keys of manifest.yaml; `apsis help manifest.KEY` explains one", fields)

-- The keys that a user may set for all projects.
local everywhere = set("provider", "budget", "execution", "workspace", "limits", "sandbox", "log_level", "seed")
local user = {}
for _, field in ipairs(fields) do
  if everywhere[field[1]] then user[#user + 1] = field end
end
schema.user = map("config.yaml", user)

return schema
