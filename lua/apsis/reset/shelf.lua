-- shelf: puts a run away and takes it back. Files go to .apsis/reset/STAMP, refs to refs/apsis-reset/NAME/STAMP/; only
-- workspaces are removed. Before anything moves, .apsis/resetting records what is being done; it goes when all is done.
-- Each step moves what is still there, so whoever was killed is finished, or turned round, by the next call. The caller
-- holds the project's lock and its refs.
local fs = require "apsis.fs"
local inventory = require "apsis.reset.inventory"
local json = require "apsis.json"
local kind = require "apsis.core.kind"
local links = require "apsis.project.links"
local process = require "apsis.process"
local refs = require "apsis.project.ref"
local runs = require "apsis.live.runs"
local state = require "apsis.state"
local torn = require "apsis.live.torn"
local wait = require "apsis.wait"

local shelf = {}

local MARK, FOLDER, RECORD = ".apsis/resetting", ".apsis/reset", "reset.json"
local LOCK_AGE_S, LOCK_TRIES, LOCK_PAUSE_S = 10, 150, 0.1

local shape = { keys = { stamp = "string", to = "string", ref = "string", branch = "string", lines = "whole",
  keep = "string", best = { keys = { candidate = "string", value = "number", commit = "hash" },
    needs = { "candidate", "value", "commit" } } }, needs = { "stamp", "to", "ref", "branch" } }

-- A record of a reset | nil, what is wrong with it; nil alone if there is none.
local function read(path)
  local stat = fs.stat(path, { follow = false })
  if not stat then return nil end
  local text, message = fs.read(path)
  local record = text and stat.type == "file" and json.decode(text, true)
  local problem = not text and message or kind.problem(record, shape, "")
    or not (refs.fits(record.stamp) and refs.fits(record.ref)) and "its names are none"
  if problem then return nil, ("%s: cannot be read (%s)"):format(path, problem) end
  return record
end

-- Why no run may begin: a reset is half done; nil if none is.
function shelf.unfinished(home)
  if not fs.stat(home .. "/" .. MARK, { follow = false }) then return nil end
  return "a reset of this project was cut off: `apsis reset -f` finishes it, `apsis reset --undo` takes it back"
end

-- What was being done when a reset was cut off | nil, what is wrong with its record; nil alone if none was.
function shelf.under_way(home) return read(home .. "/" .. MARK) end

-- Where a reset keeps files.
function shelf.folder(stamp) return FOLDER .. "/" .. stamp end

