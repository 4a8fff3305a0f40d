-- disk: what is left of a folder after a power cut. A model of a file system that keeps of a file what its last fsync saw, and of a
-- folder the names that its last fsync saw: read from a real folder, changed by what recorder.c wrote down, written out as a cut
-- at that moment would leave it. It is as forgetful as POSIX allows: a new file that was synced has no name yet where its folder was
-- not, nor has a folder where the one above it was not. Used by cuts.lua.
local fs = require "apsis.fs"

local disk = {}

local Disk = {}
Disk.__index = Disk

local function read(path)
  local stat = assert(fs.stat(path, { follow = false }))
  if stat.type == "link" then return { kind = "link", target = assert(fs.readlink(path)) } end
  if stat.type == "file" then
    local text = assert(fs.read(path))
    return { kind = "file", now = text, synced = text, mode = stat.mode }
  end
  local node = { kind = "folder", now = {}, synced = {} }
  for _, name in ipairs(assert(fs.list(path))) do
    node.now[name] = read(path .. "/" .. name)
    node.synced[name] = node.now[name]
  end
  return node
end

-- A model of a folder, all of it synced.
function disk.of(path)
  return setmetatable({ root = read(path) }, Disk)
end

-- The folder that holds path, and the name in it; nil where the folder is not there.
local function place(self, path)
  local folder, name = self.root, nil
  for part in path:gmatch "[^/]+" do
    if name then folder = folder.now[name] end
    if not folder or folder.kind ~= "folder" then return nil end
    name = part
  end
  return folder, name
end

local function node_at(self, path)
  if path == "" then return self.root end
  local folder, name = place(self, path)
  return folder and folder.now[name]
end

local change = {}

function change:create(path)
  local folder, name = place(self, path)
  folder.now[name] = { kind = "file", now = "", synced = "", mode = 420 }
end

function change:mkdir(path)
  local folder, name = place(self, path)
  folder.now[name] = { kind = "folder", now = {}, synced = {} }
end

function change:symlink(path)
  local folder, name = place(self, path)
  folder.now[name] = { kind = "link", target = "nowhere" }
end

function change:truncate(path, size)
  local node = node_at(self, path)
  if node then node.now = node.now:sub(1, tonumber(size)) end
end

function change:write(path, at, _, bytes)
  local node = node_at(self, path)
  if not node then return end
  at = tonumber(at)
  local before = node.now:sub(1, at)
  node.now = before .. ("\0"):rep(at - #before) .. bytes .. node.now:sub(at + #bytes + 1)
end

function change:fsync(path)
  local node = node_at(self, path)
  if not node then return end
  if node.kind == "file" then node.synced = node.now end
  if node.kind == "folder" then
    node.synced = {}
    for name, child in pairs(node.now) do node.synced[name] = child end
  end
end

function change:rename(from, to)
  local old, name = place(self, from)
  local node = old and old.now[name]
  if not node then return end
  local new, other = place(self, to)
  new.now[other] = node
  old.now[name] = nil
end

function change:link(from, to)
  local node = node_at(self, from)
  local folder, name = place(self, to)
  folder.now[name] = node
end

function change:unlink(path)
  local folder, name = place(self, path)
  if folder then folder.now[name] = nil end
end

-- One of the changes that recorder.c wrote down: { what, path, more, more, bytes }.
function Disk:apply(one)
  change[one[1]](self, table.unpack(one, 2))
end

-- The changes of a record, in order.
function disk.changes(text)
  local list, at = {}, 1
  while at <= #text do
    local last = assert(text:find("\n", at, true))
    local one = {}
    for word in (text:sub(at, last - 1) .. "\t"):gmatch "([^\t]*)\t" do one[#one + 1] = word end
    at = last + 1
    if one[1] == "write" then
      local size = tonumber(one[4])
      one[5] = text:sub(at, at + size - 1)
      at = at + size + 1
    end
    assert(change[one[1]], one[1])
    list[#list + 1] = one
  end
  return list
end

-- The bytes of a file whose newest were not synced. A file that was begun anew has none of the old ones.
local function bytes_left(node, way)
  local now, synced = node.now, node.synced
  if now == synced then return now end
  if way == "dropped" then return synced end
  local kept = now:sub(1, #synced) == synced and synced or ""
  return way == "zeros" and kept .. ("\0"):rep(#now - #kept) or kept
end

local function write(node, path, way)
  if node.kind == "link" then return assert(fs.symlink(node.target, path)) end
  if node.kind == "file" then
    assert(fs.write(path, bytes_left(node, way)))
    return assert(fs.chmod(path, node.mode))
  end
  assert(fs.mkdir(path))
  for name, child in pairs(way == "dropped" and node.synced or node.now) do write(child, path .. "/" .. name, way) end
end

-- Writes what a cut leaves to a new folder: dropped (neither names nor bytes that were not synced), short (all names, and of the
-- bytes the synced ones), zeros (all names, and zeros for the bytes that were not synced).
function Disk:write(path, way)
  write(self.root, path, way)
end

return disk
