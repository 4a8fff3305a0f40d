-- autoloop: what the tests of githubnext/autoloop (438782f, tests/test_scheduling.py and test_scheduler_e2e.py) ask for.
local autoloop = require "apsis.goals.program.file"
local cases = require "cases"
local clock = require "apsis.core.clock"
local direction = require "apsis.direction"
local due = require "apsis.goals.due"
local place = require "place"
local programs = require "apsis.goals.find"
local schedule = require "apsis.goals.schedule"
local statefile = require "apsis.goals.statefile.document"

local HOUR <const> = 3600
local none = "none" -- nil, in a table

-- ---- schedules ----

cases.group("a schedule in seconds", function(text)
  local spec = schedule.parse(text)
  return spec and (spec.seconds or spec.kind) or none
end, {
  { "55", "every 6h", 6 * HOUR }, { "55b", "every 1h", HOUR }, { "55c", "every 24h", 24 * HOUR },
  { "56", "every 30m", 1800 }, { "56b", "every 1m", 60 },
  { "57", "daily", 24 * HOUR }, { "58", "weekly", 7 * 24 * HOUR },
  { "59", "  every  6h  ", 6 * HOUR },
  { "60", "Every 6H", 6 * HOUR }, { "60b", "DAILY", 24 * HOUR }, { "60c", "Weekly", 7 * 24 * HOUR },
  { "61", "bogus", none }, { "62", "", none, name = "empty" }, { "62b", "   ", none, name = "blanks" },
  { "63", "monthly", "monthly", peer = none },
  { "64", "every 6", none },
})

-- ---- the Machine State table ----

