-- step: one experiment, without a run's final comparison.
local common = require "apsis.cli.common"

local step = { place = 50, summary = "run one experiment", example = "apsis step" }

function step.options(parser)
  common.project_argument(parser)
  common.run_options(parser)
end

function step.run(args)
  args.iterations, args.workers, args.compare_at_end = 1, 1, false
  return common.experiments(args)
end

return step
