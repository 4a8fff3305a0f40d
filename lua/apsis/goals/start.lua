-- start: the first file of a standing goal, `apsis init --program NAME`.
local display = require("apsis.project.manifest").display
local find = require "apsis.goals.find"
local fs = require "apsis.fs"
local git = require "apsis.git"
local ref = require "apsis.project.ref"
local show = require "apsis.cli.table"
local starter = require "apsis.cli.starter"
local survey = require "apsis.goals.survey"

local start = {}

local TEMPLATE = [[
<!-- AUTOLOOP:UNCONFIGURED -->
<!-- The line above keeps this goal from being run: remove it once the rest is filled in. -->
---
schedule: every 6h          # every 30m, every 2d, hourly, daily, weekly, monthly, or five cron fields (UTC)
metric_direction: higher    # or lower
# target-metric: 95         # reached, the goal is completed; without it, it goes on
# timeout-minutes: 10       # of one evaluation
# strategy: openevolve      # or a .lua file; default hillclimb
# gate: make ci             # must pass before a better version is kept
provider: {kind: command, preset: claude}   # who proposes changes; one for all goals goes into .autoloop/config.yaml
---
# @NAME@

## Goal

REPLACE_WITH_GOAL: what is to become better, and what must not change.

## Target

Only modify these files:
- `REPLACE_WITH_FILE`

## Evaluation

```sh
REPLACE_WITH_COMMAND
```

It prints JSON such as `{"REPLACE_WITH_METRIC": 42}`, or a line `METRIC REPLACE_WITH_METRIC=42`.
The metric is `REPLACE_WITH_METRIC`.
]]

function start.options(parser)
  parser:option("--program", "write .autoloop/programs/NAME.md, a standing goal to be filled in, instead of a "
    .. "project; in the directory that holds .autoloop at or above DIR, else at the repository's root"):argname "NAME"
end

local function parts_of(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do parts[#parts + 1] = part end
  return parts
end

-- A real path relative to the current directory; unchanged if the two have nothing in common.
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

-- The directory in which `apsis schedule` looks for the goals of dir: the one with .autoloop, else the repository's
-- root, else dir itself; and whether there is a repository. nil, message, code.
local function goals_root(dir)
  local there = existing(dir)
  local repo, _, code = git.open(there)
  local info = repo and repo:info() or {}
  if repo then repo:close() end
  if info.bare then return nil, "the repository is bare: work in a clone with files", 3 end
  local root = find.root(there) or info.workdir
  return root and from_here(root) or dir, code ~= "ENOREPO"
end

-- Writes .autoloop/programs/NAME.md from the template. Exit code and message; nil without --program.
function start.goal(args)
  if not args.program then return nil end
  local other = survey.named(args.program, args.dir)
  if other and not other:find("%.md$") then
    return 2, ("--program: %s already names a goal %s"):format(display(other), args.program)
  end
  local name = args.program
  if not ref.fits(name) then
    return 2, ("--program: %q cannot name a goal"
      .. " (its branch is autoloop/NAME): letters, digits, '.', '_' and '-'"):format(name)
  end
  local stat = fs.stat(args.dir)
  if stat and stat.type ~= "directory" then return 2, args.dir .. ": not a directory" end
  local root, in_repository, refused = goals_root(args.dir)
  if not root then return refused, in_repository end
  local file = { name = name .. ".md", text = (TEMPLATE:gsub("@NAME@", name)) }
  local code, message = starter.write(starter.path_of(root, ".autoloop/programs"), { file }, args.force)
  if code ~= 0 then return code, message end
  local steps = { ("fill in .autoloop/programs/%s.md, and remove its first line"):format(name),
    ("git add .autoloop && git commit -m 'goal: %s'"):format(name), "apsis schedule", "apsis tick" }
  if root ~= "." then table.insert(steps, 1, "cd" .. show.at(root)) end
  if not in_repository then table.insert(steps, root ~= "." and 2 or 1, "git init") end
  print("next:\n  " .. table.concat(steps, "\n  "))
  return 0
end

return start
