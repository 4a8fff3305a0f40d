-- trial: measures a project that has just got its manifest, several times, as `apsis baseline` will: in the sandbox, in
-- a checkout of what would be committed now. Called by the command init.
local fs = require "apsis.fs"
local once = require "apsis.live.once"
local session = require "apsis.live.session"
local wait = require "apsis.wait"

local trial = {}

local LARGEST_FILE = 100 * 1048576

-- An edit of the tree that gives a path what is in the working tree: false: it is deleted; nil: it stays as committed
-- (a submodule, a pipe), or a message says why it cannot be taken.
local function edit_of(root, path)
  local full = root .. "/" .. path
  local stat = fs.stat(full, { follow = false })
  if not stat then return false end
  if stat.type == "link" then return { bytes = fs.readlink(full), mode = "120000" } end
  if stat.type ~= "file" then return nil end
  if stat.size > LARGEST_FILE then
    return nil, ("%s is not committed and has %d MB: commit it, or add it to .gitignore"):format(path,
      stat.size // 1048576)
  end
  local bytes, message = fs.read(full)
  return bytes and { bytes = bytes, mode = stat.mode & 73 ~= 0 and "100755" or "100644" }, message -- 0111
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
  local edits = {}
  local tree, message
  for _, path in ipairs(paths) do
    edits[path], message = edit_of(world.root, path)
    if message then return nil, message, 3 end
  end
  tree, message = world.repo:edit_tree(world.head, edits)
  if not tree then return nil, message, 3 end
  local commit
  commit, message = world.repo:commit { tree = tree, parents = { world.head }, message = "apsis init: measured\n" }
  if not commit then return nil, message, 3 end
  return commit, paths
end

-- Measures the world's HEAD until there are enough values; tell(values, wanted, seconds) each second. The values, the
-- last measurement.
local function values_of(world, scratch, tell)
  local values, wanted, measurement = {}, math.huge, nil
  while #values < wanted do
    local began = wait.now()
    local function tick()
      tell(values, wanted, wait.now() - began)
      return 1
    end
    local one, message, code = once.measure(world, ("%s/%d"):format(scratch, #values), { as_baseline = true,
      tick = tick })
    if not one then return nil, message, code end
    measurement = one
    if measurement.status ~= "ok" or not measurement.value then break end
    values[#values + 1] = measurement.value
    if #values == 1 then wanted = once.times(wait.now() - began, world.manifest) end
  end
  return values, measurement
end

local OUTPUT_BYTES = 600

-- The end of what the last command of a measurement printed.
local function output_of(folder)
  local text = fs.read(folder .. "/run/verifier.log") or ""
  text = text:match ".*\n%$ [^\n]*\n(.*)" or text
  return #text > OUTPUT_BYTES and text:sub(-OUTPUT_BYTES):gsub("^[^\n]*\n", "", 1) or text
end

-- Measures what would be committed, in scratch. The same as run.
local function measured(self, scratch, tell)
  local commit, paths, code = as_if_committed(self.world)
  if not commit then return nil, paths, code end
  self.world.head = commit
  local ok, message
  ok, message, code = self:check_files()
  if not ok then return nil, message, code end
  local values, measurement
  values, measurement, code = values_of(self.world, scratch, tell)
  if not values then return nil, measurement, code end
  local entries
  entries, message = self.world.repo:entries(commit)
  if not entries then return nil, message, 3 end
  return { values = values, measurement = measurement, uncommitted = paths, manifest = self.manifest,
    entries = entries, prefix = self.world.prefix, output = output_of(scratch .. "/0") }
end

-- { values, measurement (the last), uncommitted = paths, manifest, entries (of what was measured), prefix (the
-- project's in them), output (the end of the first one's) } | nil, message, exit code. warned: the texts of warnings
-- that the user has seen; more are added.
function trial.run(dir, tell, warned)
  local self, message, code = session.configure(dir)
  if not self then return nil, message, code end
  local say = self.say
  function self.say(own, text)
    if not warned[text] then say(own, text) end
    warned[text] = true
  end
  local ok
  ok, message, code = self:open_world(nil, true)
  local scratch, result
  if ok then
    scratch, message = fs.tempdir "apsis-init-"
    code = 3
  end
  if scratch then
    wait.trap()
    result, message, code = measured(self, scratch, tell)
    fs.remove_tree(scratch)
  end
  self:close()
  if not result then return nil, message, code end
  return result
end

return trial
