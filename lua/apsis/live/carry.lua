-- carry: a change to a candidate from before a standing goal's branch took in other people's work is carried over onto that work, as a
-- merge, and measured so: else what is kept would take the others' work back from the branch. Called by world.
local tips = require "apsis.live.tips"

local carry = {}

-- The tree and git parents of what is to be committed; nil, why where the two conflict.
function carry.over(world, tree, parents)
  local base = world.manifest.program_name and world.history.baseline
  if not base or parents[1] == base.commit or tips.descends(world.repo, parents[1], base.commit) then return tree, parents end
  local own = world:need(world.repo:commit { tree = tree, parents = { parents[1] }, message = "a change to be carried over\n" })
  local merged, message, code, files = world.repo:merge(base.commit, own)
  if merged then return merged, { parents[1], base.commit, table.unpack(parents, 2) } end
  if code ~= "ECONFLICT" then world:fail(world.repo:info().shallow and tips.CUT or message, 3) end
  return nil, ("it starts from before %s took in other work (%s), and conflicts with that in %s"):format(world.branch.short, base.id,
    table.concat(files, ", ", 1, math.min(#files, 5)))
end

return carry
