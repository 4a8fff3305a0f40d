-- joining: a candidate's tree joined to the user's branch by git's three-way merge. If an earlier apply brought an
-- ancestor of the candidate, the merge starts from that one, as after a real merge. Writes objects only. Called by
-- plan.
local message = require "apsis.deliver.message"

local joining = {}

local MOST_COMMITS = 10000

-- The newest ancestor of a commit that an apply has brought into the branch, and nobody reverted there; or nil.
local function brought(repo, head, commit, base)
  local reverted = {}
  for _, one in ipairs(repo:log(head, { since_rev = base, max = MOST_COMMITS }) or {}) do
    local undone = one.message:match "This reverts commit (%x+)"
    if undone then reverted[undone] = true end
    local of = not reverted[one.id] and message.brought(one.message)
    if of and #of == 40 and repo:descendant_of(commit, of) then return of end
  end
end

-- A side of merges: a commit with the branch's tree. With `commit`, what an apply has brought of it counts as merged.
-- The side | nil, message (the histories share nothing).
function joining.side(repo, head, tree, commit)
  local base, why, code = repo:merge_base(head, commit)
  if not base then
    return nil, code == "ENOENT" and "the branch and the candidate have no commit in common" or why
  end
  local of = brought(repo, head, commit, base)
  if not of or of == base then return head end
  return repo:commit { tree = tree, parents = { head, of }, message = "apsis: joined\n" }
end

-- The tree of a side with a commit merged into it. tree | nil, message, paths that conflict.
function joining.tree(repo, side, commit)
  local tree, why, code, paths = repo:merge(side, commit)
  if tree then return tree end
  return nil, why, code == "ECONFLICT" and paths or nil
end

return joining
