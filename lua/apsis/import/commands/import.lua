-- import: turns a project of another tool into one of apsis. The importers (apsis.import.*) plan it; this file writes
-- the files, creates the repository if there is none, and reports every setting. Never overwrites anything.
local common = require "apsis.import.common"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local json = require "apsis.json"
local keys = require "apsis.import.keys"
local manifest = require "apsis.project.manifest"
local process = require "apsis.process"
local quoted = require("apsis.project.path").quoted
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"

local import = { place = 210, summary = "make a project of one of OpenEvolve, goalseek, pi-autoresearch or autoloop",
  example = "apsis import openevolve ~/openevolve/examples/mine --into mine && apsis baseline mine" }

local RUNNER = "lua/apsis/import/openevolve_evaluate.py"
local kinds = { "openevolve", "goalseek", "autoresearch", "autoloop" }

function import.options(parser)
  parser:argument("kind", "openevolve, goalseek, autoresearch or autoloop")
  parser:argument("dir", "the project of that tool; it is never changed")
  parser:option("--into", "the target, new or empty except for .git (default ./NAME-apsis, NAME from dir; beside "
    .. "dir if that is here)"):argname "NEW"
  parser:option("--program",
    "openevolve: the program, if not initial_program.*, or a folder of it; autoloop: the program's name"):argname "FILE"
  parser:option("--evaluator", "openevolve: the evaluator, if not evaluator.py or evaluator/evaluator.py")
    :argname "FILE"
  parser:option("--config", "openevolve: the configuration, if not config.yaml"):argname "FILE"
  parser:option("--selection",
    "openevolve: playbook, or openevolve: sample as the Python project does"):argname "NAME":default "playbook"
  parser:option("--python", "openevolve: the interpreter the evaluator runs with"):argname "PROGRAM":default "python3"
  parser:option("--base-url", "the endpoint of the chat model, instead of the one configured there"):argname "URL"
  parser:option("--api-key-env", "the environment variable with its key"):argname "NAME"
  parser:option("--model", "the chat model, instead of those configured there"):argname "NAME"
  parser:option("--max-mb", "the total size of copied files in megabytes (default 200)"):convert(tonumber):argname "N"
  parser:flag("--json", "print the result as one JSON object")
end

-- ---- checks ----

local function check_options(args)
  local known = false
  for _, kind in ipairs(kinds) do known = known or kind == args.kind end
  if not known then
    return nil, ("no importer %q%s (there are %s)"):format(args.kind, suggest.sentence(args.kind, kinds),
      table.concat(kinds, ", "))
  end
  if args.selection ~= "playbook" and args.selection ~= "openevolve" then
    return nil, ("--selection: %q must be playbook or openevolve%s"):format(args.selection,
      suggest.sentence(args.selection, { "playbook", "openevolve" }))
  end
  if args.max_mb and not (args.max_mb > 0) then return nil, "--max-mb: must be above 0" end
  if args.base_url and not args.base_url:find("^https?://.") then
    return nil, "--base-url: must be an http:// or https:// address"
  end
  if args.base_url and args.base_url:find("^%a+://[^/]*@") then -- not shown either
    return nil, "--base-url: must not hold a user or password; export the key under a name and give that with "
      .. "--api-key-env"
  end
  -- not shown: it may be the key itself
  if args.api_key_env and not args.api_key_env:find("^[A-Za-z_][A-Za-z0-9_]*$") then
    return nil, "--api-key-env: must be the name of an environment variable (letters, digits and _), not the key; "
      .. "export the key under a name"
  end
  if args.kind ~= "openevolve" and (args.base_url or args.api_key_env) and not args.model then
    return nil, "--base-url and --api-key-env need --model NAME"
  end
  return true
end

-- Where the project goes when --into does not say: NAME-apsis in the current directory, or beside it if that is dir.
local function default_into(dir)
  local real = fs.realpath(dir)
  local name = real and (real:match("([^/]+)/program%.md$") or real:match("([^/]+)$"))
  return name and (real == fs.cwd() and "../" or "./") .. name:gsub("%.md$", "") .. "-apsis"
end

-- The absolute path of a place that may not exist yet.
local function absolute(path)
  path = path:gsub("(.)/+$", "%1")
  local real = fs.realpath(path)
  if real then return real end
  local parent, name = path:match("^(.*)/([^/]+)$")
  if not parent then parent, name = ".", path end
  return (absolute(parent == "" and "/" or parent):gsub("/$", "")) .. "/" .. name
end

