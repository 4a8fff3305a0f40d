-- repository: opens a project's repository, or says why apsis cannot work in it, and what to do. Called by world.
local git = require "apsis.git"

local repository = {}

local remedies = {
  refstorage = ": git refs migrate --ref-format=files makes it one that every git reads",
  objectformat = " (sha256): copy the files to a new folder, and there: git init && git add -A && git commit -m start",
  worktreeconfig = ": git config --unset extensions.worktreeConfig, if no other working tree has its own settings",
}

-- open(manifest) -> the repository, its info | nil, message, exit code.
function repository.open(manifest)
  local repo, message, code = git.open(manifest.dir)
  if not repo then
    if code == "ENOREPO" then
      message = manifest.dir
        .. " is not in a git repository; make it one: git init && git add -A && git commit -m start"
    end
    local extension = message:match "unsupported extension name extensions%.(%w+)"
    if extension then
      message = ("%s: apsis cannot read a repository with git's extensions.%s%s"):format(manifest.dir, extension,
        remedies[extension] or "")
    end
    return nil, message, 3
  end
  local info
  info, message = repo:info()
  if not info then return nil, message, 3 end
  if info.bare then return nil, "the repository is bare: work in a clone of it, which has files", 3 end
  if not info.head then
    return nil, "the repository has no commit yet: git add -A && git commit -m start", 3
  end
  if info.partial then
    return nil, "the repository is a partial clone: fetch what is missing (git fetch --refetch --no-filter)", 3
  end
  return repo, info
end

return repository
