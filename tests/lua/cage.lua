-- cage: what commands are kept in: what they see, may write, and are told of the environment, in every way that works here.
local advice = require "apsis.live.cage.advice"
local cage = require "apsis.live.cage.cage"
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local host = require "apsis.host"
local names = require "apsis.live.cage.names"
local process = require "apsis.process"
local programs = require "apsis.live.programs"
local tap = require "tap"
local ways = require "apsis.live.cage.ways"

local test, equal, matches = tap.test, tap.equal, tap.matches

local root = assert(fs.realpath(assert(fs.tempdir "cage-")))
local home <const> = os.getenv "HOME"
for _, name in ipairs { "/home/.ssh", "/home/.pyenv/bin", "/home/tools/bin", "/project/.git", "/project/data", "/pool/one", "/pool/other",
  "/pool/scratch", "/pool/tmp", "/elsewhere" } do assert(fs.mkdir(root .. name)) end
for name, text in pairs { ["/home/.ssh/id"] = "secret", ["/home/.pyenv/bin/python"] = "#!/bin/sh\n",
  ["/home/tools/bin/tool"] = "#!/bin/sh\n", ["/project/journal"] = "line", ["/project/data/rows"] = "1 2 3",
  ["/pool/other/theirs"] = "theirs", ["/elsewhere/script"] = "echo here" } do
  assert(fs.write(root .. name, text))
end
host.setenv("HOME", root .. "/home")

local function new(more)
  local given = { mode = "auto", root = root .. "/project", gitdir = root .. "/project/.git", home = root .. "/project",
    pool = root .. "/pool", links = { root .. "/project/data" }, private_mb = 8, disk_reserve_mb = 0 }
  for key, value in pairs(more or {}) do given[key] = value end
  return assert(cage.new(given))
end

-- What a shell script in workspace one says; more: keys of put's second argument; path: $P, which the command does not name.
local function run(kept, script, more, path)
  local spec = { shell = script, cwd = root .. "/pool/one", timeout_s = 20, clean_env = true,
    env = { PATH = os.getenv "PATH", HOME = root .. "/home", P = path } }
  local own = { write = { root .. "/pool/one", root .. "/pool/scratch" }, temporary = root .. "/pool/tmp", run = script }
  for key, value in pairs(more or {}) do own[key] = value end
  local result = assert(process.run(kept:put(spec, own)))
  return result.stdout.head:gsub("\n$", ""), result
end

local function readable(kept, path, more)
  return run(kept, 'cat "$P" 2> /dev/null', more, path)
end

local way, refused = ways.find()

test("one of the ways works here, and says so in words", function() matches(ways.words(way), "%a") end)

test("namespaces are the way where another program can make them, and the kernel has the calls", function()
  if os.getenv "APSIS_CAGE" then return end
  local user = host.uid ~= 0 and "--user --map-current-user " or ""
  local made = assert(process.run { timeout_s = 20,
    shell = ("unshare %s--mount --pid --ipc --net --fork --mount-proc true"):format(user) })
  if made.code ~= 0 then return end
  local why = refused[1] and refused[1][2]
  if why and why:find "not implemented" then return end
  equal({ way, why }, { "namespaces" })
end)

test("the home, the project, its git and other workspaces are not there", function()
  local kept = new()
  for _, path in ipairs { "/home/.ssh/id", "/project/journal", "/pool/other/theirs" } do equal(readable(kept, root .. path), "", path) end
end)

