-- command: verifications run where three commands of the user send them: submit, status, cancel. So any scheduler can
-- be used: PBS, LSF, ssh, a queue that is a folder. docs/guide/cluster.md has examples. Called through
-- project/executors.
local nodes = require "apsis.project.node"
local queue = require "apsis.cluster.queue"

local command = { reaches = "ssh, PBS, LSF, Kubernetes, or whatever three commands reach" }

command.keys = {
  { "command", nodes.map("target command: how jobs are sent; each is text for sh, or a list, with names of jobs as "
    .. "arguments", {
    { "submit", nodes.node("command_line", "has $APSIS_JOB_RUN run on a node, as the job named $APSIS_JOB; "
      .. "$APSIS_JOB_DIR is its folder", { required = true }) },
    { "status", nodes.node("command_line", "prints a line NAME queued [QUEUE] or NAME running [NODE] for each job that "
      .. "is there, and succeeds", { required = true }) },
    { "cancel", nodes.node("command_line", "ends the jobs of these names, whether they are there or not",
      { required = true }) },
  }) },
}

function command.open(world, info)
  local evaluations, given, programs = require "apsis.cluster.evaluations", world.manifest.execution, {}
  for _, which in ipairs { "submit", "status", "cancel" } do
    local key = "execution.command." .. which
    programs[which] = { run = given.command[which], called = ("%s: %s"):format(world.manifest.where(key), key) }
  end
  return evaluations.open(world, info, queue.new { programs = programs, submit = given.command.submit,
    status = given.command.status, cancel = given.command.cancel, poll_sec = given.poll_sec, parse = queue.parse })
end

return command
