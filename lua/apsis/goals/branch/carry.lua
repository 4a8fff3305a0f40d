-- carry: changes to candidates from before somebody moved a standing goal's branch: methods of the live world. What
-- others merged or committed there is taken into such a change, as a merge that is measured so; otherwise a kept
-- candidate would take their work back. What somebody took off the branch is not brought back by its descendants: those
-- are barred.
local branch = require "apsis.live.branch"
local tips = require "apsis.goals.branch.tips"

local carry = {} -- methods of the world

-- The newest baseline where it is not the first: what a goal's branch has become. nil: nobody moved it.
local function moved_to(world)
  local base = world.manifest.own_branch and world.history.baseline
  return base and base.experiment > 0 and base or nil
end

-- Why a proposal may not be carried out: a parent of it has in its history what was taken off the branch. nil: it may.
function carry.bars(world, proposal)
  local base = moved_to(world)
  local left = base and type(base.context) == "table" and base.context.left
  if not left or branch.descends(world.repo, base.commit, left) then return nil end
  for _, id in ipairs(proposal.parents) do
    local parent = world:candidate(id)
    local shared = parent and world.repo:merge_base(parent.commit, left)
    if shared and not branch.descends(world.repo, base.commit, shared) then
      return ("%s has in it what was taken off %s before %s was measured"):format(id, world.branch.short, base.id)
    end
  end
end

-- What a branch took in since a candidate was made: the followed branch's commit, where nothing but that was merged in;
-- else all that it has become, the goal's own later candidates too.
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

-- The tree and git parents of what is to be committed; nil and why if the two conflict.
function carry.carry_over(world, tree, parents, parent)
  local base = moved_to(world)
  if not base or parents[1] == base.commit or branch.descends(world.repo, parents[1], base.commit) then return tree, parents end
  local theirs = taken_in(world, parent, base)
  if branch.descends(world.repo, parents[1], theirs) then return tree, parents end
  local own = world:need(world.repo:commit { tree = tree, parents = { parents[1] }, message = "a change to be carried over\n" })
  local merged, message, code, files = world.repo:merge(theirs, own)
  if merged then return merged, { parents[1], theirs, table.unpack(parents, 2) } end
  if code ~= "ECONFLICT" then world:fail(world.repo:info().shallow and tips.CUT or message, 3) end
  return nil, ("it starts from before %s took in other work (%s), and conflicts with that in %s"):format(world.branch.short, base.id,
    table.concat(files, ", ", 1, math.min(#files, 5)))
end

return carry
