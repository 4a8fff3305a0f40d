-- tick: advances the most overdue goal of a repository by an experiment: selects it, writes the choice to
-- .apsis/autoloop.json, updates its branch, measures the branch again if that moved it, runs the experiment, and
-- updates the state file. A second tick leaves or waits. For cron, a timer, or CI.
local amend = require "apsis.goals.amend"
local clock = require "apsis.core.clock"
local common = require "apsis.cli.common"
local display = require("apsis.project.manifest").display
local due = require "apsis.goals.due"
local evaluator = require "apsis.live.evaluator"
local fs = require "apsis.fs"
local json = require "apsis.json"
local measure = require "apsis.cli.commands.baseline"
local links = require "apsis.project.links"
local programs = require "apsis.goals.survey"
local show = require "apsis.cli.table"
local state = require "apsis.state"
local sync = require "apsis.goals.branch.sync"
local tip = require "apsis.goals.branch.tip"
local wait = require "apsis.wait"

local tick = { place = 230, summary = "advance the most overdue standing goal by an experiment",
  example = "apsis tick --wait" }

function tick.options(parser)
  common.project_argument(parser)
  parser:option("--program", "run this one, even if it is not due, paused or completed"):argname "NAME"
  parser:option("--experiments", "experiments of the selected goal (default 1)"):convert(math.tointeger):argname "N"
  parser:flag("--wait", "wait for another tick instead of exiting")
  parser:option("--out", "where to write the selection (default .apsis/autoloop.json)"):argname "FILE"
  parser:flag("-q --quiet", "no progress, and no output if nothing is due: for cron")
  parser:flag("--json", "print the selection and the result as one JSON object")
end

-- One tick at a time in a repository, whatever the worktree. lock | nil, message, 3.
local function take_turn(place, args)
  while true do
    local lock, message, code = state.lock(place:common_dir() .. "/apsis-tick.lock")
    if lock then return lock end
    if code ~= "LOCKED" or not args.wait then
      return nil, code == "LOCKED" and "another tick is running here, so this one exits (--wait waits for it): "
        .. message or message, 3
    end
    if wait.interrupts() > 0 then return nil, "interrupted", 130 end
    wait.sleep(0.2)
  end
end

local function number_or_null(number)
  return number or json.null
end

-- The selection with autoloop's keys; what apsis does not have is null or empty.
local function selection_of(place, chosen)
  local verdict = chosen.selected
  local program = verdict and place:find(verdict.name)
  local fields = program and program.fields or {}
  local skipped = json.array {}
  for index, one in ipairs(chosen.skipped) do
    skipped[index] = { name = one.name, reason = one.reason, next_due = one.next_due and clock.iso(one.next_due)
      or nil }
  end
  local manifest = program and program.config
  return {
    selected = program and program.name or json.null, selected_file = program and program.file or json.null,
    selected_issue = number_or_null(fields.issue), selected_target_metric = number_or_null(program and program.target),
    selected_metric_direction = program and program.direction or "higher",
    state_file_size_bytes = program and program.state_bytes or 0,
    state_file_max_bytes = manifest and math.floor(manifest.memory.limit_kb * 1024) or 30720,
    issue_programs = {}, deferred = json.array(chosen.deferred), skipped = skipped,
      unconfigured = json.array(chosen.unconfigured),
    no_programs = #place.programs == 0, not_due = #place.programs > 0 and program == nil,
    head_branch = manifest and manifest.branch or json.null, existing_pr = number_or_null(fields.pr),
  }
end

local function write_selection(place, args, selection)
  local path = args.out
  if not path then
    local folder = place.root .. "/.apsis"
    local plain, link, code = links.none(place.root, ".apsis/.gitignore")
    if not plain then return nil, link, code end
    if not fs.stat(folder .. "/.gitignore") and fs.mkdir(folder) then fs.write(folder .. "/.gitignore", "*\n") end
    path = folder .. "/autoloop.json"
  end
  return state.replace(path, json.encode(selection, { pretty = true }) .. "\n")
end

-- The directory that names a program for the commands.
local function dir_of(program)
  return display(program.config.program_file or program.config.dir)
end

local function session_of(program, args, more)
  local given = { dir = dir_of(program), quiet = args.quiet, json = args.json }
  for key, value in pairs(more or {}) do given[key] = value end
  return given
end

-- Repairs journal, branch and state file after a crash, and updates the branch from the one that it follows. Returns
-- whether the tip must be measured; nil, message, code; "paused" after a merge conflict.
local function settle(program, args)
  local self, message, code, why = common.open(session_of(program, args, { unchecked = true }))
  if not self then return nil, message, code, why end
  local repo, manifest, log = self.world.repo, self.manifest, self:logger()
  local function close(...)
    self:close()
    return ...
  end
  local followed
  followed, message, code = sync.default_branch(repo, manifest.default_branch, log)
  if not followed then return close(nil, message, code) end
  local done, files
  done, message, code, files = sync.run(repo, { branch = manifest.branch, default = followed, log = log })
  if code == "ECONFLICT" then
    local reason = ("merge conflict with %s: %s"):format(followed.name, table.concat(files, ", "))
    amend.pause(repo, manifest, log, reason)
    return close "paused"
  end
  if not done then return close(nil, message, code) end
  local baseline = self.engine.history.newest_baseline
  local other = baseline and baseline.value and (evaluator.changed(self.world, baseline)
    or evaluator.lost(self.world, baseline, self.engine.history))
  if other then log("warn", ("%s: the goal is measured otherwise now, so it gets a new baseline"):format(other)) end
  return close(not baseline or not baseline.value or other ~= nil or tip.is_strange(self.world) or false)
