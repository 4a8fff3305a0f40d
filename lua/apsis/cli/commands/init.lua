-- init: writes the first files of a project, a strategy, or what a room adds. If a file exists, writes nothing; with
-- --force keeps the old file as NAME~. The texts are in templates.lua.
local contract = require "apsis.core.strategy"
local fs = require "apsis.fs"
local git = require "apsis.git"
local ref = require "apsis.project.ref"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local starter = require "apsis.cli.starter"
local templates = require "apsis.cli.templates"

local path_of = starter.path_of

local init = { place = 10, summary = "write a first project, strategy or standing goal",
  example = "git init mine && cd mine && apsis init && git add -A && git commit -m start && apsis baseline "
    .. "&& apsis run" }

function init.options(parser)
  parser:argument("dir", "the folder to write to; created if missing (default: here)"):args "?"
  parser:option("--strategy", "write a strategy and its test beside it, instead of a project"):argname "FILE.lua"
  rooms.call("init_options", parser)
  parser:flag("--force", "also over files that exist; each is kept as NAME~")
end

local function names_of(files)
  local names = {}
  for index, file in ipairs(files) do names[index] = file.name end
  return table.concat(names, " ")
end

-- The files without existing ones that stay.
local function to_write(dir, files)
  local list = {}
  for _, file in ipairs(files) do
    if not (file.keep and fs.stat(path_of(dir, file.name), { follow = false })) then list[#list + 1] = file end
  end
  return list
end

-- The lines that an existing .gitignore lacks; "/logs/" may also be "logs/", "/logs" or "logs".
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

-- The next commands, for the place of the files.
local function say_next(dir, files)
  local repo, _, code = git.open(dir)
  if repo then repo:close() end
  local steps, names, lacking = {}, names_of(files), lines_to_add(dir)
  if dir ~= "." then steps[#steps + 1] = "cd" .. show.at(dir) end
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
  local files = to_write(args.dir, templates.project(ref.of(name)))
  local code, message = starter.write(args.dir, files, args.force)
  if code == 0 then say_next(args.dir, files) end
  return code, message
end

-- The folder and the stem of a name like mine.lua.
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
  local code, message = starter.write(dir, templates.strategy(stem), args.force)
  if code == 0 then
    print(("next:\n  apsis exec %s\n  apsis run --strategy %s.lua"):format(path_of(dir, stem .. "_test.lua"), stem))
  end
  return code, message
end

function init.run(args)
  args.dir = args.dir or "."
  local code, message = rooms.first("init", args)
  if code then return code, message end
  if args.strategy then return init_strategy(args) end
  return init_project(args)
end

return init
