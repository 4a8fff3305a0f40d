-- environment: what commands see: apsis's own variables, apsis first in PATH, and nothing of git's but a ceiling, so that a
-- git command in a workspace cannot find the user's repository. Called by verify and the command provider.
local fs = require "apsis.fs"
local host = require "apsis.host"

local environment = {}

local inherited -- names of GIT_* variables of this process, read once

local function git_names()
  if inherited then return inherited end
  inherited = {}
  for name in (fs.read("/proc/self/environ") or ""):gmatch("(GIT_[%w_]*)=[^\0]*\0") do inherited[#inherited + 1] = name end
  return inherited
end

-- The variables every command gets; space_dir is its workspace.
function environment.base(slot, space_dir, parent_commit)
  local env = {}
  for _, name in ipairs(git_names()) do env[name] = false end
  env.GIT_CEILING_DIRECTORIES = space_dir:match("^(.*)/[^/]*$")
  env.PATH = host.executable:match("^(.*)/[^/]*$") .. ":" .. (os.getenv "PATH" or "/usr/bin:/bin")
  env.APSIS_EXPERIMENT = tostring(slot.number)
  env.APSIS_CANDIDATE = ("c%04d"):format(slot.number)
  env.APSIS_PARENT = parent_commit or ""
  return env
end

return environment
