-- streak: how many candidates in a row were not kept, and which overrides a streak of them has had: each is due once.
-- A fold over lines. For strategies.
local streak = {}

local none = {}

-- Outcomes that say nothing about the candidates.
local no_fault = { skipped_provider_failure = true, skipped_executor_failure = true, skipped_strategy_error = true,
  measured = true, asked = true }

function streak.new()
  return { length = 0, since = 0, overridden = {} }
end

-- Counts a line; its notes.override is { at, since } of the override that made it.
function streak.count(self, line)
  local override = (line.notes or none).override
  if line.kept then
    self.length, self.since, self.overridden = 0, line.experiment, {}
  elseif not no_fault[line.outcome] then
    self.length = self.length + 1
  end
  if override and override.since == self.since then self.overridden[override.at] = true end
end

-- The override that is due: at `first` rejections, then at `every` and its multiples; nil if this streak has had it, or
-- one of the pending proposals is it.
function streak.due(self, pending, first, every)
  local length = self.length
  local at = length >= every and length // every * every or length >= first and first
  if not at or self.overridden[at] then return nil end
  for _, proposal in ipairs(pending) do
    local override = (proposal.notes or none).override
    if override and override.since == self.since and override.at == at then return nil end
  end
  return at
end

return streak
