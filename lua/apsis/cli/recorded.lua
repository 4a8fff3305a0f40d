-- recorded: a project opened to look at what its journal recorded, with a strategy, without effects. Called by the
-- commands replay and debug.
local common = require "apsis.cli.common"
local direction = require "apsis.direction"
local json = require "apsis.json"
local reader = require "apsis.live.reader"
local seal = require "apsis.live.seal"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"

local recorded = {}

-- A world without effects, for halt, plan and a candidate's methods. Reads the candidates' files from git.
local still = {}
still.__index = still
function still:directions(experiment) return self.live:recorded_directions(experiment, self.directions_seen) end
function still.log(_, level, text)
  if level == "info" then io.stderr:write(show.line(text, 1000), "\n") end -- run.log's
end
function still.now() return 0 end
for _, name in ipairs { "read", "sources", "diff", "artifacts" } do
  still[name] = function(self, ...) return self.live[name](self.live, ...) end
end

-- The engine of a session that folds its journal without effects.
function recorded.open_fold(self)
  self.engine = self:new_engine(setmetatable({ live = self.world }, still))
  return self.engine
end

-- The metric that the values after a baseline's line are of, if it is not the one before; given: the manifest's.
local function begun_metric(line, number, given, before)
  local toward = type(line.metric) == "string" and direction.parse(line.direction)
  if line.outcome ~= "baseline" or not line.primary_metric and number > 1 or not toward
    or line.metric == before.name and toward == before.direction then return nil end
  return line.metric == given.name and toward == given.direction and given
    or direction.new { name = line.metric, direction = toward }
end

-- Reads the journal. The metrics that the recorded values are of, each with the line of the baseline that begins it: {
-- from, metric }...; what somebody did to the lines beside apsis, or nil. What cannot be read is left to the fold.
local function look_through(self, given)
  local list, sealed, count = { { from = 1, metric = given } }, seal.open(self.home), 0
  local following, _, _, handle = self.journal:lines()
  local _ <close> = handle
  local whole = pcall(function()
    for text, number in following do
      if sealed.there then sealed:see(number, text) end
      count = number
      local line = text:find("baseline", 1, true) and json.decode(text) or {}
      local metric = begun_metric(line, number, given, list[#list].metric)
      if metric then list[number == 1 and 1 or #list + 1] = { from = number, metric = metric } end
    end
  end)
  return list, whole and sealed.there and sealed:problem(count) or nil
end

-- Decides by what the newest values were measured by, if the manifest has another metric now; notes what was altered.
local function take_recorded_metric(self)
  local given = direction.new(self.manifest.metric)
  local epochs, altered = look_through(self, given)
  self:note_altered(altered)
  local before, last = epochs[#epochs - 1], epochs[#epochs]
  local metric = last.metric
  if before then
    self:say(("logs/results.jsonl:%d: the metric is %s (%s) since this baseline and was %s (%s) before: earlier "
      .. "decisions are replayed with the new metric and may differ"):format(last.from, metric.name, metric.direction,
      before.metric.name, before.metric.direction))
  end
  if metric == given then return end
  reader.say_metric(self, given, metric)
  self.manifest.metric.name, self.manifest.metric.direction = metric.name, metric.direction
end

-- The project of args.dir with the strategy that args choose, and its journal; prepare: as of contract.load. session |
-- nil, message, exit code.
function recorded.open(args, prepare)
  local self, message, code = session.configure(args.dir)
  if not self then return nil, message, code end
  self.prepare = prepare
  local ok
  ok, message, code = common.choose_strategy(self, args)
  if ok then ok, message, code = session.steps(self, "load_strategy", "read_journal") end
  if not ok then return nil, message, code end
  take_recorded_metric(self)
  return self
end

return recorded
