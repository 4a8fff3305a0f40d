-- environment: what commands see: apsis's own variables, apsis first in PATH, and nothing of git's but a ceiling, so that a
-- git command in a workspace cannot find the user's repository; and none of the keys that a chat provider uses. Called by
-- world, verify, doctor and the command and chat providers.
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

local secrets = {} -- values by name, taken out of this process's environment

-- Takes the keys that the manifest's provider names out of the environment: what is started from now on, and what Lua reads, has
-- them no longer. spec: the provider's part of the manifest, or nil.
function environment.withhold(spec)
  local names = { spec and spec.api_key_env }
  for _, model in ipairs(spec and spec.models or {}) do names[#names + 1] = model.api_key_env end
  for _, name in ipairs(names) do
    secrets[name] = os.getenv(name) or secrets[name]
    host.setenv(name)
  end
end

-- The value of a variable, withheld or not; nil where it is not set.
function environment.secret(name)
  return secrets[name] or os.getenv(name)
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
