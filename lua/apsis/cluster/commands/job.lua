-- job: what a node runs: measures the job in a folder. Users do not call it; a scheduler does.
local job = { place = 300, summary = "measure a job's folder, on a node (see execution.target)",
  example = "apsis job /scratch/me/apsis/PROJECT/JOB" }

function job.options(parser)
  parser:argument("folder", "a job's folder, which the loop's machine has made")
end

function job.run(args) return require("apsis.cluster.node").run(args.folder) end

return job
