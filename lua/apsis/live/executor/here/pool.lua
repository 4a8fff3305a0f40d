-- pool: the scratch checkouts outside the repository, in which providers work and candidates are verified. A workspace
-- is taken, brought to a commit by difference, and given back; if none is free, one is made. Called by executor/here.
local account = require "apsis.live.cage.account"
local fs = require "apsis.fs"
local home = require "apsis.project.home"
local served = require "apsis.live.executor.here.served"
local wait = require "apsis.wait"
local worktree = require "apsis.worktree"

local pool = {}

local PRIVATE <const> = 448 -- 0700

local Pool = {}
Pool.__index = Pool

-- FNV-1a, so that each project has its own folder in the cache.
local function hash(text)
  local value = 0xCBF29CE484222325
  for index = 1, #text do value = (value ~ text:byte(index)) * 0x100000001B3 end
  return ("%016x"):format(value)
end

function pool.root(project_dir, configured)
  if configured then
    local base = configured:sub(1, 1) == "/" and configured or project_dir .. "/" .. configured
    return base .. "/" .. hash(project_dir)
  end
  local cache = os.getenv "XDG_CACHE_HOME" or ""
  -- it counts only if it is absolute
  if cache:sub(1, 1) ~= "/" then cache = (home.dir() or account.home() or "/nonexistent") .. "/.cache" end
  return ("%s/apsis/%s"):format(cache, hash(project_dir))
end

-- open_tree(dir) -> handle | nil, message, code: a stand-in for a checkout of the repository.
function pool.new(repo, root, open_tree)
  return setmetatable({ root = root, free = { provide = {}, verify = {}, snapshot = {} }, made = 0, folders = 0,
    spared = {},
    stamp = wait.now() * 1000 // 1 | 0,
    open_tree = open_tree or function(dir) return worktree.open(repo, dir) end }, Pool)
end

-- The workspace's handle; made if there is none, or again if a command deleted the directory or replaced it (by a link,
-- say).
function Pool:mend(space)
  local stat = fs.stat(space.dir, { follow = false })
  if space.tree and stat and stat.ino == space.ino then return space end
  if stat and (space.tree or stat.type ~= "directory") then fs.remove_tree(space.dir)
  elseif stat then fs.chmod(space.dir, PRIVATE) end -- a command may have taken its own right away
  if space.tree then space.tree:close() end
  local ok, message, code = fs.mkdir(space.dir)
  if not ok then return nil, message, code end
  space.tree, message, code = self.open_tree(space.dir)
  if not space.tree then return nil, message, code end
  space.ino = assert(fs.stat(space.dir)).ino
  return space
end

-- Brings a workspace to a commit. A command may have left folders that are too deep, or that apsis may not read: then
-- the workspace is removed and made again.
function Pool:checkout(space, commit, options)
  if space.tree:checkout(commit, options) then return space end
  fs.remove_tree(space.dir)
  local made, message, code = self:mend(space)
  if made then made, message, code = space.tree:checkout(commit, options) end
  return made and space, message, code
end

-- A workspace = { dir, tree (the handle), kind }. left: the folder of one that an earlier process has left.
function Pool:take(kind, left)
  local space = left and { dir = left, kind = kind } or table.remove(self.free[kind])
  while not space do
    self.made = self.made + 1
    local dir = ("%s/%s-%d"):format(self.root, kind, self.made)
    space = not self.spared[dir] and { dir = dir, kind = kind } or nil
  end
  return self:mend(space)
end

function Pool:give(space)
  table.insert(self.free[space.kind], space)
end

-- Whether a scratch folder is unused: only an empty folder artifacts in it, and no mode changed.
function Pool:is_fresh(dir)
  local outer, inner = fs.stat(dir, { follow = false }), fs.stat(dir .. "/artifacts", { follow = false })
  return outer and inner and outer.type == "directory" and inner.type == "directory" and outer.mode == self.scratch_mode
    and inner.mode == self.scratch_mode and #(fs.list(dir) or {}) == 1 and #(fs.list(dir .. "/artifacts") or { 1 }) == 0
end

-- A folder of a workspace that no command had before, such as scratch-1-5f3a21-7.
function Pool:folder(kind, space)
  local dir
  repeat
    self.folders = self.folders + 1
    dir = ("%s/%s-%s-%x-%d"):format(self.root, kind, space.dir:match "(%d+)$", self.stamp, self.folders)
  until not fs.stat(dir, { follow = false })
  local ok, message, code = fs.mkdir(dir)
  return ok and dir, message, code
end

-- A workspace's private scratch folder, empty; an unused one is taken again.
function Pool:scratch(space)
  if space.scratch and self:is_fresh(space.scratch) then return space.scratch end
  if space.scratch then fs.remove_tree(space.scratch) end
  local dir, message, code = self:folder("scratch", space)
  local ok = dir
  if dir then ok, message, code = fs.mkdir(dir .. "/artifacts") end
  if not ok then return nil, message, code end
  space.scratch, self.scratch_mode = dir, assert(fs.stat(dir .. "/artifacts")).mode
  return dir
end

-- A workspace's folder for temporary files, empty; for commands that cannot have their own /tmp.
function Pool:temporary(space)
  if space.temporary and #(fs.list(space.temporary) or { 1 }) == 0 then return space.temporary end
  if space.temporary then fs.remove_tree(space.temporary) end
  local message, code
  space.temporary, message, code = self:folder("tmp", space)
  return space.temporary, message, code
end

-- Removes the folders for single commands that a killed apsis left, but for those spared, as are workspaces.
function Pool:sweep(spared)
  self.spared = spared
  for _, name in ipairs(fs.list(self.root) or {}) do
    local single = name:find "^scratch%-" or name:find "^tmp%-" or name:find "^serve%-"
    if single and not spared[self.root .. "/" .. name] then
      fs.remove_tree(self.root .. "/" .. name)
    end
  end
end

function Pool:close()
  for _, kind in pairs(self.free) do
    for _, space in ipairs(kind) do
      served.close(space)
      space.tree:close()
    end
  end
end

return pool
