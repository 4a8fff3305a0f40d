-- file: reads an autoloop program file (Markdown with the sections Goal, Target and Evaluation, and YAML front matter)
-- as a layer of configuration, as from a manifest.yaml; every key keeps its line. Paths are relative to the directory
-- that has `.autoloop`. Reads files; writes and runs nothing. Called by place.lua, find.lua and the importer.
local evaluation = require "apsis.goals.program.evaluation"
local front = require "apsis.goals.program.front"
local fs = require "apsis.fs"
local json = require "apsis.json"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local policy = require "apsis.goals.program.policy"
local program = require "apsis.project.program"
local prose = require "apsis.project.prose"
local ref = require "apsis.project.ref"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local stray = require "apsis.goals.program.stray"
local target = require "apsis.project.target"

local autoloop = {}

autoloop.folder = ".autoloop/programs"
autoloop.max_bytes = 1024 * 1024
local SENTINEL = "<!-- AUTOLOOP:UNCONFIGURED -->"

-- ---- where a program is ----

-- Whether a file of .autoloop/programs with that name is a program.
function autoloop.is_program(name)
  return name:find("%.md$") ~= nil and name:sub(1, 1) ~= "." and name:lower() ~= "readme.md"
end

-- For an absolute path below .autoloop/programs: the directory that has .autoloop, and the rest; else nil.
function autoloop.split(path)
  local root, rest = path:match("^(.*)/%.autoloop/programs/(.+)$")
  if root then return root ~= "" and root or "/", rest end
end

function autoloop.join(dir, name)
  return (dir == "/" and "" or dir) .. "/" .. name
end

-- The error for a bad program name.
function autoloop.bad_name(name)
  return ("%s cannot name a program, because the name is part of a branch name: only letters, digits, '.', '_' and "
    .. "'-'; rename it, for example %s"):format(nearest.show(name), ref.of(name))
end

