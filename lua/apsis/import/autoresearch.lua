-- autoresearch: plans the import of a pi-autoresearch session: `.auto/` or else the older flat autoresearch.* files.
-- measure.sh and checks.sh run unchanged; the log becomes readable history. File names and defaults (seconds, direction
-- lower) are the extension's (github.com/davebcn87/pi-autoresearch, paths.ts). Reads the directory; writes and runs
-- nothing. Called by the command import.
local common = require "apsis.import.common"
local direction = require "apsis.direction"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local json = require "apsis.json"
local log = require "apsis.import.autoresearch_log"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local scope = require "apsis.import.scope"
local suggest = require "apsis.suggest"

local autoresearch = {}

local HISTORY = "logs-import"

local layouts = {
  { measure = ".auto/measure.sh", checks = ".auto/checks.sh", prompt = ".auto/prompt.md", ideas = ".auto/ideas.md",
    log = ".auto/log.jsonl", config = ".auto/config.json", hooks = ".auto/hooks" },
  { measure = "autoresearch.sh", checks = "autoresearch.checks.sh", prompt = "autoresearch.md",
    ideas = "autoresearch.ideas.md", log = "autoresearch.jsonl", config = "autoresearch.config.json",
    hooks = "autoresearch.hooks" },
}

local function layout_of(dir)
  for _, layout in ipairs(layouts) do
    for _, path in pairs(layout) do
      if fs.stat(dir .. "/" .. path) then return layout end
    end
  end
end

-- The session's config, empty if there is none; nil and a message.
local function read_config(path)
  if not common.is_file(path) then return {} end
  local text, message = common.read_text(path)
  if not text then return nil, message end
  local value
  value, message = json.decode(text)
  if value == nil then
    local line, rest = message:match("^EJSON: (%d+):%d+: (.*)$")
    return nil, ("%s:%s: config: is not JSON: %s"):format(manifest.display(path), line or 1, rest or message)
  end
  if type(value) ~= "table" or #value > 0 then
    return nil, ("%s:1: config: must be an object"):format(manifest.display(path))
  end
  return value
end

local not_needed = {
  maxAutoResumeTurns = "a loop of apsis ends by its budget, not by an agent's turns",
  name = "the project's name is the directory's",
}
local mapped = { primary_metric = "metric", primaryMetric = "metric", metricName = "metric.name",
  metric_name = "metric.name", metricUnit = "metric.unit", metric_unit = "metric.unit", unit = "metric.unit",
  direction = "metric.direction", bestDirection = "metric.direction", metric_direction = "metric.direction",
  maxIterations = "budget.iterations", workingDir = "the directory that is imported" }

local function report_config(config, report, place)
  for _, name in ipairs(suggest.names(config)) do
    if mapped[name] then report:add("mapped", name, mapped[name], place)
    elseif not_needed[name] then report:add("not_needed", name, not_needed[name], place)
    else common.unknown(report, name, nearest.hint(name, suggest.names(mapped)), place) end
  end
end

-- The primary metric in prompt.md: "- **Primary**: NAME (UNIT, lower is better)".
local function metric_in_prompt(text)
  local line = (text or ""):match("%*%*Primary[^*\n]*%*%*:?%s*([^\n]+)")
  if not line then return {} end
  local name = line:match("^`?([%w_.\u{B5}]+)`?")
  local lower, higher = line:lower():find("lower is better", 1, true), line:lower():find("higher is better", 1, true)
  return { name = name, unit = line:match("%(([^,()]+),"), direction = lower and not higher and "lower" or higher
    and not lower and "higher" or nil }
end

