-- source_s2: what HyperAgents' framework of fitness domains states.
local cases = require "cases"
local fitness = require "apsis.fitness"

local none = "none" -- nil, in a table

local function rounded(value) return value and tonumber(("%.4f"):format(value)) or none end

cases.held {
  { "70", "a harness gets tasks, agent, output, samples and workers", "cli/fitness.t",
    "harness and report may be commands, which are told what to do by their environment" },
  { "71", "predictions.csv of question and prediction", "cli/fitness.t", "a harness that is a command, before a domain's own report" },
  { "72", "a report makes report.json with a score", "cli/fitness.t", '"its score, named for it"' },
  { "73", "the name of the score in a registered domain's report can be chosen", "lua/fitness/hyperagents.lua",
    "a registered domain: its scripts get the plugin's own arguments, its score key is known" },
}

cases.group("tests: passed, all", function(given) return rounded((fitness.tests(given[1], given[2]))) end, {
  { "74", { 90, 100 }, 0.9 },
})
cases.group("lint: findings, those of the baseline", function(given) return rounded((fitness.reduction(given[1], given[2], "lint"))) end, {
  { "76", { 3, 20 }, 0.85 }, { "77", { 30, 20 }, 0, peer = -0.5 },
})
cases.group("typecheck: errors, those of the baseline", function(given)
  return rounded((fitness.reduction(given[1], given[2], "typecheck")))
end, { { "78", { 5, 10 }, 0.5 } })
cases.group("benchmark: value, the baseline's, which way is better", function(given)
  return rounded((fitness.benchmark(given[1], given[2], given[3])))
end, { { "79", { 4, 3, "higher" }, 1.3333 } })
cases.group("the weighted sum of scores", function(given) return rounded((fitness.composite(given))) end, {
  { "82", { { score = 0.9, weight = 0.5 }, { score = 0.85, weight = 0.2 }, { score = 0.78, weight = 0.3 } }, 0.854 },
  { "90", { { score = 1.5, weight = 0.5 }, { score = 0.5, weight = 0.5 } }, 1, peer = none, name = "of one above 1" },
})
cases.group("how many items are tried first", fitness.staged_size, { { "84", 120, 12 }, { "84b", 99, 10 }, { "84c", 4, 4 } })
cases.group("whether all are measured after them", function(score) return fitness.staged_gate(tonumber(score)) end, {
  { "86", 0.01, "full" }, { "86b", 0, "stop" }, { "86c", none, "stop" },
})
cases.group("the mean over domains", function(list) return rounded(fitness.aggregate(list)) end, {
  { "88", { 0.7, 0.8, 0.9 }, 0.8 }, { "89", { 0.7, nil, 0.9, n = 3 }, none, name = "of which one has no score" },
})
cases.group("a raw value as a score", function(given) return rounded((fitness.normalize(given))) end, {
  { "91", { kind = "game", value = 73 }, 0.73 }, { "92", { kind = "baseline", value = 80, baseline = 100, direction = "higher" }, 0.8 },
  { "93", { kind = "error", value = 3, baseline = 12 }, 0.75 },
})

cases.held {
  { "75", "Jest's JSON, as the framework's own example has it, is read", "cli/runners.t",
    "the HyperAgents plugin's example, npm test -- --json, is measured as it is" },
  { "80", "review: correctness, quality, safety, improvement, weighted", "cli/review.t",
    "a verdict makes a score: the weighted rubric" },
  { "81", "review: better than the parent, in the loop as it is by default", "cli/review.t",
    "against is the baseline by default with a strategy that climbs, or a change as good as its parent's would be reverted" },
  { "83", "the framework's configuration of a composite as it is", "lua/fitness/hyperagents.lua",
    "test_command: is required for the domain tests", differs = true },
  { "85", "a first stage of score 0, or none, ends it", "cli/fitness.t",
    "staged: zero of the first items" },
  { "87", "the full stage measures all, and its score counts", "cli/fitness.t", "the other went on, and no item was measured twice" },
  { "94", "a candidate that was stopped has its score times its share of the items", "cli/fitness.t",
    "staged: who is tried on the first items only has their score as that of all, with 0 for the rest, and counts so" },
  { "95", "scenario: a composite is measured and its best found", "cli/composite.t", "and the best is the best of all components" },
  { "96", "scenario: a score above 1 is told, with a scale", "lua/fitness/fitness.lua",
    "a score from 0 to 1 needs no warning; another names a power of ten that holds it" },
  { "97", "... and where to write it", "cli/fitness.t", '"which line, where"' },
  { "98", "scenario: the items that regressed are named", "cli/against.t", "what regressed is named, with both values" },
  { "99", "... with the hunk that did it", "cli/against.t", "--bisect measures without each hunk and says which one to revert" },
  { "100", "... or the candidate to go back to", "cli/against.t", "of two from one parent, the better one is the one to go on from" },
  { "101", "the formulas that select a parent", "cases.t", "selection" },
  { "102", "the archive holds whatever has a score", "lua/fitness/hyperagents.lua", "every candidate with a score is kept" },
  { "103", "a configuration's generations, budget and selection", "lua/fitness/hyperagents.lua",
    "a composite: domains, weights, commands, selection and budget are taken" },
}

cases.done "S2"
