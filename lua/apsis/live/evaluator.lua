-- evaluator: what a project is measured by, as digests in its baseline's line, so that values before and after a change
-- of it are not compared: what the manifest says of measuring, the files of HEAD that measure, and the files beside the
-- commit that commands use. Values count, not text: comments, limits of time and documents may change. Only
-- `apsis baseline --again` takes another one. Called by world, running and the commands.
local fs = require "apsis.fs"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local programs = require "apsis.live.programs"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"
local sha256 = require "apsis.project.sha256"

local evaluator = {}

local REMEDY <const> = "change it back, or measure the project by the new one with `apsis baseline --again`"

-- ---- the manifest ----

-- The keys that decide what a value is and whether it counts. Not among them: names, units, limits of time and size,
-- and when the run ends.
local of_command = { "run", "cwd", "env", "stage", "threshold" }
local of_verification = { "repeats", "warmup", "cases", "aggregate", "keep", "allow", "network",
  "pass_env" }
local of_metric = { "name", "direction", "extractor", "samples", "epsilon", "min_pass", "max_pass" }

local function part(map, keys)
  local found = {}
  for _, key in ipairs(keys) do found[key] = map[key] end
  return found
end

-- { key of the manifest = what of it measures }
local function settings_of(manifest)
  local verification = part(manifest.verification, of_verification)
  for _, group in ipairs { "checks", "commands" } do
    verification[group] = json.array()
    for index, one in ipairs(manifest.verification[group] or {}) do
      verification[group][index] = part(one, of_command)
    end
  end
  if verification.warmup == 0 then verification.warmup = nil end -- as if it were not there
  local found = { verification = verification, metric = part(manifest.metric, of_metric),
    threshold_of = json.array() } -- apart from verification, whose older digests lack it
  for index, one in ipairs(manifest.verification.commands or {}) do
    found.threshold_of[index] = one.threshold_of or false
  end
  for _, measures in rooms.each "measures" do
    for key, value in pairs(measures(manifest) or {}) do found[key] = value end
  end
  return found
end

-- ---- files ----

