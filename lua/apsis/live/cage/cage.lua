-- cage: confines the commands of providers and verifiers, and chooses which files they see. Commands can read
-- everything but the user's home, the project and other workspaces; they can write only to their own folders. ways.lua
-- has the ways to confine them, shown.lua what all commands see. Called by world, verify, provider/command and doctor.
local account = require "apsis.live.cage.account"
local fs = require "apsis.fs"
local home = require "apsis.project.home"
local host = require "apsis.host"
local names = require "apsis.live.cage.names"
local shown = require "apsis.live.cage.shown"
local ways = require "apsis.live.cage.ways"

local cage = {}

local Cage = {}
Cage.__index = Cage

local function real(path) return path and path ~= "" and fs.realpath(path) or nil end

local function is_below(path, folder) return path == folder or path:sub(1, #folder + 1) == folder .. "/" end

-- A path of the manifest's `allow`, without ~ and :rw; and "w" or "r", as its suffix asks, else `usual`.
local function written(text, usual)
  local path, how = text:match "^(.*):(r[ow])$"
  path = home.expand(path or text):gsub("//+", "/"):gsub("(.)/$", "%1")
  return path, how and (how == "rw" and "w" or "r") or usual
end

local system = {}
for _, path in ipairs { "/", "/usr", "/etc", "/bin", "/lib", "/var", "/opt", "/proc", "/sys", "/dev" } do
  system[path] = true
end

function Cage:hides(path)
  path = real(path)
  if path and not system[path] then self.hide[#self.hide + 1] = path end
end

-- The folders that each command has for itself.
function Cage:private()
  local list = {}
  for _, path in ipairs { "/tmp", "/var/tmp", "/dev/shm" } do list[#list + 1] = real(path) end
  list[#list + 1] = not system[self.home] and self.home or nil
  return list
end

-- Hides what is hidden, or replaced by a private folder, by its other names too.
function Cage:hides_others()
  local folders = self:private()
  table.move(self.hide, 1, #self.hide, #folders + 1, folders)
  for _, path in ipairs(names.others(folders, fs.read "/proc/self/mountinfo" or "")) do self:hides(path) end
end

-- Shows a path and, if it is a link, the link too.
function Cage:shows(path)
  local target = real(path)
  if not target or target == "/" then return end
  self.show[#self.show + 1] = target
  if path ~= target then self.links[path] = target end
end

-- The first way that works here, nil if the sandbox is off; nil and why commands must not run.
local function choose(self, mode)
  if mode == "off" then
    self.open = "`sandbox: off` turns the sandbox off"
    return true
  end
  local refused, unknown
  self.way, refused, unknown = ways.find()
  if unknown then return nil, unknown end
  if self.way then return true end
  local reasons = {}
  for index, one in ipairs(refused) do reasons[index] = ("%s: %s"):format(one[1], one[2]) end
  self.open = "commands are not confined here" .. (#reasons > 0 and " (" .. table.concat(reasons, "; ") .. ")" or "")
  if mode == "required" then return nil, self.open .. ", and sandbox is required" end
  return true
end

-- new{ mode = auto | required | off, allow = paths, root = the repository's, gitdir, home = of the project's own files,
-- shared = the folder of jobs elsewhere, pool = the folder of all workspaces, own_pool = this project's, links =
-- folders of the project, private_mb, disk_reserve_mb } -> cage | nil, why it refuses.
function cage.new(given)
  local self = setmetatable({ hide = {}, show = {}, links = {}, private_mb = given.private_mb,
    disk_reserve_mb = given.disk_reserve_mb,
    allow = given.allow or {}, home = real(home.dir()) }, Cage)
  local ok, message = choose(self, given.mode)
  if not ok then return nil, message end
  self:hides("/run")
  self:hides("/dev/mqueue") -- the user's message queues, which no namespace hides once they are mounted
  local own_home = account.home()
  self.account = own_home ~= self.home and own_home or nil
  if self.account and self.way then self:hides(self.account) end
  for _, name in ipairs { "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME" } do
    self:hides(os.getenv(name))
  end
  for _, name in ipairs { "root", "home", "shared", "pool", "own_pool" } do self:hides(given[name]) end
  for _, path in ipairs(shown.repository(given.gitdir)) do self:hides(path) end
  self:hides_others()
  for _, path in ipairs(shown.of_run) do self:shows(path) end
  for _, place in ipairs { self.home or own_home, own_home } do
    for _, name in ipairs(shown.toolchains) do self:shows(place .. "/" .. name) end
  end
  local hidden = table.move(self.hide, 1, #self.hide, 3, { "/tmp", "/var/tmp" })
  hidden[#hidden + 1] = self.home
  for _, path in ipairs(shown.programs(hidden)) do self:shows(path) end
  self:shows(host.executable)
  self:shows(host.libraries)
  self:shows(os.getenv "APSIS_HOME")
  for _, path in ipairs(given.links or {}) do self:shows(path) end
  return self
end

-- Files outside the project that a command names: its script, its data.
function Cage:named(run)
  local list = {}
  for word in (type(run) == "table" and table.concat(run, "\n") or run):gmatch "[^%s\"'`;|&<>()$=]+" do
    local path = word:find "^~?/." and written(word) or nil
    local target = path and real(path)
    local stat = target and fs.stat(target)
    if stat and stat.type == "file" and not self:sees(target) and not self:keeps(target) then list[#list + 1] = path end
  end
  return list
end

-- Whether a path is hidden from every command, by whatever name: in the project, in another workspace, or above one.
function Cage:keeps(path)
  for _, place in ipairs(self.hide) do
    if is_below(place, path) or place ~= self.account and is_below(path, place) then return true end
  end
  return self.home ~= nil and is_below(self.home, path)
end

-- The entries that change something, sorted, so that a path comes after the folders it lies in. Links are made only if
-- their folder is hidden.
local function entries_of(kinds, links)
  local paths, entries = {}, {}
  for path in pairs(kinds) do paths[#paths + 1] = path end
  for path in pairs(links) do
    if not kinds[path] then paths[#paths + 1] = path end
  end
  table.sort(paths, function(a, b)
    if #a ~= #b then return #a < #b end
    return a < b
  end)
  for _, path in ipairs(paths) do
    local kind, above, around = kinds[path] or "l", path, "r"
    repeat above = above:match "^(.+)/[^/]*$" until not above or kinds[above]
    if above then around = kinds[above] end
    local says = kind == "p" or kind ~= around and not (kind == "h" and around == "p")
    if kind == "l" then says = around == "p" or around == "h" end
    if says then entries[#entries + 1] = kind .. path .. (kind == "l" and "/" .. links[path] or "") end
  end
  return entries
end

-- The entries of a command's box; own as put's.
local function box_of(self, own, alone)
  local kinds, links = {}, {}
  for link, target in pairs(self.links) do links[link] = target end
  local function show(path, kind)
    local target = real(path)
    if not target then return end
    kinds[target] = kind
    if path ~= target then links[path] = target end
  end
  for _, path in ipairs(self.hide) do kinds[path] = "h" end
  for _, path in ipairs(self:private()) do kinds[path] = "p" end
  for _, path in ipairs(self.show) do kinds[path] = "r" end
  for _, path in ipairs(self:named(own.run)) do show(path, "r") end
  for index, list in ipairs { self.allow, own.allow or {} } do
    for _, text in ipairs(list) do show(written(text, index == 2 and own.usual or "r")) end
  end
  for _, path in ipairs(own.write) do kinds[real(path) or path] = "w" end
  if alone then kinds[real(own.temporary)] = "w" end
  return entries_of(kinds, links)
end

local MOST_BOXES = 100 -- remembered

-- The same, cached per command and workspace.
local function known_box(self, own, alone)
  local run = type(own.run) == "table" and table.concat(own.run, "\1") or own.run
  local key = table.concat(own.write, "\0") .. "\0" .. run .. "\0" .. table.concat(own.allow or {}, "\0")
  if not self.boxes or self.box_count >= MOST_BOXES then self.boxes, self.box_count = {}, 0 end
  if not self.boxes[key] then self.boxes[key], self.box_count = box_of(self, own, alone), self.box_count + 1 end
  return self.boxes[key]
end

-- Puts a spec of process.run into the cage. own = { write = folders, allow = the manifest's paths, usual = "r" or "w"
-- for paths without a suffix, run = the command as in the manifest, network, temporary = a folder for temporary files
-- if the command cannot have its own /tmp }.
function Cage:put(spec, own)
  local alone = self.way == "landlock"
  spec.env.TMPDIR = alone and own.temporary or "/tmp"
  if not self.way then
    spec.env.TMPDIR = os.getenv "TMPDIR"
    return spec
  end
  -- git fails if it may not read the user's configuration
  if alone then spec.env.GIT_CONFIG_GLOBAL = spec.env.GIT_CONFIG_GLOBAL or "/dev/null" end
  return ways.put(spec, self.way, { paths = known_box(self, own, alone), network = own.network or false,
    private_mb = self.private_mb,
    disk_reserve_mb = self.disk_reserve_mb })
end

-- Whether a command can read a path; own: its own paths.
function Cage:sees(path, own)
  local longest, seen = -1, true
  local function consider(place, shows)
    if place and is_below(path, place) and #place >= longest then longest, seen = #place, shows end
  end
  for _, place in ipairs(self.hide) do consider(place, false) end
  for _, place in ipairs { "/tmp", "/var/tmp", self.home } do consider(place, false) end
  for _, place in ipairs(self.show) do consider(place, true) end
  for link in pairs(self.links) do consider(link, true) end
  for _, list in ipairs { self.allow, own or {} } do
    for _, text in ipairs(list) do
      local place = written(text)
      consider(place, true)
      consider(real(place), true)
    end
  end
  return seen
end

-- The paths of `allow` that do not exist.
function Cage:missing(allow)
  local list = {}
  for _, text in ipairs(allow or {}) do
    local path = written(text)
    if not real(path) then list[#list + 1] = path end
  end
  return list
end

return cage