-- Of a kernel 6.18: btrfs 6.2 with its top volume mounted too, a bind mount of a home's parent, one of a folder in it with a space in
-- its name, a file system mounted in a home and elsewhere, and a system folder that is in a home too.
local mountinfo = [[
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
233 158 0:47 / /mnt/top rw,relatime - btrfs /dev/loop0 rw,discard=async,space_cache=v2,subvolid=5,subvol=/
234 158 0:47 /@home /home rw,relatime - btrfs /dev/loop0 rw,discard=async,space_cache=v2,subvolid=256,subvol=/@home
235 158 254:0 /users /srv/people rw,relatime - ext4 /dev/vda rw,discard
236 158 254:0 /users/you/a\040folder /opt/folder rw,relatime - ext4 /dev/vda rw,discard
237 158 0:48 / /home/me/disk rw,relatime - tmpfs tmpfs rw
238 158 0:48 /part /media/part rw,relatime - tmpfs tmpfs rw
239 158 254:0 /usr/share /home/me/share rw,relatime - ext4 /dev/vda rw,discard
240 158 0:4 net:[4026532] /run/netns/x rw - nsfs nsfs rw
]]

test("the other names of a folder, and of what lies in it, are found; not those of the system", function()
  local function others(path) return table.concat(names.others({ path }, mountinfo), " ") end
  equal(others "/home/me", "/media/part /mnt/top/@home/me")
  equal(others "/home/me/.ssh", "/mnt/top/@home/me/.ssh")
  equal(others "/home", "/media/part /mnt/top/@home")
  equal(others "/users/you", "/srv/people/you /opt/folder")
  equal(others "/srv/people/you/a folder", "/users/you/a folder /opt/folder")
  equal(others "/users/you/another", "/srv/people/you/another")
  equal(others "/tmp", "")
end)

test("of a toolchain only programs and libraries are there, not its keys, and neither sources nor the user's scripts", function()
  local before <const>, home_dir <const> = os.getenv "PATH", root .. "/home/"
  local secret = { ".local/share/uv/credentials/store", ".luarocks/upload_config.lua", ".julia/servers/host/auth.toml", ".julia/logs/repl",
    "go/src/mine/main.go", "bin/deploy", ".bun/_token" }
  local open = { ".local/share/uv/tools/ruff/bin/ruff", ".luarocks/share/lua/5.4/lpeg.lua", ".julia/packages/JSON/a.jl", "go/bin/gopls",
    "go/pkg/mod/x/y.go", ".bun/bin/bun" }
  for _, list in ipairs { secret, open } do
    for _, name in ipairs(list) do
      assert(fs.mkdir((home_dir .. name):match "^(.*)/"))
      assert(fs.write(home_dir .. name, "text"))
    end
  end
  host.setenv("PATH", home_dir .. "bin:" .. before)
  local kept = new()
  host.setenv("PATH", before)
  for _, name in ipairs(secret) do equal(readable(kept, home_dir .. name), "", name) end
  for _, name in ipairs(open) do equal(readable(kept, home_dir .. name), "text", name) end
end)

test("the root and the folder of devices can be listed", function()
  if way ~= "landlock" then equal(run(new(), "ls / /dev > /dev/null && echo listed"), "listed") end
end)

test("toolchains of the home and linked folders are, and cannot be written", function()
  local kept = new()
  equal(readable(kept, root .. "/project/data/rows"), "1 2 3")
  matches(readable(kept, root .. "/home/.pyenv/bin/python"), "bin/sh")
  run(kept, "echo x > $HOME/.pyenv/bin/python; echo x > " .. root .. "/project/data/rows")
  equal(fs.read(root .. "/project/data/rows"), "1 2 3")
  equal(fs.read(root .. "/home/.pyenv/bin/python"), "#!/bin/sh\n")
end)

test("the workspace, the scratch folder and TMPDIR are written, the rest is not", function()
  local kept = new()
  local script = "echo a > own; echo b > %s/pool/scratch/b; echo c > $TMPDIR/c; cat own %s/pool/scratch/b $TMPDIR/c | tr -d '\\n'"
  equal(run(kept, script:format(root, root)), "abc")
  equal(fs.read(root .. "/pool/one/own"), "a\n")
  run(kept, ("echo x > %s/pool/other/theirs; echo x > %s/elsewhere/script; echo x > /etc/apsis-test"):format(root, root))
  equal(fs.read(root .. "/pool/other/theirs"), "theirs")
  equal(fs.read(root .. "/elsewhere/script"), "echo here")
  equal(fs.stat "/etc/apsis-test", nil)
end)

