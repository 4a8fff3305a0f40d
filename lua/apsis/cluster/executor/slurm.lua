-- slurm: verifications run as Slurm's batch jobs: executor/command with these three commands, and what squeue's states
-- mean. --no-requeue: a job that a dead node lost is submitted again under another name, so that what is left of it
-- cannot answer for it. sbatch has a small environment, and hands all of it on: with --export=NONE, Slurm would start a
-- login shell for each job, to have the user's profile. Called through project/executors.
local nodes = require "apsis.project.node"
local quoted = require("apsis.project.path").quoted
local queue = require "apsis.cluster.queue"

local slurm = {}

slurm.keys = {
  { "options", nodes.node("list", "target slurm: options of sbatch, as they are: [--partition=short, --mem=8G]",
    { items = "options", item = nodes.node("string", "an option of sbatch") }) },
  { "folder", nodes.node("string", "not local: a folder of yours that this machine and the nodes share") },
  { "queue_sec", nodes.node("number", "not local: how long a job may wait to be started, or for `folder` to be "
    .. "readable (default a day)", { above = 0 }) },
  { "requeue", nodes.node("integer", "not local: how often a job that was lost is sent again (default 2)",
    { min = 0, max = 100 }) },
  { "pilots", nodes.node("integer", "not local: how many long jobs measure all candidates, several at a time; for "
    .. "short evaluations (default: a job for each measurement)",
    { min = 1, max = 10000 }) },
  { "poll_sec", nodes.node("number", "not local: seconds between two questions to the scheduler, one for all jobs "
    .. "(default 3)", { min = 0.1 }) },
  { "usd_per_hour", nodes.node("number", "not local: what an hour of a job costs; counts in budget.usd", { min = 0 }) },
  { "program", nodes.node("string", "not local: the path of apsis on the nodes (default: this one's)") },
}

local SUBMIT <const> = [[exec sbatch --parsable --no-requeue --export=ALL --job-name="$APSIS_JOB" \
  --chdir="$APSIS_JOB_DIR" --output="$APSIS_JOB_DIR/output" %s --wrap="exec $APSIS_JOB_RUN"]]
local STATUS <const> = [[exec squeue --noheader --user="$(id -un)" --format='%T|%N|%P|%r|%j']]
-- By name, for a number may be another job's by now; several at a time, for each waits for the controller.
local CANCEL <const> = [[user=$(id -un)
printf '%s\n' "$@" | xargs -P 32 -I{} scancel --quiet --user="$user" --name={}]]

-- Of sbatch's own, only those that choose where a job runs and what it gets: SBATCH_WAIT or SBATCH_ARRAY_INX would
-- break it.
local VARIABLES <const> = { "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ",
  "LD_LIBRARY_PATH", "SLURM*", "MUNGE*", "KRB5*", "SBATCH_ACCOUNT", "SBATCH_BURST_BUFFER",
  "SBATCH_CLUSTER_CONSTRAINT", "SBATCH_CONSTRAINT", "SBATCH_CORE_SPEC", "SBATCH_CPU*", "SBATCH_EXCLUSIVE",
  "SBATCH_GPU*", "SBATCH_GRES*", "SBATCH_HINT", "SBATCH_MEM_*", "SBATCH_NETWORK", "SBATCH_PARTITION", "SBATCH_QOS",
  "SBATCH_REQ_SWITCH", "SBATCH_RESERVATION", "SBATCH_THREAD*", "SBATCH_TIMELIMIT", "SBATCH_WCKEY" }

-- Options of sbatch that would break what apsis does with a job, and why. A long one may be cut short, as for sbatch.
local refused <const> = {
  { "-J", "--job-name", "apsis names the job itself and finds it by that name" },
  { "-a", "--array", "a job is one measurement, and an array runs it several times" },
  { "--requeue", "apsis sends a lost job again itself (execution.requeue)" },
  { "-W", "--wait", "apsis waits for jobs itself, and submits others meanwhile" },
  { "-o", "--output", "-e", "--error", "apsis reads the job's output in the job's folder" },
  { "-D", "--chdir", "apsis runs the job in the job's folder" },
  { "--export", "apsis passes the variables that verification.pass_env names" },
  { "--wrap", "apsis says itself what the job runs" },
  { "--parsable", "apsis gives it itself" },
  { "-H", "--hold", "the job would wait until somebody releases it" },
  { "-M", "--clusters", "squeue would not show the job; run apsis where that cluster is the default" },
  { "--test-only", "-h", "--help", "--usage", "-V", "--version", "no job would be sent" },
}

