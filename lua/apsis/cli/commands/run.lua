-- run: experiments until the budget, the target or the strategy ends it.
local common = require "apsis.cli.common"
local rooms = require "apsis.core.rooms"

local run = { place = 40, summary = "run experiments until the budget, the target or the strategy ends it",
  example = "apsis run --iterations 50 --workers 2" }

function run.options(parser)
  common.project_argument(parser)
  parser:option("--iterations", "this many more experiments; those that were in flight go on and are not counted")
    :convert(math.tointeger):argname "N"
  parser:option("--minutes", "this many more minutes"):convert(tonumber):argname "M"
  parser:option("--workers", "experiments in flight at once"):convert(math.tointeger):argname "N"
  common.run_options(parser)
  rooms.call("options", "run", parser)
end

function run.run(args)
  for _, name in ipairs { "iterations", "workers" } do
    local count = args[name]
    if count and count < 1 then return 2, ("--%s: must be 1 or more, not %d"):format(name, count) end
  end
  if args.minutes and not (args.minutes > 0) then
    return 2, ("--minutes: must be above 0, not %g"):format(args.minutes)
  end
  return common.experiments(args)
end

return run
