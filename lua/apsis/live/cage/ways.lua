-- ways: the ways to confine a command, and which of them works here. The runtime (runtime/cage/plan.h) or bwrap does
-- the confining. Called by cage and doctor.
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"

local ways = {}

local MEGABYTE = 1048576

local order = { "namespaces", "bwrap", "landlock" }
local known = { namespaces = true, bwrap = true, landlock = true, none = true }

local function bwrap_argv(given, argv, cwd)
  local words = { "bwrap", "--die-with-parent", "--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc",
    "--unshare-uts",
    "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc" }
  local function add(...) table.move({ ... }, 1, select("#", ...), #words + 1, words) end
  if not given.network then add("--unshare-net") end
  if host.uid == 0 then add("--remount-ro", "/proc") end -- the machine's settings, the user's keys
  for _, name in ipairs { "/dev/dri", "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm" } do
    add("--dev-bind-try", name, name)
  end
  for _, entry in ipairs(given.paths) do
    local kind, path = entry:sub(1, 1), entry:sub(2)
    local stat = fs.stat(path)
    if kind == "l" then
      local link, target = path:match "^(.-)/(/.*)$"
      add("--symlink", target, link)
    elseif kind == "w" then add("--bind-try", path, path)
    elseif kind == "r" then add("--ro-bind-try", path, path)
    elseif stat and stat.type ~= "directory" then add("--ro-bind", "/dev/null", path)
    elseif stat then add("--size", tostring(given.private_mb * MEGABYTE // 1 | 0), "--tmpfs", path) end
  end
  for _, entry in ipairs(given.paths) do
    local stat = entry:sub(1, 1) == "h" and fs.stat(entry:sub(2))
    if stat and stat.type == "directory" then add("--remount-ro", entry:sub(2)) end
  end
  add("--remount-ro", "/dev") -- in memory, without a limit
  if cwd then add("--chdir", cwd) end
  add("--", table.unpack(argv))
  return words
end

-- Puts a spec of process.run into the cage: given = { paths, network, private_mb, disk_reserve_mb }.
function ways.put(spec, way, given)
  if way == "bwrap" then
    spec.argv, spec.shell = bwrap_argv(given, spec.argv or { "/bin/sh", "-c", spec.shell }, spec.cwd), nil
    spec.cage = { mode = "filtered", disk_reserve_mb = given.disk_reserve_mb }
  else
    spec.cage = { mode = way, paths = given.paths, network = given.network, private_mb = given.private_mb,
      disk_reserve_mb = given.disk_reserve_mb }
  end
  return spec
end

-- Whether apsis can find the processes of a command: true | nil, why not.
function ways.processes()
  if fs.stat "/proc/self" then return true end
  return nil, "/proc is not there, by which apsis finds processes: mount -t proc proc /proc"
end

-- What a machine may lack for a moment.
local passing = { EMFILE = true, ENFILE = true, ENOMEM = true, EAGAIN = true, ENOSPC = true, EIO = true, EFBIG = true }

-- Whether a way works here: true | nil, why not, and true if that is unknown because the machine could not start
-- anything.
local function try(way)
  local spec = ways.put({ argv = { "/bin/sh", "-c", ":" }, timeout_s = 10, clean_env = true,
    env = { PATH = os.getenv "PATH" } }, way,
    { paths = { "p/tmp" }, network = false, private_mb = 1, disk_reserve_mb = 0 })
  local ran, result, message, code = pcall(process.run, spec)
  if not ran then return nil, (tostring(result):gsub("^%S+:%d+: ", "")), true end -- nothing to wait for
  if not result then return nil, message, passing[code] end
  if result.code == 0 then return true end
  return nil, result.stderr.head:match "^[^\n]+" or result.outcome, result.outcome ~= "exit"
end

local found -- { way | nil, refused = { { way, why } } }, found once per process

-- The first way that works, or the one that APSIS_CAGE names; and why those before it do not. If that is unknown: nil,
-- why not, and the reason; a weaker way is not taken then.
function ways.find()
  if found then return found.way, found.refused end
  local refused = {}
  local forced = os.getenv "APSIS_CAGE"
  if forced == "subreaper" then forced = "landlock" end
  if forced == "" then forced = nil end
  if forced and not known[forced] then
    return nil, refused, ("APSIS_CAGE must be namespaces, bwrap, landlock or none, not %q"):format(forced)
  end
  for _, way in ipairs(forced ~= "none" and (forced and { forced } or order) or {}) do
    local works, why, unknown = try(way)
    if works then
      found = { way = way, refused = refused }
      return way, refused
    end
    table.insert(refused, { way, why })
    if unknown then return nil, refused, ("cannot find out whether commands can be confined: %s"):format(why) end
  end
  found = { refused = refused }
  return nil, refused
end

local words = {
  bwrap = "bwrap (bubblewrap)",
  landlock = "Landlock and seccomp only: other processes of yours can be seen, and before Linux 6.12 signalled",
}

-- What a way confines, in words.
function ways.words(way)
  if way ~= "namespaces" then return words[way] end
  local also, why = try "landlock"
  return also and "namespaces and Landlock" or ("namespaces, without Landlock (%s)"):format(why)
end

return ways
