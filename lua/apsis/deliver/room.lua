-- room: what this room adds: the command to take the best with, where other commands end. Called through core/rooms.
local git = require "apsis.git"

local room = {}

-- nil if there is nothing to take, or the user's commit has it.
function room.take(history, dir, at)
  local best = history.best
  if not best or best.outcome == "baseline" then return nil end
  local repo <close> = git.open(dir)
  local head = repo and repo:commit_info "HEAD"
  if not head or head.tree == best.tree then return nil end
  return "apsis apply" .. at
end

return room
