-- checkout: the user's branch and files: whether apsis may change them now, and the change itself. Every object is
-- written before; then files and index, then the branch by compare-and-swap. So a kill leaves the old state, the new
-- one, or uncommitted changes that `git status` shows. Called by the command apply.
local fs = require "apsis.fs"
local quoted = require("apsis.project.path").quoted
local repository = require "apsis.live.repository"
local show = require "apsis.cli.table"

local checkout = {}

local Checkout = {}
Checkout.__index = Checkout

-- What git has begun and not ended, by the file that it keeps meanwhile.
local unfinished = {
  { "rebase-merge", "a rebase", "git rebase --continue, or git rebase --abort" },
  { "rebase-apply", "a rebase or git am", "git rebase --continue or --abort, or git am --continue or --abort" },
  { "MERGE_HEAD", "a merge", "git commit, or git merge --abort" },
  { "CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue, or --abort" },
  { "REVERT_HEAD", "a revert", "git revert --continue, or --abort" },
  { "BISECT_LOG", "a bisection", "git bisect reset" },
}

-- The user's branch as it is. It | nil, message, 3. The caller closes it.
function checkout.open(reader)
  local repo, info, code = repository.open(reader.manifest)
  if not repo then return nil, info, code end
  local self = setmetatable({ repo = repo, root = info.workdir, gitdir = info.gitdir, branch = info.branch,
    head = info.head }, Checkout)
  local why
  for _, one in ipairs(unfinished) do
    if not why and fs.stat(info.gitdir .. "/" .. one[1]) then
      why = ("%s is not finished in %s: %s"):format(one[2], info.workdir, one[3])
    end
  end
  if not why and not info.branch then
    why = "HEAD is detached, so there is no branch to apply to: `git switch NAME`, or `git switch -c NAME` for a new "
      .. "one"
  elseif not why and (info.branch == reader.branch
    or reader.manifest.branch_by_id and info.branch:sub(1, #reader.branch + 1) == reader.branch .. "/") then
    why = ("%s is the run's own branch, which apsis moves: `git switch` to yours first"):format(info.branch)
  end
  local now = not why and repo:commit_info(info.head)
  if now then
    self.tree = now.tree
    return self
  end
  repo:close()
  return nil, why or "HEAD's commit cannot be read: git fsck", 3
end

function Checkout:close() self.repo:close() end
Checkout.__close = Checkout.close

local MOST_NAMED = 10

-- "a, b and 3 more" of paths.
function checkout.names(paths, count)
  local names = {}
  table.sort(paths)
  for index = 1, math.min(#paths, MOST_NAMED) do names[index] = show.line(paths[index], 200) end
  local left = (count or #paths) - #names
  return table.concat(names, ", ") .. (left > 0 and (" and %d more"):format(left) or "")
end

local function locked(self)
  return ("another git works in %s; if none does, one was killed: rm %s/index.lock"):format(self.root, self.gitdir)
end

local ENCODED <const> = "apsis cannot compare a file that has a working-tree-encoding (.gitattributes): if `git "
  .. "status` shows no change, by hand: git merge --squash %s"

-- Of paths in the way, why git does not show that they differ, and the remedy; nil if it does not track them. commit:
-- what git can merge by hand.
local function unseen(self, paths, commit)
  local absent, marked, sparse = {}, {}, fs.stat(self.gitdir .. "/info/sparse-checkout")
  for _, path in ipairs(paths) do
    local list = sparse and not fs.stat(self.root .. "/" .. path, { follow = false }) and absent or marked
    if self.repo:is_tracked(path) then list[#list + 1] = path end
  end
  if #absent > 0 then
    return ("your sparse checkout leaves out %s, which the candidate changes: git sparse-checkout disable, or by "
      .. "hand: git merge --squash %s"):format(checkout.names(absent), commit)
  end
  if #marked == 0 then return nil end
  local names, words = checkout.names(marked), {}
  for index, path in ipairs(marked) do words[index] = quoted(path) end
  local git = "git -C " .. quoted(self.root) .. " update-index --no-"
  local all = table.concat(words, " ")
  return ("%s: the candidate changes what you changed, and git does not show that (skip-worktree or assume-unchanged): "
    .. "%sskip-worktree %s && %sassume-unchanged %s, then commit the change, or put it away: git stash")
    :format(names, git, all, git, all)
end

-- Whether files and index may become `tree`: they are as HEAD has them, nothing is in the way, and git would write them
-- without a filter program. commit: what git can merge by hand. true | nil, message, 3.
function Checkout:may_become(tree, commit)
  local paths, count, encoded = self.repo:dirty()
  if not paths then return nil, count, 3 end
  if count > 0 then
    return nil, ("%d uncommitted change%s: %s; %s"):format(count, count == 1 and "" or "s",
      checkout.names(paths, count), encoded and ENCODED:format(commit) or "commit them, or put them away: git stash"), 3
  end
  local done, message, code, conflicts = self.repo:checkout(self.head, tree, { dry_run = true })
  if done then return true end
  if code == "ELOCKED" then return nil, locked(self), 3 end
  if code == "EFILTER" then
    return nil, ("git has a filter or an encoding for %s (.gitattributes), and apsis applies none; by hand: "
      .. "git merge --squash %s"):format(checkout.names(conflicts), commit), 3
  end
  if code ~= "ECONFLICT" then return nil, message, 3 end
  local why = unseen(self, conflicts, commit)
  if why then return nil, why, 3 end
  return nil, ("contents that git does not track are in the way: %s; move them, or put them away: git stash -u")
    :format(checkout.names(conflicts)), 3
end

-- Makes a commit the branch's, and its tree the files'. true | nil, message, 3.
function Checkout:become(commit, log_message)
  local done, message, code = self.repo:checkout(self.head, commit)
  if not done and code == "ELOCKED" then return nil, locked(self), 3 end
  if not done and code == "ECONFLICT" then return nil, "your files changed in between: nothing was changed", 3 end
  if not done then
    return nil, ("%s; %s is where it was, and your files are partly changed: git reset --hard puts them back")
      :format(message, self.branch), 3
  end
  done, message = self.repo:set_ref("refs/heads/" .. self.branch, commit, self.head, log_message)
  if done then return true end
  local back = self.repo:checkout(commit, self.head)
  return nil, ("%s was not moved: %s; %s"):format(self.branch, message, back and "your files are as they were"
    or "the changes are staged: git status"), 3
end

return checkout