test("what a command writes to the machine's folders for temporary files is not there afterwards", function()
  for _, folder in ipairs { "/tmp", "/var/tmp", "/dev/shm" } do
    local path = ("%s/apsis-cage-%d"):format(folder, host.pid)
    run(new(), 'echo x > "$P"', nil, path)
    equal(fs.stat(path), nil, path)
  end
end)

test("a command has no capability, and gains no privilege by a program that would give one", function()
  local status = run(new(), "grep -E '^(NoNewPrivs|CapEff|CapPrm|CapInh|CapAmb):' /proc/self/status")
  equal(status:match "NoNewPrivs:%s*(%d)", "1")
  for name, set in status:gmatch "(Cap%a+):%s*(%x+)" do equal(tonumber(set, 16), 0, name) end
end)

test("apsis in a command starts commands of its own, though it can make no namespaces", function()
  assert(fs.write(root .. "/pool/one/inner.lua", [[
    local result, message = require "apsis.process".run { argv = { "echo", "inner" } }
    io.write(result and result.stdout.head or message)]]))
  equal(run(new(), '"$P" exec inner.lua', nil, assert(fs.readlink "/proc/self/exe")), "inner")
end)

test("a command changes its own limits; of another process only where it sees that", function()
  equal(run(new(), "ulimit -n 50 && ulimit -n"), "50")
  if way ~= "landlock" then return end
  equal(run(new(), "prlimit --pid $PPID --nofile=50 2> /dev/null || echo refused"), "refused")
  equal(run(new(), "prlimit --nofile=50 sh -c 'ulimit -n'"), "50")
end)

local is_root <const> = assert(process.run { shell = "id -u" }).stdout.head == "0\n"

test("what root's commands would inherit is taken from them, too", function()
  if not is_root then return end
  assert(fs.write(root .. "/inherits.lua", [[
    local result = require("apsis.process").run { shell = "grep ^CapInh /proc/self/status", cage = { mode = "landlock",
      paths = { "r/usr", "r/bin", "r/lib", "r/lib64", "r/etc", "r/proc" } } }
    io.write(result.stdout.head)]]))
  local result = process.run { argv = { "setpriv", "--inh-caps", "+chown", host.executable, "exec", root .. "/inherits.lua" } }
  equal(result.stdout.head, "CapInh:\t0000000000000000\n")
end)

test("a limit of no processes is one", function()
  local result = process.run { shell = "for i in 1 2 3 4; do sleep 5 & done; wait", limits = { processes = 0 }, cage = { mode = "landlock",
    paths = { "r/usr", "r/bin", "r/lib", "r/lib64", "r/etc", "r/proc" } } }
  equal({ result.outcome, result.excess }, { "killed", "processes" })
end)

test("root cannot write to /proc of a namespace", function()
  if way ~= "namespaces" or not is_root then return end
  matches(run(new(), "grep ' /proc proc ' /proc/self/mounts"), " ro,")
end)

test("a command's usual ioctl calls are not refused, as those that change a file's flags are", function()
  local asks = [[printf abcd > f; perl -e 'ioctl(STDIN, 0x541B, my $n = "\0" x 4) or die $!; print unpack("L", $n)' < f]]
  equal(run(new(), asks), "4") -- FIONREAD: how much there is to read
end)

test("a command makes no user namespace, in which it would have capabilities", function()
  equal(run(new(), "unshare --user true 2> /dev/null && echo made || echo refused"), "refused")
  equal(run(new(), "unshare --user --fork true 2> /dev/null && echo made || echo refused"), "refused")
end)

