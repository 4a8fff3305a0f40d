-- advice: what a failed command may have lacked, and the manifest line that allows it. Only for the user's terminal: a
-- command can print what it would like to get. Called by verify and provider/command.
local fs = require "apsis.fs"
local home = require "apsis.project.home"

local advice = {}

-- Folders and files of a home that hold keys: apsis never advises to show them.
local secret = { [".ssh"] = true, [".gnupg"] = true, [".aws"] = true, [".azure"] = true, [".netrc"] = true,
  [".npmrc"] = true,
  [".pypirc"] = true, [".pgpass"] = true, [".git-credentials"] = true, [".docker"] = true, [".kube"] = true,
  [".config"] = true,
  [".password-store"] = true, [".claude"] = true, [".codex"] = true, [".gemini"] = true }

local function is_secret(path)
  for part in path:gmatch "[^/]+" do
    if secret[part] then return true end
  end
  return false
end

-- The virtual environment that contains a path; else the path.
local function whole(path)
  local above = path
  while above and above ~= "" do
    if fs.stat(above .. "/pyvenv.cfg") then return above end
    above = above:match "^(.+)/[^/]*$"
  end
  return path
end

-- Whether a path is in one of the command's own folders, which it sees wherever they are.
local function is_in(folders, path)
  for _, folder in ipairs(folders or {}) do
    if path == folder or path:sub(1, #folder + 1) == folder .. "/" then return true end
  end
  return false
end

-- Advice for a path that exists but is hidden, and for one that is visible but not writable.
local function of_paths(cage, words, given)
  local allow = given.own.allow or {}
  local own = table.move(allow, 1, #allow, 1, cage:named(given.run))
  local refused = words:find "Read%-only file system"
  for path in words:gmatch "/[%w_.~+@%-/]+" do
    path = path:match("^.*[^.:/]") or path
    local target = fs.realpath(path)
    if target and not is_in(given.folders, target) and not cage:keeps(target) and not is_secret(path)
      and not is_secret(target) then
      if not cage:sees(target, own) then
        return ("%s is there, but its commands do not see it; if they are to: %s: {allow: [%s]}"):format(path,
          given.key, whole(path))
      end
    end
    if refused and #allow > 0 and not is_secret(path) then
      for _, text in ipairs(allow) do
        local place = home.expand(text)
        if path:sub(1, #place) == place then
          return ("%s is shown to its commands, not to be written; if it is to: %s: {allow: [%q]}"):format(place,
            given.key, text .. ":rw")
        end
      end
    end
  end
end

local offline = { "Connection refused", "Could not resolve", "Network is unreachable", "name resolution",
  "Name or service not known",
  "Failed to connect", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED" }

local function of_network(words, given)
  if given.own.network then return nil end
  for _, sign in ipairs(offline) do
    if words:find(sign, 1, true) then
      return ("its commands have no network but a private loopback; to allow it: %s: {network: true}"):format(given.key)
    end
  end
end

local function of_variables(words, given)
  for name in words:gmatch "%f[%w_]([A-Z][A-Z0-9_]+)%f[^%w_]" do
    if os.getenv(name) and given.env[name] == nil then
      return ("%s is set in your environment but not in its commands'; to pass it: %s: {pass_env: [%s]}"):format(
        name, given.key, name)
    end
  end
end

local no_memory = { "MemoryError", "Cannot allocate memory", "std::bad_alloc", "ut of memory" }

local function of_limits(words, result, given)
  local place = given.key == "provider" and "provider" or "limits"
  if result.signal_name == "SIGXCPU" or result.code == 152 then return ("it was ended by %s.cpu_sec"):format(place) end
  if result.signal_name == "SIGXFSZ" or result.code == 153 then return "it was ended by limits.file_mb" end
  if words:find("No space left on device", 1, true) then
    return "its /tmp and home hold limits.tmp_mb, which may be raised"
  end
  if words:find("Too many open files", 1, true) then
    return "a process of its commands has limits.open_files, which may be raised"
  end
  for _, sign in ipairs(given.memory_mb and no_memory or {}) do
    if words:find(sign, 1, true) then
      return ("a process of its commands has %s.memory_mb, which may be raised"):format(place)
    end
  end
end

-- of(cage, { result, run, own = the part of the manifest, key = its name, env = the command's variables, memory_mb =
-- its limit, folders = those of its workspace }): a sentence, or nil.
function advice.of(cage, given)
  if not cage.way then return nil end
  local result = given.result
  local words = (result.stdout.tail or result.stdout.head):sub(-4000) .. "\n"
    .. (result.stderr.tail or result.stderr.head)
  return of_paths(cage, words, given) or of_variables(words, given) or of_network(words, given)
    or of_limits(words, result, given)
end

return advice
