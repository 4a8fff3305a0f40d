-- init: writes what a project, a strategy or a standing goal begins with. Never overwrites: a file that exists ends it before anything
-- is written; with --force the old file is kept as NAME~. The texts are in templates.lua.
local contract = require "apsis.core.strategy"
local fs = require "apsis.fs"
local git = require "apsis.git"
local programs = require "apsis.goals.programs"
local display = require("apsis.project.manifest").display
local standing = require "apsis.goals.schema"
local templates = require "apsis.cli.templates"

local init = { place = 10, summary = "write a project, a strategy or a standing goal to begin with",
  example = "git init mine && cd mine && apsis init && git add -A && git commit -m start && apsis baseline "
    .. "&& apsis run" }

function init.options(parser)
  parser:argument("dir", "where to; made if it does not exist (default: here)"):args "?"
  parser:option("--strategy", "write a strategy and its test beside it, instead of a project"):argname "FILE.lua"
  parser:option("--program", "write .autoloop/programs/NAME.md, a standing goal to be filled in, instead of a project; in the "
    .. "directory that holds .autoloop at or above DIR, else at the repository's root"):argname "NAME"
  parser:flag("--force", "also over files that exist; each is kept as NAME~")
end

local function path_of(dir, name)
  return dir == "." and name or dir .. "/" .. name
end

