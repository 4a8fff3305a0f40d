-- judging: the part of the schema that says how candidates are judged: acceptance under noise, guards, best of K. Called by schema.
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local judging = {}

-- Without a number of one's own, what the preset says (apsis.acceptance has the table, with its source).
judging.acceptance = map("a candidate that looks better is measured again, blindly, before it is kept; absent: one measurement decides", {
  { "confidence", node("number", "1 - the chance that a run of candidates without any effect keeps one", { min = 0.5, max = 0.9999,
    default = 0.95 }) },
  { "preset", node("enum", "default finds 2 sd cheaply, sensitive 1 sd at three times the measurements", {
    allowed = { "default", "sensitive" }, default = "default" }) },
  { "baseline", node("integer", "measurements of the baseline, from which the noise is known (default 20)", { min = 5 }) },
  { "max_repeats", node("integer", "most measurements of a candidate in a confirmation", { min = 8, max = 10000 }) },
  { "reject", node("number", "the screen rejects at minus this evidence", { above = 0 }) },
  { "memory", node("integer", "over how many measurements the best's level is averaged", { min = 2 }) },
  { "refresh", node("integer", "after so many measurements of candidates the best is measured once", { min = 1 }) },
  { "n_screen", node("integer", "most measurements of a candidate in the screen", { min = 1 }) },
  { "futility", node("number", "the confirmation gives up below this capital", { above = 0, max = 0.99 }) },
  { "final", node("integer", "pairs of measurements, best against original, from which the gain is estimated at the end of a run; 0: none "
    .. "(default 20)", { min = 0 }) },
}, { short = "preset" })

return judging
