-- environment: what commands see: apsis's own variables, apsis first in PATH, and nothing of git's but a ceiling, so that a
-- git command in a workspace cannot find the user's repository; and none of the keys that a chat provider uses; nor does a judge see
-- them in what it is shown. Called by world, verify, doctor, the judge, notify and the command and chat providers.
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

-- The same of the components of the manifest's fitness, or nil.
function environment.withhold_fitness(spec)
  environment.withhold(spec)
  for _, component in ipairs(spec and spec.components or {}) do environment.withhold_fitness(component) end
end

local SHORTEST_SECRET = 8 -- bytes; "EMPTY" or "none" are no secrets
local telling = { "KEY$", "TOKEN$", "SECRET$", "PASSWORD$", "PASSWD$", "CREDENTIALS$" } -- ends of names whose values are

local named -- values of this process's environment under such names, read once

local function named_secrets()
  if named then return named end
  named = {}
  for name, value in ("\0" .. (fs.read("/proc/self/environ") or "")):gmatch("%z([%w_]+)=([^%z]*)%f[%z]") do
    for _, ending in ipairs(telling) do
      if name:upper():find(ending) then named[name] = value end
    end
  end
  return named
end

-- A text without any secret: what is withheld, and what the environment holds under names such as API_KEY; line by line, for a
-- patch may hold a key of several lines with its marks between them.
function environment.mask(text)
  local values = {}
  for _, list in ipairs { secrets, named_secrets() } do
    for _, value in pairs(list) do
      for line in value:gmatch("[^\r\n]+") do
        if #line >= SHORTEST_SECRET then values[#values + 1] = line end
      end
    end
  end
  table.sort(values, function(a, b) return #a > #b end) -- one may be a part of another
  for _, value in ipairs(values) do
    if text:find(value, 1, true) then text = text:gsub(value:gsub("%W", "%%%0"), "[secret]") end
    if value:find("/", 1, true) then text = text:gsub(value:gsub("/", "\\/"):gsub("%W", "%%%0"), "[secret]") end
  end
  return text
end

-- The value of a variable, withheld or not; nil where it is not set.
function environment.secret(name)
  return secrets[name] or os.getenv(name)
end

local function path_of()
  return host.executable:match("^(.*)/[^/]*$") .. ":" .. (os.getenv "PATH" or "/usr/bin:/bin")
end

-- What says which repository git works on, of whoever started this process (a hook of git's): not the one that is meant here.
local locating = { "DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES",
  "QUARANTINE_PATH", "NAMESPACE", "SHALLOW_FILE", "GRAFT_FILE", "REPLACE_REF_BASE", "NO_REPLACE_OBJECTS", "IMPLICIT_WORK_TREE",
  "INTERNAL_SUPER_PREFIX" }

-- Changes for a command of the user's own, in the user's own repository: all that they have, keys too, for it may push or tell
-- someone; but for what says which repository.
function environment.own()
  local env = { PATH = path_of() }
  for _, name in ipairs(locating) do env["GIT_" .. name] = false end
  for name, value in pairs(secrets) do env[name] = value end
  return env
end

-- The variables every command gets; space_dir is its workspace.
function environment.base(slot, space_dir, parent_commit)
  local env = {}
  for _, name in ipairs(git_names()) do env[name] = false end
  env.GIT_CEILING_DIRECTORIES = space_dir:match("^(.*)/[^/]*$")
  env.PATH = path_of()
  env.APSIS_WORKSPACE = space_dir
  env.APSIS_EXPERIMENT = tostring(slot.number)
  env.APSIS_CANDIDATE = ("c%04d"):format(slot.number)
  env.APSIS_PARENT = parent_commit or ""
  return env
end

return environment