-- The files that may not be written over. true | nil, message.
local function check_free(dir, files, force)
  local taken = {}
  for _, file in ipairs(files) do
    local path = path_of(dir, file.name)
    if fs.stat(path, { follow = false }) and (not force or fs.stat(path .. "~", { follow = false })) then
      taken[#taken + 1] = force and file.name .. "~" or file.name
    end
  end
  if #taken == 0 then return true end
  return nil, ("%s: there already: %s; nothing was written%s"):format(dir, table.concat(taken, ", "),
    force and " (an older one is kept there: move it away)" or " (--force keeps them as NAME~)")
end

local function write_all(dir, files)
  for _, file in ipairs(files) do
    local path = path_of(dir, file.name)
    local ok, message = true, nil
    if fs.stat(path, { follow = false }) then ok, message = fs.rename(path, path .. "~") end
    if ok then ok, message = fs.write(path, file.text) end
    if not ok then return nil, message end
    print("wrote " .. path)
  end
  return true
end

local function write(dir, files, force)
  local ok, message = check_free(dir, files, force)
  if not ok then return 2, message end
  ok, message = fs.mkdir(dir)
  if ok then ok, message = write_all(dir, files) end
  if not ok then return 3, message end
  return 0
end

local function names_of(files)
  local names = {}
  for index, file in ipairs(files) do names[index] = file.name end
  return table.concat(names, " ")
end

-- For the shell.
local function quoted(text)
  return text:find "[^%w_/.,:+@-]" and "'" .. text:gsub("'", "'\\''") .. "'" or text
end

-- The files without those that exist and stay.
local function to_write(dir, files)
  local list = {}
  for _, file in ipairs(files) do
    if not (file.keep and fs.stat(path_of(dir, file.name), { follow = false })) then list[#list + 1] = file end
  end
  return list
end

-- The lines that an existing .gitignore lacks, "/logs/" also being there as "logs/", "/logs" or "logs".
local function lines_to_add(dir)
  local present, lacking = {}, {}
  for line in (fs.read(path_of(dir, ".gitignore")) or ""):gmatch("[^\r\n]+") do
    present[line:gsub("^/", ""):gsub("/$", "")] = true
  end
  for _, line in ipairs(templates.ignored) do
    if not present[line:sub(2, -2)] then lacking[#lacking + 1] = line end
  end
  return lacking
end

-- The commands that come next, for the place the files were written to.
local function say_next(dir, files)
  local repo, _, code = git.open(dir)
  if repo then repo:close() end
  local steps, names, lacking = {}, names_of(files), lines_to_add(dir)
  if dir ~= "." then steps[#steps + 1] = "cd " .. quoted(dir) end
  if code == "ENOREPO" then steps[#steps + 1] = "git init" end
  if #lacking > 0 then
    print("kept .gitignore; add these lines to it: " .. table.concat(lacking, " "))
    steps[#steps + 1] = ("printf '%%s\\n' '' %s >> .gitignore"):format(table.concat(lacking, " "))
    names = names .. " .gitignore"
  end
  steps[#steps + 1] = ("git add %s && git commit -m 'apsis: project files'"):format(names)
  steps[#steps + 1] = "apsis setup"
  steps[#steps + 1] = "apsis baseline"
  steps[#steps + 1] = "apsis run --iterations 20"
  print("next:\n  " .. table.concat(steps, "\n  "))
end

local function init_project(args)
  local real = fs.realpath(args.dir)
  local name = (real or args.dir):match("([^/]+)/*$") or "project"
  name = name:gsub("[^A-Za-z0-9._-]+", "-"):gsub("%.%.+", "."):gsub("^[.-]+", ""):sub(1, 100)
  name = name:gsub("%.lock$", ""):gsub("%.$", "")
  local files = to_write(args.dir, templates.project(name ~= "" and name or "project"))
  local code, message = write(args.dir, files, args.force)
  if code == 0 then say_next(args.dir, files) end
  return code, message
end

-- A name like mine.lua, perhaps with folders: its folder and its stem.
local function split(dir, path)
  if path:sub(1, 1) ~= "/" then path = path_of(dir, path) end
  if not path:find("/") then path = "./" .. path end
  return path:match("^(.*)/([^/]*)%.lua$")
end

local function init_strategy(args)
  local dir, stem = split(args.dir, args.strategy)
  if not stem or not stem:find("^[%w_-]+$") then
    return 2, ("--strategy: %q cannot name a strategy file: letters, digits, _ and -, ending in .lua, as in mine.lua")
      :format(args.strategy)
  end
  for _, shipped in ipairs(contract.shipped()) do
    if shipped == stem then
      return 2, ("--strategy: %s is the name of a shipped strategy; `apsis strategies %s` prints it"):format(stem, stem)
    end
  end
  local code, message = write(dir, templates.strategy(stem), args.force)
  if code == 0 then
    print(("next:\n  apsis exec %s\n  apsis run --strategy %s.lua"):format(path_of(dir, stem .. "_test.lua"), stem))
  end
  return code, message
end

local function parts_of(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do parts[#parts + 1] = part end
  return parts
end

-- A real path as it is named from the current directory; where they have nothing in common, as it is.
local function from_here(path)
  local here, there, common = parts_of(fs.cwd() or "/"), parts_of(path), 0
  while common < #there and here[common + 1] == there[common + 1] do common = common + 1 end
  if common == 0 then return path end
  local steps = {}
  for index = 1, #here - common do steps[index] = ".." end
  table.move(there, common + 1, #there, #steps + 1, steps)
  return #steps > 0 and table.concat(steps, "/") or "."
end

-- The nearest directory at or above dir that exists, as a real path.
local function existing(dir)
  local real = fs.realpath(dir)
  while not real do
    dir = dir:match("^(.*[^/])/+[^/]*/*$") or dir:sub(1, 1) == "/" and "/" or "."
    real = fs.realpath(dir)
  end
  return real
end

-- Where `apsis schedule` looks for the goals of dir: what holds .autoloop, else the repository's root, else dir itself; and whether
-- there is a repository. nil, message, code.
local function goals_root(dir)
  local start = existing(dir)
  local repo, _, code = git.open(start)
  local info = repo and repo:info() or {}
  if repo then repo:close() end
  if info.bare then return nil, "the repository is bare: work in a clone of it, which has files", 3 end
  local root = programs.root(start) or info.workdir
  return root and from_here(root) or dir, code ~= "ENOREPO"
end

local function init_program(args)
  local other = require("apsis.goals.list").named(args.program, args.dir)
  if other and not other:find("%.md$") then
    return 2, ("--program: %s names a goal %s already"):format(display(other), args.program)
  end
  local name = args.program
  if not standing.is_name(name) then
    return 2, ("--program: %q cannot name a goal, whose branch is autoloop/NAME: letters, digits, '.', '_' and '-'"):format(name)
  end
  local stat = fs.stat(args.dir)
  if stat and stat.type ~= "directory" then return 2, args.dir .. ": not a directory" end
  local root, in_repository, refused = goals_root(args.dir)
  if not root then return refused, in_repository end
  local code, message = write(path_of(root, ".autoloop/programs"), templates.goal(name), args.force)
  if code ~= 0 then return code, message end
  local steps = { ("fill in .autoloop/programs/%s.md, and remove its first line"):format(name),
    ("git add .autoloop && git commit -m 'goal: %s'"):format(name), "apsis schedule", "apsis tick" }
  if root ~= "." then table.insert(steps, 1, "cd " .. quoted(root)) end
  if not in_repository then table.insert(steps, root ~= "." and 2 or 1, "git init") end
  print("next:\n  " .. table.concat(steps, "\n  "))
  return 0
end

function init.run(args)
  args.dir = args.dir or "."
  if args.program then return init_program(args) end
  if args.strategy then return init_strategy(args) end
  return init_project(args)
end

return init