test("what allow names is shown; what it may write follows from the place and from :rw and :ro", function()
  local path = root .. "/elsewhere/script"
  local function after(list, usual, more)
    assert(fs.write(path, "echo here"))
    run(new(more), 'echo more >> "$P"', { allow = list, usual = usual }, path)
    return fs.read(path) ~= "echo here"
  end
  equal(after({ path }, "r"), false)
  equal(after({ path }, "w"), true)
  equal(after({ path .. ":rw" }, "r"), true)
  equal(after({ path .. ":ro" }, "w"), false)
  equal(after({}, "w", { allow = { path .. ":rw" } }), true)
  equal(readable(new(), root .. "/home/.ssh/id", { allow = { "~/.ssh" } }), "secret")
  assert(fs.write(path, "echo here"))
end)

test("a script outside the project that a command names is shown to it, the project's own is not", function()
  equal(run(new(), "sh " .. root .. "/elsewhere/script"), "here")
  equal(run(new(), "cat " .. root .. "/project/journal 2> /dev/null"), "")
end)

test("a folder that is allowed shows nothing of a project in it", function()
  assert(fs.mkdir(root .. "/around/inner"))
  assert(fs.write(root .. "/around/inner/file", "hidden"))
  assert(fs.write(root .. "/around/beside", "shown"))
  local kept = new { root = root .. "/around/inner", links = {} }
  local allow = { allow = { root .. "/around:rw" } }
  equal(readable(kept, root .. "/around/inner/file", allow), "")
  equal(readable(kept, root .. "/around/beside", allow), "shown")
  run(kept, 'echo mine > "$P"', allow, root .. "/around/inner/file")
  equal(fs.read(root .. "/around/inner/file"), "hidden")
end)

test("a folder that is allowed by a link is reached by it", function()
  assert(fs.symlink(root .. "/elsewhere", root .. "/home/link", { replace = true }))
  equal(readable(new(), root .. "/home/link/script", { allow = { "~/link" } }), "echo here")
end)

test("PATH never shows a home, nor a folder that is not of programs", function()
  local before <const> = os.getenv "PATH"
  host.setenv("PATH", before .. ":" .. root .. "/home:" .. root .. "/home/tools")
  local text = readable(new(), root .. "/home/.ssh/id") .. readable(new(), root .. "/home/tools/bin/tool")
  host.setenv("PATH", before)
  equal(text, "")
end)

test("a verifier has no network, unless it is given it", function()
  local script = "cat /proc/net/dev 2> /dev/null | grep -c : || true"
  if way == "landlock" then script = "bash -c 'exec 3<> /dev/udp/127.0.0.1/9' 2> /dev/null && echo 2 || echo 1" end
  equal(run(new(), script), "1")
end)

test("a network is the machine's if it is given, else one of the command's own", function()
  if way == "landlock" then return end
  local function namespace(more) return run(new(), "readlink /proc/self/ns/net", more) end
  local ours = assert(io.popen "readlink /proc/self/ns/net"):read "l"
  matches(namespace(), "^net:%[%d+%]$")
  equal({ namespace() == ours, namespace { network = true } == ours }, { false, true })
end)

test("a command's own network has a loopback", function()
  if way == "landlock" then return end
  equal(run(new(), "bash -c 'exec 3<> /dev/udp/127.0.0.1/9' 2>&1 && echo up"), "up")
end)

test("the cage keeps no descriptor of what it has shown", function()
  if way == "landlock" then return end
  local function count(allow, network)
    return run(new(), "ls /proc/1/fd | wc -l", { allow = allow, network = network })
  end
  equal(count { root .. "/elsewhere", root .. "/around:rw", "~/.pyenv", "~/tools" }, count {})
  equal(count({}, true), count {}, "nor of a network")
end)

test("when memory runs out the kernel ends a command, not apsis", function()
  equal(run(new(), "cat /proc/self/oom_score_adj"), "1000")
end)

test("what is too much for the private folders is refused, not written", function()
  if way == "landlock" then return end
  matches(run(new(), "head -c 20000000 /dev/zero > /tmp/much 2>&1; wc -c < /tmp/much"), "%d+")
  local size = run(new(), "head -c 20000000 /dev/zero > /tmp/much 2> /dev/null; wc -c < /tmp/much")
  equal(tonumber(size) <= 8 << 20, true, size)
end)

