-- step: one experiment, without a run's final comparison; with --phase, a phase at a time.
local common = require "apsis.cli.common"

local step = { place = 50, summary = "run one experiment", example = "apsis step --phase" }

function step.options(parser)
  common.project_argument(parser)
  common.run_options(parser)
  parser:flag("--phase", "stop after each phase, show what it did, and wait for Enter (q stops the experiment)")
end

function step.run(args)
  if args.phase and (args.json or args.quiet) then
    return 2, ("--phase shows each phase: leave --%s out"):format(args.json and "json" or "quiet")
  end
  args.iterations, args.in_all, args.workers, args.compare_at_end = 1, true, 1, false
  return common.experiments(args)
end

return step