end

-- One turn of a program: exit code, message, and why ("LOCKED").
local function advance(program, args)
  local moved, message, code, why = settle(program, args)
  if moved == nil then return code, message, why end
  if moved == "paused" then
    if args.json then print(json.encode(args.chosen)) end
    return 0
  end
  if moved then
    code, message, why = measure.run(session_of(program, args, { again = true, silent = args.json }))
    if code ~= 0 then return code, message, why end
  end
  return common.experiments(session_of(program, args, { iterations = args.experiments or 1, in_all = true,
    compare_at_end = false, past_target = args.program ~= nil, chosen = args.chosen }))
end

local function say(_, text)
  io.stderr:write("apsis: ", text, "\n")
end

local WORLD = 3 -- exit code if git, a lock or a disk refused: not the program's error

-- Records a turn that left no journal line. A failure counts as the program's error, so that the program neither
-- starves the others nor fails for ever.
local function note_turn(place, program, code, message, why_not)
  local manifest = program.config
  local lines = programs.journal_facts(manifest.home .. "/logs/results.jsonl")
  -- A failed baseline and a provider's failures have lines, too.
  local heard = lines > (program.lines or 0) and (code == 0 or code == 4 or code == 5)
  if heard or code == 130 or why_not == "LOCKED" then return code, message end
  local ok, why, worse
  if code == 0 or code == WORLD then ok, why, worse = amend.turn(place.repo, manifest, say)
  else ok, why, worse = amend.failed(place.repo, manifest, say, message or ("exit %s"):format(code)) end
  if ok then return code, message end
  if links.check(manifest) then -- else it would be selected every time
    fs.mkdir(manifest.home .. "/.apsis")
    fs.write(manifest.home .. "/.apsis/turn", clock.iso(clock.time()))
  end
  return code ~= 0 and code or worse, message and message .. "\n" .. why or why
end

-- Prints invalid goals to stderr, even with --quiet; a reason that several share is printed once. Returns { [name] =
-- true }.
local function print_invalid(verdicts)
  local wrong, names, reasons = {}, {}, {}
  for _, verdict in ipairs(verdicts) do
    if verdict.state == "invalid" then
      local reason = verdict.reason
      if not names[reason] then names[reason], reasons[#reasons + 1] = {}, reason end
      table.insert(names[reason], verdict.name)
      wrong[verdict.name] = true
    end
  end
  for _, reason in ipairs(reasons) do
    io.stderr:write("apsis: ", table.concat(names[reason], ", "), ": ", show.line(reason, 1000), "\n")
  end
  return wrong
end

local function print_chosen(chosen, selection, args, wrong)
  if args.json or args.quiet and selection.selected == json.null then return end
  for _, one in ipairs(args.quiet and {} or chosen.skipped) do
    if not wrong[one.name] then
      local following = one.next_due and ", next " .. clock.iso(one.next_due) or ""
      print(("skipped  %s: %s%s"):format(one.name, show.line(one.reason, 400), following))
    end
  end
  for _, name in ipairs(args.quiet and {} or chosen.unconfigured) do
    print(("skipped  %s: unconfigured"):format(name))
  end
  if #chosen.deferred > 0 and not args.quiet then
    print(show.wrap("deferred " .. table.concat(chosen.deferred, ", "), show.width(), (" "):rep(9)))
  end
  if selection.selected ~= json.null then print("chosen   " .. selection.selected)
  elseif selection.no_programs then
    print "no programs here: write .autoloop/programs/NAME.md (`apsis schedule` shows more)"
  else print "nothing is due" end
end

-- Repairs programs whose last tick was interrupted, before anything is judged by their state files.
local function repair(place, args)
  local repaired = false
  for _, program in ipairs(place.programs) do
    if program.behind and program.status == "ready" then
      local self, message = common.open(session_of(program, args, { unchecked = true, quiet = true }))
      if self then
        self:close()
        repaired = true
      else
        io.stderr:write("apsis: ", program.name, ": ", message, "\n")
      end
    end
  end
  return repaired
end

local function open_place(args)
  local place, message, code = programs.open(args.dir)
  if not place then return nil, message, code end
  if not repair(place, args) then return place end
  place:close()
  return programs.open(args.dir)
end

local function turn(place, args)
  local verdicts = place:judge(clock.time())
  local chosen, message, code = due.select(verdicts, args.program)
  if not chosen then return code, message end
  local selection = selection_of(place, chosen)
  local ok
  ok, message = write_selection(place, args, selection)
  if not ok then return 3, message end
  local wrong = print_invalid(verdicts)
  print_chosen(chosen, selection, args, wrong)
  if not chosen.selected then
    if args.json then print(json.encode(selection)) end
    return next(wrong) and 2 or 0
  end
  local program = place:find(chosen.selected.name)
  if program.held then
    return 2, ("%s is %s; run `apsis resume%s` to continue"):format(program.name, program.held,
      show.at(dir_of(program)))
  end
  if args.json then args.chosen = selection end
  return note_turn(place, program, advance(program, args))
end

function tick.run(args)
  if args.experiments and args.experiments < 1 then
    return 2, ("--experiments: must be 1 or more, not %d"):format(args.experiments)
  end
  local first, message, code = programs.open(args.dir)
  if not first then return code, message end
  wait.trap()
  local lock
  lock, message, code = take_turn(first, args)
  first:close()
  if not lock then return code, message end
  local place
  place, message, code = open_place(args)
  if place then
    code, message = turn(place, args)
    place:close()
  end
  lock:close()
  return code, message
end

return tick
