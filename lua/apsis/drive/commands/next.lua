-- next: what the strategy would try next: a parent, an operator, a prompt, and a checkout to work in. The experiment
-- keeps its number until it is submitted.
local agent = require "apsis.live.provider.command.agent"
local fs = require "apsis.fs"
local host = require "apsis.host"
local inboxes = require "apsis.drive.inbox"
local json = require "apsis.json"
local lines = require "apsis.core.line"
local outcome = require "apsis.drive.outcome"
local place = require "apsis.drive.place"
local process = require "apsis.process"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"
local work = require "apsis.drive.work"
local worktree = require "apsis.worktree"

local next_ = { place = 51, summary = "ask the strategy what to change next, and get a checkout for it",
  example = "apsis next --json" }

local MINUTES = 60

function next_.options(parser)
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
  parser:option("--expires", ("how many minutes it may take to be submitted (default %d)"):format(MINUTES))
    :convert(tonumber):argname "M"
  parser:option("--timeout", "wait at most S seconds for a run that goes on to plan"):convert(tonumber):argname "S"
  parser:flag("--new-run", "begin another run if the last one is over")
  parser:flag("--json", "as JSON: {id, parents, operator, directory, prompt, ...}")
end

-- Makes the checkout of an experiment: the parent without its hidden files, as a git repository of one commit. Its
-- folder | nil, message. It is there at once or not at all: an experiment without one was not seen by who asked.
local function check_out(live, home, number, record)
  local folder = place.checkout(home, number)
  local draft = ("%s.%d"):format(folder:gsub("c(%d+)$", ".draft-%1"), host.pid)
  live:need(fs.mkdir(folder:match "^(.*)/[^/]*$"))
  live:need(fs.remove_tree(draft))
  local tree <close> = live:need(worktree.open(live.repo, draft))
  local ok, message = tree:checkout(record.commit, { hide = live:hidden_paths(record) })
  if not ok then return nil, message end
  for _, path in ipairs(live.manifest.workspace.link or {}) do
    fs.symlink(live.dir .. "/" .. path, draft .. "/" .. live:repository_path(path))
  end
  process.run { shell = agent.GIT, cwd = draft, timeout_s = 600, env = { GIT_CONFIG_GLOBAL = "/dev/null",
    GIT_CONFIG_NOSYSTEM = "1", GIT_DIR = false, GIT_WORK_TREE = false, GIT_INDEX_FILE = false } }
  live:need(fs.remove_tree(folder))
  live:need(fs.rename(draft, folder))
  return folder
end

-- Removes the checkouts of experiments that have their lines, and what killed processes left.
local function tidy(self)
  local above = self.home .. "/.apsis/next"
  for _, name in ipairs(fs.list(above) or {}) do
    local number = math.tointeger(tonumber(name:match "^c(%d+)$"))
    local pid = name:match "^%.draft%-%d+%.(%d+)$"
    if number and self.history:line_of(number) or pid and not fs.stat("/proc/" .. pid) then
      fs.remove_tree(above .. "/" .. name)
    end
  end
end

-- What is given out, as JSON has it | nil, message, code.
local function task_of(self, number)
  local dir = ("%s/runs/%04d"):format(self.home, number)
  local saved = json.decode(fs.read(dir .. "/proposal.json") or "", true)
  if not saved then return nil, ("%s/proposal.json cannot be read"):format(dir), 3 end
  local opened, message, code = session.configure(self.dir)
  if not opened then return nil, message, code end
  local ok
  ok, message, code = opened:open_world(nil, true)
  if not ok then return nil, message, code end
  local live, proposal = opened.world, saved.proposal
  live.history = self.history
  local record = self.history:get(proposal.parents[1])
  local folder
  folder, message = check_out(live, self.home, number, record)
  opened:close()
  if not folder then return nil, message, 3 end
  return { id = lines.id(number), experiment = number, parents = json.array(proposal.parents),
    operator = proposal.operator, title = proposal.title, value = record.value or json.null,
    directory = live.prefix == "" and folder or folder .. "/" .. live.prefix,
    prompt = fs.read(dir .. "/prompt.md") or "", prompt_file = dir .. "/prompt.md",
    expires = lines.timestamp(saved.offered.till),
    next = ("change the files in directory, then run: apsis submit %s --title TEXT --asi learned=TEXT"):format(folder) }
end

local function print_task(task)
  show.facts { { "experiment", task.id }, { "parent", ("%s (%s)"):format(table.concat(task.parents, " "), task.value
    ~= json.null and show.number(task.value) or "no value") }, { "operator", show.line(task.operator) },
    { "directory", task.directory }, { "until", task.expires } }
  print ""
  show.raw(task.prompt:gsub("\n*$", "\n\n"))
  print("next: " .. task.next)
end

function next_.run(args)
  if args.expires and not (args.expires > 0) then return 2, "--expires: must be above 0" end
  if args.timeout and not (args.timeout >= 0) then return 2, "--timeout: must be 0 or more" end
  local self, message, code = place.project(args.directory)
  if not self then return code, message end
  wait.trap()
  tidy(self)
  local id
  id, message, code = inboxes.new(self.home):add { kind = "next", pid = host.pid,
    expires_s = 60 * (args.expires or MINUTES), new_run = args.new_run }
  if not id then return code, message end
  local found
  found, message, code = work.wait(self, id, { timeout_s = args.timeout, here = true, quiet = true,
    look = outcome.of_next })
  if not found then return code, message end
  if found.state == "pending" then
    return outcome.codes.pending, "the run that goes on has not planned yet: run `apsis next` again"
  end
  if found.state ~= "given" then return outcome.print(found, args.json) end
  self, message, code = place.project(args.directory)
  if not self then return code, message end
  local task
  task, message, code = task_of(self, found.experiment)
  if not task then return code, message end
  if args.json then print(json.encode(task)) else print_task(task) end
  return 0
end

return next_
