-- hyperagents: .hyperagents/config.json, the configuration of the HyperAgents plugin for coding agents (with the keys
-- documented at github.com/Zpankz/hyperagents-plugin), as the layer below a manifest with neither `fitness` nor
-- `verification.commands`. Every key is used, or listed as ignored with the reason. Turns text into a table, which
-- the schema checks. Called through room.lua.
local fs = require "apsis.fs"
local json = require "apsis.json"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local suggest = require "apsis.suggest"

local hyperagents = { path = ".hyperagents/config.json" }

local MOST_BYTES = 1048576

-- The plugin uses HyperAgents' names for rules with different formulas (apsis.selection's proportional ones).
local selection_rules = { random = "random", latest = "latest", best = "best", score_prop = "proportional",
  score_child_prop = "proportional_child" }
local methods = { "random", "latest", "best", "score_prop", "score_child_prop" }

local FILE_LINE = "^.+:\\d+:" -- how most linters and compilers begin each finding
local commands = { tests = "test_command", lint = "lint_command", typecheck = "typecheck_command",
  benchmark = "benchmark_command" }

local Plan = {}
Plan.__index = Plan

function Plan:fail(key, message) error({ refused = ("%s: %s"):format(nearest.escape(key), message) }, 0) end
function Plan:note(key) self.used[key] = true end