local function place_of(path)
  local real = fs.realpath(path) or path
  local root = autoloop.split(real)
  local folder = real:match("^(.*)/[^/]*$") or "."
  root = root or (folder ~= "" and folder or "/")
  local name = real:match("([^/]+)/program%.md$") or real:match("([^/]+)%.md$") or real:match("[^/]+$") or "program"
  return { root = root, name = name, home = autoloop.join(root, autoloop.folder .. "/" .. name),
    file = real:sub(root == "/" and 2 or #root + 2) }
end

-- ---- one program being read ----

local Program = {}
Program.__index = Program

function Program:refuse(line, name, key, format, ...)
  local layer = self.layer
  layer.places[key] = layer.places[key] or { label = layer.label, line = line, name = name }
  layer.errors[#layer.errors + 1] = { label = layer.label, line = line, key = key,
    text = ("%s:%d: %s: %s"):format(layer.label, line, name, select("#", ...) > 0 and format:format(...) or format) }
end

function Program:warn(line, name, format, ...)
  local layer = self.layer
  layer.warnings[#layer.warnings + 1] = ("%s:%d: %s: %s"):format(layer.label, line, name, format:format(...))
end

-- Checks a value by the schema and records its place.
function Program:check(key, node, value, line, name)
  local layer = self.layer
  local clean = shape.check(layer, node, value, key, line)
  if layer.places[key] then layer.places[key].name = name end
  return clean
end

function Program:section(name)
  local section = self.document:section(name)
  if section and section.again then
    self:warn(section.again, name, "this second section of that name is not read; the first is at line %d",
      section.number)
  end
  return section
end

-- Reports a Target's paths that lead outside, are not recognized, or do not exist.
function Program:judge_paths(entries)
  local root = manifest.display(self.root)
  for _, one in ipairs(entries.refused) do
    self:refuse(one.number, "Target", "files", "%s %s; paths are relative to %s and inside it", nearest.show(one.word),
      one.reason, root)
  end
  for _, one in ipairs(entries.unread) do
    self:warn(one.number, "Target", "%s is not taken for a path (a file without an extension must exist already); it "
      .. "is read_only", nearest.show(one.word))
  end
  local own = self.file:match("^(.*)/program%.md$")
  for _, one in ipairs(entries.missing) do
    local there = own and fs.stat(autoloop.join(self.root, own .. "/" .. one.path))
    local remedy = there and (", but %s/%s is: paths are relative to %s"):format(own, one.path, root)
      or "; a candidate may create it"
    self:warn(one.number, "Target", "%s does not exist%s", nearest.show(one.path), remedy)
  end
end

function Program:files()
  local section = self:section "Target"
  if not section then
    return self:refuse(1, "Target", "files", "this section is missing; list in it the files that may be changed: - "
      .. "`path/to/file`")
  end
  local entries, places = target.entries(section.lines, self.root), self.layer.places
  self:judge_paths(entries)
  if not entries.writable and #entries.refused == 0 then
    return self:refuse(section.number, "Target", "files", "names no file that may be changed; write a list: - "
      .. "`path/to/file`")
  end
  local list = json.array {}
  for index, entry in ipairs(entries) do
    list[index] = { path = entry.path, mode = entry.mode }
    local place = { label = self.layer.label, line = entry.number, name = "Target" }
    for _, part in ipairs { "", ".path", ".mode" } do places[("files[%d]%s"):format(index, part)] = place end
  end
  places.files = places.files or { label = self.layer.label, line = section.number, name = "Target" }
  self.layer.value.files = list
end

local unsaid = { run = "verification.commands", metric = "metric.name" }
local metric_node = shape.field(schema.manifest, "metric")

-- The command and the metric. With `fitness` in the front matter neither is needed.
function Program:measuring(said)
  local layer, value = self.layer, self.layer.value
  local section = self:section "Evaluation"
  value.metric, value.verification = {}, {}
  local line = section and section.number or 1
  layer.places.verification = { label = layer.label, line = line, name = "Evaluation" }
  layer.places.metric = layer.places.verification
  if said["metric.target"] ~= nil then value.metric.target = said["metric.target"] end
  if layer.places.fitness then
    if section and #section:fences() > 0 then
      self:warn(line, "Evaluation", "is not read: fitness measures (line %d)", layer.places.fitness.line)
    end
    return
  end
  layer.places["verification.commands"] = layer.places.verification
  if not section then
    return self:refuse(1, "Evaluation", "verification.commands",
      "this section is missing; write in it the measuring command, between two lines of ```")
  end
  local made, wrong = evaluation.read(section)
  for _, one in ipairs(wrong) do self:refuse(one.number, "Evaluation", unsaid[one.key], "%s", one.message) end
  for _, number in ipairs(made.unused) do
    self:warn(number, "Evaluation", "only the first command is run, not this one")
  end
  self:command(made, said["verification.commands[1].timeout_sec"])
  self:metric(made, line)
end

function Program:command(made, timeout)
  if not made.run then return end
  local command, key = { name = "evaluate", timeout_sec = timeout and timeout * 60 }, "verification.commands[1]"
  local place = { label = self.layer.label, line = made.number, name = "Evaluation" }
  for _, part in ipairs { "", ".name" } do self.layer.places[key .. part] = place end
  command.run = self:check(key .. ".run", { kind = "command_line" }, made.run, made.number, "Evaluation")
  self.layer.value.verification.commands = json.array { command }
end

function Program:metric(made, line)
  if not made.metric then return end
  local metric = self.layer.value.metric
  metric.name = self:check("metric.name", shape.field(metric_node, "name"), made.metric, line, "Evaluation")
  metric.extractor = self:check("metric.extractor", shape.field(metric_node, "extractor"), made.extractor, line,
    "Evaluation")
end

-- The direction, from the front matter, else from the prose, which must not contradict it.
function Program:direction(said)
  local way = said["metric.direction"]
  local place = self.layer.places["metric.direction"]
  local prose_way, line
  for _, name in ipairs { "Evaluation", "Goal" } do
    local section = not prose_way and self.document:section(name)
    if section then prose_way, line = section:direction() end
  end
  if way and prose_way and way ~= prose_way then
    self:refuse(place.line, place.name, "metric.direction", "is %s, but the text says that %s is better (line %d)", way,
      prose_way, line)
  elseif not place and prose_way == "lower" and not self.lenient then
    self:warn(line, "metric_direction", "lower is better, as the text says; other tools take a program without "
      .. "metric_direction for higher: write %s between two lines of --- at the top of the file",
      "metric_direction: lower")
  end
  self.layer.value.metric.direction = way or prose_way
end

function Program:strategy()
  local layer = self.layer
  local own = self.home .. "/strategy"
  local below = own:sub(self.root == "/" and 2 or #self.root + 2)
  if layer.places.strategy then
    local use = (layer.value.strategy or {}).use
    local there = use and use:find("%.lua$") and not fs.stat(autoloop.join(self.root, use))
      and fs.stat(self.home .. "/" .. use)
    if there then
      self:refuse(layer.places.strategy.line, "strategy", "strategy", "there is no %s; paths are relative to %s: "
        .. "write %s/%s", nearest.show(use), manifest.display(self.root), below:match("^(.*)/strategy$"), use)
    end
    return
  end
  local section = self.document:section "Evolution Strategy"
  local made, note = policy.of(own, below, section ~= nil)
  if not made then return self:refuse(1, "strategy", "strategy", "%s", note) end
  layer.value.strategy = made
  if note then self:warn(section and section.number or 1, "strategy", "%s", note) end
end

-- ---- a file as a layer ----

local function number_of(text, at)
  local _, count = text:sub(1, at):gsub("\n", "")
  return count + 1
end

local places = { "%f[%w]REPLACE THIS%f[^%w]", "%f[%w_]REPLACE_WITH_[%w_]*", "<CUSTOMIZE:" }

-- Why a program is not filled in: it has the sentinel, or a placeholder outside a comment. nil if it is.
local function unconfigured(text, document, label)
  local at = text:find(SENTINEL, 1, true)
  if at then
    return ("%s:%d: AUTOLOOP:UNCONFIGURED: the program is not filled in; remove that line once it is"):format(label,
      number_of(text, at))
  end
  local todo = text:find("TODO:", 1, true)
  if not (todo or text:find("REPLACE", 1, true) or text:find("<CUSTOMIZE:", 1, true)) then return nil end
  for _, line in ipairs(document.lines) do
    local texts = line.fence and line.fence.body or { line.text }
    for index, part in ipairs(texts) do
      for _, pattern in ipairs(places) do
        local found = part:match(pattern)
        found = found or not line.fence and part:match "%f[%w]TODO%f[:]" -- a command may count those of the code
        if found then
          return ("%s:%d: %s: a placeholder is not filled in"):format(label, line.number + (line.fence and index or 0),
            nearest.escape(found))
        end
      end
    end
  end
end

-- The same for a manifest's text, or the prose beside it. In YAML comments only the sentinel counts.
function autoloop.unfilled(bytes, label)
  local said = label:find("%.yaml$") and bytes:gsub("%f[^%s\0]#[^\n]*", "") or bytes
  return unconfigured(bytes, prose.scan(said), label)
end

-- The parsed program; nil and what is wrong with the file.
local function open(path, label)
  local bytes, cut = fs.read(path, autoloop.max_bytes)
  if not bytes then return nil, ("%s: cannot be read: %s"):format(label, cut) end
  if cut then
    return nil, ("%s: is larger than %d MB; a program is a short text"):format(label, autoloop.max_bytes // 1048576)
  end
  local nul = bytes:find("\0", 1, true)
  if nul then
    return nil, ("%s:%d: program: has a NUL character, so it is not text"):format(label, number_of(bytes, nul))
  end
  local made, errors = program.parse(bytes, label)
  if made and made.unclosed then
    errors, made = { ("%s:%d: front matter: no second line of --- closes it"):format(label, made.unclosed) }, nil
  elseif made and not next(made.front) and made.text:find("^[ \t]*\r?\n%s*%-%-%-[ \t]*\r?\n[%w_-]+:") then
    local message = "%s:%d: front matter: must be at the top of the file; remove the empty line above it"
    errors, made = { message:format(label, made.line) }, nil
  end
  if made then return made, nil, bytes end
  return nil, errors[1], bytes
end

local function broken(layer, message)
  layer.unread = true
  layer.errors = { { label = layer.label, line = tonumber(message:match(":(%d+): ")) or 0, text = message } }
  return layer
end

-- Reports errors in the whole file's form, or in its name.
function Program:form()
  local document = self.document
  if document.unclosed then
    self:refuse(document.unclosed, document.what == "fence" and "```" or "<!--", "program", document.what == "fence"
      and "no second line of ``` closes the block" or "no --> closes the comment")
  end
  if document.long then
    self:refuse(document.long, "program", "program", "the line is longer than %d bytes; break it", prose.longest)
  end
  if not (self.lenient or ref.fits(self.name)) then
    self:refuse(1, "program", "program", "%s", autoloop.bad_name(self.name))
  end
end

-- The program file at path as a layer (see manifest.read) whose value is what a manifest would have. Also: root (its
-- paths are relative to it), home (its state's folder), name, warnings, front and unknown (see front.lua), text (the
-- prose), whole (with front matter), and unconfigured: why it is not filled in. options.lenient, for the importer: the
-- prose may set the direction, and any name is allowed.
function autoloop.layer(path, options)
  local label, place = manifest.display(path), place_of(path)
  local opened, message, bytes = open(path, label)
  local layer = shape.layer { label = label, lines = opened and opened.lines }
  layer.value, layer.warnings, layer.unknown = {}, {}, {}
  layer.root, layer.home, layer.name = place.root, place.home, place.name
  local document = prose.scan(opened and opened.text or "", opened and opened.line)
  layer.unconfigured = bytes and unconfigured(bytes, document, label)
  if layer.unconfigured then return broken(layer, layer.unconfigured) end
  if not opened then return broken(layer, message) end
  local at, lost = stray.find(document, opened.text, next(opened.front) ~= nil)
  if at then return broken(layer, ("%s:%d: %s"):format(label, at, lost)) end
  local self = setmetatable({ layer = layer, document = document, root = place.root, home = place.home,
    name = place.name, file = place.file, lenient = options and options.lenient }, Program)
  layer.places[""] = { label = label, line = 1 }
  layer.value.version, layer.value.project, layer.value.program = 1, { name = place.name }, place.file
  local said = front.read(layer, opened.front)
  for _, key in ipairs(self.lenient and {} or layer.unknown) do -- the importer reports them itself
    self:warn(key.line, nearest.escape(key.name), "unknown key, not read%s", key.hint)
  end
  self:form()
  self:files()
  self:measuring(said)
  self:direction(said)
  self:strategy()
  layer.text, layer.whole, layer.front = opened.text, opened.whole, opened.front
  return layer
end

return autoloop
