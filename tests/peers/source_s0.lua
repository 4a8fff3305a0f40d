-- source_s0: what autoloop's proposal of metric_direction states.
local cases = require "cases"
local clock = require "apsis.core.clock"
local due = require "apsis.goals.due"
local place = require "place"
local schedule = require "apsis.goals.schedule"
local statefile = require "apsis.goals.statefile.document"

cases.held {
  { "1", "metric_direction: lower in front matter", "peers/autoloop.lua", '{ "85",' },
  { "2", "higher where it is left out", "peers/autoloop.lua", '{ "84",' },
  { "3", "the proposal's own example, with its comments", "peers/autoloop.lua", '{ "seed0",' },
  { "4", "another word is rejected when the file is read", "lua/goals/programs.lua",
    "in front matter only higher and lower are directions; anything else is refused with file and line" },
  { "5", "LOWER", "peers/autoloop.lua", '{ "89",' },
  { "6", "metric-direction, and a value in quotes", "peers/autoloop.lua", '{ "88",' },
  { "7", "the scheduler hands selected_metric_direction on", "peers/autoloop.lua", 'cases.one("122"' },
  { "8", "whoever lists the goals has it", "cli/schedule.t", "with direction and target" },
  { "9", "higher: more is better", "peers/autoloop.lua", '{ "89h",' },
  { "10", "lower: less is better", "peers/autoloop.lua", '{ "90",' },
  { "11", "the same is not better", "peers/autoloop.lua", '{ "92",' },
  { "12", "a first value is better than none", "peers/autoloop.lua", '{ "93",' },
  { "13", "the best is set once the change is verified", "cli/goal_direction.t", "is \"best\" \"$(row 'Best Metric')\" 1.3" },
}

cases.one("14", "whose turn it is does not depend on the direction", function()
  local verdicts, now = {}, clock.parse "2025-01-15T12:00:00Z"
  for index, way in ipairs { "lower", "higher" } do
    verdicts[index] = due.judge({ name = way, status = "ready", schedule = schedule.parse "every 1h", direction = way,
      best = index, fields = { last_run = ("2025-01-15T0%d:00:00Z"):format(4 + index) } }, now)
  end
  return due.select(verdicts).selected.name
end, "lower")

cases.held {
  { "15", "history newest first, with status and metric", "lua/goals/memory.lua",
    "an experiment is an entry at the top, newest first, with the mark of the direction" },
  { "16", "the difference has the sign of the values, whichever way is better", "cli/goal_direction.t", "delta: -0.2, improved" },
  { "17", "an entry links its pull request", "lua/goals/memory.lua", "a pull request's link is in the entry where the row has one" },
  { "18", "an entry has the number of attempts to repair", "lua/goals/memory.lua", "**CI fix attempts**: 2" },
  { "19", "an entry has a summary in one line", "lua/goals/memory.lua",
    "an experiment is an entry at the top, newest first, with the mark of the direction" },
  { "20", "higher: best >= target completes", "cli/ticks.t", "higher with a target is completed by >=" },
  { "21", "lower: best <= target completes", "cli/tick.t", "lower is met by <=, and the reason says so" },
  { "22", "Completed is set to true", "cli/goal_direction.t", 'is "completed" "$(row Completed)" true' },
  { "23", "the label of the issue is changed", "cli/standing.t", "labels are swapped once, if completed" },
}

cases.one("24", "the state has a row Metric Direction", function()
  return statefile.new({ name = "p", branch = "b", goal = "g", metric = "m", direction = "lower" }):text()
    :match "\n| Metric Direction | (%a+) |"
end, "lower")

cases.held {
  { "25", "without the row higher is meant", "lua/goals/memory.lua",
    "a file of autoloop's is read as it is, and an absent Metric Direction means higher and is added on" },
}

cases.one("26", "the first iteration adds the row with the front matter's word", function()
  local dir = place.new("row", { ["value.txt"] = "3\n",
    ["next.lua"] = "return function() return { ['value.txt'] = '2\\n' } end\n",
    [".autoloop/memory/p.md"] = "# p\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n| Iteration Count | 0 |\n",
    [".autoloop/programs/p.md"] = "---\nmetric_direction: lower\nmemory: folder\nprovider: {kind: lua, use: next.lua}\n---\n"
      .. "## Goal\n\nLess.\n\n## Target\n\n- `value.txt`\n\n## Evaluation\n\n```\necho METRIC loss=$(cat value.txt)\n```\n\n"
      .. "The metric is `loss`.\n" })
  place.sh(dir, "apsis tick --quiet")
  return place.sh(dir, "cat .autoloop/memory/p.md").out:match "\n| Metric Direction | (%a+) |"
end, "lower")

cases.held {
  { "27", "the proposal's four tests", "cli/goal_direction.t", '"1.5 to 1.3 lower improves"' },
  { "28", "state files of before are read as they are", "lua/goals/memory.lua", "a file of autoloop's is read as it is" },
  { "29", "a comment on an iteration has the difference", "cli/standing.t", "and what that was worth", differs = true },
  { "30", "a program whose text alone says lower works as before", "lua/goals/programs.lua",
    "what the prose says must not contradict the front matter, and alone it counts", differs = true },
  { "31", "what only reads agrees with the direction of the values", "cli/bad_outcomes.t",
    "another direction, or another metric, in the manifest after a run: what was measured is shown as it" },
}

cases.done "S0"
