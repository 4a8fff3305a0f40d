-- schema: the manifest's key for scoring by domains (tests, lint, benchmark, ...), and its rules. Lists the domains;
-- domains/ implements them. Called through room.lua.
local beside = require "apsis.fitness.beside"
local idle = require "apsis.fitness.idle"
local judged_rules = require "apsis.fitness.judged"
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"
local regex = require "apsis.regex"

local map, node, set = nodes.map, nodes.node, nodes.set

local fitness = {}

fitness.domains = { "tests", "lint", "typecheck", "benchmark", "review", "rubric", "command", "composite" }

local test_formats = { "auto", "tap", "junit", "pytest", "go", "cargo", "node", "maven", "jest", "vitest", "mocha",
  "unittest", "rspec", "phpunit", "dotnet", "ctest", "busted", "bats", "command" }
local count_formats = { "lines", "json", "sarif" }
local counting = set("run", "format", "file", "pattern", "json_pointer", "baseline")
local judged = { "base_url", "api_key_env", "models", "retries" }

-- The keys of each domain in addition to the common ones; with a harness, `run` in `need` is optional.
local takes = {
  tests = { may = set("run", "format", "file", "pattern", "tasks"), need = { "run" } },
  lint = { may = counting, need = { "run" } },
  typecheck = { may = counting, need = { "run" } },
  benchmark = { may = set("run", "metric", "direction", "scale", "span", "baseline"), need = { "run" } },
  review = { may = set("weights", "against", "max_bytes", "instructions", table.unpack(judged)), need = {} },
  rubric = { may = set("run", "tasks", "dimensions", "max_bytes", "instructions", table.unpack(judged)),
    need = { "dimensions" } },
  command = { may = set("run", "tasks", "expected"), need = { "tasks", "run" } },
  composite = { may = set("components"), need = { "components" } },
}
local all_take = set("domain", "name", "weight", "cwd", "timeout_sec", "env", "harness", "report", "score_key")
local whole_only = set("staged", "staged_threshold", "samples", "workers") -- only for fitness itself
local divisors = set("scale", "span") -- also for the result of a report: command

local formats_of = { tests = test_formats, lint = count_formats, typecheck = count_formats }

local function part(what)
  return map(what, {
    { "run", node("command_line",
      "the command; FITNESS_TASKS, FITNESS_OUTPUT, FITNESS_SAMPLES, FITNESS_WORKERS and FITNESS_AGENT give it "
      .. "what to do", { required = true }) },
    { "timeout_sec", node("number", "seconds after which it has failed (default: the component's)", { above = 0 }) },
  }, { short = "run" })
end

