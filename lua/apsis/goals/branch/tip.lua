-- tip: the tip of a standing goal's branch: what candidates start from, and whether the tip is what apsis left there.
-- Only looks.
local sync = require "apsis.goals.branch.sync"

local tip = {}

-- The commit of the goal's branch; while there is none, of the branch that it follows. false, message, code if there is
-- neither.
function tip.start(repo, manifest)
  local own = repo:ref("refs/heads/" .. manifest.branch)
  if own then return own end
  local followed, message, code = sync.default_branch(repo, manifest.default_branch)
  if not followed then return false, message, code end
  return followed.commit
end

-- Whether the branch of a world is not as apsis left it, so that its tip is to be measured: after a merge, a move or
-- somebody's commit, or if somebody deleted it; and if the goal has another metric or direction now.
function tip.is_strange(world)
  local at, left = world.repo:ref(world.branch.ref), world.repo:ref(world.branch.mark)
  local best, base = world.history.best, world.history.newest_baseline
  local measured = base and base.value and base.metric -- in another way, before the goal was changed
  if measured and (measured ~= world.manifest.metric.name or base.direction ~= world.history.metric.direction) then return true end
  if not at then -- not made yet, perhaps because of a crash
    return left ~= nil or best ~= nil and (world.history.newest ~= best or best.outcome ~= "baseline")
  end
  return not (best and (left == at or world.branch:holds(at, best.commit)))
end

return tip
