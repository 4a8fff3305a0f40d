-- working_tree: a workspace with a copy of the user's files, uncommitted ones too, in place of a checkout. Leaves out
-- git's files, apsis's, and directories that the manifest links. Called by eval.
local fs = require "apsis.fs"

local working_tree = {}

local function left_out(world)
  local out = { [".git"] = true }
  for _, name in ipairs { "logs", "runs", ".apsis" } do out[world:repository_path(name)] = true end
  for _, path in ipairs(world.manifest.workspace.link or {}) do out[world:repository_path(path)] = true end
  return out
end

-- Copies one entry; sockets and unreadable files end the copy with a reason.
local function copy_entry(from, to)
  local stat = fs.stat(from, { follow = false })
  if not stat or stat.type == "other" then return true end
  if stat.type == "link" then return fs.symlink(fs.readlink(from), to, { replace = true }) end
  local text, message = fs.read(from)
  if not text then return nil, message end
  local ok
  ok, message = fs.write(to, text)
  if ok then ok, message = fs.chmod(to, stat.mode) end
  return ok, message
end

-- Copies the folder `path` of the repository; adds its files' paths to found.
local function copy_folder(from, to, path, out, found)
  local ok, message = fs.mkdir(to)
  if not ok then return nil, message end
  for _, name in ipairs(assert(fs.list(from))) do
    local below = path == "" and name or path .. "/" .. name
    if not out[below] and name ~= ".git" then
      local source, target = from .. "/" .. name, to .. "/" .. name
      local stat = fs.stat(source, { follow = false })
      if stat and stat.type == "directory" then
        ok, message = copy_folder(source, target, below, out, found)
      else
        found[#found + 1] = below
        ok, message = copy_entry(source, target)
      end
      if not ok then return nil, message end
    end
  end
  return true
end

-- Stands in for a checkout when world verifies uncommitted files: copies them once. See World:measure_in.
function working_tree.opener(world)
  local found = {}
  world.as_they_lie = true
  function world.files_of()
    local paths = {}
    for _, path in ipairs(found) do paths[#paths + 1] = world:project_path(path) end
    table.sort(paths)
    return paths
  end
  return function(dir)
    local tree, copied = {}, false
    function tree.checkout()
      if copied then return true end
      local ok, message, code = copy_folder(world.root, dir, "", left_out(world), found)
      copied = ok
      return ok, message, code
    end
    function tree.watch() return true end
    function tree.changes() return {} end
    function tree.close() end
    return tree
  end
end

return working_tree
