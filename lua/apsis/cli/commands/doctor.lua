-- doctor: what apsis finds on this machine and in this project: versions, isolation, disk, configuration, the chat
-- endpoints of provider and judges, and the coding agent, which is asked once. Each line is `ok`, `warn` with
-- advice, or FAIL if nothing can be measured.
local cage = require "apsis.live.cage.cage"
local config = require "apsis.project.config"
local chat = require "apsis.live.provider.chat.client"
local common = require "apsis.cli.common"
local environment = require "apsis.live.cage.environment"
local executor = require "apsis.live.executor.here"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"
local programs = require "apsis.live.programs"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"
local ways = require "apsis.live.cage.ways"

local doctor = { place = 250, summary = "what this machine and this project offer apsis", example = "apsis doctor" }

local PROBE_S = 5 -- for a chat endpoint to list its models
local LITTLE_BYTES = 512 * 1048576

function doctor.options(parser)
  common.project_argument(parser)
  parser:flag("--json", "the lines as a JSON list")
  parser:flag("--no-agent", "do not ask the coding agent, which costs an answer")
end

local function versions()
  local kernel = (fs.read("/proc/version") or ""):match("^(%S+ %S+ %S+)") or "unknown kernel"
  return true, ("apsis %s (%s), %s, %s"):format(host.version, host.executable, _VERSION, kernel)
end

local function embedded()
  local home = os.getenv "APSIS_HOME"
  if not home or home == "" then return true, "embedded in the program" end
  return false, ("read from APSIS_HOME=%s, not from the program"):format(home)
end

-- libgit2 is loaded at first use; opening any path shows whether that works.
local function library(dir)
  local repo, message, code = git.open(dir)
  if repo then
    local info = repo:info()
    repo:close()
    return true, "libgit2 opens " .. (info and info.workdir or dir)
  end
  if code == "ENOREPO" then return true, "libgit2 loads; no repository here" end
  return false, message
end

local function processes()
  local finds, why = ways.processes()
  return finds, why or "apsis finds the processes of commands in /proc"
end

-- Which way to confine commands is in force, and why not those before it.
local function sandbox(manifest)
  local way, refused, unknown = ways.find()
  if unknown then return false, unknown end
  local lines = {}
  for index, one in ipairs(refused) do lines[index] = ("not by %s: %s"):format(one[1], one[2]) end
  if manifest and manifest.sandbox.mode == "off" then
    return false, "off in the manifest: commands may read and write whatever you may"
  end
  if not way then
    local required = manifest and manifest.sandbox.mode == "required"
    table.insert(lines, 1, "commands are not confined"
      .. (required and ", and sandbox is required in the manifest: nothing is run"
      or ": they may read and write whatever you may; `sandbox: required` runs nothing then"))
    return false, table.concat(lines, "\n      ")
  end
  table.insert(lines, 1, "commands are confined by " .. ways.words(way))
  return way ~= "landlock", table.concat(lines, "\n      ")
end

