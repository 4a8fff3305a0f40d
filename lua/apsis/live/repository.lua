-- repository: opens a project's repository, or says why apsis cannot work in it, and what to do. Called by world.
local git = require "apsis.git"

local repository = {}

-- open(manifest) -> the repository, its info | nil, message, exit code.
function repository.open(manifest)
  local repo, message, code = git.open(manifest.dir)
  if not repo then
    if code == "ENOREPO" then
      message = manifest.dir
        .. " is not in a git repository; make it one: git init && git add -A && git commit -m start"
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
