-- status: prints the state of the loop. Writes nothing, so it works at any time.
local common = require "apsis.cli.common"
local json = require "apsis.json"
local near_miss = require "apsis.live.near_miss"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local session = require "apsis.live.session"
local standing = require "apsis.live.standing"
local show = require "apsis.cli.table"
local words = require "apsis.cli.words"

local status = { place = 70, summary = "the state of the loop", example = "apsis status --json" }

function status.options(parser)
  common.project_argument(parser)
  parser:flag("--json",
    "the same as JSON; best is {candidate, value, commit} or null, goal is a standing goal's {state, ...} or null")
end

local function print_text(self, facts, at)
  local near, dirty, unit = facts.near_misses, facts.dirty, self.manifest.metric.unit
  local rows = {
    { "project", ("%s (%s, %s)"):format(facts.project, facts.metric, self.metric:words()) },
    { "loop", words.loop(facts, at) },
    { "in flight", words.flight(facts.in_flight, facts.running) }, { "experiments", facts.experiments },
    { "outcomes", words.outcomes(facts.outcomes) },
    { "baseline", words.candidate(facts.baseline, unit) },
    { "best", words.best(self, facts) },
    { "altered", facts.altered ~= json.null and facts.altered:match "^[^;]*" or nil },
    { "gained", facts.gain ~= json.null and show.gain(facts.gain, facts.best.candidate) or nil },
    { "since kept", facts.experiments > 0 and words.experiments(facts.since_kept) or nil },
    { "budget", words.budget(facts.budget, facts.run) },
    { "tokens", words.taken(facts, facts.tokens, "%.0f") }, { "cost", words.taken(facts, facts.cost, "%.4g USD") },
    { "near misses", near ~= json.null and ("experiment %s, %s"):format(near.experiment, near_miss.at(near, show.line))
      or nil },
    { "branch", facts.branch_left ~= json.null and ("%s does not have the best: %s"):format(facts.branch,
      show.line(facts.branch_left, 200)) or nil },
    { "uncommitted", dirty ~= json.null and ("%d, for instance %s; not in any candidate"):format(dirty.count,
      show.line(dirty.first)) or nil },
    { "paused", facts.paused and not facts.running and ("yes; `apsis resume%s` goes on"):format(at) or nil },
    { "note", self.remark },
  }
  local following = "apsis baseline" .. at
  for _, change in rooms.each "status_rows" do following = change(self, facts, rows) or following end
  show.facts(rows)
  local take = not facts.running and rooms.first("take", self.history, self.dir, at ~= "" and " -C" .. at or "")
  local saved = session.saved(self.home)
  if saved then print(saved) elseif facts.baseline == json.null then print("next: " .. following) elseif take then
    print(show.take(self.manifest, take))
  end
end

function status.run(args)
  local self, message, code = reader.open(args.dir)
  if not self then return code, message end
  local facts = standing.facts(self)
  if args.json then print(json.encode(facts)) else print_text(self, facts, show.at(args.dir)) end
  return 0
end

return status
