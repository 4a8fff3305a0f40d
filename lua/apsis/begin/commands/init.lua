-- init: the first manifest of a project, measured once it is written; or an example, a strategy, or what a room adds.
-- If a file exists, writes nothing; with --force keeps the old file as NAME~.
local contract = require "apsis.core.strategy"
local fs = require "apsis.fs"
local git = require "apsis.git"
local project = require "apsis.begin.project"
local ref = require "apsis.project.ref"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local starter = require "apsis.cli.starter"
local templates = require "apsis.begin.templates"

local path_of = starter.path_of

local init = { place = 10, summary = "write a project's manifest and measure it; or an example or a strategy",
  example = "apsis init --measure ./bench.sh --metric time_us --lower --writable 'src/**' --provider claude" }

function init.options(parser)
  parser:argument("dir", "the project's folder, in a git repository (default: here)"):args "?"
  parser:option("--measure", "the command that measures; it prints METRIC NAME=NUMBER"):argname "COMMAND"
  parser:option("--metric", "the metric's name (default: the only one that the command prints)"):argname "NAME"
    :action(function(args, name, value) args[name] = args[name] and args[name] .. ", " .. value or value end)
  parser:option("--regex", "find the number in other output: a pattern with the number in ( )"):argname "PATTERN"
  parser:mutex(parser:flag("--lower", "lower is better"), parser:flag("--higher", "higher is better"),
    parser:option("--direction", "lower or higher"):choices { "lower", "higher" }:argname "WAY")
  parser:option("--writable", "what may change: a path or a glob; may be repeated"):count "*":argname "GLOB"
  parser:option("--check", "a command that must succeed before anything is measured; may be repeated"):count "*"
    :argname "COMMAND"
  parser:option("--provider", "who proposes changes: a coding agent's name (claude, codex, gemini, opencode, pi), a "
    .. "Lua file (NAME.lua), a command, or none (whoever calls `apsis submit`)"):argname "NAME"
  parser:flag("--example", "write a small project that runs at once, instead")
  parser:option("--strategy", "write a strategy and its test, instead"):argname "FILE.lua"
  rooms.call("init_options", parser)
  parser:flag("--schema", "print the manifest's JSON schema, for editors, and write nothing")
  parser:flag("--force", "also over files that exist; each is kept as NAME~")
end

-- ---- the example ----

local function example_project(args)
  local real = fs.realpath(args.dir)
  local files = templates.project(ref.of((real or args.dir):match "([^/]+)/*$" or "project"))
  local code, message = starter.write(args.dir, files, args.force)
  if code ~= 0 then return code, message end
  local repo, _, why = git.open(args.dir)
  if repo then repo:close() end
  local steps = {}
  if args.dir ~= "." then steps[#steps + 1] = "cd" .. show.at(args.dir) end
  if why == "ENOREPO" then steps[#steps + 1] = "git init" end
  steps[#steps + 1] = ("git add %s && git commit -m 'apsis: an example'"):format(starter.names(files))
  steps[#steps + 1] = "apsis baseline"
  steps[#steps + 1] = "apsis run --iterations 20"
  print("next:\n  " .. table.concat(steps, "\n  "))
  return 0
end

-- ---- a strategy ----

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
  if args.schema then return print(require "apsis.begin.json_schema"()) or 0 end
  if args.strategy then return init_strategy(args) end
  if args.example then return example_project(args) end
  return project.write(args)
end

return init
