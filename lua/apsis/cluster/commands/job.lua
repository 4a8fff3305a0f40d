-- job: what a node runs: measures the job in a folder. Users do not call it; a scheduler does.
local fs = require "apsis.fs"

local job = { place = 300, summary = "measure a job's folder, on a node (see execution.target)",
  example = "apsis job /scratch/me/apsis/PROJECT/JOB" }

function job.options(parser)
  parser:argument("folder", "a job's folder, which the loop's machine has made")
end

function job.run(args)
  local node = require "apsis.cluster.node"
  local dir, message = fs.realpath(args.folder)
  if not dir then return 3, ("%s: %s"):format(node.name(), message) end
  if fs.stat(dir .. "/pilot.json") then return require("apsis.cluster.pilot").serve(dir) end
  local begun, why = node.begin(dir)
  if not begun then return 3, why end
  return node.measure(begun, dir)
end

return job