local SHORTEST <const> = #"--a" -- of a long option that is cut short
local FLAGS <const>, OPTIONAL <const> = "hHOQsvVW", "IkK" -- short options without a value, or with one in the same word
local flags <const> = {} -- long ones that take no value from the next word
for name in ([[contiguous exclusive get-user-env ignore-pbs immediate nice no-kill no-requeue overcommit oversubscribe
  propagate quiet reboot share spread-job use-min-nodes verbose]]):gmatch "%S+" do flags["--" .. name] = true end

-- Why apsis does not take an option of this name; nil if it does.
local function refusal(name)
  for _, row in ipairs(refused) do
    for index = 1, #row - 1 do
      if row[index] == name or #name >= SHORTEST and row[index]:sub(1, #name) == name then
        return row[#row] .. ": remove it"
      end
    end
  end
end

-- The options of an entry, of which short ones may be joined ("-Qp"), and whether the next entry is its value.
local function names_of(option)
  local long = option:match "^%-%-[%w-]+"
  if long then return { long }, #long == #option and not flags[long] end
  local names = {}
  for letter in option:sub(2):gmatch "." do
    names[#names + 1] = "-" .. letter
    if not FLAGS:find(letter, 1, true) then
      return names, #option == #names + 1 and not OPTIONAL:find(letter, 1, true)
    end
  end
  return names, false
end

-- Why an option cannot be one of execution.options, with a remedy; nil if it can. before: the entry before it, or nil.
function slurm.problem(option, before)
  if option:sub(1, 1) ~= "-" or option == "-" or option == "--" then
    local takes = before and before:sub(1, 1) == "-" and select(2, names_of(before))
    if takes and option ~= "--" then return nil end
    return "no option takes it as its value, so sbatch would look for a script: remove it"
  end
  if option:find "^%-%-?[%w-]+%s" then
    return "an option and its value are two entries, or one with =, such as --partition=short"
  end
  for index, name in ipairs((names_of(option))) do
    local why = refusal(name)
    if why then return index > 1 and ("%s in it: %s"):format(name, why) or why end
  end
end

local running = { RUNNING = true, STAGE_OUT = true, SIGNALING = true, STOPPED = true,
  SUSPENDED = true }

local usual <const> = { [""] = true, ["(null)"] = true, None = true, Priority = true, Resources = true }

-- A line of squeue: state, node, partition, reason and name, which may be another tool's.
function slurm.parse(line)
  local state, node, partition, reason, name = line:match "^%s*([%u_]+)|([^|]*)|([^|]*)|([^|]*)|(.*)$"
  if not name then return nil end
  if state == "COMPLETING" then return name, "over" end -- with a node that does not answer, for hours
  if running[state] then return name, "running", node ~= "" and node or nil end
  if not usual[reason] then partition = ("%s (%s)"):format(partition, reason) end
  return name, "queued", partition ~= "" and partition or nil
end

-- The programs, as queue.new takes them.
local function programs_of(manifest)
  local list = {}
  for which, name in pairs { submit = "sbatch", status = "squeue", cancel = "scancel" } do
    list[which] = { run = name, called = name, absent = ("%s: execution.target: %s is not found in PATH: run apsis "
      .. "where Slurm's programs are, such as a login node"):format(manifest.where "execution.target", name) }
  end
  if manifest.states "execution.options" then
    list.submit.called = ("sbatch with %s: execution.options"):format(manifest.where "execution.options")
  end
  return list
end

function slurm.open(world, info)
  local options = {}
  for index, option in ipairs(world.manifest.execution.options or {}) do options[index] = quoted(option) end
  return require("apsis.cluster.evaluations").open(world, info, queue.new {
    programs = programs_of(world.manifest), submit = SUBMIT:format(table.concat(options, " ")), status = STATUS,
    cancel = CANCEL, poll_sec = world.manifest.execution.poll_sec, parse = slurm.parse, variables = VARIABLES })
end

return slurm
