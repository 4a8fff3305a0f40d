-- step: one experiment.
local common = require "apsis.cli.common"

local step = { summary = "run one experiment", example = "apsis step" }

function step.options(parser)
  common.project_argument(parser)
  common.run_options(parser)
end

function step.run(args)
  args.iterations, args.workers = 1, 1
  return common.experiments(args)
end

return step
