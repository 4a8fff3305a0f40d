-- typecheck: the domain that scores the findings of a type checker, as lint does. Called by fitness/scoring.
local lint = require "apsis.fitness.domains.lint"

return { name = "typecheck", harness = lint.harness, report = lint.report }