-- The resets that can be undone, oldest first.
function shelf.list(home)
  local found = {}
  for _, name in ipairs(links.none(home, FOLDER) and fs.list(home .. "/" .. FOLDER) or {}) do
    local record = read(("%s/%s/%s/%s"):format(home, FOLDER, name, RECORD))
    if record and record.stamp == name then found[#found + 1] = record end
  end
  return found
end

-- The name of a new reset: the time, and a number if there was one in this second.
function shelf.name(home, time)
  local stamp, count = os.date("!%Y%m%dT%H%M%SZ", math.floor(time)), 1
  local name = stamp
  while fs.stat(home .. "/" .. shelf.folder(name), { follow = false }) do
    count = count + 1
    name = stamp .. "-" .. count
  end
  return name
end

-- Records what is being done, before anything is done.
local function mark(home, record)
  runs.sweep(home .. "/.apsis")
  return state.replace(home .. "/" .. MARK, json.encode(record, { sorted = true }) .. "\n", { sync = true })
end

-- Moves a file or folder; refuses to replace another. true | nil, message.
local function move(from, to)
  if fs.stat(to, { follow = false }) then return nil, ("%s is in the way: move it elsewhere"):format(to) end
  return fs.rename(from, to)
end

-- Moves a run's entries from a root to another that has the same folders.
local function move_files(from, to)
  for _, name in ipairs(inventory.folders()) do
    local ok, message = fs.mkdir(to .. "/" .. name)
    if not ok then return nil, message end
  end
  for _, path in ipairs(inventory.files(from)) do
    local ok, message = move(from .. "/" .. path, to .. "/" .. path)
    if not ok then return nil, message end
  end
  return true
end

-- Removes lock files that a killed reset, or git, left. Only the holder of the project's lock writes a run's refs;
-- others hold the branch's and packed-refs' for moments.
local function clear_locks(repo, record)
  local branch = "refs/heads/" .. record.branch
  for _, place in ipairs(inventory.places(record)) do
    for _, ref in ipairs(place) do
      if ref ~= branch then repo:clear_locks((ref:gsub("/$", "")), 0) end
    end
  end
  for _, name in ipairs { "packed-refs", branch } do
    for _ = 1, LOCK_TRIES do
      local _, left = repo:clear_locks(name, LOCK_AGE_S)
      if left ~= 1 then break end
      wait.sleep(LOCK_PAUSE_S)
    end
  end
end

-- Makes `name` what a ref is; not if its commit is missing, for then there is nothing to keep. true | nil, message.
local function copy_ref(project, repo, ref, name)
  local there = repo:ref(name)
  if there then return there == ref.id, ("the ref %s is in the way"):format(name) end
  local _, _, code = repo:resolve(ref.id)
  if code ~= "ENOENT" then return repo:set_ref(name, ref.id, false, "apsis reset") end
  project.session:log("warn", ("%s is removed, not kept: its commit %s is missing"):format(ref.name, ref.id:sub(1, 10)))
  return true
end

-- Moves a run's refs from places[source] to places[target]: 1 is where a run has them, 2 the shelf.
local function move_refs(project, repo, record, source, target)
  clear_locks(repo, record)
  for _, place in ipairs(inventory.places(record)) do
    local from, to = place[source], place[target]
    for _, name in ipairs(torn.clear(repo, from)) do
      project.session:log("warn", name .. " is removed, not kept: it named no commit, as a power failure may leave it")
    end
    local list, message = inventory.refs_at(repo, from)
    if not list then return nil, message end
    for _, ref in ipairs(list) do
      local ok
      ok, message = copy_ref(project, repo, ref, to .. ref.name:sub(#from + 1))
      if ok then ok, message = repo:delete_ref(ref.name) end
      if not ok then return nil, message end
    end
  end
  return true
end

-- Removes a project's workspaces, but for those that another apsis works in.
local function remove_workspaces(manifest)
  for _, root in ipairs(inventory.workspaces(manifest)) do
    local held <close> = state.lock(root .. "/lock")
    if held then
      process.sweep(root)
      fs.remove_tree(root)
    end
  end
end

-- Makes a branch of the best, unless it is there.
local function keep(repo, record)
  local name = "refs/heads/" .. record.keep
  if repo:ref(name) == record.best.commit then return true end
  return repo:set_ref(name, record.best.commit, false, "apsis reset --keep-best " .. record.best.candidate)
end

-- The name of a branch for the best: NAME, else NAME-2 and so on, which is free or has it already.
function shelf.branch_for(repo, name, commit)
  local count, free = 1, name
  while repo:ref("refs/heads/" .. free) and repo:ref("refs/heads/" .. free) ~= commit do
    count = count + 1
    free = name .. "-" .. count
  end
  return free
end

local function without_links(home, record)
  return links.none(home, shelf.folder(record.stamp) .. "/runs")
end

-- Puts a run away, or finishes that. record: stamp, ref, branch and, if they are known, lines and best = { candidate,
-- value, commit }; keep: the branch for the best. true | nil, message.
function shelf.put_away(project, repo, record)
  local home = project.home
  local to = home .. "/" .. shelf.folder(record.stamp)
  record.to = "shelf"
  local ok, message = without_links(home, record)
  if ok then ok, message = mark(home, record) end
  if ok and record.keep then ok, message = keep(repo, record) end
  if ok then ok, message = move_refs(project, repo, record, 1, 2) end
  if ok then ok, message = move_files(home, to) end
  if not ok then return nil, message end
  remove_workspaces(project.manifest)
  return fs.rename(home .. "/" .. MARK, to .. "/" .. RECORD)
end

-- Whether a folder has nothing in it but empty folders and the record.
local function is_empty(dir)
  for _, name in ipairs(fs.list(dir) or {}) do
    local stat = fs.stat(dir .. "/" .. name, { follow = false })
    if name ~= RECORD and not (stat and stat.type == "directory" and is_empty(dir .. "/" .. name)) then return false end
  end
  return true
end

-- Takes a run back, or finishes that. true | nil, message.
function shelf.take_back(project, repo, record)
  local home = project.home
  local from = home .. "/" .. shelf.folder(record.stamp)
  record.to = "project"
  local ok, message = without_links(home, record)
  if ok then ok, message = mark(home, record) end
  if ok then ok, message = move_refs(project, repo, record, 2, 1) end
  if ok then ok, message = move_files(from, home) end
  if ok and is_empty(from) then ok, message = fs.remove_tree(from) end
  if not ok then return nil, message end
  return fs.remove(home .. "/" .. MARK)
end

return shelf
