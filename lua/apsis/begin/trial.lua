-- trial: measures a project that has just got its manifest, several times, as `apsis baseline` will: in the sandbox, in
-- a checkout of what would be committed now. Called by the command init.
local fs = require "apsis.fs"
local once = require "apsis.live.once"
local session = require "apsis.live.session"
local wait = require "apsis.wait"

local trial = {}

-- An edit of the tree that gives a path what is in the working tree; nil for a folder: a repository within this one,
-- of which no commit would have the files.
local function edit_of(path)
  local stat = fs.stat(path, { follow = false })
  if not stat then return false end
  if stat.type == "directory" then return nil end
  if stat.type == "link" then return { bytes = fs.readlink(path), mode = "120000" } end
  return { bytes = assert(fs.read(path)), mode = stat.mode & 73 ~= 0 and "100755" or "100644" } -- 0111
end

-- A commit that no ref names, of HEAD and everything that is not committed and not ignored. The commit, the paths that
-- are not committed | nil, message, exit code.
local function as_if_committed(world)
  local paths, count = world.repo:dirty { untracked = true }
  if not paths then return nil, count, 3 end
  if count > #paths then
    return nil, ("%d files are not committed: commit or ignore them, then run `apsis setup` and `apsis baseline`")
      :format(count), 3
  end
  local edits, root = {}, world.repo:info().workdir
  for _, path in ipairs(paths) do edits[path] = edit_of(root .. "/" .. path) end
  local tree, message = world.repo:edit_tree(world.head, edits)
  if not tree then return nil, message, 3 end
  local commit
  commit, message = world.repo:commit { tree = tree, parents = { world.head }, message = "apsis init: measured\n" }
  if not commit then return nil, message, 3 end
  return commit, paths
end

-- Measures until there are enough values; tell(values, wanted) after each. The values, the last measurement.
local function values_of(world, scratch, commit, tell)
  local values, wanted, measurement = {}, math.huge, nil
  while #values < wanted do
    local began = wait.now()
    local one, message, code = once.measure(world, ("%s/%d"):format(scratch, #values), { commit = commit,
      as_baseline = true })
    if not one then return nil, message, code end
    measurement = one
    if measurement.status ~= "ok" or not measurement.value then break end
    values[#values + 1] = measurement.value
    if #values == 1 then wanted = once.times(wait.now() - began, world.manifest) end
    tell(values, wanted)
  end
  return values, measurement
end

-- { values, measurement (the last), uncommitted = paths, metric, manifest } | nil, message, exit code.
function trial.run(dir, tell)
  local self, message, code = session.configure(dir)
  if not self then return nil, message, code end
  local ok
  ok, message, code = self:open_world()
  local scratch
  if ok then scratch, message = fs.tempdir "apsis-init-" end
  if not scratch then
    self:close()
    return nil, message, code or 3
  end
  wait.trap()
  local result
  local commit, paths, exit = as_if_committed(self.world)
  if commit then
    local values, measurement
    values, measurement, exit = values_of(self.world, scratch, commit, tell)
    result = values and { values = values, measurement = measurement, uncommitted = paths, manifest = self.manifest }
    message = measurement
  else message = paths end
  self:close()
  fs.remove_tree(scratch)
  if not result then return nil, message, exit end
  return result
end

return trial
