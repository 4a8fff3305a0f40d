-- source_s3: what the scorer of trajectories states.
local cases = require "cases"
local place = require "place"
local trajectory = require "apsis.trajectory"

local function rounded(value) return tonumber(("%.6f"):format(value)) end

cases.held {
  { "104", "K candidates are sampled", "cli/trajectory.t", "an agent answers K times side by side" },
  { "105", "those of another intent than the majority are dropped", "cli/trajectory.t",
    "what two of three set out to do is done, whatever the third says of itself" },
}
cases.group("the sum of the logarithms of confidence", function(list) return rounded(trajectory.vc(list)) end, {
  { "106", { 90, 90, 90 }, -0.316082 }, { "108", { 0 }, -4.60517, peer = -math.huge, name = "of 0" },
})
-- The place of the winner.
cases.group("which is taken", function(pool) return (trajectory.select(pool)) end, {
  { "107", { { confidences = { 99, 99, 40 }, tokens = 300 }, { confidences = { 90, 90, 90 }, tokens = 300 } }, 2,
    name = "one unsure step of three loses" },
  { "110", { { confidences = { 90 }, tokens = 500 }, { confidences = { 50 }, tokens = 100 } }, 1,
    name = "the confidence times the length nearest to 0" },
  { "111", { { confidences = { 100 }, tokens = 50 }, { confidences = { 100 }, tokens = 10 } }, 2, name = "of the certain the shorter" },
  { "112", { { tokens = 100 }, { confidences = { 95 }, tokens = 90 } }, 2, name = "where a confidence is missing the shorter" },
  { "126", { { confidences = { 80 }, tokens = 0 }, { confidences = { 10 }, tokens = 100 } }, 2, name = "never the empty one" },
})
cases.group("how many the budget covers: k, cost, left", function(given)
  return trajectory.budget { k = given[1], cost = given[2], remaining = given[3], margin = 0.2 }
end, { { "119", { 3, 2, 10 }, 3 }, { "119b", { 5, 2, 10 }, 1 }, { "119c", { 1, 2, 1 }, 0 } })
cases.group("how many by complexity", function(word) return trajectory.gate { complexity = word, k = 3 } end, {
  { "115", "complex", 3 }, { "115b", "epic", 3 }, { "125", "simple", 1 }, { "125b", "medium", 1 },
})
cases.held {
  { "109", "the length is that of the answer's tokens", "lua/trajectory.lua", "a length is what the provider counted for the answer" },
  { "113", "off by default", "lua/trajectory.lua", "best of K is off where the manifest does not say otherwise" },
  { "114", "two candidates by default", "lua/trajectory.lua", "the manifest's defaults are the library's" },
  { "116", "somebody states the complexity", "lua/trajectory.lua",
    "that nobody says how complex proposals are is told, once", differs = true },
  { "117", "the prompt asks for the confidence", "lua/trajectory.lua",
    "the prompt asks for confidences where several answers are asked for, and only there" },
  { "118", "K at once", "cli/trajectory.t", 'is "together"' },
  { "120", "the guard where the cost is not known", "lua/trajectory.lua",
    "where nobody can tell what an answer takes one is asked for first, if the budget is limited" },
  { "121", "two or three to begin with", "cli/trajectory.t", "ON='{enabled: true, k_candidates: 3, complexity: complex}'" },
  { "122", "intents are compared, not texts", "lua/trajectory.lua", "an intent is what becomes of the files: not the words" },
  { "123", "without confidence by length", "cli/trajectory.t", "where one states no confidence the shortest is measured" },
  { "124", "more candidates when a run stagnates", "lua/trajectory.lua", "raise_after: without a new best for so long" },
}

cases.one("120b", "setup names a cap that a command cannot reach", function()
  local dir = place.new("cap", { ["a.txt"] = "1\n", ["manifest.yaml"] = "version: 1\nfiles: [{path: a.txt, mode: writable}]\n"
    .. "verification: {commands: [{name: m, run: cat a.txt}]}\nmetric: {name: score}\nbudget: {tokens: 10}\n"
    .. "provider: {kind: command, run: [cat]}\n" })
  return place.sh(dir, "apsis setup").out:match "the provider reports no tokens, so budget.tokens does not end the run" ~= nil
end, true)

cases.done "S3"
