-- step: one experiment, without a run's final comparison, and what came of it; with --phase, a phase at a time.
local common = require "apsis.cli.common"
local json = require "apsis.json"
local providers = require "apsis.project.providers"
local show = require "apsis.cli.table"

local step = { place = 50, summary = "run one experiment", example = "apsis step --json --exit-code" }

function step.options(parser)
  common.project_argument(parser)
  common.run_options(parser)
  parser:flag("--phase", "stop after each phase, show what it did, and wait for Enter (q stops the experiment)")
  parser:flag("--exit-code", "exit with 1 if the experiment was not kept, or there was none")
end

local function or_null(value)
  if value == nil then return json.null end
  return value
end

-- Why a record has its outcome, in words; nil if nobody said.
local function reason_of(record)
  return record.rollback_reason or (record.notes or {}).kept_because
end

-- What the step's experiment came to, for --json.
local function facts_of(record, provider)
  return { experiment = record.experiment, candidate = or_null(record.id), outcome = record.outcome,
    status = or_null(record.status), value = or_null(record.value), delta = or_null(record.delta),
    reason = or_null(reason_of(record)), parents = json.array(record.parents or {}), commit = or_null(record.commit),
    tokens = providers.reported(provider, "tokens", record.tokens),
    cost = providers.reported(provider, "usd", record.cost), learned = or_null(record.learned) }
end

-- The same in a line for people.
local function text_of(session, record)
  local value = record.value and (": %s = %s"):format(session.engine.metric.name, show.number(record.value,
    session.manifest.metric.unit)) or ""
  local reason = reason_of(record)
  return ("%s %s%s%s"):format(record.id or "experiment " .. record.experiment, record.outcome, value,
    reason and ": " .. reason or "")
end

function step.run(args)
  if args.phase and (args.json or args.quiet) then
    return 2, ("--phase shows each phase: leave --%s out"):format(args.json and "json" or "quiet")
  end
  args.iterations, args.in_all, args.workers, args.compare_at_end = 1, true, 1, false
  local kept = false
  function args.account(session, result)
    local record = result.experiments > 0 and session.engine.history.newest or nil
    kept = record ~= nil and record.outcome == "kept"
    result.step = record and facts_of(record, session.manifest.provider) or json.null
    if record and not args.json then print(show.wrap(text_of(session, record), show.width(), "")) end
  end
  local code, message, why = common.experiments(args)
  if code == 0 and args.exit_code and not kept then return 1 end
  return code, message, why
end

return step
