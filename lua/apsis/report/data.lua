-- data: the data of a project's page: what run.lua makes of its journal, the facts that status shows, and what rooms
-- add. Called by the command.
local json = require "apsis.json"
local picture = require "apsis.report.picture"
local rooms = require "apsis.core.rooms"
local runs = require "apsis.report.run"
local standing = require "apsis.live.standing"
local trust = require "apsis.view.trust"

local data = {}

local SOME <const> = 500 -- lines

local function facts_of(self, dir)
  local facts, trusted = standing.facts(self), json.array()
  if self.history.count > 0 then
    for index, fact in ipairs(trust.of(trust.slow(self, dir), facts, self.history)) do
      trusted[index] = { label = fact[1], text = fact[2], doubt = fact[3] or nil }
    end
  end
  return { project = facts.project, description = self.manifest.project.description, status = facts.status,
    altered = facts.altered, reason = facts.reason ~= json.null and facts.reason or nil, trust = trusted,
    strategy = self.history.newest and self.history.newest.strategy, unit = self.manifest.metric.unit,
    several = self.manifest.metric.names ~= nil }
end

-- of(reader, dir, pause) -> the argument of page.run | nil, message, code. pause(), if given, is called after some
-- lines: a long journal takes seconds.
function data.of(self, dir, pause)
  local history = self.history
  local made, refused = runs.data(self.metric, history, function(visit, fields)
    if history.count == 0 then return true end
    return history:each(function(line, at, text)
      visit(line, at, text)
      if pause and at % SOME == 0 then pause() end
    end, fields)
  end, facts_of(self, dir))
  if not made then return nil, refused, 3 end
  for _, fact in rooms.each "report_fact" do
    made.more = made.more or json.array()
    made.more[#made.more + 1] = fact(self)
  end
  for _, figures in rooms.each "report_figures" do
    for _, figure in ipairs(figures(self)) do
      made.figures = made.figures or json.array()
      made.figures[#made.figures + 1] = figure
    end
  end
  made.picture = history.best and picture.of(self.home, self:run_dir(history.best):sub(#self.home + 2), history.best)
  return made
end

return data
