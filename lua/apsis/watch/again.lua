-- again: measures a candidate once more beside the screen: `apsis eval --candidate`, in a process of its own. What it
-- printed is shown in the last row; the journal has no line of it. Called by app.
local host = require "apsis.host"
local process = require "apsis.process"

local again = {}

-- Begins to measure the candidate on the screen.
function again.begin(app)
  local record = app:front().record
  if not record or not record.commit then return app:say "open a candidate that has a commit (2, then Enter)" end
  if app.measuring then return app:say(app.measuring.id .. " is being measured; one at a time") end
  local handle, message = process.start { argv = { host.executable, "eval", "--candidate", record.id, app.view.dir } }
  if not handle then return app:say(message) end
  app.measuring = { handle = handle, id = record.id }
  app:say(("measuring %s once more; what it gives is not recorded"):format(record.id))
end

-- Shows what came of it, if it has ended.
function again.finish(app)
  local one = app.measuring
  local result, message = one.handle:result()
  if not result and not message then return end
  local said = result and (result.stdout.head .. result.stderr.head):match "[^\n]+" or message
  one.handle:close()
  app.measuring, app.stale = nil, true
  app:say(("%s measured once more: %s"):format(one.id, said or "it printed nothing"))
end

return again
