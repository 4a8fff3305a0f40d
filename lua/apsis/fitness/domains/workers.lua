-- workers: measures items in parallel, up to a limit, in the order given.
local tasks = require "apsis.core.tasks"

local workers = {}

-- Calls body(item, index) for every item, at most `most` at a time. After a body returns nil and a message, no other
-- item begins. true | nil, message. Raises what a body raises.
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
