-- rules: the rules that join several keys of a manifest, after the layers are merged and before (variants) or after
-- (the rest) the defaults are added. Each rule gets a draft {value, dir, say, at} and reports by say(key, message);
-- at(key) is a key's place. Called only by manifest.lua.
local endpoint = require "apsis.project.endpoint"
local home = require "apsis.project.home"
local nearest = require "apsis.project.nearest"
local plain = require "apsis.project.plain"
local providers = require "apsis.project.providers"
local ref = require "apsis.project.ref"
local regex = require "apsis.regex"
local rooms = require "apsis.core.rooms"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local trajectory = require "apsis.project.trajectory"

local rules = {}

-- The kind of a provider without `kind`, if its keys leave no doubt.
local function infer_kind(draft)
  for _, kind in ipairs(providers.all()) do
    for _, key in ipairs(kind.shown_by or {}) do
      if draft.stands("provider." .. key) then return kind.name end
    end
  end
end

-- Keys that this kind needs, and keys of other kinds.
local function check_variant(draft, node, value, key)
  local by = node.variants.by
  local variant = node.variants[value[by]]
  if not variant then return end
  for _, field in ipairs(node.fields) do
    local name = field[1]
    local below = key .. "." .. name
    if variant.need[name] and value[name] == nil and not draft.stands(below) then
      draft.say(below, ("is required if %s is %s: %s"):format(by, value[by], (field[2].doc:gsub("^[%l_, ]+: ", ""))))
    elseif value[name] ~= nil and name ~= by and not (variant.need[name] or variant.may[name]) then
      draft.say(below, ("does not belong to %s %s; remove it, or change %s.%s"):format(by, value[by], key, by))
    end
  end
end

-- Before the defaults are in.
function rules.variants(draft)
  local value = draft.value
  rooms.call("early_rules", draft)
  if value.provider then
    if not value.provider.kind and not draft.stands("provider.kind") then value.provider.kind = infer_kind(draft) end
    check_variant(draft, shape.field(schema.manifest, "provider"), value.provider, "provider")
    for name, default in pairs((providers.of(value.provider) or {}).defaults or {}) do
      if value.provider[name] == nil then value.provider[name] = default end
    end
  end
  local metric = value.metric
  if metric and not draft.refused("metric.extractor") then
    metric.extractor = metric.extractor or {}
    metric.extractor.type = metric.extractor.type or "metric_lines"
    local node = shape.field(shape.field(schema.manifest, "metric"), "extractor")
    check_variant(draft, node, metric.extractor, "metric.extractor")
  end
end

local function version(draft)
  local given = draft.value.version
  if given and given ~= 1 then
    draft.say("version", ("must be 1, the only format there is; got %s"):format(nearest.show(given)))
  end
end

-- The name is for people; project.ref is derived from it or from the directory's.
local function project_name(draft)
  local project = draft.value.project
  if not project or draft.refused("project.name") then return end
  local given = project.name
  if given and (given:find("[%c\127]") or plain.visible(given) ~= given) then
    return draft.say("project.name", ("must be text without control characters and marks that reorder text; got %s")
      :format(plain.visible(nearest.show(given))))
  end
  project.ref = ref.of(given or draft.dir:match("([^/]+)/*$") or "project")
  project.name = given or project.ref
end

