-- sync: brings a program's branch up to date with the default branch before an experiment: autoloop's four cases same,
-- moved (only behind), ahead, merged (both). Writes one ref, once, by compare-and-swap, after everything else
-- succeeded, so a kill leaves the branch either old or new. Never fetches or pushes; never touches the index or a
-- working tree. Called by tick.
local collisions = require "apsis.goals.branch.collisions"
local tips = require "apsis.goals.branch.tips"

local sync = {}

local MOST_TRIES = 20 -- if other processes move the branch meanwhile

local function quiet() end

-- ---- the default branch ----

-- The newer tip of a branch here and at origin; false if it is in neither; nil and why.
local function tip_of(repo, name, log)
  local mine, theirs = tips.both(repo, name)
  if mine == nil then return nil, theirs end
  if not (mine and theirs) then return mine or theirs end
  local ahead, behind = tips.relate(repo, mine, theirs)
  if not ahead then return nil, behind end
  if behind > 0 and ahead > 0 then
    log("warn", ("%s and origin/%s have diverged (by %d and %d commits): the local one counts"):format(name, name,
      ahead, behind))
  end
  return ahead == 0 and theirs or mine
end

-- The names to try, in order.
local function names(repo)
  local list = {}
  local head = repo:symbolic_ref("refs/remotes/origin/HEAD")
  list[1] = head and head:match("^refs/remotes/origin/(.+)$")
  list[#list + 1] = "main"
  list[#list + 1] = "master"
  local info = repo:info()
  list[#list + 1] = info and info.branch
  return list
end

-- The default branch: the configured one, else origin's HEAD, main, master, or the checked-out branch. Its commit is
-- the newer of NAME and origin/NAME; if they have diverged, the local one, with a warning to log(level, text). { name,
-- commit } | nil, message, exit code.
function sync.default_branch(repo, configured, log)
  log = log or quiet
  for _, name in ipairs(configured and { configured } or names(repo)) do
    local commit, message = tip_of(repo, name, log)
    if commit == nil then return nil, ("branch %s: %s"):format(name, message), 3 end
    if commit then return { name = name, commit = commit } end
  end
  if configured then
    return nil, ("default_branch: there is no branch %s and no origin/%s; `git branch -a` lists all branches"):format(
      configured, configured), 3
  end
  return nil, "the repository's default branch is unknown: there is no origin/HEAD, main or master, and no branch is "
    .. "checked out; set `default_branch: NAME`", 3
end

-- ---- the program's branch ----

-- The branch's newest commit, here or at origin; false if it is in neither. Second, the local commit.
local function start_of(repo, branch, log)
  local mine, theirs = tips.both(repo, branch)
  if mine == nil then return nil, theirs end
  if not (mine and theirs) then return mine or theirs, mine end
  local ahead, behind = tips.relate(repo, mine, theirs)
  if not ahead then return nil, behind end
  if ahead == 0 then return theirs, mine end
  if behind > 0 then
    log("warn", ("%s and origin/%s have diverged (by %d and %d commits): the local one counts; to take origin's: "
      .. "git branch -f %s origin/%s"):format(branch, branch, ahead, behind, branch, branch))
  end
  return mine, mine
end

-- Uses the later of the two commits' times, so that the same merge gets the same id everywhere.
local function commit_merge(repo, options, start, tree)
  local ours, message = repo:commit_info(start)
  if not ours then return nil, message end
  local theirs
  theirs, message = repo:commit_info(options.default.commit)
  if not theirs then return nil, message end
  return repo:commit { tree = tree, parents = { start, theirs.id }, time = math.max(ours.time, theirs.time),
    message = ("Merge %s into %s\n"):format(options.default.name, options.branch) }
end

local function refuse_conflict(options, files)
  return nil, ("%s does not merge into %s: both sides change %s; merge by hand: git switch %s && git merge %s"):format(
    options.default.name, options.branch, table.concat(files, ", "), options.branch, options.default.name), "ECONFLICT",
    files
end

-- The merged tree; nil and why, as run returns it.
local function merged_tree(repo, options, start)
  local default, branch = options.default, options.branch
  local base, message, code = repo:merge_base(start, default.commit)
  if not base then
    local info = repo:info()
    if info and info.shallow then message = tips.CUT
    elseif code == "ENOENT" then message = "their histories have nothing in common; delete the branch to start it "
      .. "again: git branch -D " .. branch end
    return nil, ("%s and %s: %s"):format(branch, default.name, message), 3
  end
  local tree, files
  tree, message, code, files = repo:merge(start, default.commit)
  if code == "ECONFLICT" then return refuse_conflict(options, files) end
  if not tree then return nil, ("merging %s into %s: %s"):format(default.name, branch, message), 3 end
  files, message = collisions.find(repo, base, start, default.commit)
  if not files then return nil, ("merging %s into %s: %s"):format(default.name, branch, message), 3 end
  if #files > 0 then return refuse_conflict(options, files) end
  return tree
end

local function merge(repo, options, start)
  local tree, message, code, files = merged_tree(repo, options, start)
  if not tree then return nil, message, code, files end
  local commit
  commit, message = commit_merge(repo, options, start, tree)
  if not commit then return nil, message, 3 end
  return commit
end

-- The case, and the commit to move the branch to.
local function target_of(repo, options, start)
  local ahead, behind = tips.relate(repo, start, options.default.commit)
  if not ahead then return nil, ("%s and %s: %s"):format(options.branch, options.default.name, behind), 3 end
  if behind == 0 then return ahead == 0 and "same" or "ahead", start end
  if ahead == 0 then return "moved", options.default.commit end
  local commit, message, code, files = merge(repo, options, start)
  if not commit then return nil, message, code, files end
  return "merged", commit
end

local function leave(repo, options, where)
  local tip, message = tips.ref(repo, "refs/heads/" .. options.branch)
  if not tip then
    return nil, ("branch %s is checked out in %s and has %s"):format(options.branch, where,
      message or "no commit yet: switch it away"), 3
  end
  options.log("warn", ("branch %s is left as it is: it is checked out in %s"):format(options.branch, where))
  return { case = "left", tip = tip, before = tip }
end

local function attempt(repo, options)
  local where, message = repo:checked_out(options.branch)
  if where then return leave(repo, options, where) end
  if message then return nil, message, 3 end
  local start, mine = start_of(repo, options.branch, options.log)
  if start == nil then return nil, ("branch %s: %s"):format(options.branch, mine), 3 end
  if not mine then message = tips.in_the_way(repo, options.branch) end
  if message then return nil, message, 3 end
  if not start then return { case = "created", tip = options.default.commit } end
  local case, tip, code, files = target_of(repo, options, start)
  if not case then return nil, tip, code, files end
  if tip ~= mine then
    local done
    done, message, code = tips.swap(repo, "refs/heads/" .. options.branch, tip, mine, "apsis: synchronised with "
      .. options.default.name)
    if not done then return nil, message, code == "EMOVED" and code or 3 end
  end
  return { case = case, tip = tip, before = mine or nil }
end

-- Brings options.branch ("autoloop/NAME") up to options.default ({ name, commit }); log(level, text). A branch that is
-- missing here starts from origin's, as last fetched; one that origin's is ahead of is moved there first; if they have
-- diverged, the local one counts. Returns one of
--   { case = "created"|"same"|"moved"|"ahead"|"merged"|"left", tip, before }: before is the branch's old commit, nil if
-- it did
--   not exist ("created": it still does not, and tip is the default branch's; "left": it is checked out, so it stays)
--   nil, message, "ECONFLICT", { files }: nothing was written
--   nil, message, exit code
function sync.run(repo, options)
  options = { branch = options.branch, default = options.default, log = options.log or quiet }
  for _ = 1, MOST_TRIES do
    local result, message, code, files = attempt(repo, options)
    if result or code ~= "EMOVED" then return result, message, code, files end
  end
  return nil, ("branch %s: other processes moved it %d times meanwhile"):format(options.branch, MOST_TRIES), 3
end

return sync