local function state(changes)
  local rows = { ["Last Run"] = "2025-01-15T12:00:00Z", ["Iteration Count"] = "42", ["Best Metric"] = "0.85",
    ["Target Metric"] = "0.95", Paused = "false", ["Pause Reason"] = "\u{2014}", Completed = "false",
    ["Completed Reason"] = "\u{2014}", ["Consecutive Errors"] = "0", ["Recent Statuses"] = "accepted, rejected, accepted" }
  for name, value in pairs(changes or {}) do rows[name] = value end
  local lines = { "# Autoloop: p", "", "## ⚙️ Machine State", "", "| Field | Value |", "|-------|-------|" }
  for name, value in pairs(rows) do lines[#lines + 1] = ("| %s | %s |"):format(name, value) end
  return table.concat(lines, "\n") .. "\n\n## Program Info\n\nMore.\n"
end

local function fields(changes) return statefile.parse(state(changes), "p"):fields() end

cases.one("64b", "the state's times and numbers", function()
  local read = fields()
  return { read.last_run, read.best_metric, read.target_metric }
end, { "2025-01-15T12:00:00Z", 0.85, 0.95 })

cases.group("a count in the state", function(text)
  local read = fields { ["Iteration Count"] = text }
  return { read.iteration_count, math.type(read.iteration_count) }
end, { { "65", "42", { 42, "integer" } }, { "66", "not-a-number", { 0, "integer" } } })

cases.group("Paused in the state", function(text) return fields({ Paused = text }).paused end, {
  { "67", "TRUE", true }, { "67a", "true", true }, { "67d", "True", true }, { "67b", "false", false },
})

cases.one("67c", "Completed true in the state", function() return fields({ Completed = "true" }).completed end, true)

cases.one("68", "a dash in the state is no value", function()
  local read = fields()
  return { read.pause_reason or none, read.completed_reason or none }
end, { none, none })

cases.group("Recent Statuses in the state", function(text) return fields({ ["Recent Statuses"] = text }).recent_statuses end, {
  { "69", "accepted, rejected, accepted", { "accepted", "rejected", "accepted" } },
  { "70", "\u{2014}", {} },
  { "71d", "rejected, rejected, rejected, rejected, rejected", { "rejected", "rejected", "rejected", "rejected", "rejected" } },
})

-- What a text says that has no table: everything at its default, so that the goal counts as never run.
cases.group("a state file without a table says nothing", function(text)
  local read = statefile.parse(text, "p"):fields()
  return { read.last_run or none, read.iteration_count, read.best_metric or none, read.paused, read.completed,
    #read.recent_statuses }
end, {
  { "71", "# No machine state here\n\nJust text.", { none, 0, none, false, false, 0 } },
  { "71b", "", { none, 0, none, false, false, 0 }, name = "an empty file" },
})

cases.one("71c", "the table's head is no field", function()
  local read = fields()
  return { read.field or none, read.value or none }
end, { none, none })

-- ---- names ----

-- The name of the only program of a repository that has it at this path.
cases.group("a program's name", function(path)
  local root = place.new("name-" .. path:gsub("%W", "-"), { [".autoloop/programs/" .. path] = "# P\n" }, true)
  return programs.list(root, {}, function() return nil, { "unread" } end)[1].name
end, {
  { "72", "function_minimization/program.md", "function_minimization" }, { "73", "coverage.md", "coverage" },
  { "73b", "my-experiment/program.md", "my-experiment" },
})

cases.cannot("GitHub's issues and pull requests are no part of apsis", {
  { "74", "the slug of an issue's title with other signs" }, { "75", "the slug of an issue's title with accents" },
  { "76", "the slug of an issue's title between hyphens" }, { "77", "two issues of one slug" },
  { "77b", "the slug of an issue's title with a number" }, { "77c", "the slug of no title" },
  { "121", "the number of the issue that a program stands in" }, { "123", "the next page in a Link header" },
  { "124", "a Link header without a next page" }, { "124b", "a Link header whose next page is not first" },
  { "125", "a pull request of a branch with a hexadecimal suffix" }, { "126", "a pull request of another branch" },
  { "127", "a pull request by its title" }, { "127b", "the one pull request of a program" }, { "127c", "no pull request" },
})

-- ---- front matter ----

local GOAL = "# P\n\n## Goal\n\nx\n\n## Target\n\n- `value.txt`\n\n## Evaluation\n\n```\ncat value.txt\n```\n\n"
  .. "The metric is `score`.\n"
local count = 0

local function layer(text)
  count = count + 1
  local root = place.new("goal" .. count, { [".autoloop/programs/p.md"] = text, ["value.txt"] = "1\n" }, true)
  return autoloop.layer(root .. "/.autoloop/programs/p.md")
end

-- What front matter says: schedule, target and direction; or the error after the file's name.
local function said(front)
  local read = layer((front:find "^<" and front or front ~= "" and "---\n" .. front .. "\n---\n" or "") .. GOAL)
  if read.errors[1] then return read.errors[1].text:match "p%.md:(.*)$" end
  local metric = read.value.metric
  return { schedule = read.value.schedule, target = metric.target, direction = direction.parse(metric.direction) }
end

cases.group("front matter", said, {
  { "78", "schedule: every 6h\ntarget-metric: 0.95", { schedule = "every 6h", target = 0.95, direction = "higher" } },
  { "78b", "schedule: daily", { schedule = "daily", direction = "higher" } },
  { "78c", "target-metric: 0.5", { target = 0.5, direction = "higher" } },
  { "79", "", { direction = "higher" }, name = "none" },
  { "80", "<!-- AUTOLOOP:ISSUE-PROGRAM -->\n<!-- comment -->\n---\nschedule: every 1h\ntarget-metric: 0.8\n---\n",
    { schedule = "every 1h", target = 0.8, direction = "higher" } },
  { "81", "target-metric: not-a-number", "2: target-metric: must be a number; got 'not-a-number'",
    peer = { direction = "higher" } },
  { "82", "schedule: every 6h\n# target-metric: 0.95", { schedule = "every 6h", direction = "higher" } },
  { "83", "schedule: weekly\nsome-key: 40\ntarget-metric: 1.0", { schedule = "weekly", target = 1.0, direction = "higher" } },
  { "84", "schedule: every 6h\ntarget-metric: 0.95\n# no direction",
    { schedule = "every 6h", target = 0.95, direction = "higher" } },
  { "84b", "metric_direction: higher", { direction = "higher" } },
  { "85", "metric_direction: lower", { direction = "lower" } },
  { "85b", "schedule: every 6h\ntarget-metric: 0.9\nmetric_direction: lower",
    { schedule = "every 6h", target = 0.9, direction = "lower" } },
  { "86", "metric_direction: sideways", "2: metric_direction: must be one of higher, lower; got 'sideways'",
    peer = { direction = "higher" } },
  { "87", 'metric_direction: "lower"', { direction = "lower" } },
  { "88", "metric-direction: lower", { direction = "lower" } },
  { "89", "metric_direction: LOWER", { direction = "lower" } },
  { "seed0", "schedule: every 6h   # how often\ntarget-metric: 0.9   # halt\nmetric_direction: lower   # or higher",
    { schedule = "every 6h", target = 0.9, direction = "lower" } },
})

-- ---- improvement and halting ----

cases.group("improved: direction, new, best", function(given)
  return direction.new({ direction = given[1] }):better(given[2], given[3])
end, {
  { "89h", { "higher", 1.7, 1.5 }, true }, { "89i", { "higher", 1.3, 1.5 }, false }, { "89j", { "higher", 1.5, 1.5 }, false },
  { "90", { "lower", 1.3, 1.5 }, true }, { "91", { "lower", 1.7, 1.5 }, false }, { "92", { "lower", 1.5, 1.5 }, false },
  { "93", { "higher", 0.5 }, true }, { "93b", { "lower", 0.5 }, true },
})

cases.group("target met: direction, best, target", function(given)
  return direction.new({ direction = given[1], target = given[3] }):reached(given[2])
end, {
  { "94", { "higher", 0.95, 0.95 }, true }, { "94a", { "higher", 0.97, 0.95 }, true },
  { "94c", { "higher", 0.94, 0.95 }, false },
  { "95", { "lower", 0.85, 0.9 }, true }, { "95b", { "lower", 0.9, 0.9 }, true }, { "96", { "lower", 0.91, 0.9 }, false },
  { "97", { "higher", 0.5 }, false }, { "97b", { "lower", 0.5 }, false },
})

-- ---- what is not filled in ----

cases.group("not filled in", function(text) return layer(text).unconfigured ~= nil end, {
  { "98", "<!-- AUTOLOOP:UNCONFIGURED -->\n" .. GOAL, true, name = "the mark" },
  { "99", GOAL:gsub("\nx\n", "\nTODO: say it\n"), true, name = "TODO:" },
  { "100", GOAL:gsub("\nx\n", "\nREPLACE THIS with your goal.\n"), true, name = "REPLACE THIS" },
  { "100b", "---\nschedule: every 6h\n---\n" .. GOAL, false, name = "nothing of the kind" },
  { "101", GOAL:gsub("\nx\n", "\nThis was replaced.\n"), false, name = "the word replaced" },
  { "101b", "<!-- AUTOLOOP:ISSUE-PROGRAM -->\n---\nschedule: every 6h\n---\n" .. GOAL:gsub("\nx\n", "\nREPLACE THIS.\n"), true,
    name = "an issue's template" },
  { "101c", GOAL:gsub("\nx\n", "\nA list of todo items, sorted.\n"), false, name = "prose that speaks of a todo list" },
})

-- ---- whose turn it is ----

local now = assert(clock.parse "2025-01-15T12:00:00Z")

local function verdict(given)
  local goal = { name = "p", status = "ready", schedule = given.schedule and schedule.parse(given.schedule) }
  for key, value in pairs(given) do if key ~= "schedule" then goal[key] = value end end
  return due.judge(goal, now)
end

local rejected = { "rejected", "rejected", "rejected", "rejected", "rejected" }
local PLATEAU = "plateau: 5 consecutive rejections"

cases.group("skipped", function(given) return verdict({ fields = given }).reason or none end, {
  { "102", { completed = true }, "completed: no reason given" }, { "102b", { completed = false }, none },
  { "103", { paused = true, pause_reason = "manual" }, "paused: manual" }, { "103b", { paused = false }, none },
  { "104", { recent_statuses = rejected }, PLATEAU },
  { "105", { recent_statuses = { "rejected", "rejected", "rejected", "rejected" } }, none },
  { "106", { recent_statuses = { "rejected", "rejected", "accepted", "rejected", "rejected" } }, none },
  { "107", { recent_statuses = { "accepted", table.unpack(rejected) } }, PLATEAU }, { "107b", {}, none },
  { "108", { completed = true, paused = true }, "completed: no reason given" },
})

cases.group("due at 12:00: schedule, last run", function(given)
  return verdict({ schedule = given[1] or nil, fields = { last_run = given[2] } }).due
end, {
  { "109", { false, "2025-01-15T11:00:00Z" }, true }, { "110", { "every 6h" }, true },
  { "111", { "every 6h", "2025-01-15T05:00:00Z" }, true }, { "112", { "every 6h", "2025-01-15T10:00:00Z" }, false },
  { "113", { "every 6h", "2025-01-15T06:00:00Z" }, true },
})

cases.one("114", "the next time is the last run and the span", function()
  return clock.iso(verdict({ schedule = "every 6h", fields = { last_run = "2025-01-15T11:00:00Z" } }).next_due)
end, "2025-01-15T17:00:00Z")

-- The choice among goals { name = last run }, what it deferred, and the error.
local function choice(goals, forced, status)
  local verdicts = {}
  for name, last in pairs(goals) do
    verdicts[#verdicts + 1] = due.judge({ name = name, status = status or "ready", reason = status,
      schedule = schedule.parse "every 30m", fields = { last_run = last or nil } }, now)
  end
  local chosen, message = due.select(verdicts, forced)
  if not chosen then return message end
  return { chosen.selected and chosen.selected.name or none, table.unpack(chosen.deferred) }
end

cases.group("chosen, then deferred", function(given) return choice(given[1], given[2], given[3]) end, {
  { "115", { { b = "2025-01-15T10:00:00Z", a = "2025-01-15T06:00:00Z", c = "2025-01-15T11:00:00Z" } }, { "a", "b", "c" } },
  { "116", { { old = "2025-01-15T06:00:00Z", new = false } }, { "new", "old" } },
  { "117", { {} }, { none }, name = "nothing is due" },
  { "118", { { a = "2025-01-15T06:00:00Z", b = "2025-01-15T11:50:00Z" }, "b" }, { "b", "a" }, name = "one by name, not due" },
  { "119", { { a = false }, "missing" }, "--program: no program 'missing'; programs: a", name = "one by name, not there" },
  { "120", { { a = false }, "a", "unconfigured" }, "--program: a is unconfigured: unconfigured",
    name = "one by name, not filled in" },
})

-- ---- the scheduler as a program ----

-- A repository with these goals: { name = { rows of the state file, front matter } }.
local function repository(name, goals)
  local files = { ["value.txt"] = "1\n", ["next.lua"] = "return function() return {} end\n" }
  for goal, given in pairs(goals) do
    local rows = given.rows or {}
    files[(".autoloop/programs/%s.md"):format(goal)] = ("---\nschedule: every 6h\nmemory: folder\n%sprovider: "
      .. "{kind: lua, use: next.lua}\n---\n"):format(given.front or "") .. GOAL:gsub("cat value.txt", "echo METRIC score=1")
    if given.rows then
      local lines = { "# " .. goal, "", "## ⚙️ Machine State", "", "| Field | Value |", "|---|---|" }
      for row, value in pairs(rows) do lines[#lines + 1] = ("| %s | %s |"):format(row, value) end
      files[(".autoloop/memory/%s.md"):format(goal)] = table.concat(lines, "\n") .. "\n"
    end
  end
  return place.new(name, files)
end

-- The exit code of a tick at noon, and its autoloop.json.
local function tick(dir, more)
  local result = place.sh(dir, "APSIS_NOW=2025-01-15T12:00:00Z apsis tick " .. (more or ""))
  return result.code, place.json(dir .. "/.apsis/autoloop.json"), result
end

local OLD, FRESH = { ["Last Run"] = "2025-01-01T00:00:00Z" }, { ["Last Run"] = "2025-01-15T00:00:00Z" }

cases.one("128", "the older run wins and the other is deferred", function()
  local code, found = tick(repository("older", { old = { rows = OLD }, fresh = { rows = FRESH } }))
  return { code, found.selected, table.unpack(found.deferred) }
end, { 0, "old", "fresh" })

cases.one("128b", "a program that never ran beats one that has", function()
  return select(2, tick(repository("rookie", { veteran = { rows = FRESH }, rookie = {} }))).selected
end, "rookie")

local lonely = repository("lonely", { lonely = {} })
local _, first = tick(lonely)
cases.one("128c", "without a state file it is a first run", function() return first.selected end, "lonely")

cases.one("131c", "the branch is autoloop/NAME, and no pull request is known", function()
  return { first.head_branch, first.existing_pr or none }
end, { "autoloop/lonely", none })

cases.one("122", "the direction is handed on, higher if none is given", function()
  local found = select(2, tick(repository("lower", { low = { front = "metric_direction: lower\n" } })))
  return { found.selected_metric_direction, first.selected_metric_direction }
end, { "lower", "higher" })

cases.group("only one program, which is not to run: exit code and reason", function(given)
  local code, found = tick(repository(given[1], { [given[1]] = { rows = given[2] } }))
  return { code, found.skipped[1].name, found.skipped[1].reason }
end, {
  { "129", { "snoozer", { Paused = "true", ["Pause Reason"] = "manual" } }, { 0, "snoozer", "paused: manual" },
    peer = { 1, "snoozer", "paused: manual" }, name = "paused" },
  { "129b", { "graduated", { Completed = "true" } }, { 0, "graduated", "completed: no reason given" },
    peer = { 1, "graduated", "completed: no reason given" }, name = "completed" },
})

cases.one("130", "a paused program that is named runs", function()
  local code, found = tick(repository("forced", { snoozer = { rows = { Paused = "true", ["Pause Reason"] = "manual" } } }),
    "--program snoozer")
  return { code, found.selected }
end, { 0, "snoozer" })

cases.one("130b", "a program that is named runs before an older one", function()
  local code, found = tick(repository("named", { old = { rows = OLD }, fresh = { rows = FRESH } }), "--program fresh")
  return { code, found.selected, table.unpack(found.deferred) }
end, { 0, "fresh", "old" })

cases.one("130c", "a program that is named and not there is an error", function()
  local code, _, result = tick(repository("unknown", { real = {} }), "--program nonexistent")
  return { code ~= 0, result.err:match "no program 'nonexistent'" }
end, { true, "no program 'nonexistent'" })

cases.one("131", "without a folder of programs: exit code, chosen, not filled in, branch", function()
  local code, found = tick(place.new("nobody", { ["value.txt"] = "1\n" }))
  return { code, found.selected or none, found.head_branch or none, #found.unconfigured }
end, { 0, none, none, 0 }, { 0, none, none, 1 })

cases.one("131b", "only a program that is not filled in: exit code and the list", function()
  local code, found = tick(place.new("unfilled", { [".autoloop/programs/example.md"] = GOAL:gsub("\nx\n", "\nREPLACE THIS\n") }))
  return { code, found.selected or none, found.unconfigured }
end, { 0, none, { "example" } })

cases.done "autoloop"
