-- autoloop: plans the import of an autoloop program, which the room that registers `program_reader` reads; writes it
-- down as a manifest.yaml. The program's paths are the repository's, so the whole repository is copied. Reads; writes
-- and runs nothing. Called by the command import.
local common = require "apsis.import.common"
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local rooms = require "apsis.core.rooms"
local suggest = require "apsis.suggest"

local autoloop = {}

-- The program that dir means: dir itself if a file, DIR/program.md, or the only one of DIR/.autoloop/programs. path |
-- nil, message.
local function find_program(dir, given, reader)
  local folder = "/" .. reader.folder .. "/"
  if common.is_file(dir) then return dir end
  if given then
    for _, path in ipairs { dir .. "/" .. given, dir .. folder .. given .. "/program.md", dir .. folder .. given
      .. ".md", given } do
      if common.is_file(path) then return path end
    end
    return nil, ("--program: %s: no such program in %s"):format(nearest.show(given), manifest.display(dir))
  end
  if common.is_file(dir .. "/program.md") then return dir .. "/program.md" end
  local found = {}
  for _, name in ipairs(fs.list(dir .. folder) or {}) do
    local path = dir .. folder .. name
    if common.is_file(path .. "/program.md") then found[#found + 1] = path .. "/program.md"
    elseif reader.is_program(name) and common.is_file(path) then found[#found + 1] = path end
  end
  if #found == 1 then return found[1] end
  if #found == 0 then
    return nil, ("%s: program: neither program.md nor %s here"):format(manifest.display(dir), folder:sub(2)
      .. "NAME/program.md")
  end
  for index, path in ipairs(found) do
    found[index] = path:match("([^/]+)/program%.md$") or path:match("([^/]+)%.md$")
  end
  return nil, ("%s: program: several programs: %s; name one with --program NAME"):format(manifest.display(dir),
    table.concat(found, ", "))
end

-- The targets of the front matter's keys; a standing goal's own keys stay there.
local stays = { schedule = true, memory = true, default_branch = true }
local mapped = { ["target-metric"] = "metric.target", target_metric = "metric.target",
  metric_direction = "metric.direction", ["metric-direction"] = "metric.direction",
  ["timeout-minutes"] = "verification.commands[].timeout_sec", timeout_minutes = "verification.commands[].timeout_sec" }

local function report_front(report, layer)
  local hints = {}
  for _, key in ipairs(layer.unknown) do hints[key.name] = key.hint end
  for _, name in ipairs(suggest.names(layer.front)) do
    local place = common.place(layer.label, layer.lines, layer.front, name)
    if hints[name] then common.unknown(report, name, hints[name], place)
    else report:add("mapped", name, stays[name] and "program.md's front matter" or mapped[name] or name, place) end
  end
end

local function report_notes(report, layer)
  for _, warning in ipairs(layer.warnings) do report:note("%s", warning) end
  if not layer.value.metric.direction then report:note("the program sets no direction: higher, autoloop's default") end
  if layer.value.schedule then
    report:note("schedule: %s stays in program.md: the import runs only when you run it; `apsis tick` in the original "
      .. "repository follows it", common.shown("schedule", layer.value.schedule))
  end
end

-- Keys of the front matter that a manifest has too.
local plain = { "on", "gate", "seed", "fitness", "metrics", "guards", "acceptance", "trajectory", "provider", "budget",
  "execution", "history", "max_file_mb", "workspace", "limits", "log_level", "keep_runs", "prompt" }

local function add_provider(lines, value, options)
  local chat = common.chat_provider(options)
  if chat then table.move(chat, 1, #chat, #lines + 1, lines)
  elseif not value.provider then
    lines[#lines + 1] = "provider: {kind: command, preset: claude} # a coding agent; `apsis setup` checks whether it "
      .. "is installed"
  end
end

local function manifest_text(layer, report, options)
  local value, lines = layer.value, {}
  local function add(format, ...) lines[#lines + 1] = select("#", ...) > 0 and format:format(...) or format end
  add("# Imported from the autoloop program %s. `apsis setup` checks it; errors name the line.",
    layer.name:gsub("%c", "?"))
  add("version: 1")
  add("project: {name: %s}", common.scalar(layer.name))
  add("")
  add("files: # a path that no rule names is read_only")
  for _, rule in ipairs(value.files) do add("  - {path: %s, mode: %s}", common.scalar(rule.path), rule.mode) end
  local command = (value.verification.commands or {})[1]
  if command then
    add("\nverification:\n  commands:\n    - name: evaluate\n      run: %s", common.scalar(command.run))
    if command.timeout_sec then add("      timeout_sec: %s", common.scalar(command.timeout_sec)) end
  end
  local metric = value.metric
  add("\nmetric:")
  if metric.name then add("  name: %s", common.scalar(metric.name)) end
  add("  direction: %s", metric.direction or "higher")
  if metric.target then add("  target: %s", common.scalar(metric.target)) end
  if metric.extractor then
    add("  extractor: %s%s", common.scalar(metric.extractor),
      metric.extractor.json and " # a METRIC line, else the number in the printed JSON" or "")
  end
  add("\nstrategy: %s", common.scalar(value.strategy))
  for _, key in ipairs(plain) do
    if value[key] ~= nil and not (key == "provider" and options.model) then
      add("%s: %s", key, common.scalar(value[key]))
    end
  end
  add_provider(lines, value, options)
  for _, entry in ipairs(report.entries) do
    if entry.state == "unknown" then add("%s", ("# %s: %s"):format(entry.key, entry.about):gsub("[%c\127]", "?")) end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function texts_of(errors)
  local texts = {}
  table.sort(errors, function(a, b) return a.line < b.line end)
  for index, one in ipairs(errors) do texts[index] = one.text end
  return texts
end

-- { name, files, report, left_out, root } | nil, list of errors. options: program, into, max_mb, base_url, api_key_env,
-- model.
function autoloop.plan(dir, options)
  local reader = rooms.first "program_reader"
  if not reader then
    return nil, { "autoloop: this apsis was built without standing goals (lua/apsis/goals), which read its programs" }
  end
  local path, message = find_program(dir, options.program, reader)
  if not path then return nil, { message } end
  local layer = reader.layer(path, { lenient = true })
  if #layer.errors > 0 then return nil, texts_of(layer.errors) end
  local report, root = common.report(), layer.root
  report_front(report, layer)
  report_notes(report, layer)
  local own, real = common.own(), fs.realpath(path)
  local files, left_out = common.collect(root, { into = options.into, max_mb = options.max_mb, skip = function(below)
    return root .. "/" .. below == real and below == "program.md" or own(below)
  end })
  files = common.replaced(files,
    { common.gitignore(root), { path = "manifest.yaml", text = manifest_text(layer, report, options) },
    { path = "program.md", text = layer.whole } })
  return { name = layer.name, files = files, report = report, left_out = left_out, root = root }
end

return autoloop
