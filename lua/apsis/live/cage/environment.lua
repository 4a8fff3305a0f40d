-- environment: the variables that commands see: the user's harmless ones, apsis's own, apsis first in PATH, and of
-- git's only a ceiling, so that git in a workspace cannot find the user's repository. Keys are withheld unless the
-- manifest passes them on, and masked in what a judge reads.
local fs = require "apsis.fs"
local host = require "apsis.host"
local masking = require "apsis.project.secrets"
local rooms = require "apsis.core.rooms"

local environment = {}

local inherited -- this process's variables by name, read once

local function variables()
  if inherited then return inherited end
  inherited = {}
  for name, value in ("\0" .. (fs.read("/proc/self/environ") or "")):gmatch("%z([%w_]+)=([^%z]*)%f[%z]") do
    inherited[name] = value
  end
  return inherited
end

local secrets = {} -- values by name, taken out of this process's environment
local passed = setmetatable({}, { __mode = "k" }) -- what each list of names passes, until a key is withheld

-- Removes the keys that the manifest's provider names from the environment of this process and of its children. spec:
-- the provider's part of the manifest, or nil.
function environment.withhold(spec)
  local names = { spec and spec.api_key_env }
  for _, model in ipairs(spec and spec.models or {}) do names[#names + 1] = model.api_key_env end
  for _, name in ipairs(names) do
    secrets[name] = os.getenv(name) or secrets[name]
    passed = setmetatable({}, { __mode = "k" })
    host.setenv(name)
  end
end

-- The same for every key in the manifest, the rooms' parts too.
function environment.withhold_all(manifest)
  environment.withhold(manifest and manifest.provider)
  for _, holders in rooms.each "key_holders" do
    for _, spec in ipairs(manifest and holders(manifest) or {}) do environment.withhold(spec) end
  end
end

local named -- values of variables with such names, read once

local function named_secrets()
  if named then return named end
  named = {}
  for name, value in pairs(variables()) do
    if masking.is_variable(name) then named[name] = value end
  end
  return named
end

-- A text without secrets: withheld values, and those of variables named like API_KEY.
function environment.mask(text)
  local values = {}
  for _, list in ipairs { secrets, named_secrets() } do
    for _, value in pairs(list) do values[#values + 1] = value end
  end
  return masking.mask(text, values, "[secret]")
end

-- A variable's value, withheld or not; nil if it is not set.
function environment.secret(name)
  return secrets[name] or os.getenv(name)
end

local function path_of(given)
  return host.executable:match("^(.*)/[^/]*$") .. ":" .. (given or os.getenv "PATH" or "/usr/bin:/bin")
end

-- Variables that choose git's repository. If a git hook started apsis, they name the wrong one.
local locating = { "DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "OBJECT_DIRECTORY",
  "ALTERNATE_OBJECT_DIRECTORIES",
  "QUARANTINE_PATH", "NAMESPACE", "SHALLOW_FILE", "GRAFT_FILE", "REPLACE_REF_BASE", "NO_REPLACE_OBJECTS",
  "IMPLICIT_WORK_TREE", "INTERNAL_SUPER_PREFIX" }

-- Changes for git on a repository named on the command line.
function environment.without_repository()
  local env = {}
  for _, name in ipairs(locating) do env["GIT_" .. name] = false end
  return env
end

-- Changes for the user's own command in the user's own repository: it gets all variables, keys too (it may push or
-- notify), but not those that choose a repository.
function environment.own()
  local env = environment.without_repository()
  env.PATH = path_of()
  for name, value in pairs(secrets) do env[name] = value end
  return env
end

-- What programs need to know: user, language, time, toolchains, libraries, processors. A toolchain whose family of
-- variables also has credentials (TF_TOKEN_*, UV_INDEX_*, NIX_CONFIG) is listed by name.
local harmless = { "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "TERM", "COLORTERM", "NO_COLOR", "LANG", "LANGUAGE",
  "LC_*", "TZ", "LOCALE_ARCHIVE", "SOURCE_DATE_EPOCH", "CI", "CC", "CXX", "FC", "AR", "LD", "CFLAGS", "CXXFLAGS",
  "CPPFLAGS", "FFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH",
  "PKG_CONFIG_*", "CMAKE_*", "PYTHON*", "PYENV_*", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE",
  "CONDA_PYTHON_EXE", "CONDA_SHLVL", "UV_CACHE_DIR", "UV_PYTHON", "UV_PYTHON_INSTALL_DIR", "UV_PROJECT_ENVIRONMENT",
  "UV_TOOL_DIR", "UV_LINK_MODE", "UV_OFFLINE", "UV_SYSTEM_PYTHON", "UV_FROZEN", "UV_NO_SYNC", "JAVA_HOME", "JDK_*",
  "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "GOPATH", "GOROOT",
  "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOMAXPROCS", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_*", "RUSTFLAGS", "RUST_*",
  "NODE_PATH", "NODE_ENV", "NODE_OPTIONS", "NVM_DIR", "VOLTA_HOME", "LUA_*", "PERL5LIB", "RUBYLIB", "GEM_HOME",
  "GEM_PATH", "JULIA_DEPOT_PATH", "JULIA_PROJECT", "JULIA_LOAD_PATH", "JULIA_NUM_THREADS", "JULIA_CPU_TARGET", "R_HOME",
  "R_LIBS*", "R_ENVIRON*", "R_PROFILE*", "OCAMLPATH", "CUDA_*", "NVIDIA_*", "HIP_*", "ROCM_*", "ROCR_*", "OMP_*",
  "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "NUMEXPR_*", "TBB_*", "TF_CPP_*", "TF_CUDNN_*", "TF_DETERMINISTIC_OPS",
  "TF_ENABLE_*", "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_*", "TF_NUM_*", "TF_USE_*", "TF_XLA_FLAGS", "TORCH_*", "XLA_*",
  "JAX_*", "NIX_PATH", "NIX_PROFILES", "NIX_STORE", "NIX_SSL_CERT_FILE", "NIX_LD*", "NIX_CFLAGS_*", "NIX_CC*",
  "NIX_BINTOOLS*", "GUIX_*", "SSL_CERT_FILE", "SSL_CERT_DIR", "SLURMD_NODENAME", "SLURM_JOB_*", "SLURM_CPUS_*",
  "SLURM_GPUS*", "SLURM_MEM_*", "SLURM_NTASKS", "SLURM_TMPDIR", "APSIS_HOME", "ASAN_OPTIONS", "LSAN_OPTIONS",
  "UBSAN_OPTIONS" }

-- Where the network is reached through another machine.
local proxies = { "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
  "no_proxy", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE" }

-- The variables that match a list (* stands for any ending); keys_too: also those that look like keys.
local function found_by(list, keys_too)
  local found = {}
  for _, pattern in ipairs(list) do
    local beginning = pattern:match "^(.*)%*$"
    for name, value in pairs(beginning and variables() or { [pattern] = variables()[pattern] }) do
      local fits = name == pattern or beginning and name:sub(1, #beginning) == beginning
      if fits and secrets[name] == nil and (keys_too or not masking.is_variable(name)) then
        if keys_too or not masking.is_value(value or "") then found[name] = value end
      end
    end
  end
  return found
end

-- The names of variables that commands do not get only because their values look like credentials, but for those
-- passed on; sorted. network: whether the commands have the network, and so are given proxies.
function environment.suspicious(pass_env, network)
  local asked, names = found_by(pass_env or {}, true), {}
  for _, list in ipairs { harmless, network and proxies or nil } do
    local given = found_by(list)
    for name in pairs(found_by(list, true)) do
      if not given[name] and not asked[name] and not masking.is_variable(name) then names[#names + 1] = name end
    end
  end
  table.sort(names)
  return names
end

-- Adds them to env; cached, because a command starts for each candidate.
local function pass(env, list, keys_too)
  passed[list] = passed[list] or found_by(list, keys_too)
  for name, value in pairs(passed[list]) do env[name] = value end
end

-- The variables that a list of names passes on, with their values.
function environment.passed(list)
  local env = {}
  pass(env, list or {}, true)
  return env
end

-- All variables of a command. space_dir: its workspace; own: the manifest's { pass_env, network }; given: what another
-- machine passes on, in place of what this one has of pass_env.
function environment.base(slot, space_dir, parent_commit, own, given)
  local env = {}
  pass(env, harmless)
  if own and own.network then pass(env, proxies) end
  if not given then pass(env, own and own.pass_env or {}, true) end
  for name, value in pairs(given or {}) do env[name] = value end
  env.GIT_CEILING_DIRECTORIES = space_dir:match("^(.*)/[^/]*$")
  env.PATH = path_of(given and given.PATH)
  env.APSIS_WORKSPACE = space_dir
  env.APSIS_EXPERIMENT = tostring(slot.number)
  env.APSIS_CANDIDATE = ("c%04d"):format(slot.number)
  env.APSIS_PARENT = parent_commit or ""
  return env
end

return environment