-- The keys of a component. made: shared nodes of the schema: environment, endpoint, model.
local function fields_of(made)
  return {
    { "domain", node("string", "how it is scored: " .. table.concat(fitness.domains, ", ")
      .. ", or a .lua file of the project's own",
      { required = true }) },
    { "name", node("string", "its name in reports and metrics (default: the domain's)") },
    { "run", node("command_line", "what to run; with tasks once for each, its id the last argument") },
    { "cwd", node("path", "where, inside the project", { default = "." }) },
    { "timeout_sec", node("number",
      "seconds after which a command has failed and there is no score (command: no answer)",
      { above = 0, default = 600 }) },
    { "env", made.environment },
    { "tasks", node("paths", "the items, one run each: globs of the project's files, or a file of ids, one a line") },
    { "format", node("string", "tests: " .. table.concat(test_formats, ", ")
      .. " (default auto; with tasks command: the exit code); "
      .. "lint, typecheck: " .. table.concat(count_formats, ", ") .. " (default lines)") },
    { "file", node("path",
      "tests, lint, typecheck: the report is in this file, which the command writes, not on standard output") },
    { "pattern", node("string",
      "PCRE2, multi-line. lint, typecheck: of the lines that count; tests with format: command: with groups "
      .. "named passed and total (or failed), the last match counts") },
    { "json_pointer", node("string",
      "lint, typecheck with format: json: where the count or the list of findings is (default: all of it)",
      { empty = true }) },
    { "baseline", node("number",
      "lint, typecheck, benchmark: what to compare with (default: what the baseline candidate had)",
      { min = 0 }) },
    { "metric", node("string", "benchmark: the METRIC line's name (default: the component's name)") },
    { "direction", node("direction", "benchmark: which way is better (default higher)") },
    { "scale", node("number",
      "benchmark: the value that is worth 1, instead of the baseline's; with report: and of a domain of the "
      .. "project's own: what its score is divided by", { above = 0 }) },
    { "span", node("list", "the same as two values: that which is worth 0 and that which is worth 1",
      { items = "two numbers",
      item = node("number", "a value") }) },
    { "expected", node("path",
      "command: a CSV file with the columns question_id and answer, read from the commit, else from the "
      .. "project's directory") },
    { "dimensions", node("list", "rubric: what is scored, each on its own scale",
      { items = "dimensions ({name, scale_max, weight})",
      item = map("one dimension", {
        { "name", node("string", "its METRIC line's name", { required = true, pattern = "^[%w_]+$",
          pattern_text = "letters, digits and _" }) },
        { "scale_max", node("number", "the best raw score; the worst is 0", { above = 0, default = 10 }) },
        { "weight", node("number", "its share; shares that do not sum to 1 are divided by their sum",
          { above = 0, default = 1 }) },
        { "what", node("string", "what is to be judged, for a judge") },
      }, { short = "name" }) }) },
    { "weights", node("dict",
      "review: how much each criterion counts (default: correctness 0.4, quality 0.25, safety 0.2, "
      .. "improvement 0.15)", { item = node("number", "its share", { min = 0 }) }) },
    { "against", node("enum",
      "review: the judge is shown the change since the parent, or since the baseline, so that candidates with "
      .. "different parents can be compared (default: baseline; parent with a strategy that declares climbs = false, "
      .. "such as hyperagents)", { allowed = { "parent", "baseline" } }) },
    { "instructions", node("string", "review, rubric: what the judge should know of the project") },
    { "max_bytes", node("integer", "review, rubric: how much of the change the judge sees (default 60000)",
      { min = 1000 }) },
    { "base_url", made.endpoint "review, rubric: the judge's endpoint (default: the chat provider's)" },
    { "api_key_env", node("string",
      "review, rubric: the environment variable that holds the judge's key (default: the chat provider's)") },
    { "models", node("list", "review, rubric: the judge (default: the chat provider's models)",
      { items = "models ({name, price})",
      item = made.model }) },
    { "retries", node("integer",
      "review, rubric: how often each model is asked again where it did not answer (default 3)", { min = 0 }) },
    { "harness", part("a command that measures instead: it writes predictions.csv "
      .. "(question_id,prediction,score) into FITNESS_OUTPUT") },
    { "report", part "a command that scores instead: it writes report.json ({NAME: SCORE}) into FITNESS_OUTPUT" },
    { "score_key", node("string", "the key of report.json that holds the score (default: the component's name)") },
    { "options", node("any", "for a domain of the project's own: its options, which it names itself",
      { mapping = true }) },
  }
end