local function commands_of(manifest)
  local list = {}
  for _, group in ipairs { manifest.verification.checks or {}, manifest.verification.commands } do
    for _, one in ipairs(group) do list[#list + 1] = one end
  end
  for _, commands in rooms.each "commands" do
    for _, one in ipairs(commands(manifest)) do list[#list + 1] = one.command end
  end
  return list
end

-- The words of the commands that may name files: { word = true }, as paths in the project or absolute ones.
local function words_of(manifest)
  local words = {}
  for _, one in ipairs(commands_of(manifest)) do
    local run = one.run or ""
    local folder = one.cwd and one.cwd ~= "." and one.cwd .. "/" or ""
    for word in (type(run) == "table" and table.concat(run, "\n") or run):gmatch "[^%s\"'`;|&<>()=,]+" do
      word = word:gsub("^%./", "")
      words[word:sub(1, 1) == "/" and word or folder .. word] = true
    end
  end
  return words
end

local documents = { "%.md$", "%.rst$", "%.adoc$", "^LICEN[SC]E", "^%.git", "/%.git" }

-- Files that do not measure: the strategy's and the provider's, as text. The baseline's line has it, because the user
-- may choose other ones later.
local function apart_of(manifest)
  local provider = manifest.provider or {}
  local kind = providers.of(provider)
  local run = kind and kind.command and kind.command(provider)
  local list = {}
  for _, path in ipairs { manifest.strategy.use, provider.use or "", run and programs.script_of(run) or "" } do
    if path ~= "" then list[#list + 1] = path:gsub("^%./", "") end
  end
  return table.concat(list, "\n")
end

-- A function of a path in the project: whether that file measures. A document that only a wildcard makes read_only does
-- not.
local function chooser(world, apart)
  local manifest = world.manifest
  local words, named, decides = words_of(manifest), {}, { ["manifest.yaml"] = true, [manifest.program] = true }
  for path in apart:gmatch "[^\n]+" do decides[path] = true end
  for _, rule in ipairs(manifest.files) do named[rule.path:gsub("^%./", "")] = true end
  return function(path)
    local mode, ruled = world.scope:mode(path)
    if decides[path] or mode == "writable" or mode == "generated" then return false end
    if words[path] or mode == "hidden" or named[path] then return true end
    if not ruled or manifest.own_branch then return false end -- others commit to the files that a goal leaves alone
    for _, pattern in ipairs(documents) do
      if path:find(pattern) then return false end
    end
    return true
  end
end

-- The files of HEAD that measure, as text.
local function committed(world, apart)
  local measures, lines = chooser(world, apart), {}
  for _, entry in ipairs(world:need(world.repo:entries(world.head, world.prefix ~= "" and world.prefix or nil))) do
    local path = world:project_path(entry.path)
    if path and measures(path) then lines[#lines + 1] = ("%s %s %s"):format(entry.mode, entry.id, path) end
  end
  return table.concat(lines, "\n")
end

local LARGEST <const> = 1048576 -- bytes that are read of a file beside the commit

local system = { "/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/etc/", "/nix/", "/dev/", "/proc/" }

local function is_systems(path)
  for _, folder in ipairs(system) do
    if path:sub(1, #folder) == folder then return true end
  end
  return false
end

local scripts = { sh = true, bash = true, py = true, lua = true, js = true, mjs = true, rb = true, pl = true, R = true }
local EXECUTABLE <const> = 73 -- by anybody: octal 111

-- Whether a file outside the project is a program, and not what one writes or waits for.
local function is_program(path, stat)
  return stat.type == "file" and (stat.mode & EXECUTABLE ~= 0 or scripts[path:match "%.(%w+)$"] == true)
end

-- The files beside the commit that measure: those that git ignores and verification is given, and programs outside the
-- project that commands name. { name shown = path }
local function beside(world)
  local found = {}
  for _, carried in ipairs(world.carried or {}) do found[carried.path] = world.dir .. "/" .. carried.path end
  for word in pairs(words_of(world.manifest)) do
    local path = word:sub(1, 1) == "/" and fs.realpath(word)
    local stat = path and not is_systems(word) and fs.stat(path)
    if stat and is_program(path, stat) and path:sub(1, #world.root + 1) ~= world.root .. "/" then found[word] = path end
  end
  return found
end

local function digest_of_file(path)
  local stat = fs.stat(path)
  return stat and sha256.hex(("%d\n%s"):format(stat.size, fs.read(path, LARGEST) or "")) or "none"
end

-- ---- the digests ----

local FILE <const> = "file " -- before the name of a file beside the commit
local TARGET <const> = "execution.target" -- a room's key: of other machines only

-- What a world measures by: { verification, metric, files, a room's key, "file PATH" = hex digits; apart: as given, or
-- as now }.
function evaluator.digest(world, apart)
  local found = { apart = apart or apart_of(world.manifest) }
  for key, value in pairs(settings_of(world.manifest)) do
    found[key] = sha256.hex(json.encode(value, { sorted = true }))
  end
  found.files = sha256.hex(committed(world, found.apart))
  for name, path in pairs(beside(world)) do found[FILE .. name] = digest_of_file(path) end
  return found
end

local MOST_NAMED <const> = 3

-- The files that measure and differ between a baseline's commit and HEAD; nil if there are none.
local function changed_files(world, baseline)
  local measures, names = chooser(world, baseline.evaluator.apart or ""), {}
  for _, change in ipairs(world.repo:changes(baseline.commit, world.head) or {}) do
    local path = world:project_path(change.path)
    if path and measures(path) then names[#names + 1] = path end
  end
  if #names == 0 then return nil end
  return table.concat(names, ", ", 1, math.min(#names, MOST_NAMED)) .. (#names > MOST_NAMED and ", ..." or "")
end

-- What measures now and did not at a baseline: a text; nil if nothing has changed, or the baseline does not tell.
function evaluator.changed(world, baseline)
  local before, parts = baseline.evaluator, {}
  if not before then return nil end
  local now = evaluator.digest(world, before.apart)
  if world.manifest.own_branch then now.files = nil end -- the baselines of that branch follow its files
  for key, digest in pairs(before) do
    local name = key:sub(1, #FILE) == FILE and key:sub(#FILE + 1)
    if name then now[key] = digest_of_file(name:sub(1, 1) == "/" and name or world.dir .. "/" .. name) end
    if now[key] ~= digest and (key ~= "files" or now[key]) then
      local files = key == "files" and changed_files(world, baseline)
      -- No file has changed, but a command names another one: `verification` is in the list for that.
      local said = key == "files" and not files and now.verification ~= before.verification
      parts[#parts + 1] = not said and (name or files
        or ("%s: %s"):format(world.manifest.where(key == "threshold_of" and "verification" or key), key)) or nil
    end
  end
  for key in pairs(now) do
    local name = key:sub(1, #FILE) == FILE and not before[key] and key:sub(#FILE + 1)
    if name then parts[#parts + 1] = name end
  end
  if now[TARGET] and not before[TARGET] and not baseline.machines then -- it was measured here
    parts[#parts + 1] = ("%s: %s"):format(world.manifest.where(TARGET), TARGET)
  end
  table.sort(parts)
  return #parts > 0 and table.concat(parts, "; ") or nil
end

local function is_recorded(world, line)
  local record = line.evaluator
  return type(record) == "table" and record.verification and record.metric
    and (record.files or world.manifest.own_branch)
end

-- That a baseline has no digest of the evaluator, and another line has one: a text; else nil.
function evaluator.lost(world, baseline, history)
  if is_recorded(world, baseline) then return nil end
  local number
  history:each(function(line)
    if line.experiment ~= baseline.experiment and line.evaluator then number = line.experiment end
  end, { experiment = true, outcome = true, evaluator = true })
  return number and ("logs/results.jsonl:%d: the baseline %s has no digest of the evaluator, and %s has one"):format(
    history:line_of(baseline.experiment), baseline.id, journal.id(number))
end

local function refusal(what, baseline)
  return ("%s: the evaluator has changed since baseline %s, so values would not be comparable: %s"):format(what,
    baseline.id, REMEDY)
end

-- Whether a run may go on from a baseline: true | nil, message, exit code. Warns if nobody can know.
function evaluator.check(world, baseline, history)
  local changed = evaluator.changed(world, baseline)
  if changed then return nil, refusal(changed, baseline), 2 end
  local lost = evaluator.lost(world, baseline, history)
  if lost then
    return nil, lost .. ": restore that line, or measure the project again with `apsis baseline --again`", 2
  end
  if not is_recorded(world, baseline) then
    world:warn_once("evaluator", ("the baseline %s has no digest of the evaluator (an older apsis made it, or somebody "
      .. "edited the journal), so changes to it go unnoticed: `apsis baseline --again` makes one"):format(
      baseline.id))
  end
  return true
end

-- During a run the commit and the manifest stay what they were; a file beside them that changes ends the run.
function evaluator.watch(world)
  local watched = world.measuring_files
  if not watched then
    watched = {}
    for name, path in pairs(beside(world)) do watched[#watched + 1] = { name = name, path = path } end
    world.measuring_files = watched
  end
  for _, one in ipairs(watched) do
    local stat = fs.stat(one.path)
    local stamp = stat and ("%d %d %.9f"):format(stat.ino, stat.size, stat.ctime) or "none"
    if stamp ~= one.stamp then
      local digest = digest_of_file(one.path)
      if one.digest and digest ~= one.digest then
        world:fail(("%s was changed during the run, and it measures: %s"):format(one.name, REMEDY), 2)
      end
      one.stamp, one.digest = stamp, digest
    end
  end
end

return evaluator