local function files(draft)
  local list = draft.value.files
  if not list then return end
  local kept, seen, writable = {}, {}, draft.refused("files")
  for index, rule in ipairs(list) do
    local key = ("files[%d].path"):format(index)
    if rule.path and rule.mode then
      if rule.path == "." then rule.path = "**" end
      writable = writable or rule.mode == "writable"
      local first = seen[rule.path]
      if not first then
        seen[rule.path] = { mode = rule.mode, key = key }
        kept[#kept + 1] = rule
      elseif first.mode ~= rule.mode then
        draft.say(key, ("%s is %s here and %s at %s; keep one of the two"):format(
          nearest.show(rule.path), rule.mode, first.mode, draft.at(first.key)))
      end
    end
  end
  if not writable then
    draft.say("files",
      "at least one path must be writable, or no candidate could change anything; add {path: FILE, mode: writable}")
  end
  for index = #list, 1, -1 do list[index] = kept[index] end
end

-- A threshold needs a later stage that it can skip.
local function thresholds(draft, commands)
  local last, first = 0, {}
  for _, command in ipairs(commands) do last = math.max(last, command.stage or 1) end
  for index, command in ipairs(commands) do
    local key, stage = ("verification.commands[%d].threshold"):format(index), command.stage or 1
    if command.threshold_of and not command.threshold then
      draft.say(key .. "_of", "needs threshold, the value that this metric must reach; add it, or remove threshold_of")
    end
    if command.threshold and stage == last then
      local lower = (draft.value.metric or {}).direction == "lower"
      draft.say(key, ("stands on the last stage (%d), after which there is nothing to go on to; give a later command "
        .. "stage: %d, or "
        .. "use metric.%s: %s, which rejects what is measured"):format(stage, stage + 1, lower and "max_pass"
          or "min_pass",
        nearest.show(command.threshold)))
    elseif command.threshold and first[stage] and first[stage].value ~= command.threshold then
      draft.say(key, ("is %s here and %s at %s for the same stage %d; keep one of the two"):format(
        nearest.show(command.threshold), nearest.show(first[stage].value), draft.at(first[stage].key), stage))
    elseif command.threshold and not first[stage] then
      first[stage] = { value = command.threshold, key = key }
    end
  end
end

local function commands(draft)
  local verification = draft.value.verification
  if not verification then return end
  for _, which in ipairs { "checks", "commands" } do
    for index, command in ipairs(verification[which] or {}) do
      command.name = command.name or ("%s-%d"):format(which:sub(1, -2), index)
    end
  end
  local none = verification.commands and #verification.commands == 0
  if none and not draft.measured_otherwise and not draft.refused("verification.commands") then
    draft.say("verification.commands",
      "at least one command is needed; write commands: [{name: measure, run: ./measure.sh}]")
  end
  thresholds(draft, verification.commands or {})
  local joins = draft.stands "verification.aggregate" and not draft.refused "verification"
  if joins and #(verification.cases or {}) == 0 then
    draft.say("verification.aggregate",
      "joins the values of several cases, and there are none; add cases: [GLOB], or remove it")
  end
  if verification.aggregate then
    verification.aggregate["*"] = verification.aggregate["*"] or "mean"
  end
end

-- The pattern must compile and have a group. An alternative that never matches exposes the groups: unset ones are
-- false, while a pattern without groups returns the whole (empty) match.
local function check_regex(draft, pattern)
  local key = "metric.extractor.regex"
  local compiled, message = regex.compile(pattern, "m")
  if not compiled then
    return draft.say(key, ("%s is not a regular expression of PCRE2: %s"):format(nearest.show(pattern),
      (tostring(message):gsub("^EREGEX: ", ""))))
  end
  local probe = regex.compile("(?!)(?:" .. pattern .. "\n)|", "m")
  if probe and probe:match("") == "" then
    draft.say(key, ("%s has no group; put the number in ( ), for its text is the value"):format(nearest.show(pattern)))
  end
end

local function metric(draft)
  local value = draft.value.metric
  if not value then return end
  local extractor = value.extractor
  if value.name and type(draft.value.metrics) == "table" and draft.value.metrics[value.name] then
    draft.say("metrics." .. value.name, "is the metric itself, of which `metric` says the direction; remove it here")
  end
  local lines = extractor and extractor.type == "metric_lines"
  if extractor and extractor.regex and extractor.type and extractor.type:find("_regex$") then
    check_regex(draft, extractor.regex)
  end
  if extractor and extractor.json_pointer and extractor.json_pointer:find("^[^/]") then
    extractor.json_pointer = "/" .. extractor.json_pointer
  end
  if value.samples == "all" and extractor and extractor.type and extractor.type ~= "metric_lines" then
    draft.say("metric.samples",
      ("all is of METRIC lines, and metric.extractor.type is %s, which reads one value; remove one of the two")
      :format(extractor.type))
  end
  local letters = value.name and value.name:gsub("\u{B5}", "")
  if lines and not extractor.json and letters and letters:find("[^A-Za-z0-9_.]") then
    draft.say("metric.name",
      ("%s cannot stand in a METRIC line: only letters, digits, '_', '.' and \u{B5}; rename it, or use "
      .. "another metric.extractor.type"):format(nearest.show(value.name)))
  end
  local low, high = value.min_pass, value.max_pass -- the limits of an interval, not two measurements
  if low and high and low > high then
    draft.say("metric.min_pass",
      ("is above metric.max_pass (%s), so that no candidate could pass"):format(value.max_pass))
  end
end

local function provider(draft)
  local value = draft.value.provider
  local kind = providers.of(value)
  if kind and kind.check then kind.check(draft, value) end
end

local function history(draft)
  local value = draft.value
  local workers = value.execution and value.execution.workers
  if value.history == "revert" and workers and workers ~= 1 then
    draft.say("execution.workers", ("must be 1 with history: revert (%s), whose branch is one line; got %d"):format(
      draft.at("history"), workers))
  end
end

local function workspace(draft)
  local value = draft.value.workspace
  local root = value and value.root
  if not root then return end
  if root == "~" or root:sub(1, 2) == "~/" then
    if not home.dir() then
      return draft.say("workspace.root", "begins with ~, but HOME is not an absolute path; write the whole path")
    end
    value.root = home.expand(root)
  elseif root:sub(1, 1) ~= "/" then
    value.root = draft.dir .. "/" .. root
  end
end

-- After the defaults are in.
function rules.check(draft)
  for _, rule in ipairs { version, project_name, files, commands, metric, provider, history, workspace,
    trajectory.check } do
    rule(draft)
  end
  rooms.call("rules", draft, endpoint)
end

return rules
