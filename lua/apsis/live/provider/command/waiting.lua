-- waiting: an agent that has reached a limit is asked again when the limit ends, within the budget of minutes; without
-- a known end, after a pause that doubles. The run waits, so no experiment fails and none counts as failed.
local failure = require "apsis.live.provider.command.failure"
local wait = require "apsis.wait"

local waiting = {}

local MOST_S = 8 * 3600 -- of one answer's waiting, if the budget has no minutes

local Waiting = {}
Waiting.__index = Waiting

function waiting.new(provider, slot)
  return setmetatable({ world = provider.world, slot = slot, times = 0, waited = 0 }, Waiting)
end

local function time_text(at)
  return os.date(at - os.time() < 43200 and "%H:%M" or "%Y-%m-%d %H:%M", math.ceil(at))
end

-- What is left of the budget's minutes, in seconds; math.huge if it has none.
local function left_s(world)
  local budget = world.state and world.state.budget
  return budget and budget:left "minutes" * 60 or math.huge
end

-- Waits if a failure is a limit: true; false if it is none, or has lasted too long. Ends the run if the limit lasts
-- longer than the budget.
function Waiting:over(failed)
  if not failed.limit then return false end
  self.times = self.times + 1
  local seconds, world = failure.wait(failed, self.times), self.world
  local again = time_text(os.time() + seconds)
  if seconds > left_s(world) then
    world:fail(("stopping: %s; the next try at %s would be after the end of budget.minutes; `apsis run` then resumes")
      :format(failed.text, again), 4)
  end
  if self.waited + seconds > MOST_S then return false end
  world:log("warn", ("%s; waiting until %s"):format(failed.text, again))
  if world.display then world.display:phase(self.slot, "waits until " .. again) end
  wait.sleep(seconds)
  self.waited = self.waited + seconds
  if world.display then world.display:phase(self.slot) end
  return true
end

return waiting
