-- leftovers: what a command of a verification leaves in the checkout, which may be a candidate's, made to change what
-- is measured. What it added, empty folders too, is removed before the next command, unless the manifest keeps it. If
-- it changed what was committed, nothing more is measured. Called by verify.
local fs = require "apsis.fs"

local leftovers = {}

local MOST_NAMED = 5 -- files in a message

-- Whether commands are meant to write a file of the project.
function leftovers.is_output(world, path)
  return path and (world.scope:mode(path) == "generated" or path == world.manifest.metric.extractor.path
    or world.measurer and world.measurer:writes(path))
end

local function may_stay(world, path)
  if leftovers.is_output(world, path) then return true end
  for _, pattern in ipairs(world.manifest.verification.keep) do
    if path and fs.glob_match(pattern, path) then return true end
  end
  return false
end

-- An empty folder stays if a file in it might.
local function is_kept(world, change)
  local path = world:project_path(change.path)
  if may_stay(world, path) or world:is_carried(change.path) then return true end
  if not path or change.mode ~= "other" then return false end
  local output = world.manifest.metric.extractor.path or ""
  return may_stay(world, path .. "/x") or output:sub(1, #path + 1) == path .. "/"
end

-- Removes a file, and the folders that are empty without it.
local function remove(root, path)
  repeat
    fs.remove_tree(root .. "/" .. path)
    path = path:match "^(.*)/[^/]*$"
  until not path or #(fs.list(root .. "/" .. path) or { path }) > 0
end

-- What is left in a place; or nil and why the measurement does not count: committed files were changed. Files that it
-- measures with count as changed even if they were restored.
local function left(world, place)
  local changed, changes, message = {}, place:changes()
  if not changes then return nil, "what the verification left cannot be read: " .. message end
  for _, change in ipairs(changes) do
    local path = world:project_path(change.path)
    local mode = path and world.scope:mode(path)
    if change.kind ~= "added" and not leftovers.is_output(world, path)
      and (change.kind ~= "touched" or mode ~= "writable") then
      changed[#changed + 1] = change.path .. (change.kind == "touched" and " (and put back)" or "")
    end
  end
  if #changed == 0 then return changes end
  return nil, ("verification changed committed files (%s), so what was measured is not what was committed; "
    .. "if it has to write them, give them mode: generated"):format(table.concat(changed, ", ", 1,
      math.min(#changed, MOST_NAMED)))
end

-- Why what was measured in a place does not count, or nil.
function leftovers.tampered(world, place)
  local changes, why = left(world, place)
  return not changes and why or nil
end

-- Removes what commands have added in a place, and adds its paths to `removed`. Why the next one cannot measure, or
-- nil.
function leftovers.clear(world, place, removed)
  local changes, why = left(world, place)
  if not changes then return why end
  for _, change in ipairs(changes) do
    if change.kind == "added" and not is_kept(world, change) then
      remove(place.root, change.path)
      removed[#removed + 1] = world:project_path(change.path) or change.path
    end
  end
end

-- What a verification that failed may have lacked: in the baseline's reason, else a warning.
function leftovers.name(job, measurement)
  local removed, globs, known = job.removed, {}, {}
  if #removed == 0 or measurement.status == "ok" and not measurement.missing then return end
  for _, path in ipairs(removed) do
    local folder = path:match "^([^/]+)/"
    local glob = folder and folder .. "/**" or path
    if not known[glob] then globs[#globs + 1], known[glob] = glob, true end
  end
  measurement.keep = globs
  local text = ("before each command, apsis removed what earlier ones had added (%s); if a command needs that: "
    .. "verification: {keep: ['%s']}"):format(table.concat(removed, ", ", 1, math.min(#removed, MOST_NAMED)),
    table.concat(globs, "', '", 1, math.min(#globs, MOST_NAMED)))
  if not job.slot.baseline then return job.world:warn_once("keep", text) end
  local key = measurement.status == "ok" and "missing" or "reason"
  measurement[key] = measurement[key] .. "; " .. text
end

return leftovers
