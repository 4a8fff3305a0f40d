-- workers: items measured side by side, so many at a time, in the order given. Called by the domains; it waits only in
-- a task of the scheduler, elsewhere one item follows another.
local tasks = require "apsis.core.tasks"

local workers = {}

-- Calls body(item, index) for every item, at most `most` at a time. A body that returns nil and a message ends it: no
-- other item is begun. true | nil, message. What a body raises is raised here.
function workers.each(list, most, body)
  local next_index, failure, raised = 0, nil, nil
  local function work()
    while not failure and not raised and next_index < #list do
      next_index = next_index + 1
      local index = next_index
      local called, ok, message = pcall(body, list[index], index)
      if not called then raised = raised or { ok }
      elseif not ok then failure = failure or message or "it failed" end
    end
  end
  local bodies = {}
  for index = 1, math.max(1, math.min(most, #list)) do bodies[index] = work end
  tasks.together(bodies)
  if raised then error(raised[1], 0) end
  if failure then return nil, failure end
  return true
end

return workers
