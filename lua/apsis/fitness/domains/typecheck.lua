-- typecheck: the domain that scores what a type checker finds, as lint does. Called by fitness/scoring.
local lint = require "apsis.fitness.domains.lint"

return { name = "typecheck", harness = lint.harness, report = lint.report }
