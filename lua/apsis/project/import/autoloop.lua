-- autoloop: plans a project out of a program of githubnext/autoloop: program.md with Goal, Target (the files that may be
-- changed) and Evaluation (a command in a fence that prints JSON, and the metric's name), and YAML front matter (schedule,
-- target-metric, metric_direction, timeout-minutes), read as YAML: a comment after a value is a comment. Paths in a program
-- are the repository's, so the whole repository comes along. Reads; writes and runs nothing. Called by cli/import.lua.
local common = require "apsis.project.import.common"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local scope = require "apsis.project.import.scope"
local yaml = require "apsis.yaml"

local autoloop = {}

local PROGRAMS = "/.autoloop/programs/"

-- The program that dir means: itself a file, DIR/program.md, or the only one of DIR/.autoloop/programs. path | nil, message.
local function find_program(dir, given)
  if common.is_file(dir) then return dir end
  if given then
    for _, path in ipairs { dir .. "/" .. given, dir .. PROGRAMS .. given .. "/program.md", dir .. PROGRAMS .. given .. ".md", given } do
      if common.is_file(path) then return path end
    end
    return nil, ("--program: %s: no such program in %s"):format(nearest.show(given), manifest.display(dir))
  end
  if common.is_file(dir .. "/program.md") then return dir .. "/program.md" end
  local found = {}
  for _, name in ipairs(fs.list(dir .. PROGRAMS) or {}) do
    local path = dir .. PROGRAMS .. name
    if common.is_file(path .. "/program.md") then found[#found + 1] = path .. "/program.md"
    elseif name:find("%.md$") and common.is_file(path) then found[#found + 1] = path end
  end
  if #found == 1 then return found[1] end
  if #found == 0 then
    return nil, ("%s: program: neither program.md nor %s here"):format(manifest.display(dir), PROGRAMS:sub(2) .. "NAME/program.md")
  end
  for index, path in ipairs(found) do found[index] = path:match("([^/]+)/program%.md$") or path:match("([^/]+)%.md$") end
  return nil, ("%s: program: several programs: %s; name one with --program NAME"):format(manifest.display(dir), table.concat(found, ", "))
end

-- The repository a program's paths are relative to, and the program's name.
local function root_of(path)
  local real = fs.realpath(path)
  local root = real:match("^(.-)" .. PROGRAMS:gsub("%p", "%%%0"))
  local folder = real:match("^(.*)/[^/]*$")
  local name = real:match("([^/]+)/program%.md$") or real:match("([^/]+)%.md$") or real:match("[^/]+$")
  return root or folder, name
end

-- The front matter's mapping, its lines (as in the file) and the text after leading comments; nil and a message.
local function front_of(text, label)
  local skipped = 0
  while true do
    local head, rest = text:match("^(%s*<!%-%-.-%-%->[ \t]*\r?\n)(.*)$")
    if not head then break end
    local _, count = head:gsub("\n", "")
    skipped, text = skipped + count, rest
  end
  local block = text:match("^%-%-%-[ \t]*\r?\n(.-)\r?\n%-%-%-[ \t]*\r?\n") or text:match("^%-%-%-[ \t]*\r?\n(.-)\r?\n%-%-%-[ \t]*$")
  if not block then return {}, {}, text end
  local value, lines = manifest.decode(("\n"):rep(skipped + 1) .. block, label)
  if value == nil then return nil, lines end
  if value == yaml.null then value = {} end
  if type(value) ~= "table" or #value > 0 then
    return nil, ("%s:%d: front matter: must be a mapping (KEY: VALUE)"):format(label, skipped + 2)
  end
  return value, lines, text
end

local function number_line(text, at)
  local _, count = text:sub(1, at):gsub("\n", "")
  return count + 1
end

-- Not filled in yet, as the scheduler there sees it.
local function unconfigured(text, label)
  local at = text:find("<!-- AUTOLOOP:UNCONFIGURED -->", 1, true)
  if at then return ("%s:%d: AUTOLOOP:UNCONFIGURED: the program is not filled in; remove that line once it is"):format(label,
    number_line(text, at)) end
  at = text:find("%f[%w]REPLACE[ _]")
  if at then
    return ("%s:%d: %s: a place of the template is not filled in"):format(label, number_line(text, at), text:match("^[%w_]+", at))
  end
end

local Program = {}
Program.__index = Program

function Program:place(key)
  return common.place(self.label, self.lines, self.front, key)
end

function Program:refuse(key, format, ...)
  self.errors[#self.errors + 1] = ("%s: %s: %s"):format(self:place(key), key, format:format(...))
end

function Program:number(key, above)
  local value = self.front[key]
  if value == nil or value == yaml.null then return nil end
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge or (above and value <= above) then
    return self:refuse(key, "must be a number%s; got %s", above and " above " .. above or "", nearest.show(value))
  end
  return value
end

-- "**Lower is better.**" of the text; nil where it says neither or both.
local function direction_in(text)
  local lower = text:lower()
  local low, high = lower:find("lower is better", 1, true), lower:find("higher is better", 1, true)
  if low and not high then return "lower" elseif high and not low then return "higher" end
end

function Program:direction()
  local said
  for _, key in ipairs { "metric_direction", "metric-direction" } do
    local value = self.front[key]
    if value ~= nil and value ~= yaml.null then
      local parsed = type(value) == "string" and direction.parse(value)
      if not parsed then
        self:refuse(key, "must be one of %s; got %s%s", table.concat(direction.allowed, ", "), nearest.show(value),
          nearest.hint(value, direction.allowed))
      elseif said and said ~= parsed then
        self:refuse(key, "says %s, and metric_direction %s; keep one of the two", parsed, said)
      end
      said = said or parsed
    end
  end
  local prose = direction_in(self.evaluation or "") or direction_in(self.goal or "")
  if said and prose and said ~= prose then
    self:refuse(self.front.metric_direction and "metric_direction" or "metric-direction", "is %s, but the text says that %s is better",
      said, prose)
  end
  if not said and not prose then self.report:note("the program says no direction: higher, autoloop's default") end
  return said or prose or "higher"
end

-- The command of the Evaluation's first fence that is none of JSON, and the metric's name.
function Program:evaluate()
  local section, first = scope.section(self.text, { "Evaluation" })
  self.evaluation = section
  if not section then
    self.errors[#self.errors + 1] = ("%s:1: Evaluation: there is no such section; it holds the command that measures"):format(self.label)
    return
  end
  local command, json_text
  for language, body in section:gmatch("```([^\n`]*)\n(.-)\n%s*```") do
    if language:lower():find("json") then json_text = json_text or body
    else command = command or body end
  end
  if not (command and command:find("%S")) then
    self.errors[#self.errors + 1] = ("%s:%d: Evaluation: holds no command between two lines of ```"):format(self.label,
      first + self.before)
    return
  end
  self.command = command
  self.metric = section:match("[Mm]etric[^`\n]-`([^`\n]+)`") or (json_text or ""):match('"([^"\n]+)"%s*:')
    or section:match('`%s*{%s*"([^"\n]+)"%s*:')
  if not self.metric then
    self.errors[#self.errors + 1] = ("%s:%d: Evaluation: names no metric; write: The metric is `NAME`."):format(self.label,
      first + self.before)
  end
end

local known = { ["target-metric"] = "metric.target", metric_direction = "metric.direction", ["metric-direction"] = "metric.direction",
  ["timeout-minutes"] = "verification.commands[].timeout_sec", schedule = "program.md's front matter" }

function Program:report_front()
  local names, allowed = {}, {}
  for name in pairs(self.front) do names[#names + 1] = name end
  for name in pairs(known) do allowed[#allowed + 1] = name end
  table.sort(names)
  table.sort(allowed)
  for _, name in ipairs(names) do
    if known[name] then self.report:add("mapped", name, known[name], self:place(name))
    else
      common.unknown(self.report, name, nearest.hint(name, allowed), self:place(name))
    end
  end
end

-- A regular expression for the metric's number in JSON, also among other output.
local function extractor(name)
  local quoted = name:gsub("[^%w_ ]", "\\%0")
  return '"' .. quoted .. [["\s*:\s*(-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)]]
end

function Program:manifest(rules, options)
  local scalar, lines = common.scalar, {}
  local function add(format, ...) lines[#lines + 1] = select("#", ...) > 0 and format:format(...) or format end
  add("# Imported from the autoloop program %s. `apsis setup` checks it; errors name the line.", self.name:gsub("%c", "?"))
  add("version: 1")
  add("project: {name: %s}", scalar(self.name))
  add("")
  add("files: # a path that no rule names is read_only")
  table.move(rules, 1, #rules, #lines + 1, lines)
  add("")
  add("verification:")
  add("  commands:")
  add("    - name: evaluate")
  add("      run: %s", scalar(self.command))
  local minutes = self.front["timeout-minutes"]
  if minutes and minutes ~= yaml.null then add("      timeout_sec: %s", scalar(minutes * 60)) end
  add("")
  add("metric:")
  add("  name: %s", scalar(self.metric))
  add("  direction: %s", self.better)
  local target = self.front["target-metric"]
  if target and target ~= yaml.null then add("  target: %s", scalar(target)) end
  if self.command:find("METRIC", 1, true) then add("  extractor: {type: metric_lines}")
  else add("  extractor: {type: stdout_regex, regex: %s} # the first such number printed", scalar(extractor(self.metric))) end
  add("")
  local evolves = scope.section(self.text, { "Evolution Strategy" }) ~= nil
  add("strategy: {use: %s}%s", evolves and "openevolve" or "hillclimb", evolves and " # the program has an Evolution Strategy" or "")
  local chat = common.chat_provider(options)
  if chat then table.move(chat, 1, #chat, #lines + 1, lines)
  else add("provider: {kind: command, preset: claude} # a coding agent; `apsis setup` says whether it is there") end
  for _, entry in ipairs(self.report.entries) do
    if entry.state == "unknown" then add("%s", ("# %s: %s"):format(entry.key, entry.about):gsub("[%c\127]", "?")) end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function open(path, report)
  local text, message = common.read_text(path)
  if not text then return nil, message end
  local label = manifest.display(path)
  message = unconfigured(text, label)
  if message then return nil, message end
  local front, lines, rest = front_of(text, label)
  if not front then return nil, lines end
  local _, all = text:gsub("\n", "")
  local _, after = rest:gsub("\n", "")
  return setmetatable({ label = label, front = front, lines = lines, text = rest, before = all - after - 1, report = report, errors = {} },
    Program)
end

-- { name, files, report, left_out, root } | nil, list of errors. options: program, into, max_mb, base_url, api_key_env, model.
function autoloop.plan(dir, options)
  local report = common.report()
  local path, message = find_program(dir, options.program)
  if not path then return nil, { message } end
  local self
  self, message = open(path, report)
  if not self then return nil, { message } end
  local root
  root, self.name = root_of(path)
  self:report_front()
  self:evaluate()
  self.goal = scope.section(self.text, { "Goal" })
  self.better = self:direction()
  self:number("target-metric")
  self:number("timeout-minutes", 0)
  local rules, missing = scope.rules(self.text, { "Target" }, root)
  if #rules == 0 then
    self.errors[#self.errors + 1] = ("%s:1: Target: names no file that may be changed; write a list: - `path/to/file`"):format(self.label)
  end
  if #self.errors > 0 then return nil, self.errors end
  for _, absent in ipairs(missing) do report:note("%s is a target but not there; a candidate may make it", absent) end
  if self.front.schedule then
    report:note("schedule: %s stays in program.md; apsis runs when you run it", common.shown("schedule", self.front.schedule))
  end
  local own, real = common.own(), fs.realpath(path)
  local files, left_out = common.collect(root, { into = options.into, max_mb = options.max_mb, skip = function(below)
    return root .. "/" .. below == real and below == "program.md" or own(below)
  end })
  files = common.replaced(files, { common.gitignore(root), { path = "manifest.yaml", text = self:manifest(rules, options) },
    { path = "program.md", text = self.text } })
  return { name = self.name, files = files, report = report, left_out = left_out, root = root }
end

return autoloop
