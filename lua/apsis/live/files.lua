-- files: what the live world reads from people and writes for them: directions, plans, commit messages, the
-- environment; and edits given as a table, judged like those made in a workspace. Called by world.
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local rooms = require "apsis.core.rooms"

local files = {}

-- The user's steering notes, read again when the file changed. { list = { { message, timestamp,
-- applies_from_iteration = the first experiment that it is for (goalseek's key) }... }, size, mtime }
function files.directions(dir, known)
  local path = dir .. "/logs/directions.jsonl"
  local stat = fs.stat(path)
  if not stat then return { list = {} } end
  if known and known.size == stat.size and known.mtime == stat.mtime then return known end
  local list = {}
  for line in (fs.read(path) or ""):gmatch("[^\n]+") do
    local entry = json.decode(line, true)
    if type(entry) == "table" and type(entry.message) == "string" then
      list[#list + 1] = { message = entry.message, timestamp = entry.timestamp,
        applies_from_iteration = tonumber(entry.applies_from_iteration) }
    end
  end
  return { list = list, size = stat.size, mtime = stat.mtime }
end

-- Edits as a provider's workspace would show them: changes for scope, and paths of the repository for git.
function files.check_edits(world, edits, parent)
  local changes, by_path = {}, {}
  for path, edit in pairs(edits or {}) do
    if type(path) ~= "string" or path == "" or path:find("\0", 1, true) then
      return {}, { { path = tostring(path),
        reason = "edits are keyed by path: a text that is not empty and has no NUL" } }
    end
    local text = type(edit) == "table" and (edit.bytes or "") or edit
    local mode = type(edit) == "table" and edit.mode or nil
    local old, old_mode = world:file(parent, path)
    if not old then old_mode = nil end
    if text == false then
      if old then changes[#changes + 1] = { path = world:repository_path(path), kind = "deleted", mode = old_mode } end
    elseif type(text) == "string" then
      if not (old == text and (mode == nil or mode == old_mode)) then
        changes[#changes + 1] = { path = world:repository_path(path), kind = old and "modified" or "added",
          mode = mode or old_mode or "100644", size = #text }
      end
    else
      return {}, { { path = path, reason = ("%s: an edit is the new text, or false to delete"):format(path) } }
    end
    by_path[world:repository_path(path)] = edit
  end
  table.sort(changes, function(a, b) return a.path < b.path end)
  local kept, violations = world.scope:judge(changes, { prefix = world.prefix,
    max_file_mb = world.manifest.max_file_mb })
  local allowed = {}
  for _, change in ipairs(kept) do
    local edit = by_path[change.path]
    if type(edit) == "string" and change.mode ~= "100644" then edit = { bytes = edit, mode = change.mode } end
    allowed[change.path] = edit
  end
  return allowed, violations
end

local LARGEST_EDIT = 1048576

-- A provider's changes in its workspace as a table of edits for select, without large and special files.
function files.edits_of(place, changes, world)
  local edits = {}
  for _, change in ipairs(changes) do
    local path = world:project_path(change.path)
    if change.kind == "deleted" then edits[path] = false
    elseif change.mode:find("^100") and change.size <= LARGEST_EDIT then
      edits[path] = fs.read(place.root .. "/" .. change.path)
    end
  end
  return edits
end

-- The first line that says something, without the marks of a heading or list; nil if there is none.
function files.first_line(text)
  for line in (text or ""):gmatch("[^\r\n]+") do
    line = editline.trim_end(line:gsub("^[#%s*>-]+", ""))
    if line ~= "" and not line:find("^ASI ") and not line:find("^METRIC ") then return line end
  end
end

local function clean(text, limit)
  text = text:gsub("[%c\127]", " ")
  if #text > limit then text = text:sub(1, (utf8.offset(text, 0, limit) or limit + 1) - 1) .. "..." end
  return text
end

local LONGEST_SUBJECT = 1000 -- bytes; a journal line has it as `description`

-- plan.md: the plan, or the provider's summary.
function files.write_plan(world, slot, answer)
  local text, subject
  for _, name in ipairs { "plan", "description", "hypothesis", "text" } do
    if not subject then text, subject = answer[name] or text, files.first_line(answer[name]) end
  end
  if not subject then
    subject = slot.proposal.title or ("%s of %s"):format(slot.proposal.operator, slot.proposal.parents[1])
    text = subject .. "\n\n" .. (text or "")
  end
  world.runs:write(slot, "plan.md", text:sub(1, LARGEST_EDIT))
  slot.plan_subject = clean(subject, LONGEST_SUBJECT)
end

-- The commit's message: the plan's first line, the hypothesis, and trailers.
function files.message(world, slot, answer)
  local id = ("c%04d"):format(slot.number)
  local subject = clean(slot.plan_subject, 72)
  local parts = { subject, "" }
  if answer.hypothesis and answer.hypothesis ~= subject then
    parts[#parts + 1] = clean(answer.hypothesis, 1000)
    parts[#parts + 1] = ""
  end
  parts[#parts + 1] = "Apsis-Candidate: " .. id
  parts[#parts + 1] = "Apsis-Parents: " .. table.concat(slot.proposal.parents, " ")
  parts[#parts + 1] = "Apsis-Strategy: " .. clean(world.strategy_name or "", 200)
  parts[#parts + 1] = "Apsis-Operator: " .. clean(slot.proposal.operator, 200)
  if slot.repair then parts[#parts + 1] = "Apsis-Fix-Attempts: " .. slot.repair.attempt end
  return table.concat(parts, "\n") .. "\n"
end

-- The first line of `WORD --version`, and WORD; nil for apsis itself and programs named by path. Runs in the cage and
-- in an empty folder, so that pytest finds no conftest.py that an agent wrote.
local function version_of(place, run)
  local word = type(run) == "table" and run[1] or run:match "%S+"
  if word == "apsis" or word:find("/") then return nil end
  place:again()
  local result = place:run { name = word, run = { word, "--version" }, cwd = place.scratch, timeout_s = 5,
    env = { LC_ALL = "C" } }
  return result and result.code == 0 and (result.stdout.head:match("[^\n]+") or "") or nil, word
end

-- runs/0000_baseline/env.json: the versions that the measurements were made with.
function files.write_environment(world, slot)
  local commands = {}
  local spec, others = world.manifest.verification, {}
  for _, commands_of in rooms.each "commands" do
    for _, one in ipairs(commands_of(world.manifest)) do others[#others + 1] = one.command end
  end
  local place = world.executor:prepare { number = slot.number }
  for _, list in ipairs { spec.checks or {}, spec.commands, others } do
    for _, command in ipairs(list) do
      local version, word = nil, nil
      if command.run then version, word = version_of(place, command.run) end
      if version then commands[word] = version end
    end
  end
  place:close()
  local os_name = (fs.read("/etc/os-release") or ""):match('PRETTY_NAME="([^"]*)"')
  local provider = world.manifest.provider or {}
  world.runs:write_json(slot, "env.json", {
    apsis = host.version, lua = _VERSION, os = os_name, kernel = (fs.read("/proc/version")
      or ""):match("^(%S+ %S+ %S+)"),
    commands = commands, provider = provider.kind or json.null, model = provider.model or json.null, seed = world.seed,
    configuration = world.configuration,
  })
end

return files
