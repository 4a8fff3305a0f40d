-- place: what a folder is that somebody submits: which project it belongs to, which part of the repository it stands
-- for, and which candidate it was made from. Only looks. Called by the commands.
local fs = require "apsis.fs"
local git = require "apsis.git"
local lines = require "apsis.core.line"
local lock = require "apsis.live.lock"
local reader = require "apsis.live.reader"

local place = {}

local MOST_COMMITS = 1000 -- that are looked at for a candidate

-- The folder of the checkout that `apsis next` makes for an experiment.
function place.checkout(home, number) return ("%s/.apsis/next/%s"):format(home, lines.id(number)) end

-- The project that a checkout of `apsis next` belongs to, the checkout's folder, and the experiment's id; nil if a
-- folder is in none.
local function handed_out(dir)
  local home, id = dir:match "^(.*)/%.apsis/next/(c%d%d%d%d+)%f[/\0]"
  if home then return home, ("%s/.apsis/next/%s"):format(home, id), id end
end

-- The common git directory of the repository that a folder is in, or nil.
local function common_of(dir)
  local repo <close> = git.open(dir)
  local info = repo and repo:info()
  return info and fs.realpath(lock.common_dir(info.gitdir)) or nil
end

-- The folder that has the candidates of a linked working tree's project; nil if that is the folder itself. A copied
-- repository still names the folder of the original, whose repository is another one.
local function owner_of(self)
  if fs.stat(self.home .. "/logs/results.jsonl") then return nil end
  local common = common_of(self.dir)
  local owner = common and fs.read(("%s/apsis-%s.home"):format(common, self.manifest.project.ref), 4096)
  if not owner or owner == self.home or not fs.stat(owner .. "/logs/results.jsonl") then return nil end
  return common_of(owner) == common and owner or nil
end

-- The project of a folder, or of -C, folded: a reader | nil, message, code.
function place.project(dir, given)
  local real = fs.realpath(given or dir)
  local home = real and handed_out(real .. "/")
  local self, message, code = reader.configure(home or given or dir)
  if not self then return nil, message, code end
  local owner = owner_of(self)
  if owner then
    self, message, code = reader.configure(owner)
    if not self then return nil, message, code end
  end
  local ok
  ok, message, code = self:fold()
  if not ok then return nil, message, code end
  if self.history.count > 0 then return self end
  return nil, "no experiments yet: run `apsis baseline` first", 3
end

-- What a folder stands for: { root, below, in_place, id } (see snapshot.take; id: of an experiment that `apsis next`
-- gave out) | nil, message, code. prefix: the project's folder in the repository.
function place.folder(self, dir, prefix)
  local real, message = fs.realpath(dir)
  if not real then return nil, ("%s: %s"):format(dir, message), 2 end
  local stat = fs.stat(real)
  if stat.type ~= "directory" then return nil, ("%s is not a folder"):format(dir), 2 end
  local _, root, id = handed_out(real .. "/")
  if root then return { root = root, below = "", id = id } end
  local repo <close> = git.open(real)
  local info = repo and repo:info()
  if not info or not info.workdir then return { root = real, below = prefix } end
  local project = prefix == "" and info.workdir or info.workdir .. "/" .. prefix -- what is beside it is the user's
  if not fs.stat(project) then return nil, ("%s is not there: a checkout of the project has it"):format(project), 2 end
  return { root = project, below = prefix, head = info.head,
    in_place = self.dir == info.workdir or self.dir:sub(1, #info.workdir + 1) == info.workdir .. "/" }
end

-- The record of a candidate with this commit or, if it is the best, the current one or a baseline, these files.
local function record_of(self, info)
  local history = self.history
  local named = info.message:match "\nApsis%-Candidate: (c%d+)\n"
  local record = named and history:get(named)
  if record and record.commit == info.id then return record end
  for _, which in ipairs { "best", "current", "newest_baseline", "baseline" } do
    record = history[which]
    if record and (record.commit == info.id or record.tree == info.tree) then return record end
  end
end

-- The candidate that a folder's HEAD is, or comes from. record | nil, message, code.
function place.parent(self, at)
  if not at.head then
    return nil, ("%s is no checkout of git, so its parent is not known: name it, as --parent best"):format(at.root), 2
  end
  local repo <close>, message = git.open(at.root)
  if not repo then return nil, message, 3 end
  local commits, why = repo:log(at.head, { max = MOST_COMMITS })
  if not commits then return nil, why, 3 end
  for _, info in ipairs(commits) do
    local record = record_of(self, info)
    if record then return record end
  end
  return nil, ("HEAD of %s (%s) comes from no candidate: name the parent, as --parent best"):format(at.root,
    at.head:sub(1, 10)), 2
end

return place
