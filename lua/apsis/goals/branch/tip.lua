-- tip: the tip of a goal's branch: where candidates start, and whether apsis left it there. Read-only.
local sync = require "apsis.goals.branch.sync"

local tip = {}

-- The commit of the goal's branch; before it exists, of the branch that it follows. false, message, code if there is
-- neither.
function tip.start(repo, manifest)
  local own = repo:ref("refs/heads/" .. manifest.branch)
  if own then return own end
  local followed, message, code = sync.default_branch(repo, manifest.default_branch)
  if not followed then return false, message, code end
  return followed.commit
end

-- Whether the tip must be measured, because the branch is not as apsis left it (a merge, a move, somebody's commit, a
-- deletion) or the goal's metric or direction changed.
function tip.is_strange(world)
  local at, left = world.repo:ref(world.branch.ref), world.repo:ref(world.branch.mark)
  local best, base = world.history.best, world.history.newest_baseline
  local measured = base and base.value and base.metric
  if measured and (measured ~= world.manifest.metric.name or base.direction ~= world.history.given.direction) then
    return true
  end
  if not at then -- not created yet, perhaps after a crash
    return left ~= nil or best ~= nil and (world.history.newest ~= best or best.outcome ~= "baseline")
  end
  return not (best and (left == at or world.branch:holds(at, best.commit)))
end

return tip
