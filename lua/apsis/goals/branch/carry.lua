-- carry: changes that start from a candidate older than a move of the goal's branch: methods of the live world. Work
-- that others put on the branch is merged into such a change before it is measured; otherwise a kept candidate would
-- undo their work. Descendants of commits that somebody took off the branch are barred.
local branch = require "apsis.live.branch"
local tips = require "apsis.goals.branch.tips"

local carry = {} -- methods of the world

-- The newest baseline if it is not the first: the branch was moved to it. nil: nobody moved the branch.
local function moved_to(world)
  local base = world.manifest.own_branch and world.history.baseline
  return base and base.experiment > 0 and base or nil
end

-- Why a proposal is barred: a parent descends from what was taken off the branch. nil: it is allowed.
function carry.bars(world, proposal)
  local base = moved_to(world)
  local left = base and type(base.context) == "table" and base.context.left
  if not left or branch.descends(world.repo, base.commit, left) then return nil end
  for _, id in ipairs(proposal.parents) do
    local parent = world:candidate(id)
    local shared = parent and world.repo:merge_base(parent.commit, left)
    if shared and not branch.descends(world.repo, base.commit, shared) then
      return ("%s contains commits that were taken off %s before %s was measured"):format(id, world.branch.short,
        base.id)
    end
  end
end

-- What a branch took in since a candidate was made: the followed branch's commit if only that was merged; else
-- everything on the branch, including the goal's own later candidates.
local function taken_in(world, parent, base)
  local history, newest = world.history, nil
  for index = (history:line_of(parent.experiment) or 0) + 1, history.count do
    local line = history:at(index)
    if line.outcome == "baseline" and line.commit then
      local info, left = world.repo:commit_info(line.commit), type(line.context) == "table" and line.context.left
      if not (info and info.parents[2] and left and info.parents[1] == left) then return base.commit end
      newest = info.parents[2]
    end
  end
  return newest or base.commit
end

-- The tree and git parents of the commit; nil and why if the two conflict.
function carry.carry_over(world, tree, parents, parent)
  local base = moved_to(world)
  if not base or parents[1] == base.commit or branch.descends(world.repo, parents[1], base.commit) then
    return tree, parents
  end
  local theirs = taken_in(world, parent, base)
  if branch.descends(world.repo, parents[1], theirs) then return tree, parents end
  local own = world:need(world.repo:commit { tree = tree, parents = { parents[1] },
    message = "a change to be carried over\n" })
  local merged, message, code, files = world.repo:merge(theirs, own)
  if merged then return merged, { parents[1], theirs, table.unpack(parents, 2) } end
  if code ~= "ECONFLICT" then world:fail(world.repo:info().shallow and tips.CUT or message, 3) end
  return nil, ("it starts from before %s took in other work (%s), and conflicts with it in %s"):format(
    world.branch.short, base.id, table.concat(files, ", ", 1, math.min(#files, 5)))
end

return carry
