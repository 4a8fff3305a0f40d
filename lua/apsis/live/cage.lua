-- cage: what a provider's and a verifier's commands are kept in: which of the ways to do it works here, and what of the file system
-- they are shown. Everything is there to be read but the user's home, the project and other workspaces; nothing is to be written but the
-- command's own. The keeping itself is the runtime's (cage.h), or bwrap's. Called by world, verify, provider/command and doctor.
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"

local cage = {}

local Cage = {}
Cage.__index = Cage

local MEGABYTE = 1048576

-- Of the user's home, folders of programs and not of anyone's data: shown, read-only, where they are.
local toolchains = { ".pyenv", ".rbenv", ".nodenv", ".nvm", ".volta", ".fnm", ".asdf", ".sdkman", ".rustup", ".cargo/bin",
  ".cargo/registry", ".cargo/git", ".ghcup", ".opam",
  ".juliaup", ".julia", ".bun", ".deno", ".linuxbrew", ".nix-profile", ".local/bin", ".local/lib",
  ".local/pipx/venvs", ".local/share/uv", ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".virtualenvs", "miniconda3",
  "miniforge3", "mambaforge", "anaconda3", "micromamba", ".luarocks", "go", "bin" }

-- Of /run, which is full of doors to the machine's services: names of hosts and, on NixOS, the programs.
local of_run = { "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system", "/run/opengl-driver" }

local function real(path) return path and path ~= "" and fs.realpath(path) or nil end