-- Whether commands see the manifest's programs.
local function programs_seen(dir, manifest)
  local repo, message = git.open(dir)
  if not repo then return false, message end
  local info <const> = repo:info()
  repo:close()
  local kept = cage.new { mode = manifest.sandbox.mode, allow = manifest.sandbox.allow, root = info.workdir,
    gitdir = info.gitdir, home = manifest.home, private_mb = 1, disk_reserve_mb = 0 }
  local texts = programs.missing(manifest, dir)
  for _, one in ipairs(kept and programs.hidden({ manifest = manifest, dir = dir }, kept) or {}) do
    texts[#texts + 1] = one.text
  end
  if #texts == 0 then return true, "commands see the programs that the manifest names" end
  return false, table.concat(texts, "\n      ")
end

-- The nearest existing folder at or above path.
local function existing(path)
  while path ~= "" and not fs.stat(path) do path = path:match("^(.*)/[^/]*$") or "" end
  return path == "" and "/" or path
end

local function disk(root)
  local free, message = fs.free_bytes(existing(root))
  if not free then return false, message end
  return free >= LITTLE_BYTES, ("%.1f GB free for workspaces in %s"):format(free / 1e9, root)
end

local function terminal()
  local live = host.isatty(2) and os.getenv "TERM" ~= "dumb"
  return true, live and "progress as one live line" or "no terminal: progress as plain lines"
end

local function git_identity(dir)
  local result, message, why = process.run { argv = { "git", "config", "user.name" }, cwd = dir, timeout_s = 10 }
  if not result and why ~= "ENOENT" then return false, message end
  if not result then return false, "no git command in PATH: apsis works without it, people look at results with it" end
  local name = (os.getenv "GIT_AUTHOR_NAME" or ""):match ".+" or result.code == 0 and result.stdout.head
  name = name and show.line(name)
  local who = process.run { argv = { "sh", "-c", "git var GIT_AUTHOR_IDENT && git var GIT_COMMITTER_IDENT" }, cwd = dir,
    timeout_s = 10 }
  local by = "commits are by " .. (name or "apsis <apsis@localhost>")
  if who and who.code == 0 then return true, (name and "" or "no user.name: ") .. by end
  return false, by .. ", but git does not know who you are, so your own `git commit` would fail; run: "
    .. "git config --global user.name 'YOUR NAME' && git config --global user.email YOU@YOUR.HOST"
end

local function user_file()
  local path = config.user_path()
  if not path then return true, "no place for a user's file (HOME is not an absolute path)" end
  return true, fs.stat(path) and path or path .. " (none; optional)"
end

local function project(dir, loaded, errors)
  if loaded then return true, loaded.path end
  return false, table.concat(errors, "\n      "), config.find(dir) and 2 or nil
end

-- Whether a chat provider's endpoints answer and accept its key.
local function endpoints(spec)
  local client, message = chat.open(spec, { secret = environment.secret })
  if not client then return false, message end
  local all, lines = true, {}
  for index, found in ipairs(client:probe(PROBE_S)) do
    all, lines[index] = all and found.ok, found.detail
  end
  return all, table.concat(lines, "\n      ")
end

-- The same for the endpoints that a room asks; one: see the hook `endpoints`.
local function endpoints_of(one)
  if not one.settings then return false, one.wrong end
  local ok, detail = endpoints(one.settings)
  return ok, (tostring(detail):gsub("^provider%.", ""))
end

-- Asks the project's coding agent once, as an experiment would.
local function agent(dir, kind, spec)
  local made, message = session.configure(dir)
  if not made then return false, message end
  function made.log() end
  local opened
  opened, message = made:open_world(nil, true)
  if not opened then return false, message end
  local ok, detail = kind.probe(made.world, spec)
  made:close()
  return ok, detail
end

function doctor.run(args)
  local here = args.dir or "."
  local manifest, errors = config.load(here, {})
  local dir = manifest and manifest.dir or fs.realpath(here) or here
  local provider = manifest and manifest.provider
  environment.withhold_all(manifest)
  local root = executor.root(dir, manifest and manifest.workspace.root)
  local lines, failed = {}, nil
  local function check(name, body, ...)
    local ran, ok, detail, code = pcall(body, ...)
    if not ran then ok, detail = false, tostring(ok) end
    failed = failed or ran and code
    lines[#lines + 1] = { check = name, ok = ok, detail = detail, code = ran and code or nil }
  end
  check("versions", versions)
  check("Lua files", embedded)
  check("git library", library, dir)
  check("git", git_identity, dir)
  check("processes", processes)
  check("sandbox", sandbox, manifest)
  if manifest then check("programs", programs_seen, dir, manifest) end
  check("disk", disk, root)
  check("terminal", terminal)
  check("user's file", user_file)
  check("project", project, here, manifest, errors)
  if providers.endpoint(provider) then check("provider", endpoints, providers.endpoint(provider)) end
  local kind = providers.of(provider)
  if kind and kind.probe and provider.preset and not args.no_agent then
    check("agent", agent, dir, kind, provider)
    if not lines[#lines].ok then failed = 4 end
  end
  for _, asked in rooms.each "endpoints" do
    for _, one in ipairs(manifest and asked(manifest) or {}) do
      check(("%s (%s)"):format(one.key, one.name), endpoints_of, one)
    end
  end
  for _, asked in rooms.each "doctor" do
    for _, one in ipairs(manifest and asked(manifest) or {}) do check(one.name, one.check) end
  end
  if wait.interrupts() > 0 then failed = 130 end
  if args.json then
    print(json.encode(json.array(lines)))
    return failed or 0
  end
  for _, line in ipairs(lines) do
    local word = line.ok and "ok" or line.code and "FAIL" or "warn"
    print(("%-5s %s: %s"):format(word, line.check, show.escape(tostring(line.detail))))
  end
  return failed or 0
end

return doctor
