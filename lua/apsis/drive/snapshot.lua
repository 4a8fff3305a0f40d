-- snapshot: the tree that a folder's files make beside the candidate that they were made from. The folder is only read;
-- what git ignores and the candidate lacks is left out, and so are git's own files. Judges nothing: what may be changed
-- is decided when the loop takes the tree (judge.lua). Called by submit.
local fs = require "apsis.fs"

local snapshot = {}

local Walk = {}
Walk.__index = Walk

-- Whether a folder of the repository or the name of a file belongs to apsis or git, not to the project.
local function is_own(self, path, name)
  return name == ".git" or self.own[path] ~= nil
end

-- Whether a new path is left out: the project's .gitignore has it; or, in a checkout of the user's, it is none that a
-- candidate may have: a user has other files there, too. Folders are asked with a slash at their end.
local function is_left_out(self, path)
  if self.tracked[path] then return false end
  local below = self.loose and path:sub(-1) ~= "/" and self.world:project_path(path)
  return below and self.world.scope:mode(below) ~= "writable" or self.world.repo:is_ignored(path) == true
end

-- Copies a file or link, if it is not there already.
local function copy(self, from, to, path, stat)
  if stat.type == "link" then
    local target = fs.readlink(from)
    if fs.readlink(to) == target then return true end
    fs.remove_tree(to)
    return fs.symlink(target, to, { replace = true })
  elseif stat.type ~= "file" then
    return nil, ("%s is a pipe, socket or device: only files and links can be submitted"):format(path)
  elseif stat.size > self.most_bytes then
    return nil, ("%s has %.1f MB, above max_file_mb: %g"):format(path, stat.size / 1048576,
      self.world.manifest.max_file_mb)
  end
  local there = fs.stat(to, { follow = false })
  local text, message = fs.read(from)
  if not text then return nil, message end
  local same = there and there.type == "file" and there.size == stat.size and fs.read(to) == text
  if same and (there.mode ~ stat.mode) & 64 == 0 then return true end -- untouched, it need not be read again
  if there and there.type ~= "file" then fs.remove_tree(to) end
  local ok = true
  if not same then ok, message = fs.write(to, text) end
  if ok then ok, message = fs.chmod(to, stat.mode & 64 ~= 0 and 493 or 420) end -- 0755, 0644
  return ok, message
end

-- Copies a folder's entries over those of the workspace. true | nil, message.
local function copy_folder(self, from, to, path)
  local names, message = fs.list(from)
  if not names then return nil, message end
  local there = fs.stat(to, { follow = false })
  if there and there.type ~= "directory" then fs.remove_tree(to) end
  self.found[path] = true
  local ok
  for _, name in ipairs(names) do
    local below = path == "" and name or path .. "/" .. name
    local stat = fs.stat(from .. "/" .. name, { follow = false })
    ok = true
    if stat and not is_own(self, below, name) then
      local folder = stat.type == "directory"
      if not is_left_out(self, folder and below .. "/" or below) then
        if folder then ok, message = copy_folder(self, from .. "/" .. name, to .. "/" .. name, below)
        else
          self.found[below] = true
          ok = fs.mkdir(to)
          if ok then ok, message = copy(self, from .. "/" .. name, to .. "/" .. name, below, stat) end
        end
      end
    end
    if not ok then return nil, message end
  end
  return true
end

-- What the candidate has, by path: its files, and the folders that they are in.
local function tracked_of(entries)
  local tracked = {}
  for _, entry in ipairs(entries) do
    tracked[entry.path] = true
    for stop in entry.path:gmatch "()/" do tracked[entry.path:sub(1, stop)] = true end
  end
  return tracked
end

-- apsis's folders in the project, its links into it, and, in the project's own folder, the files that define it: those
-- are in force as they are there, and no part of a candidate.
local function own_paths(world, in_place)
  local own, names = {}, { "logs", "runs", ".apsis" }
  table.move(world.manifest.workspace.link or {}, 1, #(world.manifest.workspace.link or {}), #names + 1, names)
  if in_place then table.move({ "manifest.yaml", world.manifest.program }, 1, 2, #names + 1, names) end
  for _, name in ipairs(names) do own[world:repository_path(name)] = true end
  return own
end

-- What a folder lacks that the candidate has is deleted. Of a hidden file nobody knows: a checkout may be without it.
local function delete_missing(self, place, entries, below)
  for _, entry in ipairs(entries) do
    local path = entry.path
    local own = self.own[path] or path:find "^.*/?%.git$" or entry.mode == "160000" or self.hidden[path]
    local outside = below ~= "" and path:sub(1, #below + 1) ~= below .. "/"
    if not (self.found[path] or own or outside) then fs.remove_tree(place.root .. "/" .. path) end
  end
end

-- take(world, at, record): at = { root = a folder, below = the path in the repository that it stands for ("": all),
-- in_place = whether it is the project's own, head = of a checkout of git }. The tree | nil, message.
function snapshot.take(world, at, record)
  local entries = world:need(world.repo:entries(record.commit))
  local place = world.here:prepare { kind = "snapshot", commit = record.commit, number = 0 }
  local self = setmetatable({ world = world, found = {}, hidden = {}, tracked = tracked_of(entries),
    loose = at.head ~= nil, own = own_paths(world, at.in_place),
    most_bytes = world.manifest.max_file_mb * 1048576 }, Walk)
  for _, path in ipairs(world:hidden_paths(record)) do self.hidden[path] = true end
  local into = at.below == "" and place.root or place.root .. "/" .. at.below
  local tree
  local ok, message = copy_folder(self, at.root, into, at.below)
  if ok then
    delete_missing(self, place, entries, at.below)
    local changes = world:need(place.tree:changes())
    local mine = {}
    for _, change in ipairs(changes) do
      if not world:is_carried(change.path) then mine[#mine + 1] = change end
    end
    if #mine == 0 then tree = place.tree:tree() else tree, message = place.tree:write_tree(mine) end
  end
  place:close()
  return tree, message
end

return snapshot
