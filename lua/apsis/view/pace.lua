-- pace: how fast a run goes, and how long its budget may still take.

local pace = {}

-- of(done, seconds, left) -> experiments per second, and the seconds left; each nil if unknown. done: experiments of
-- the run; seconds: it took for them; left: { iterations, minutes } of the budget, math.huge or nil without a limit,
-- with those in flight, which are still to be done.
function pace.of(done, seconds, left)
  local rate = done > 0 and seconds > 0 and done / seconds or nil
  local rest = math.min((left.minutes or math.huge) * 60, rate and (left.iterations or math.huge) / rate or math.huge)
  return rate, rest < math.huge and rest or nil
end

return pace
