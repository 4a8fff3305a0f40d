-- programs: which programs of the manifest's commands are hidden from them or missing, reported before anything runs,
-- with the line that allows them. Called by starting and doctor.
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local home = require "apsis.project.home"
local process = require "apsis.process"
local providers = require "apsis.project.providers"

local programs = {}

-- The first word of a command, after the variables it sets.
local function first_word(run)
  if type(run) == "table" then return run[1] end
  local rest = run
  while rest:find "^%s*[%a_][%w_]*=%S*%s" do rest = rest:gsub("^%s*[%a_][%w_]*=%S*%s", "") end
  local word = rest:match "^%s*([%w_./~+-]+)"
  return word and home.expand(word)
end

-- Builtins before a command that change at most its folder.
local harmless = { cd = true, set = true, ulimit = true, umask = true, echo = true, ["true"] = true }

-- The program that a shell line runs after `cd FOLDER &&` and the like, as run, if it is looked up in PATH. A line that
-- is not clear, whose folder is not there, or that runs a file of the project (an earlier command may make it, and what
-- leads to it may be a link) is left as it is.
function programs.behind_cd(dir, run, cwd)
  local rest, folder = run, cwd or "."
  while type(rest) == "string" do
    local word, argument, joined, after =
      rest:match "^%s*(%l+)[ \t]*([^;&|<>()\n\"'$`*?{}\\~#]*)([;&\n]+)(.*)$"
    if not harmless[word] or not joined:find "^&&\n*$" and not joined:find "^[;\n]+$" then break end
    if word == "cd" then
      local target = argument:match "^([%w_.][%w_./+-]*)%s*$"
      local stat = target and fs.stat(("%s/%s/%s"):format(dir, folder, target))
      if not stat or stat.type ~= "directory" then return run end
      folder = folder .. "/" .. target
    end
    rest = after
  end
  return rest ~= run and rest:match "^%s*([%w_.+-]+)%f[%z%s;&|<>()]" or run
end