function Plan:ignore(key, reason)
  if not self.used[key] then self.ignored[#self.ignored + 1] = { key = key, reason = reason } end
  self.used[key] = true
end

local function quoted(path) return "'" .. path:gsub("'", "'\\''") .. "'" end

-- An optional key that must be a text.
function Plan:text(of, name, key)
  local value = of[name]
  if value == nil then return nil end
  if type(value) ~= "string" or value == "" then self:fail(key, "must be a text, not " .. nearest.show(value)) end
  self:note(key)
  return value
end

-- The same for a number above 0, or a whole one.
function Plan:number(of, name, key, whole)
  local value = of[name]
  if value == nil then return nil end
  if type(value) ~= "number" or value <= 0 or whole and math.type(value) ~= "integer" then
    self:fail(key, ("must be a %s above 0, not %s"):format(whole and "whole number" or "number", nearest.show(value)))
  end
  self:note(key)
  return value
end

-- A script of a domain: it must exist, or every candidate would fail.
function Plan:script(given, name, key)
  local path = self:text(given, name, key)
  if not path then self:fail(key, "is required: the path of a script") end
  if not self.exists(path) then self:fail(key, ("there is no file %s"):format(nearest.show(path))) end
  return "bash " .. quoted(path)
end

local registered = {
  splits = "there are no splits here: what is measured is what the harness measures",
  can_ensemble = "candidates are measured one by one, never as an ensemble",
  eval_timeout = "it is of one task, and the harness runs them all: the harness itself must hold to it",
  staged_eval_fraction = "which items the harness has is not known here",
  staged_eval_samples = "which items the harness has is not known here",
}

-- A registered domain: its scripts get the plugin's own arguments.
function Plan:registered_domain(name, given, key)
  local component = { domain = "command",
    harness = { run = self:script(given, "harness", key .. ".harness")
      .. ' --task-list "$FITNESS_TASKS" --agent-path "$FITNESS_AGENT" '
      .. '--output-dir "$FITNESS_OUTPUT" --num-samples "$FITNESS_SAMPLES"' },
    report = { run = self:script(given, "reporter", key .. ".reporter") .. ' --output-dir "$FITNESS_OUTPUT"' },
    score_key = self:text(given, "score_key", key .. ".score_key") }
  local workers = self:number(given, "max_workers", key .. ".max_workers", true)
  self.workers = workers and math.min(workers, self.workers or workers)
    or self.workers -- the least of several domains, as apsis has one setting
  for other, reason in pairs(registered) do
    if given[other] ~= nil then self:ignore(key .. "." .. other, reason) end
  end
  component.name = name:gsub("[^%w_]", "_")
  return component
end

-- A built-in domain of the plugin. given: the entry of `components`, or the whole file.
function Plan:known_domain(name, given, key)
  local component = { domain = name }
  local command = commands[name]
  if command then
    component.run = self:text(given, command, key .. command) or self:text(self.config, command, command)
    if not component.run and name == "benchmark" then
      local path = ".hyperagents/domains/benchmark/benchmark.sh"
      component.run = self.exists(path) and "bash " .. path or nil
    end
    if not component.run then
      self:fail(key .. command,
        ("is required for the domain %s here, where no agent guesses it; or set fitness: in the manifest")
        :format(name))
    end
  end
  if name == "lint" or name == "typecheck" then component.pattern = FILE_LINE end
  if given.score_key ~= nil then
    self:ignore(key .. "score_key", "a domain of apsis's own reports its score under its own name")
  end
  return component
end

local built_in = { "tests", "lint", "typecheck", "benchmark", "review" }

function Plan:component(name, given, key, where)
  local domains = self.config.domains
  local own = type(domains) == "table" and domains[name]
  if type(own) == "table" then return self:registered_domain(name, own, "domains." .. name) end
  for _, known in ipairs(built_in) do
    if known == name then return self:known_domain(name, given, key) end
  end
  self:fail(where, ("%s is no domain of the plugin (%s, composite) and is not under domains%s"):format(
    nearest.show(name), table.concat(built_in, ", "), nearest.hint(name, built_in)))
end

-- The entries of `components`, each { domain, weight }.
function Plan:composite(list)
  local made = {}
  self:note "components"
  if type(list) ~= "table" or #list == 0 then
    self:fail("components", "must be a list of {domain, weight}, with at least one")
  end
  for index, given in ipairs(list) do
    local key = ("components[%d]."):format(index)
    if type(given) ~= "table" then
      self:fail(key:sub(1, -2), "must be {domain, weight}, not " .. nearest.show(given))
    end
    local name = self:text(given, "domain", key .. "domain") or self:fail(key .. "domain", "is required")
    made[index] = self:component(name, given, key, key .. "domain")
    made[index].weight = self:number(given, "weight", key .. "weight")
  end
  return { domain = "composite", components = made }
end

-- Several domains: their mean, as the plugin aggregates.
function Plan:mean_of(names, key)
  local made = {}
  for index, name in ipairs(names) do
    if type(name) ~= "string" then self:fail(key, "must be a list of names, not of " .. nearest.show(name)) end
    made[index] = self:component(name, self.config, "", key)
    made[index].weight = 1 / #names
  end
  return { domain = "composite", components = made }
end

function Plan:fitness()
  local config = self.config
  local domain, domains = config.domain, config.domains
  self:note "domain"
  if domains ~= nil then self:note "domains" end
  if domain == nil and config.components ~= nil then domain = "composite" end
  if domain == nil and type(domains) == "table" then domain = #domains > 0 and domains or suggest.names(domains) end
  if type(domain) == "string" and domain:find(",", 1, true) then
    local names = {}
    for name in domain:gmatch("[^,%s]+") do names[#names + 1] = name end
    domain = names
  end
  if type(domain) == "table" and #domain == 1 then domain = domain[1] end
  if type(domain) == "table" and #domain > 1 then return self:mean_of(domain, "domain") end
  if type(domain) ~= "string" then
    self:fail("domain", "is required: one of " .. table.concat(built_in, ", ")
      .. ", composite, or a name under domains")
  end
  if domain == "composite" then return self:composite(config.components) end
  return self:component(domain, config, "", "domain")
end

function Plan:strategy()
  local method = self.config.selection_method
  self:note "selection_method"
  if method ~= nil and not selection_rules[method] then
    self:fail("selection_method", ("must be one of %s; got %s"):format(table.concat(methods, ", "),
      nearest.show(method)))
  end
  return { use = "hyperagents", options = { rule = selection_rules[method or "score_prop"] } } -- the plugin's default
end

function Plan:budget()
  local budget = { iterations = self:number(self.config, "max_generations", "max_generations", true),
    usd = self:number(self.config, "max_budget_usd", "max_budget_usd") }
  return next(budget) and budget
end

-- Reports the unused keys of the file.
function Plan:leftovers()
  if self.config.staged_eval ~= nil then
    self:ignore("staged_eval",
      "its domains have no items that could be measured first; fitness: {staged: true, tasks: ...} in the "
      .. "manifest has")
  end
  for _, key in ipairs(suggest.names(self.config)) do
    local known = key:find "_command$" or key == "score_key" or key == "components"
    self:ignore(key, known and "no domain that is used takes it here" or "it is no key of the plugin's format")
  end
  for index, given in ipairs(type(self.config.components) == "table" and self.config.components or {}) do
    for _, key in ipairs(type(given) == "table" and suggest.names(given) or {}) do
      self:ignore(("components[%d].%s"):format(index, key), "no domain that is used takes it here")
    end
  end
  for _, name in ipairs(type(self.config.domains) == "table" and suggest.names(self.config.domains) or {}) do
    local given = self.config.domains[name]
    for _, key in ipairs(type(given) == "table" and suggest.names(given) or {}) do
      self:ignore(("domains.%s.%s"):format(name, key), "the domain is not used, or it is no key of a domain")
    end
  end
end

-- The equivalent manifest: { fitness, strategy, budget }, and the ignored { { key, reason }... }; nil and what is
-- wrong. text: the file's; exists(path): whether the project has that file.
function hyperagents.plan(text, exists)
  local config, message = json.decode(text, true)
  if type(config) ~= "table" or #config > 0 then
    return nil, message and message:gsub("^EJSON: ", "") or "it is no JSON object"
  end
  local self = setmetatable({ config = config, exists = exists, used = {}, ignored = {} }, Plan)
  local value
  local ok, failure = pcall(function()
    value = { fitness = self:fitness(), strategy = self:strategy(), budget = self:budget() }
    value.fitness.workers = self.workers
    self:leftovers()
    table.sort(self.ignored, function(a, b) return a.key < b.key end)
  end)
  if ok then return value, self.ignored end
  if type(failure) == "table" then return nil, failure.refused end
  error(failure, 0)
end

-- The same for a project's directory; only nil if there is no such file.
function hyperagents.read(dir)
  local path = dir .. "/" .. hyperagents.path
  if not fs.stat(path) then return nil end
  local text, message = fs.read(path, MOST_BYTES)
  if not text then return nil, message end
  return hyperagents.plan(text, function(name)
    local stat = not name:find("^/") and fs.stat(dir .. "/" .. name)
    return stat and stat.type == "file" or false
  end)
end

-- The layer below a manifest that does not configure measuring, or nil; puts the ignored keys into place.ignored.
function hyperagents.layer(layer, path, place)
  local verification = layer.value.verification
  if layer.unread or layer.places.fitness or verification and verification.commands
    or layer.places["verification.commands"] then
    return nil
  end
  local dir = path:match("^(.*)/[^/]*$")
  local value, ignored = hyperagents.read(dir ~= "" and dir or "/")
  if not value and not ignored then return nil end
  local label = manifest.display(dir .. "/" .. hyperagents.path)
  local lower = shape.layer { label = label }
  if value then
    lower.value = shape.check(lower, schema.manifest, value, "", 1) or {}
    place.ignored = {}
    for index, one in ipairs(ignored) do
      place.ignored[index] = ("%s: %s is ignored: %s"):format(label, one.key, one.reason)
    end
  else
    lower.value, lower.places.fitness = {}, { label = label, line = 1 }
    lower.errors[1] = { label = label, line = 1, key = "fitness", text = label .. ": " .. ignored }
    lower.places.verification, lower.places.metric = lower.places.fitness, lower.places.fitness -- reported already
  end
  return lower
end

return hyperagents