local function is_below(path, folder) return path == folder or path:sub(1, #folder + 1) == folder .. "/" end

local function home() return real(os.getenv "HOME") end

-- A path that the manifest allows: absolute, or below the user's home; and "w" or "r", as it says, else as is usual there.
local function allowed(text, usual)
  local path, how = text:match "^(.*):(r[ow])$"
  return real(((path or text):gsub("^~", function() return os.getenv "HOME" or "~" end))), how and (how == "rw" and "w" or "r") or usual
end

-- ---- which way works here ----

local ways = { "namespaces", "bwrap", "landlock" }

local function bwrap_argv(given, argv, cwd)
  local words = { "bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc" }
  local function add(...) table.move({ ... }, 1, select("#", ...), #words + 1, words) end
  if not given.network then add("--unshare-net") end
  if fs.stat("/proc/self").uid == 0 then add("--unshare-user-try", "--remount-ro", "/proc") end -- the machine's settings, the user's keys
  for _, name in ipairs { "/dev/dri", "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm" } do
    add("--dev-bind-try", name, name)
  end
  for _, entry in ipairs(given.paths) do
    local kind, path = entry:sub(1, 1), entry:sub(2)
    local stat = fs.stat(path)
    if kind == "w" then add("--bind-try", path, path)
    elseif kind == "r" then add("--ro-bind-try", path, path)
    elseif stat and stat.type ~= "directory" then add("--ro-bind", "/dev/null", path)
    elseif stat then add("--size", tostring(given.private_mb * MEGABYTE // 1 | 0), "--tmpfs", path) end
  end
  for _, entry in ipairs(given.paths) do
    local stat = entry:sub(1, 1) == "h" and fs.stat(entry:sub(2))
    if stat and stat.type == "directory" then add("--remount-ro", entry:sub(2)) end
  end
  add("--remount-ro", "/dev") -- which is in memory, without a limit
  if cwd then add("--chdir", cwd) end
  add("--", table.unpack(argv))
  return words
end

-- What a failed command's words say of a path that is there and that it does not see; "" where they say nothing of the kind.
-- run, allow: the command, and what the manifest allows it.
function Cage:hint(words, run, allow)
  local own = self:named(run)
  table.move(allow or {}, 1, #(allow or {}), #own + 1, own)
  for path in self.way and words:gmatch "/[%w_.~+@%-/]+" or function() end do
    local target = real((path:gsub("[.:]+$", "")))
    if target and not self:keeps(target) and not self:sees(target, own) then
      return (" (%s is there, but commands do not see it: sandbox: {allow: [%s]} in the manifest shows it)"):format(target, target)
    end
  end
  return ""
end

-- Puts a spec of process.run into the cage: given = { paths, network, private_mb, disk_reserve_mb }.
local function put(spec, way, given)
  if way == "bwrap" then
    spec.argv, spec.shell = bwrap_argv(given, spec.argv or { "/bin/sh", "-c", spec.shell }, spec.cwd), nil
    spec.cage = { mode = "subreaper", disk_reserve_mb = given.disk_reserve_mb }
  else
    spec.cage = { mode = way, paths = given.paths, network = given.network, private_mb = given.private_mb,
      disk_reserve_mb = given.disk_reserve_mb }
  end
  return spec
end

-- What a machine may lack for a while.
local passing = { EMFILE = true, ENFILE = true, ENOMEM = true, EAGAIN = true, ENOSPC = true, EIO = true }

-- Whether a way works here: true | nil, why not, and true where that was not found out: the machine could start nothing just now.
local function try(way)
  local spec = put({ argv = { "/bin/sh", "-c", ":" }, timeout_s = 10, clean_env = true, env = { PATH = os.getenv "PATH" } }, way,
    { paths = { "p/tmp" }, network = false, private_mb = 1, disk_reserve_mb = 0 })
  local result, message, code = process.run(spec)
  if not result then return nil, message, passing[code] end
  if result.code == 0 then return true end
  return nil, result.stderr.head:match "^[^\n]+" or result.outcome, result.outcome ~= "exit"
end

local found -- { way | nil, refused = { { way, why } } }: asked once a process

-- The first way that works, or the one that APSIS_CAGE names; and why those before it do not. Where that was not found out, nil, why
-- not, and the reason: a lesser way is not taken for it.
function cage.way()
  if found then return found.way, found.refused end
  local refused = {}
  local forced = os.getenv "APSIS_CAGE"
  if forced == "subreaper" then forced = "landlock" end
  for _, way in ipairs(forced ~= "none" and (forced and { forced } or ways) or {}) do
    local works, why, unknown = try(way)
    if works then
      found = { way = way, refused = refused }
      return way, refused
    end
    table.insert(refused, { way, why })
    if unknown then return nil, refused, ("whether commands can be kept in was not found out: %s"):format(why) end
  end
  found = { refused = refused }
  return nil, refused
end

-- What a way keeps, in words.
cage.words = {
  namespaces = "namespaces, and Landlock where the kernel has it",
  bwrap = "bwrap (bubblewrap)",
  landlock = "Landlock and seccomp alone: other processes of yours can be seen, and before Linux 6.12 signalled",
}

-- ---- what is shown ----

-- What the programs of a folder in PATH are made of: a virtual environment or a node_modules is shown as a whole, of another place its
-- libraries; of one that has something hidden in it nothing.
local function add_programs(list, path, hidden)
  list[#list + 1] = path
  local above = path:match "^(.*)/%.?bin$"
  for _, place in ipairs(above and hidden or {}) do
    if is_below(place, above) then return end
  end
  if not above then return end
  if fs.stat(above .. "/pyvenv.cfg") or fs.stat(above .. "/conda-meta") or above:find "/node_modules$" then
    list[#list + 1] = above
    return
  end
  for _, name in ipairs { "lib", "lib64", "libexec" } do list[#list + 1] = above .. "/" .. name end
end

-- Folders that PATH names and that lie where commands do not look: of a virtual environment in the project, say.
local function programs_of(hidden)
  local list = {}
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = real(folder)
    for _, place in ipairs(path and hidden or {}) do
      if path ~= place and is_below(path, place) then
        add_programs(list, path, hidden)
        break
      end
    end
  end
  return list
end

-- Where else the files of a project are: its repository's objects, also those that it borrows, and its other working trees.
local function repository_of(gitdir)
  if not gitdir then return {} end
  local common = (fs.read(gitdir .. "/commondir") or ""):match "^[^\n]+"
  common = common and real(common:sub(1, 1) == "/" and common or gitdir .. "/" .. common) or real(gitdir)
  local list = { gitdir, common, common:match "^(.+)/%.git$" }
  for _, name in ipairs(fs.list(common .. "/worktrees") or {}) do
    list[#list + 1] = (fs.read(common .. "/worktrees/" .. name .. "/gitdir") or ""):match "^([^\n]+)/%.git"
  end
  for line in (fs.read(common .. "/objects/info/alternates") or ""):gmatch "[^\n]+" do
    local objects = real(line:sub(1, 1) == "/" and line or common .. "/objects/" .. line)
    list[#list + 1] = objects
    list[#list + 1] = objects and objects:match "^(.+)/%.git/objects$"
  end
  return list
end

-- new{ mode = auto | required | off, allow = paths, root = the repository's, gitdir, home = of the project's own files, pool = the folder
-- of all workspaces, links = folders of the project, private_mb, disk_reserve_mb } -> cage | nil, why it refuses.
function cage.new(given)
  local self = setmetatable({ hide = {}, show = {}, private_mb = given.private_mb, disk_reserve_mb = given.disk_reserve_mb }, Cage)
  if given.mode ~= "off" then
    local refused, unknown
    self.way, refused, unknown = cage.way()
    if unknown then return nil, unknown end
    if not self.way then
      local reasons = {}
      for index, one in ipairs(refused) do reasons[index] = ("%s: %s"):format(one[1], one[2]) end
      self.open = "nothing keeps commands in here" .. (#reasons > 0 and " (" .. table.concat(reasons, "; ") .. ")" or "")
      if given.mode == "required" then return nil, self.open .. ", and sandbox is required" end
    end
  end
  self:hides("/run")
  for _, name in ipairs { "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME" } do self:hides(os.getenv(name)) end
  for _, name in ipairs { "root", "home", "pool" } do self:hides(given[name]) end
  for _, path in ipairs(repository_of(given.gitdir)) do self:hides(path) end
  self.home = home()
  for _, path in ipairs(of_run) do self:shows(path) end
  for _, name in ipairs(self.home and toolchains or {}) do self:shows(self.home .. "/" .. name) end
  local hidden = table.move(self.hide, 1, #self.hide, 1, { [#self.hide + 1] = "/tmp", [#self.hide + 2] = "/var/tmp" })
  hidden[#hidden + 1] = self.home
  for _, path in ipairs(programs_of(hidden)) do self:shows(path) end
  self:shows(host.executable)
  self:shows(os.getenv "APSIS_HOME")
  for _, path in ipairs(given.links or {}) do self:shows(path) end
  self.allow = given.allow or {}
  return self
end

local system = {}
for _, path in ipairs { "/", "/usr", "/etc", "/bin", "/lib", "/var", "/opt", "/proc", "/sys", "/dev" } do system[path] = true end

function Cage:hides(path)
  path = real(path)
  if path and not system[path] then self.hide[#self.hide + 1] = path end
end

function Cage:shows(path)
  path = real(path)
  if path and path ~= "/" then self.show[#self.show + 1] = path end
end

-- Paths outside the project that a command names: its script, its data.
function Cage:named(run)
  local list = {}
  for word in (type(run) == "table" and table.concat(run, "\n") or run):gmatch "[^%s\"'`;|&<>()$=]+" do
    local path = word:find "^~?/." and allowed(word) or nil
    if path and not self:sees(path) and not self:keeps(path) then list[#list + 1] = path end
  end
  return list
end

-- Whether a path is one that no command is to see, however it is named: the project's, another workspace's, or what such are in.
function Cage:keeps(path)
  for _, place in ipairs(self.hide) do
    if is_below(path, place) or is_below(place, path) then return true end
  end
  return self.home ~= nil and is_below(self.home, path)
end

-- The entries that say something beside those they lie in; sorted, so that what lies in another one comes after it. What none says
-- anything of is shown already.
local function entries_of(kinds)
  local paths, entries = {}, {}
  for path in pairs(kinds) do paths[#paths + 1] = path end
  table.sort(paths, function(a, b)
    if #a ~= #b then return #a < #b end
    return a < b
  end)
  for _, path in ipairs(paths) do
    local kind, above, around = kinds[path], path, "r"
    repeat above = above:match "^(.+)/[^/]*$" until not above or kinds[above]
    if above then around = kinds[above] end
    if kind == "p" or kind ~= around and not (kind == "h" and around == "p") then entries[#entries + 1] = kind .. path end
  end
  return entries
end

-- Puts a spec of process.run into the cage. own = { write = folders, allow = the manifest's paths, usual = "r" or "w", what may be
-- done with them where they do not say, run = the command as the manifest has it, network, temporary = a folder for
-- temporary files where the command cannot have its own /tmp }.
function Cage:put(spec, own)
  local alone = self.way == "landlock"
  spec.env.TMPDIR = alone and own.temporary or "/tmp"
  if not self.way then
    spec.env.TMPDIR = os.getenv "TMPDIR"
    return spec
  end
  if alone then spec.env.GIT_CONFIG_GLOBAL = spec.env.GIT_CONFIG_GLOBAL or "/dev/null" end -- git ends where it may not read the user's
  local kinds = {}
  for _, path in ipairs(self.hide) do kinds[path] = "h" end
  for _, path in ipairs { "/tmp", "/var/tmp", "/dev/shm", self.home and not system[self.home] and self.home or nil } do
    path = real(path)
    if path then kinds[path] = "p" end
  end
  for _, path in ipairs(self.show) do kinds[path] = "r" end
  for _, path in ipairs(self:named(own.run)) do kinds[path] = "r" end
  for index, list in ipairs { self.allow, own.allow or {} } do
    for _, text in ipairs(list) do
      local path, kind = allowed(text, index == 2 and own.usual or "r")
      if path then kinds[path] = kind end
    end
  end
  for _, path in ipairs(own.write) do kinds[real(path) or path] = "w" end
  if alone then kinds[real(own.temporary)] = "w" end
  return put(spec, self.way, { paths = entries_of(kinds), network = own.network or false, private_mb = self.private_mb,
    disk_reserve_mb = self.disk_reserve_mb })
end

-- Where a command's program lies, if commands cannot see it there: its path, a folder to allow, and what they see instead, if
-- anything. word: as in PATH or a path; own: paths that the command is given.
function Cage:lacks(word, own)
  if not self.way then return nil end
  local hidden, folder
  local places = word:find("/", 1, true) and { word } or {}
  if #places == 0 then
    for place in (os.getenv "PATH" or ""):gmatch "[^:]+" do places[#places + 1] = place .. "/" .. word end
  end
  for _, path in ipairs(places) do
    local target = real(path)
    if target then
      local seen = self:sees(target, own) and self:sees(real(path:match "^(.*)/") or "/", own)
      if seen then return hidden, folder, hidden and path end
      if not hidden then hidden, folder = path, target:match "^(.*)/[^/]*$" end
    end
  end
  return hidden, folder
end

-- Whether a command can read a path; own: paths that it is given.
function Cage:sees(path, own)
  local longest, seen = -1, true
  local function consider(place, shows)
    if is_below(path, place) and #place >= longest then longest, seen = #place, shows end
  end
  for _, place in ipairs(self.hide) do consider(place, false) end
  for _, place in ipairs { "/tmp", "/var/tmp", self.home } do consider(place, false) end
  for _, place in ipairs(self.show) do consider(place, true) end
  for _, list in ipairs { self.allow or {}, own or {} } do
    for _, text in ipairs(list) do
      local place = allowed(text)
      if place then consider(place, true) end
    end
  end
  return seen
end

return cage