-- The commands of the manifest as { run, key, allow, cwd, at }; key: the part that `allow` belongs to; at: the key of
-- one of verification.
local function all_commands(manifest)
  local list, verification = {}, manifest.verification or {}
  for _, group in ipairs { "checks", "commands" } do
    for index, one in ipairs(verification[group] or {}) do
      list[#list + 1] = { run = one.run, key = "verification", allow = verification.allow, cwd = one.cwd,
        at = ("verification.%s[%d]"):format(group, index) }
    end
  end
  if manifest.gate then list[#list + 1] = { run = manifest.gate.run, key = "gate", allow = manifest.gate.allow } end
  local provider = manifest.provider
  local kind = providers.of(provider)
  if kind and kind.command then
    list[#list + 1] = { run = kind.command(provider), key = "provider", allow = provider.allow }
  end
  return list
end

-- The same, each as it is after a cd.
local function commands_of(manifest, dir)
  local list = all_commands(manifest)
  for _, one in ipairs(list) do one.run = programs.behind_cd(dir, one.run, one.cwd) end
  return list
end

-- The virtual environment of a program, or its folder.
local function folder_of(path)
  local bin = path:match "^(.*)/[^/]*$"
  local above = bin:match "^(.*)/[^/]*$"
  return above and fs.stat(above .. "/pyvenv.cfg") and above or bin
end

-- If commands cannot see a program: its path, the folders to allow, and which program they see instead, if any.
local function lacking(cage, word, allow)
  local places, hidden, folders = word:find("/", 1, true) and { word } or {}, nil, nil
  if #places == 0 then
    for place in (os.getenv "PATH" or ""):gmatch "[^:]+" do places[#places + 1] = place .. "/" .. word end
  end
  for _, path in ipairs(places) do
    local target = fs.realpath(path)
    if target and fs.stat(target).type == "file" then
      local sees_link, sees_target = cage:sees(path, allow), cage:sees(target, allow)
      if sees_link and sees_target then return hidden, folders, hidden and path end
      if not hidden then
        hidden, folders = path, {}
        if not sees_link then folders[1] = folder_of(path) end
        if not sees_target then folders[#folders + 1] = folder_of(target) end
        if folders[2] == folders[1] then folders[2] = nil end
      end
    end
  end
  return hidden, folders
end

-- Why commands do not have a file that is named by a relative path, as it is not committed or outside the repository;
-- nil if they have it, or if it is not there either. commit: where candidates start (default: HEAD).
function programs.uncommitted(world, path, commit)
  if path:find "^%.%./" then
    local real = fs.realpath(world.dir .. "/" .. path)
    if not real or real:sub(1, #world.root + 1) == world.root .. "/" then return nil end
    return ("%s is outside the repository, so commands do not have it: name it by its full path, %s"):format(path, real)
  end
  if not world.repo or not fs.stat(world.dir .. "/" .. path) or world:file({ commit = commit or world.head }, path)
    or world.broken then -- unreadable, which ends the run with its own message
    return nil
  end
  for _, link in ipairs(world.manifest.workspace.link or {}) do
    if path == link or path:sub(1, #link + 1) == link .. "/" then return nil end
  end
  for _, carried in ipairs(world.carried or {}) do
    if carried.path == path then return nil end
  end
  if commit and commit ~= world.head and world:file({ commit = world.head }, path) then
    return ("%s is committed, but not in the baseline's commit, where candidates start: `apsis baseline --again` "
      .. "starts from HEAD"):format(path)
  end
  if not world.repo:is_ignored(world:repository_path(path)) then
    return ("%s is not committed, so commands do not have it: git add %s, then commit"):format(path, path)
  end
  return ("%s is ignored by git, so commands do not have it; show them the folder: workspace: {link: [%s]}"):format(
    path, path:match "^[^/]+")
end

-- Whether sh finds a program as a command does, with apsis's folder first. true | nil, why.
function programs.in_path(dir, word)
  local result, message = process.run { argv = { "sh", "-c", 'command -v -- "$1"', "sh", word }, cwd = dir,
    env = environment.base({ number = 0 }, dir, nil), timeout_s = 10 }
  if not result then return nil, ("%s: %s"):format(word, message) end
  if result.code == 0 then return true end
  return nil, word .. " is not found in PATH: install it, or write its path"
end

local interpreters = { sh = true, bash = true, dash = true, zsh = true, ksh = true, python = true, python3 = true,
  perl = true, ruby = true, node = true, lua = true, luajit = true, Rscript = true }

local FIRST_LINE <const> = 256 -- bytes of it that Linux reads

-- Why a script cannot be started, as what its first line names is no program that is there; nil if it can, or is none.
-- word: how it is called. A name that is no absolute path is one from the folder where the command runs.
function programs.not_interpreted(path, word)
  local line = (fs.read(path, FIRST_LINE) or ""):match "^#![ \t]*([^\n]*)"
  if not line then return nil end
  if line:find "\r$" then
    return ("a carriage return ends the first line of %s, #!%s, so that its interpreter is not found: "
      .. "sed -i 's/\\r$//' %s"):format(word, line:sub(1, -2), word)
  end
  local interpreter, absolute = line:match "^[^ \t]+", line:sub(1, 1) == "/"
  if not interpreter or not absolute and word:sub(1, 1) == "/" then return nil end
  local stat = fs.stat(absolute and interpreter or path:sub(1, #path - #word) .. interpreter)
  local what = not stat and (absolute and "is not there" or ("is not there, as it is no absolute path: "
      .. "write #!/usr/bin/env %s"):format(interpreter))
    or stat.type == "directory" and "is a folder" or stat.mode & 73 == 0 and "is not executable" -- 0111
  return what and ("%s, the interpreter that the first line of %s names, %s"):format(interpreter, word, what) or nil
end

-- A command's first words, up to the first unclear one.
local function plain_words(run)
  if type(run) == "table" then return run end
  local words = {}
  local rest = run:gsub("^%s+", "")
  while rest:find("^[%a_][%w_]*=[^%s\"'$`]*%s+") do rest = rest:gsub("^%S+%s+", "", 1) end
  for word in (rest:match("^[^;&|<>()\n]*")):gmatch("%S+") do
    if word:find("[\"'$`*?{}\\~#]") then break end
    words[#words + 1] = word
  end
  return words
end

-- An interpreter's script; nil if there is none or an option makes it unclear.
function programs.script_of(run)
  local words = plain_words(run)
  local name = (words[1] or ""):match("[^/]*$")
  local script = words[2]
  if name == "apsis" then script = script == "exec" and words[3] or nil
  elseif not interpreters[name] and not name:find "^python3%.%d+$" and not name:find "^lua5%.%d$" then return nil end
  return script and not script:find "^%-" and script or nil
end

-- The same of a command { run, cwd } that was not found; dir: the project's folder in its checkout.
function programs.not_started(dir, one)
  local word = first_word(one.run)
  if not word or not word:find("/", 1, true) then return nil end
  local path = word:sub(1, 1) == "/" and word or ("%s/%s/%s"):format(dir, one.cwd or ".", word)
  return programs.not_interpreted(path, word)
end

-- The program of a command { run, cwd }, or its interpreter's script, as a path in the project; nil if it is none.
function programs.own(one)
  local word = first_word(one.run)
  local path = programs.script_of(one.run) or word and word:find("/", 1, true) and word
  if not path or path:find "^[/~]" then return nil end
  local folder = one.cwd and one.cwd ~= "." and one.cwd .. "/" or ""
  return folder .. path:gsub("^%./", "")
end

-- Why the provider's program would not be there for it, or nil. commit: where candidates start.
function programs.provider_lacks(world, commit)
  local kind = providers.of(world.manifest.provider)
  local path = kind and kind.command and programs.own { run = kind.command(world.manifest.provider) }
  return path and programs.uncommitted(world, path, commit)
end

local function problem_of(world, cage, one)
  local word = first_word(one.run)
  if not word then return nil end
  local own = programs.own(one)
  local why = own and programs.uncommitted(world, own)
  if why then return { text = why } end
  if word:find "^[^/]+/" then return nil end
  if word:sub(1, 1) == "/" and #cage:named(one.run) > 0 and not cage:keeps(word) then return nil end -- it is shown
  local path, folders, other = lacking(cage, word, one.allow)
  if not path then return nil end
  local list = table.concat(folders, ", ")
  local text = "commands do not see %s%s; show it to them: %s: {allow: [%s]}, or sandbox: {allow: [%s]} for all"
  return { fatal = not other, text = text:format(path, other and ", and take " .. other or "", one.key, list, list) }
end

-- Why programs of the manifest are not found, a text each: in PATH, or the provider's in the project. And the keys of
-- these commands, "" where it is none of a verification.
function programs.missing(manifest, dir)
  local list, keys, said = {}, {}, {}
  for _, one in ipairs(commands_of(manifest, dir)) do
    local word = one.run and first_word(one.run)
    local found, why = true, nil
    if word and not word:find("/", 1, true) then found, why = programs.in_path(dir, word) end
    local own = one.key == "provider" and one.run and programs.own(one)
    if own and not fs.stat(dir .. "/" .. own) then
      found, why = nil, ("there is no %s, which the provider runs"):format(own)
    end
    if not found and not said[why] then list[#list + 1], keys[#keys + 1], said[why] = why, one.at or "", true end
  end
  return list, keys
end

-- { text, fatal } for every program that commands cannot see where the user's shell finds it; fatal: they find none at
-- all. world: { manifest, dir } or a whole world.
function programs.hidden(world, cage)
  local found, said = {}, {}
  for _, one in ipairs(cage.way and commands_of(world.manifest, world.dir) or {}) do
    local problem = one.run and problem_of(world, cage, one)
    if problem and not said[problem.text] then
      said[problem.text] = true
      found[#found + 1] = problem
    end
  end
  return found
end

return programs