test("off is off, and none that is required is refused", function()
  equal(readable(new { mode = "off" }, root .. "/home/.ssh/id"), "secret")
  local asked <const> = ways.find
  ways.find = function() return nil, { { "namespaces", "not here" } } end
  local made, message = cage.new { mode = "required", private_mb = 1, disk_reserve_mb = 0 }
  local open = cage.new { mode = "auto", private_mb = 1, disk_reserve_mb = 0 }
  ways.find = asked
  equal(made, nil)
  matches(message, "namespaces: not here.*required")
  matches(open.open, "commands are not confined")
end)

test("a program that commands do not see is named, with a folder to allow, and what they see instead", function()
  local before <const> = os.getenv "PATH"
  local bin, place = root .. "/home/tools/bin", root .. "/home/kept"
  assert(fs.mkdir(place))
  local script = "cd %s && chmod 755 tool && cp tool %s/other && ln -s %s/other other && cp tool sh"
  assert(process.run { shell = script:format(bin, place, place) })
  host.setenv("PATH", bin .. ":" .. before)
  local function said(word, allow)
    local manifest = { verification = { commands = { { run = { word } } }, allow = allow }, workspace = {} }
    local list = programs.hidden({ manifest = manifest, dir = root .. "/project" }, new())
    return list[1] and list[1].text, list[1] and list[1].fatal
  end
  equal(said "tool", nil, "where PATH names it, it is shown")
  local text, fatal = said "other"
  matches(text, "do not see " .. bin:gsub("%p", "%%%0") .. "/other; .*allow: %[" .. place:gsub("%p", "%%%0") .. "%]")
  equal(fatal, true)
  equal(said("other", { place }), nil)
  fs.symlink(place, bin .. "/cat")
  equal(said "cat", nil, "a folder of that name is no program")
  fs.remove(bin .. "/sh")
  fs.symlink(place .. "/other", bin .. "/sh")
  text, fatal = said "sh"
  matches(text, "and take .*/bin/sh;")
  equal(fatal, false)
  host.setenv("PATH", before)
end)

test("what PATH names is shown with its libraries; an environment as a whole; of the project nothing beside its bin", function()
  local before <const> = os.getenv "PATH"
  for _, name in ipairs { "home/venv/pyvenv.cfg", "home/venv/bin/python", "home/venv/share/data", "home/prefix/bin/tool",
    "home/prefix/lib/node_modules/tool/main", "home/prefix/share/private", "project/bin/own", "project/lib/own", "project/pyvenv.cfg",
    "project/.venv/pyvenv.cfg", "project/.venv/bin/python", "project/.venv/lib/module" } do
    assert(fs.mkdir((root .. "/" .. name):match "^(.*)/"))
    assert(fs.write(root .. "/" .. name, "text"))
  end
  local bins = {}
  for index, name in ipairs { "home/venv", "home/prefix", "project", "project/.venv" } do bins[index] = ("%s/%s/bin"):format(root, name) end
  host.setenv("PATH", table.concat(bins, ":") .. ":" .. before)
  local kept = new()
  host.setenv("PATH", before)
  for _, name in ipairs { "home/venv/bin/python", "home/venv/share/data", "home/prefix/bin/tool", "home/prefix/lib/node_modules/tool/main",
    "project/bin/own", "project/.venv/lib/module" } do
    equal(readable(kept, root .. "/" .. name), "text", name)
  end
  for _, name in ipairs { "home/prefix/share/private", "project/lib/own", "project/pyvenv.cfg", "project/journal" } do
    equal(readable(kept, root .. "/" .. name), "", name)
  end
end)

-- What is advised where a command said so on stderr; more: of the result, own: what the manifest gives it, part: where, verification.
local function advised(words, more, own, part)
  local result = { stdout = { head = "" }, stderr = { head = words }, code = 1 }
  for key, value in pairs(more or {}) do result[key] = value end
  return advice.of(new(), { result = result, run = "sh measure.sh", own = own or {}, key = part or "verification",
    env = { PATH = "/bin" }, memory_mb = part and 100 })