-- The node of the manifest's key. made: see fields_of.
function fitness.node(made)
  local component = map("one component", fields_of(made), { short = "domain" })
  table.insert(component.fields, 3,
    { "weight", node("number", "its share; weights that do not sum to 1 are divided by their sum, "
    .. "with a warning", { above = 0, default = 1 }) })
  local fields = fields_of(made)
  for _, field in ipairs {
    { "components", node("list", "composite: the parts", { items = "components ({domain, weight})",
      item = component }) },
    { "staged", node("boolean",
      "first a tenth of the items, at least 10; the rest only if each score is above staged_threshold, else the score "
      .. "is that of all items with 0 for the rest", { default = false }) },
    { "staged_threshold", node("number", "with staged: what each score of the first items must be above (default 0)",
      { min = 0 }) },
    { "samples", node("integer", "how many items of each component, the first ones; -1 is all",
      { min = -1, default = -1 }) },
    { "workers", node("integer", "items at a time; 1, as those that run beside one another share the checkout",
      { min = 1, max = 256,
      default = 1 }) },
  } do fields[#fields + 1] = field end
  return map("scores by domains, instead of verification.commands", fields, { short = "domain", not_empty = true })
end

local function is_own(domain)
  return domain:find("%.lua$") ~= nil
end

-- The name of a component without one: the domain's, or a domain file's own.
local function name_of(domain)
  return ((domain:match("([^/]+)%.lua$") or domain):gsub("[^%w_]", "_"))
end

-- Before the defaults are in: fitness makes some keys optional.
function fitness.variants(draft)
  local value = draft.value
  if not draft.stands "fitness" then return end
  draft.measured_otherwise = true
  local spec = type(value.fitness) == "table" and value.fitness or {} -- invalid, but meant to measure
  value.metric = value.metric or (not draft.stands "metric" and {} or nil)
  if type(spec.domain) == "string" then
    spec.name = spec.name or name_of(spec.domain)
    if value.metric then value.metric.name = value.metric.name or spec.name end
  end
  for _, component in ipairs(spec.components or {}) do
    if component.domain then component.name = component.name or name_of(component.domain) end
  end
  if draft.stands "verification" and not value.verification then return end
  value.verification = value.verification or {}
  if not draft.stands "verification.commands" then value.verification.commands = {} end
end

local reserved = set("metrics", "warnings", "reason", "components", "items")

local function check_name(draft, key, name)
  if not name:find("^[%w_]+$") then
    draft.say(key .. ".name",
      ("must be letters, digits and _, as it names a folder and a metric; got %s"):format(nearest.show(name)))
  elseif reserved[name] then
    draft.say(key .. ".name", ("%s has a fixed meaning in report.json; choose another"):format(nearest.show(name)))
  end
end

local function check_domain(draft, key, domain)
  if is_own(domain) then
    if domain:sub(1, 1) == "/" or ("/" .. domain .. "/"):find("/../", 1, true) then
      draft.say(key .. ".domain", nearest.show(domain)
        .. " must be inside the project: a path relative to the manifest")
    end
    return {}
  end
  if takes[domain] then return takes[domain] end
  draft.say(key .. ".domain",
    ("%s is no domain%s (there are %s, or a .lua file of the project's own; harness: and report: commands go "
    .. "with domain: command and a name:)"):format(nearest.show(domain), nearest.hint(domain, fitness.domains),
    table.concat(fitness.domains, ", ")))
end

local function check_keys(draft, key, spec, taken)
  for name in pairs(spec) do
    local known = all_take[name] or not taken.may and name ~= "components" or taken.may and taken.may[name]
      or key == "fitness" and whole_only[name] or spec.report and divisors[name]
    if name == "weight" and key == "fitness" then known = false end
    if not known and draft.stands(key .. "." .. name) then
      draft.say(key .. "." .. name, ("does not belong to domain %s; remove it, or change %s.domain"):format(spec.domain,
        key))
    elseif known and taken.may and draft.stands(key .. "." .. name) and idle.why(spec, name) then
      draft.say(key .. "." .. name, idle.why(spec, name))
    end
  end
  for _, name in ipairs(taken.need or {}) do
    local harnessed = (name == "run" or name == "tasks") and spec.harness
    if spec[name] == nil and not harnessed and not draft.stands(key .. "." .. name) then
      draft.say(key .. "." .. name, ("is required if domain is %s%s"):format(spec.domain,
        name == "run" and ": the command, such as make test" or name == "tasks"
          and ": globs, or a file of ids, one a line" or ""))
    end
  end
end

-- A pattern must compile, and for tests it must have the groups.
local function check_pattern(draft, key, spec)
  local compiled, message = regex.compile(spec.pattern, "m")
  if not compiled then
    return draft.say(key .. ".pattern",
      ("%s is not a regular expression of PCRE2: %s"):format(nearest.show(spec.pattern),
      (tostring(message):gsub("^EREGEX: ", ""))))
  end
  if spec.domain ~= "tests" then return end
  local names = compiled:names()
  if not (names.passed and (names.total or names.failed)) then
    draft.say(key .. ".pattern", "must name what it counts: (?<passed>\\d+) and (?<total>\\d+), or (?<failed>\\d+)")
  end
end

local function check_format(draft, key, spec)
  local allowed, format = formats_of[spec.domain], spec.format
  if format and allowed and not set(table.unpack(allowed))[format] then
    return draft.say(key .. ".format", ("must be one of %s; got %s%s"):format(table.concat(allowed, ", "),
      nearest.show(format),
      nearest.hint(format, allowed)))
  end
  if spec.pattern then check_pattern(draft, key, spec) end
  if spec.domain == "tests" and spec.pattern and format ~= "command" then
    draft.say(key .. ".pattern", "goes with format: command; with another format the output is read by its own rules")
  end
  local counts = allowed == count_formats
  if counts and (format or "lines") == "lines" and not spec.pattern and not spec.harness and not draft.stands(key
    .. ".pattern") then
    draft.say(key .. ".pattern",
      "is required, to know which lines of the output count: for instance '^.+:\\d+:'; or set format: json or "
      .. "sarif")
  end
  if counts and (format or "lines") ~= "lines" and spec.pattern then
    draft.say(key .. ".pattern", ("goes with format: lines, not with %s; remove one of the two"):format(format))
  end
  if spec.json_pointer and format ~= "json" then draft.say(key .. ".json_pointer", "goes with format: json") end
end

local function check_divisor(draft, key, spec)
  local given = {}
  for _, name in ipairs { "scale", "span", "baseline" } do
    if spec[name] then given[#given + 1] = name end
  end
  if #given > 1 then
    draft.say(key .. "." .. given[2], ("is set together with %s; keep one of the two"):format(given[1]))
  end
  if spec.span and #spec.span ~= 2 then draft.say(key .. ".span", "must be two numbers: what is worth 0 and what is "
    .. "worth 1")
  elseif spec.span and spec.span[1] == spec.span[2] then draft.say(key .. ".span", "must be two different numbers") end
end

local function check_benchmark(draft, key, spec)
  if spec.metric and not spec.metric:find("^[%w_.\u{B5}]+$") then
    draft.say(key .. ".metric", nearest.show(spec.metric)
      .. " cannot be used in a METRIC line: only letters, digits, '_' and '.'")
  end
end

local function check_command(draft, key, spec)
  if not spec.expected and not spec.report and not draft.stands(key .. ".expected") and not draft.stands(key
    .. ".report") then
    draft.say(key .. ".expected",
      "is required, to score the answers: a CSV file with the columns question_id and answer; or give a "
      .. "report: command")
  elseif spec.expected and spec.report then
    draft.say(key .. ".report", "is set together with expected; keep one of the two")
  end
end

local function check_component(draft, key, spec, chat)
  if not spec.domain then return end
  local taken = check_domain(draft, key, spec.domain)
  if not taken then return end
  check_name(draft, key, spec.name)
  check_keys(draft, key, spec, taken)
  if formats_of[spec.domain] then check_format(draft, key, spec) end
  check_divisor(draft, key, spec)
  if spec.domain == "benchmark" then check_benchmark(draft, key, spec) end
  if spec.domain == "command" then check_command(draft, key, spec) end
  if spec.weights and not draft.refused(key .. ".weights") then judged_rules.weights(draft, key, spec.weights) end
  if spec.dimensions then judged_rules.dimensions(draft, key, spec.dimensions) end
  if not spec.harness and (spec.domain == "review" or spec.domain == "rubric" and not spec.run) then
    judged_rules.judge(draft, key, spec, chat)
  end
end

local function check_components(draft, spec, chat)
  if #spec.components == 0 and not draft.refused "fitness.components" then
    draft.say("fitness.components", "at least one is needed; write components: [{domain: tests, run: make test}]")
  end
  local seen = {}
  for index, component in ipairs(spec.components) do
    local key = ("fitness.components[%d]"):format(index)
    if component.domain == "composite" then
      draft.say(key .. ".domain",
        "cannot be composite: a component of a composite is one of the others; list its components here")
    else
      check_component(draft, key, component, chat)
    end
    local name = component.name
    if name and seen[name] then
      draft.say(key .. ".name",
        ("%s is the name of the component at %s too; give each its own name:"):format(nearest.show(name),
        draft.at(seen[name])))
    elseif name and draft.value.metric and name == draft.value.metric.name then
      draft.say(key .. ".name",
        ("%s is the metric's name, which is for the score of all; choose another"):format(nearest.show(name)))
    end
    if name then seen[name] = key end
  end
end

-- After the defaults are in. chat: { address, key, model, priced }: rules' own checks.
function fitness.check(draft, chat)
  local spec = draft.value.fitness
  if not spec then return end
  beside.measures(draft)
  if not spec.domain then return end
  if spec.samples == 0 then draft.say("fitness.samples", "must be 1 or more, or -1 for all; 0 items give no score") end
  check_component(draft, "fitness", spec, chat)
  if spec.components then check_components(draft, spec, chat) end
  beside.metric(draft, spec)
  if spec.staged_threshold and not spec.staged then
    draft.say("fitness.staged_threshold", "goes with staged: true")
  end
  if not draft.refused "fitness" then idle.without_items(draft, spec) end
end

return fitness