local function check_places(args)
  local stat = fs.stat(args.dir)
  if not stat then return nil, ("%s: no such directory"):format(show.line(args.dir, 300)) end
  if stat.type ~= "directory" and not (args.kind == "autoloop" and stat.type == "file") then
    return nil, ("%s: is not a directory"):format(show.line(args.dir, 300))
  end
  args.into = args.into or default_into(args.dir)
  if not args.into then return nil, "--into NEW is needed: the directory to write the project to" end
  local into = fs.stat(args.into)
  if into and into.type ~= "directory" then
    return nil, ("%s: exists and is not a directory"):format(show.line(args.into, 300))
  end
  local names = {}
  for _, name in ipairs(into and fs.list(args.into) or {}) do
    if name ~= ".git" then names[#names + 1] = name end
  end
  if #names > 0 then
    return nil, ("%s: is not empty: %s%s; nothing was written: name a new directory with --into"):format(
      show.line(args.into, 300), show.line(table.concat(names, ", ", 1, math.min(#names, 5)), 300), #names > 5
      and ", ..." or "")
  end
  return true
end

-- The target must be outside the imported directory, which is never changed.
local function check_apart(into, root, args)
  root = fs.realpath(root)
  if into:sub(1, #root + 1) ~= root:gsub("/$", "") .. "/" then return true end
  return nil, ("--into: %s is inside %s, which apsis never changes; nothing was written: name a place outside "
    .. "it, such as %s"):format(show.line(args.into, 300), show.line(args.dir, 300), show.line(root .. "-apsis", 300))
end

-- ---- Python ----

-- An evaluator's function names, found without running it. names | nil, message.
local function inspector(python, runner)
  return function(path)
    local label = manifest.display(path)
    local result, message = process.run { argv = { python, "-I", "-", "--inspect", path }, stdin_text = runner,
      timeout_s = 60 }
    if not result then
      return nil, ("--python: %s cannot be run (%s): the evaluator needs Python 3.8 or newer; install it, or name it "
        .. "with --python"):format(python, message)
    end
    local answer = result.code == 0 and json.decode(result.stdout.head)
    if type(answer) ~= "table" then
      return nil, ("--python: %s did not read %s: %s"):format(python, label,
        show.line((result.stderr.tail or result.stderr.head), 300))
    end
    if answer.error then
      return nil, ("%s:%d: evaluator: is not Python: %s"):format(label, answer.line, show.line(answer.error, 300))
    end
    return answer.names
  end
end

-- ---- writing ----

-- No new file may contain a key: the manifest if none does | nil, message.
local function checked_keys(plan, made)
  for _, file in ipairs(plan.files) do
    local line = file.text and keys.find(file.text)
    if line then
      return nil, ("%s:%d: this looks like an API key, which would be committed; nothing was written: remove it from "
        .. "the project, and read it from the environment"):format(show.line(file.path, 300), line)
    end
  end
  return made
end

-- Checks the new manifest before anything is written: the manifest | nil, message.
local function check_manifest(plan, label)
  local dir, message = fs.tempdir("apsis-import-")
  if not dir then return nil, message end
  local made, errors
  for _, file in ipairs(plan.files) do
    if file.path == "manifest.yaml" then fs.write(dir .. "/manifest.yaml", file.text) end
  end
  made, errors = manifest.load(dir .. "/manifest.yaml")
  fs.remove_tree(dir)
  if made then return checked_keys(plan, made) end
  local from = (dir .. "/manifest.yaml"):gsub("%p", "%%%0")
  return nil, (table.concat(errors, "\n"):gsub(from, (label:gsub("%%", "%%%%"))))
    .. "\nnothing was written: these errors are in the new manifest; fix the imported project"
end

local function write_file(into, file)
  local path = into .. "/" .. file.path
  local folder = path:match("^(.*)/[^/]*$")
  local text, message = file.text, nil
  if not text then text, message = fs.read(file.from) end
  if not text then return nil, message end
  local ok
  ok, message = fs.mkdir(folder)
  if ok then ok, message = fs.write(path, text) end
  if ok and file.mode and file.mode & 73 ~= 0 then ok, message = fs.chmod(path, file.mode) end -- 0111: it may be run
  return ok, message
end

local function write_all(into, files)
  local ok, message = fs.mkdir(into)
  if not ok then return nil, message end
  for _, file in ipairs(files) do
    ok, message = write_file(into, file)
    if not ok then return nil, ("%s: %s"):format(show.line(file.path, 300), message) end
  end
  return true
end

-- Runs git without user settings that could change bytes, run a hook or prompt. true | nil, message.
local function run_git(into, ...)
  local argv = { "git", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false",
    "-c", "core.safecrlf=false", ... }
  local env = { GIT_DIR = false, GIT_WORK_TREE = false, GIT_INDEX_FILE = false, GIT_OBJECT_DIRECTORY = false,
    GIT_TERMINAL_PROMPT = "0" }
  local result, message = process.run { argv = argv, cwd = into, env = env, timeout_s = 600 }
  if not result then return nil, "git: " .. message end
  if result.code == 0 then return true end
  return nil, ("git %s: %s"):format(argv[10], show.line(editline.trim_end(result.stderr.tail or result.stderr.head),
    300))
end

local function has_identity(into)
  return run_git(into, "var", "GIT_COMMITTER_IDENT") ~= nil
end

-- Creates the repository and its first commit, unless the target is inside one. "committed" or the command to run |
-- nil, message.
local function commit(into, label)
  local repo, message, code = git.open(into)
  if repo then
    local head = repo:info()
    repo:close()
    local own = fs.stat(into .. "/.git") and head and not head.head
    if not own then return ("git add %s && git commit -m 'apsis: imported project'"):format(quoted(label)) end
  elseif code ~= "ENOREPO" then
    return nil, message
  end
  local ok = repo ~= nil
  if not ok then ok, message = run_git(into, "init", "-q") end
  if ok then ok, message = run_git(into, "add", "-A", "-f", ".") end -- also what the imported .gitignore ignores
  if ok then
    local who = has_identity(into) and {} or { "-c", "user.name=apsis", "-c", "user.email=apsis@localhost" }
    who[#who + 1] = "commit"
    table.move({ "-q", "-m", "Imported by apsis" }, 1, 3, #who + 1, who)
    ok, message = run_git(into, table.unpack(who))
  end
  if not ok then return nil, message end
  return "committed"
end

-- ---- output ----

local headings = { mapped = "settings:", other_meaning = "with another meaning:",
  other_selection = "used by the other selection only:", not_taken_over = "not taken over:", not_needed = "not needed:",
  unknown = "unknown (named in comments in manifest.yaml):" }

local function print_report(plan)
  for _, state in ipairs(common.states) do
    local width, any = 0, false
    for _, entry in ipairs(plan.report.entries) do
      if entry.state == state then width, any = math.max(width, math.min(#entry.key, 40)), true end
    end
    if any then print(headings[state]) end
    for _, entry in ipairs(plan.report.entries) do
      if entry.state == state then
        print(("  %s%s  %s"):format(show.line(entry.key, 200), (" "):rep(width - #entry.key),
          show.line(entry.about, 400)))
      end
    end
  end
  if #plan.left_out > 0 then print "not copied:" end
  for _, left in ipairs(plan.left_out) do
    print(("  %s: %s"):format(show.line(left.path, 300), show.line(left.why, 300)))
  end
  for _, note in ipairs(plan.report.notes) do print("note: " .. show.line(note, 1000)) end
end

local function print_result(args, plan, done, can_run)
  print(("imported %s into %s: %d files%s"):format(show.line(args.dir, 300), show.line(args.into, 300), #plan.files,
    done == "committed" and ", committed" or ""))
  print_report(plan)
  print "next:"
  if done ~= "committed" then print("  " .. done) end
  for _, command in ipairs { "setup", "baseline" } do print(("  apsis %s %s"):format(command, quoted(args.into))) end
  if can_run then return print("  apsis run " .. quoted(args.into)) end
  print(("fill in provider: in %s, commit it, and then:"):format(quoted(args.into .. "/manifest.yaml")))
  print("  apsis run " .. quoted(args.into))
end

local function print_json(args, plan, done)
  local files, settings = json.array {}, json.array {}
  for index, file in ipairs(plan.files) do files[index] = file.path end
  for index, entry in ipairs(plan.report.entries) do
    settings[index] = { key = entry.key, state = entry.state, about = entry.about, place = entry.place }
  end
  print(json.encode { kind = args.kind, from = fs.realpath(args.dir), into = fs.realpath(args.into), name = plan.name,
    files = files, settings = settings, notes = json.array(plan.report.notes), not_copied = json.array(plan.left_out),
    committed = done == "committed", next = done ~= "committed" and done or json.null })
end

function import.run(args)
  local ok, message = check_options(args)
  if ok then ok, message = check_places(args) end
  if not ok then return 2, message end
  local runner = host.read(RUNNER)
  local into = absolute(args.into)
  local importer = require("apsis.import." .. args.kind)
  local plan, errors = importer.plan(args.dir, { into = into, program = args.program,
    evaluator = args.evaluator, config = args.config,
    selection = args.selection, python = args.python, base_url = args.base_url, api_key_env = args.api_key_env,
    model = args.model, max_mb = args.max_mb, runner = runner, inspect = inspector(args.python, runner) })
  if not plan then return 2, table.concat(errors, "\n") end
  ok, message = check_apart(into, plan.root or args.dir, args)
  local made
  if ok then made, message = check_manifest(plan, args.into:gsub("(.)/+$", "%1") .. "/manifest.yaml") end
  if not made then return 2, message end
  ok, message = write_all(into, plan.files)
  local done
  if ok then done, message = commit(into, args.into) end
  if not done then return 3, message end
  if args.json then print_json(args, plan, done) else print_result(args, plan, done, made.provider ~= nil) end
  return 0
end

return import
