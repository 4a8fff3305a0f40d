-- typecheck: the domain that scores what a type checker finds, as lint does. Called by live/fitness.
local lint = require "apsis.live.fitness.lint"

return { name = "typecheck", harness = lint.harness, report = lint.report }