end

test("a path that is there and not seen is named with the line that shows it; a virtual environment as a whole", function()
  local script, place = root .. "/home/kept/other", root .. "/home/venv"
  assert(fs.mkdir(place .. "/bin"))
  assert(fs.write(place .. "/pyvenv.cfg", ""))
  assert(fs.write(place .. "/bin/activate", ""))
  matches(advised("sh: cannot open " .. script .. ": No such file"), "verification: {allow: %[" .. script:gsub("%p", "%%%0") .. "%]}")
  matches(advised(place .. "/bin/activate: not found"), "{allow: %[" .. place:gsub("%p", "%%%0") .. "%]}")
  equal(advised("cannot open " .. root .. "/home/nothing/here"), nil, "what is not there")
  equal(advised("cannot open /etc/passwd"), nil, "what is seen")
  equal(advised("cannot open " .. root .. "/project/journal"), nil, "the project's own")
  equal(advised("cannot open " .. root .. "/home/.ssh/id"), nil, "a key")
  matches(advised(root .. "/elsewhere/x: Read-only file system", nil, { allow = { root .. "/elsewhere" } }), "elsewhere:rw\"%]}")
end)

test("so are a variable of the user's, the network, and a limit", function()
  host.setenv("APSIS_TEST_KEY", "value")
  matches(advised "APSIS_TEST_KEY is not set", "verification: {pass_env: %[APSIS_TEST_KEY%]}")
  host.setenv "APSIS_TEST_KEY"
  equal(advised "APSIS_TEST_KEY is not set", nil)
  matches(advised "curl: (6) Could not resolve host: there", "verification: {network: true}")
  equal(advised("curl: (6) Could not resolve host: there", nil, { network = true }), nil)
  matches(advised "write: No space left on device", "limits%.tmp_mb")
  matches(advised("", { signal_name = "SIGXCPU" }), "limits%.cpu_sec")
  matches(advised("", { signal_name = "SIGXCPU" }, nil, "provider"), "provider%.cpu_sec")
  matches(advised("", { code = 153 }), "limits%.file_mb")
  matches(advised "OSError: [Errno 24] Too many open files", "limits%.open_files")
  matches(advised("MemoryError", nil, nil, "gate"), "limits%.memory_mb")
  matches(advised("fork: Cannot allocate memory", nil, nil, "provider"), "provider%.memory_mb")
  equal(advised "MemoryError", nil, "there is no such limit")
  equal(advised "assertion failed", nil)
end)

test("what allow names and is not there is told", function()
  equal(new():missing { root .. "/elsewhere", root .. "/nowhere:rw", "~/nothing" }, { root .. "/nowhere", root .. "/home/nothing" })
end)

test("limits hold while a command is given time to end", function()
  for _, mode in ipairs { "subreaper", way } do
    local result = assert(process.run { timeout_s = 0.3, grace_s = 20, limits = { processes = 40 }, cage = { mode = mode, disk_reserve_mb = 1 },
      shell = [[trap 'for i in $(seq 80); do sleep 30 & done; sleep 5; echo unharmed; exit' TERM; sleep 60 & wait]] })
    equal(result.outcome, "timeout", mode)
    equal(result.stdout.head, "", mode)
  end
end)

test("the environment is an allow-list, keys are not in it but by name", function()
  local slot = { number = 3 }
  local env = environment.base(slot, root .. "/pool/one", nil, {})
  equal(env.HOME ~= nil and env.APSIS_EXPERIMENT, "3")
  for name in pairs(env) do
    for _, ending in ipairs { "KEY$", "TOKEN$", "SECRET$" } do equal(name:find(ending), nil, name) end
  end
end)

host.setenv("HOME", home)
fs.remove_tree(root)
tap.done()
