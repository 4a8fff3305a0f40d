-- score: measures a commit on the holdout, in a folder that no other command sees: no journal line, log or artifact.
-- Called by the command and by the world, for the files that other checkouts lack.
local fs = require "apsis.fs"
local links = require "apsis.project.links"
local once = require "apsis.live.once"
local schema = require "apsis.holdout.schema"
local scope = require "apsis.live.scope"

local score = {}

local FOLDER <const> = ".apsis/holdout"

-- Removes what a killed scoring left. For who holds the lock. true | nil, message, code.
function score.sweep(home)
  local ok, message, code = links.none(home, FOLDER)
  if not ok then return nil, message, code end
  fs.remove_tree(home .. "/" .. FOLDER)
  return true
end

-- Whether a path of the project is one of its files.
function score.is_sealed(world, path)
  if not world.sealed then
    local rules = {}
    for index, glob in ipairs(schema.globs(world.manifest.holdout)) do
      rules[index] = { path = glob, mode = "hidden" }
    end
    world.sealed = scope.new(rules)
  end
  return world.sealed:mode(path) == "hidden"
end

-- Those files of a record's commit, and ignored ones that a checkout would be given, by their paths in the repository.
function score.withheld(world, record)
  local paths = {}
  local function add(path)
    if score.is_sealed(world, path) then paths[#paths + 1] = world:repository_path(path) end
  end
  for _, path in ipairs(world:files_of(record)) do add(path) end
  for _, carried in ipairs(world.carried or {}) do add(carried.path) end
  return paths
end

local function over(table_, changes) return setmetatable(changes, { __index = table_ }) end

-- The world whose commands are the holdout's, and whose checkouts have its files.
function score.open(world)
  local manifest, holdout = world.manifest, world.manifest.holdout
  local command, verification = holdout.command
  if command then
    verification = over(manifest.verification, { cases = {}, checks = {}, allow = command.allow,
      network = command.network, pass_env = command.pass_env, commands = { { name = "holdout", run = command.run,
        cwd = ".", stage = 1, env = {}, timeout_sec = command.timeout_sec } } })
  else verification = over(manifest.verification, { cases = holdout.items }) end
  return over(world, { manifest = over(manifest, { verification = verification }), withheld = false, is_sealed = false,
    measurer = not command and world.measurer, stage_list = command and { 1 } or world.stage_list })
end

-- { value } of a commit in an opened world, or { reason }; nil, message, code.
function score.measure(world, commit)
  local scratch = world.home .. "/" .. FOLDER
  local ok, message, refused = score.sweep(world.home)
  if not ok then return nil, message, refused end
  ok, message = fs.mkdir(scratch)
  if not ok then return nil, message, 3 end
  local found, why, code = once.measure(world, scratch, { commit = commit })
  fs.remove_tree(scratch)
  if not found then return nil, why, code end
  if found.status == "ok" and found.value then return { value = found.value } end
  return { reason = found.reason or found.missing or found.status }
end

return score