-- { name, unit, direction } from the config, the log and the prompt, in this order; nil and a message.
local function metric_of(session)
  local sources = { { log.metric_of(session.config), session.config_place, "direction" } }
  if session.past.config then
    sources[#sources + 1] = { session.past.config, ("%s:%d"):format(session.log_label, session.past.config_line),
      "bestDirection" }
  end
  sources[#sources + 1] = { metric_in_prompt(session.prompt), session.prompt_label, "Primary" }
  local metric = {}
  for _, source in ipairs(sources) do
    local said = source[1]
    if said.direction ~= nil and not (type(said.direction) == "string" and direction.parse(said.direction)) then
      return nil, ("%s: %s: must be one of %s; got %s"):format(source[2], source[3],
        table.concat(direction.allowed, ", "), nearest.show(said.direction))
    end
    for _, key in ipairs { "name", "unit", "direction" } do
      if metric[key] == nil then metric[key] = said[key] end
    end
  end
  if type(metric.name) ~= "string" then
    return nil, ("%s: metric: the session names no primary metric (no config line in its log, no primary_metric in "
      .. "its config); put {\"primary_metric\": \"NAME\", \"direction\": \"lower\"} into %s"):format(session.label,
      session.layout.config)
  end
  if not metric.direction then
    metric.direction = "lower"
    session.report:note("the session sets no direction: lower, pi-autoresearch's default")
  end
  return metric
end

local function manifest_text(session, metric, rules)
  local layout, scalar, lines = session.layout, common.scalar, {}
  local function add(format, ...) lines[#lines + 1] = select("#", ...) > 0 and format:format(...) or format end
  add("# Imported from a session of pi-autoresearch. `apsis setup` checks it; errors name the line.")
  add("version: 1")
  add("project: {name: %s}", scalar(session.name))
  add("")
  add("files: # a path that no rule names is read_only")
  table.move(rules, 1, #rules, #lines + 1, lines)
  add("")
  add("verification:")
  if session.has_checks then
    add("  checks: [{name: checks, run: [bash, %s], timeout_sec: 300}] # before measuring; failing, a "
      .. "candidate crashes", layout.checks)
  end
  add("  commands: [{name: measure, run: [bash, %s], timeout_sec: 600}]", layout.measure)
  add("")
  add("metric:")
  add("  name: %s", scalar(metric.name))
  add("  direction: %s", direction.parse(metric.direction))
  if type(metric.unit) == "string" and metric.unit ~= "" then add("  unit: %s", scalar(metric.unit)) end
  add("")
  add("strategy: {use: hillclimb} # better than the best is kept, as there; `apsis strategies` lists others")
  local chat = common.chat_provider(session.options)
  if chat then table.move(chat, 1, #chat, #lines + 1, lines)
  else add("provider: {kind: command, preset: pi}") end
  local most = session.config.maxIterations
  if math.type(most) == "integer" and most > 0 then add("budget: {iterations: %d}", most) end
  return table.concat(lines, "\n") .. "\n"
end

local function program_md(session)
  local default = ("# %s\n\nMake %s better."):format(session.name, session.metric.name)
  local parts = { editline.trim_end(session.prompt or default) }
  if session.prompt and session.prompt:find("^%-%-%-") then parts[1] = "\n" .. parts[1] end -- a rule, not front matter
  if session.ideas then parts[#parts + 1] = "## Ideas backlog\n\n" .. editline.trim_end(session.ideas) end
  if #session.past.runs > 0 then
    parts[#parts + 1] = ("## What was tried before\n\n`%s/history.md` lists the %d experiments of the "
      .. "imported session."):format(HISTORY, #session.past.runs)
  end
  return table.concat(parts, "\n\n") .. "\n"
end

-- Reads the session's files. nil and a message.
local function open(dir, options, report)
  local layout = layout_of(dir)
  if not layout then
    return nil, ("%s: measure: there is no session of pi-autoresearch: neither .auto/ nor autoresearch.* files")
      :format(manifest.display(dir))
  end
  local config_path = dir .. "/" .. layout.config
  local config, message = read_config(config_path)
  if not config then return nil, message end
  local where = config.workingDir
  if type(where) == "string" and where ~= "" then
    dir = where:sub(1, 1) == "/" and where or dir .. "/" .. where
    if not common.is_directory(dir) then
      return nil, ("%s: workingDir: %s: no such directory"):format(manifest.display(config_path), nearest.show(where))
    end
    layout = layout_of(dir) or layout
  end
  local session = { dir = dir, layout = layout, config = config, options = options, report = report,
    label = manifest.display(dir), name = common.name_of(dir), config_place = manifest.display(config_path) .. ":1" }
  if not common.is_file(dir .. "/" .. layout.measure) then
    return nil, ("%s: measure: %s is missing, the script that prints METRIC lines"):format(session.label,
      layout.measure)
  end
  report_config(config, report, common.is_file(config_path) and session.config_place or nil)
  return session
end

local function read_rest(session)
  local layout = session.layout
  for _, key in ipairs { "prompt", "ideas", "log" } do
    local path = session.dir .. "/" .. layout[key]
    if common.is_file(path) then
      local text, message = common.read_text(path)
      if not text then return nil, message end
      session[key == "log" and "log_text" or key], session[key .. "_label"] = text, manifest.display(path)
    end
  end
  session.has_checks = common.is_file(session.dir .. "/" .. layout.checks)
  session.past = log.read(session.log_text or "")
  if session.past.skipped > 0 then
    session.report:note("%s: skipped %d line%s that %s not JSON", session.log_label, session.past.skipped,
      session.past.skipped == 1 and "" or "s", session.past.skipped == 1 and "is" or "are")
  end
  if fs.stat(session.dir .. "/" .. layout.hooks) then
    session.report:add("not_needed", layout.hooks, "hooks of pi-autoresearch are not run; a strategy's hooks take "
      .. "their place")
  end
  return true
end

-- The rules of `files`: the files in scope in prompt.md, else everything; never the session's own files.
local function rules_of(session)
  local rules, missing = scope.rules(session.prompt or "", { "Files in Scope" }, session.dir)
  for _, path in ipairs(missing) do
    session.report:note("%s is in scope but does not exist; a candidate may create it", path)
  end
  local own = { session.layout == layouts[1] and ".auto/**" or "autoresearch*" }
  if #rules == 0 then
    session.report:note("prompt.md names no files in scope: all but the session's own files are writable; narrow "
      .. "`files` in manifest.yaml")
    rules = { '  - {path: "**", mode: writable}' }
    table.move({ "manifest.yaml", "program.md", ".gitignore", HISTORY .. "/**" }, 1, 4, 2, own)
  end
  for _, path in ipairs(own) do rules[#rules + 1] = ("  - {path: %s, mode: read_only}"):format(common.scalar(path)) end
  return rules
end

-- { name, files, report, left_out, root } | nil, list of errors. options: into, max_mb, base_url, api_key_env, model.
function autoresearch.plan(dir, options)
  local report = common.report()
  local session, message = open(dir, options, report)
  local ok = session ~= nil
  if ok then ok, message = read_rest(session) end
  if ok then session.metric, message = metric_of(session) end
  if not ok or not session.metric then return nil, { message } end
  local rules = rules_of(session)
  local files, left_out = common.collect(session.dir, { into = options.into, max_mb = options.max_mb,
    skip = common.own() })
  local more = { common.gitignore(session.dir),
    { path = "manifest.yaml", text = manifest_text(session, session.metric, rules) },
    { path = "program.md", text = program_md(session) } }
  if #session.past.runs > 0 then
    more[#more + 1] = { path = HISTORY .. "/history.md", text = log.page(session.past, session.metric) }
    more[#more + 1] = { path = HISTORY .. "/log.jsonl", text = session.log_text }
    report:note("%s of its log %s in %s/history.md, to read; apsis measures again", #session.past.runs == 1
      and "the one run" or ("the %d runs"):format(#session.past.runs), #session.past.runs == 1 and "is" or "are",
      HISTORY)
  end
  return { name = session.name, files = common.replaced(files, more), report = report, left_out = left_out,
    root = session.dir }
end

return autoresearch
