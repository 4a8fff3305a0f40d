-- holdout: closes a project: measures the best and the baseline on the sealed holdout, once.
local clock = require "apsis.core.clock"
local common = require "apsis.cli.common"
local json = require "apsis.json"
local ledger = require "apsis.holdout.ledger"
local lock = require "apsis.live.lock"
local reader = require "apsis.live.reader"
local score = require "apsis.holdout.score"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local holdout = { place = 115, summary = "score the best on the sealed holdout, once, when the project is done",
  example = "apsis holdout" }

function holdout.options(parser)
  common.project_argument(parser)
  parser:flag("--force", "score it again; the record shows that")
  parser:flag("--json", "the scores as one JSON object")
end

-- Why it is not scored: message, code; nil if nothing is in the way.
local function refusal(self, args)
  local at = show.at(args.dir)
  if not self.manifest.holdout then
    return ("%s: holdout: there is none: add holdout: {command: RUN, files: [GLOBS]}"):format(
      self.manifest.where "holdout"), 2
  end
  if not self.history.baseline or not self.history.best then
    return ("there is nothing to score yet: run `apsis baseline%s` first"):format(at), 3
  end
  if not args.force and self.history.best == self.history.baseline then
    return ("the best is the baseline itself: there is no improvement to confirm yet, and the holdout is of use once. "
      .. "`apsis run%s` first; --force scores it all the same"):format(at), 3
  end
  local last = ledger.last(self.home)
  if last and not args.force then
    return ("the holdout was scored already, on %s: a second score is no longer of unseen data. `apsis status%s` shows "
      .. "it; --force scores it again, and the record shows that"):format(last.timestamp, at), 2
  end
end

-- The values of the best and the baseline: { best, baseline }; nil, message, code.
local function measured(self)
  local opened = self.session
  local ok, message, code = opened:open_world()
  if not ok then return nil, message, code end
  wait.trap()
  opened.world.history = self.history
  local world = score.open(opened.world)
  local values, records = {}, { baseline = self.history.baseline, best = self.history.best }
  for _, name in ipairs { "baseline", "best" } do
    local found, why, with = score.measure(world, records[name].commit)
    if wait.interrupts() > 0 then found, why, with = nil, "interrupted", 130 end
    if found and not found.value then
      found, why, with = nil, ("%s (%s) has no value on the holdout: %s"):format(records[name].id, name,
        found.reason), 5
    end
    if not found then
      opened:close()
      return nil, why, with
    end
    values[name] = found.value
  end
  opened:close()
  return values
end

local function close(self, args)
  local message, code = refusal(self, args) -- again: somebody may just have scored it
  if message then return code, message end
  local values
  values, message, code = measured(self)
  if not values then return code, message end
  local history, metric = self.history, self.manifest.metric
  local scoring = { timestamp = clock.iso(clock.time()), lines = history.count, metric = metric.name,
    direction = metric.direction, best = history.best.id, commit = history.best.commit,
    original = history.baseline.id, value = values.best,
    baseline = values.baseline, forced = ledger.last(self.home) ~= nil or nil }
  local ok
  ok, message = ledger.append(self.home, scoring)
  if not ok then return 3, message end
  if args.json then print(json.encode(scoring, { sorted = true })) else
    show.facts { { "holdout", ledger.text(scoring) } }
  end
  return 0
end

function holdout.run(args)
  local valid, message, code = session.configure(args.dir) -- a reader would go by HEAD's manifest
  if not valid then return code, message end
  local self
  self, message, code = reader.open(args.dir)
  if not self then return code, message end
  message, code = refusal(self, args)
  if message then return code, message end
  local held
  held, message, code = lock.take(self.home)
  if not held then return code, message end
  local exit, why = close(self, args)
  held:close()
  return exit, why
end

return holdout
