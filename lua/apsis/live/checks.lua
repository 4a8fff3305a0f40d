-- checks: what stands in the way of a project's experiments, asked without measuring anything: its strategy, git,
-- files, provider, verifier, workspaces and the scheduler. Makes nothing but folders for workspaces and jobs. Called by
-- the command setup.
local evaluator = require "apsis.live.evaluator"
local executor = require "apsis.live.executor.here"
local fs = require "apsis.fs"
local home = require "apsis.project.home"
local lfs = require "apsis.live.lfs"
local programs = require "apsis.live.programs"
local prompts = require "apsis.project.prompts"
local providers = require "apsis.project.providers"
local quoted = require("apsis.project.path").quoted
local rooms = require "apsis.core.rooms"
local scopes = require "apsis.live.scope"
local suggest = require "apsis.suggest"

local checks = {}

local NEEDED_BYTES = 64 * 1048576
local MOST_SHOWN = 5 -- files of a mode
local MOST_NAMES = 5000 -- that a mistyped one is compared with

-- The program that sh would run: the first word after NAME=value; nil if that is unclear.
local function first_word(run)
  if type(run) == "table" then return run[1] end
  local rest = run:gsub("^%s+", "")
  while rest:find("^[%a_][%w_]*=[^%s\"'$`]*%s+") do rest = rest:gsub("^%S+%s+", "", 1) end
  local word = rest:match("^[^%s;&|<>()]+")
  if word and not word:find("[\"'$`*?{}\\]") then return word end
end

-- The project's committed paths; none if git failed.
local function committed(self)
  if self.names then return self.names end
  self.names = {}
  if not self.world then return self.names end
  local start = self.world.prefix == "" and "" or self.world.prefix .. "/"
  for _, entry in ipairs(self.world.repo:entries(self.world.head) or {}) do
    if entry.path:sub(1, #start) == start then self.names[#self.names + 1] = entry.path:sub(#start + 1) end
  end
  return self.names
end

-- The nearest committed name, as a remark on a path; "" if none is near.
local function nearest(self, path)
  local names = committed(self)
  return suggest.sentence(path, #names <= MOST_NAMES and names or table.move(names, 1, MOST_NAMES, 1, {}))
end

-- In the folder, or in the commit that candidates start from.
local function exists(self, path)
  return fs.stat(self.dir .. "/" .. path) ~= nil
    or self.world and self.world.repo:is_tracked(self.world:repository_path(path)) or false
end

local function plain_path(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then parts[#parts] = nil
    elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

-- Expands a leading ~ like the shell.
local function written_out(word)
  return word and home.expand(word)
end

-- Whether a command makes a file, which need not be there before: one with mode generated, or, if there are earlier
-- commands, one that is kept between them.
local function is_made(self, path, earlier)
  for _, pattern in ipairs(earlier and self.manifest.verification.keep or {}) do
    if fs.glob_match(pattern, path) then return true end
  end
  return self.world ~= nil and self.world.scope:mode(path) == "generated"
end

-- true | nil, why.
local function has_script(self, run, cwd, earlier)
  local script = written_out(programs.script_of(run))
  if not script then return true end
  if script:sub(1, 1) == "/" then
    if fs.stat(script) then return true end
    return nil, ("%s is not found"):format(script)
  end
  local path = plain_path((cwd or ".") .. "/" .. script)
  local missing = self.world and programs.uncommitted(self.world, path)
  if not missing and exists(self, path) or is_made(self, path, earlier) then return true end
  if missing then return nil, missing end
  return nil, ("%s is not found in the project%s"):format(path, nearest(self, path))
end

-- A command given as a path, relative to its folder. true | nil, why.
local function runnable(self, dir, word, earlier)
  local absolute = word:sub(1, 1) == "/"
  local path = absolute and word or dir .. "/" .. word
  local stat = fs.stat(path)
  local inside = not absolute and plain_path(path:sub(#self.dir + 2))
  if not stat and inside and is_made(self, inside, earlier) then return true end
  if not stat and absolute then return nil, ("%s is not found"):format(word) end
  if not stat then return nil, ("%s is not found in the project%s"):format(word, nearest(self, inside)) end
  if stat.mode & 73 == 0 then -- 0111
    return nil, ("%s is not executable: chmod +x %s && git add %s, then commit"):format(word, word, word)
  end
  local lacking = programs.not_interpreted(path, word)
  if lacking then return nil, lacking end
  if absolute or not self.world then return true end
  local missing = programs.uncommitted(self.world, inside)
  if missing and is_made(self, inside, earlier) then return true end
  return not missing, missing
end

-- true | nil, why. Looks for the program as the command would: apsis's folder first, from the command's folder.
local function findable(self, run, cwd, earlier)
  local word = written_out(first_word(run))
  if not word then return true end
  local dir = self.dir .. (cwd and cwd ~= "." and "/" .. cwd or "")
  if word:find("/") then return runnable(self, dir, word, earlier) end
  return programs.in_path(dir, word)
end

-- Whether a command's program and its script are there. earlier: other commands run before it. true | nil, why.
local function can_run(self, run, cwd, earlier)
  run = programs.behind_cd(self.dir, run, cwd)
  local ok, message = findable(self, run, cwd, earlier)
  if ok then ok, message = has_script(self, run, cwd, earlier) end
  return ok, message
end

-- A command line as it would be typed.
local function shown_line(run)
  if type(run) ~= "table" then return run end
  local words = {}
  for index, word in ipairs(run) do words[index] = quoted(word) end
  return table.concat(words, " ")
end

-- Where candidates start, if that is the baseline's commit, which may be an older one than HEAD.
local function start_of(self)
  local commit = not self.manifest.own_branch and (self.baseline or {}).commit
  return commit and self.world.repo:commit_info(commit) and commit or nil
end

local function check_provider(self)
  local spec = self.manifest.provider
  local ok, message, code = self.world:open_provider()
  if not spec then return true, message .. "; `apsis submit` needs none", "note" end
  if not ok then return nil, message, code end
  local kind = providers.of(spec)
  local run = kind.command and kind.command(spec)
  if not run then return true, kind.endpoint and "not asked here: `apsis doctor` asks its endpoint" or nil end
  ok, message = can_run(self, run)
  if ok then message = programs.provider_lacks(self.world, start_of(self)) end
  if message then return nil, ("%s: provider: %s"):format(self.manifest.where "provider", message), 4 end
  local found = "command found (not run): " .. shown_line(kind.line and kind.line(self.world, spec) or run)
  local uncounted = providers.uncounted(self.manifest)
  if not uncounted then return true, found end
  return true, found .. "\n" .. uncounted, "note"
end

-- The measuring commands: { { command, key }... }.
local function measuring(manifest)
  local list = {}
  for _, which in ipairs { "checks", "commands" } do
    for index, command in ipairs(manifest.verification[which] or {}) do
      list[#list + 1] = { command, ("verification.%s[%d]"):format(which, index) }
    end
  end
  for _, commands_of in rooms.each "commands" do
    for _, one in ipairs(commands_of(manifest)) do list[#list + 1] = { one.command, one.key } end
  end
  return list
end

-- Measures that are not checked here.
local function unchecked(manifest)
  local parts = {}
  if #measuring(manifest) > 0 then parts[1] = "commands found (not run): `apsis baseline` runs them" end
  local judges = {}
  for _, asked in rooms.each "endpoints" do
    for _, one in ipairs(asked(manifest)) do judges[#judges + 1] = one.name end
  end
  if #judges > 0 then
    parts[#parts + 1] = ("who judges %s is not asked here: `apsis doctor` asks the endpoint%s"):format(
      table.concat(judges, " and "),
      #judges == 1 and "" or "s")
  end
  return #parts > 0 and table.concat(parts, "\n") or nil
end

-- Why a glob of verification.cases names no test case, or nil.
local function no_case(self)
  for index, pattern in ipairs(self.world and self.manifest.verification.cases or {}) do
    local found = false
    for _, path in ipairs(committed(self)) do found = found or fs.glob_match(pattern, path) end
    local key = ("verification.cases[%d]"):format(index)
    if not found then
      return ("%s: %s: %s matches no committed file%s"):format(self.manifest.where(key), key, pattern,
        nearest(self, pattern))
    end
  end
end

function checks.verifier(self)
  local missing = {}
  for index, one in ipairs(measuring(self.manifest)) do
    local command, key = one[1], one[2]
    local ok, message = can_run(self, command.run, command.cwd, index > 1)
    if not ok then missing[#missing + 1] = ("%s: %s: %s"):format(self.manifest.where(key), key, message) end
  end
  missing[#missing + 1] = no_case(self)
  if #missing > 0 then return nil, table.concat(missing, "\n"), 5 end
  return true, unchecked(self.manifest)
end

-- The project's committed files by mode.
local function by_mode(self)
  local found, scope = {}, self.world.scope
  for _, path in ipairs(committed(self)) do
    local mode = scope:mode(path)
    found[mode] = found[mode] or {}
    table.insert(found[mode], path)
  end
  return found
end

-- Why a rule names no committed file, or nil.
local function names_nothing(self, rule)
  local only = scopes.new({ rule }, { elsewhere = true })
  for _, path in ipairs(committed(self)) do
    if select(2, only:mode(path)) then return nil end
  end
  local path = plain_path(rule.path)
  if fs.stat(self.dir .. "/" .. path) then return rule.path .. " (not committed: git add it, then commit)" end
  return rule.path .. nearest(self, path):gsub("^; (.*)$", " (%1)")
end

-- The files by mode, and the rules that name none. A candidate may make a writable file, so this fails only if nothing
-- is writable; or if what should be sealed is not there, as what is meant may lie open.
local function check_files(self)
  local found, lines, absent, writable_absent = by_mode(self), {}, {}, {}
  for _, mode in ipairs { "writable", "hidden", "generated", "read_only" } do
    local list = found[mode]
    if list then
      local shown = table.concat(list, ", ", 1, math.min(#list, MOST_SHOWN))
      lines[#lines + 1] = ("%s (%d): %s%s"):format(mode, #list, shown, #list > MOST_SHOWN and ", ..." or "")
    end
  end
  for _, rule in ipairs(self.manifest.files) do
    local why = rule.mode ~= "generated" and names_nothing(self, rule)
    if why and rule.sealed and not why:find "not committed" then
      return nil, ("%s: holdout: %s names no file, so it seals nothing: correct the glob"):format(
        self.manifest.where "holdout", why), 2
    end
    if why then table.insert(rule.mode == "writable" and writable_absent or absent, why) end
  end
  local missing = table.concat(writable_absent, ", ")
  if missing ~= "" then missing = "writable, but no committed file: " .. missing .. "; " end
  if missing ~= "" and not found.writable then
    return nil, missing .. "so nothing may be changed: correct `files` in the manifest, or commit the file", 2
  end
  if missing ~= "" then lines[#lines + 1] = missing .. "a candidate may make it" end
  if #absent > 0 then lines[#lines + 1] = "no committed file: " .. table.concat(absent, ", ") end
  return true, table.concat(lines, "\n"), (missing ~= "" or #absent > 0) and "note" or nil
end

local function check_workspaces(self)
  local root = executor.root(self.home, self.manifest.workspace.root)
  local ok, message = fs.mkdir(root)
  local probe = root .. "/.writable"
  if ok then ok, message = fs.write(probe, "") end
  if not ok then
    return nil, ("%s; set workspace.root or XDG_CACHE_HOME to a folder that can be written"):format(message), 3
  end
  fs.remove(probe)
  local free = fs.free_bytes(root)
  if free and free < NEEDED_BYTES then
    return nil, ("%s: %d MB free; candidates are checked out there"):format(root, free // 1048576), 3
  end
  return true, root
end

-- Where measurements are sent, if not here: its programs are found and it answers; nothing is sent.
local function check_execution(self)
  local to, missing = self.world.executor, {}
  for _, one in pairs(to.programs) do
    local word, ok, message = first_word(one.run), true, nil
    if word and not word:find "/" then ok, message = programs.in_path(self.dir, word) end
    if not ok then missing[#missing + 1] = one.absent or ("%s: %s"):format(one.called, message) end
  end
  table.sort(missing)
  if #missing > 0 then return nil, table.concat(missing, "\n"), 3 end
  local ok, message, code = to:ready()
  if not ok then return nil, message, code end
  local found, remark = to:remark()
  return true, found .. (remark and "\n" .. remark or ""), remark and "note" or nil
end

local function has_prompts(self)
  return self.strategy ~= nil and (#(fs.list(self.home .. "/prompts") or {}) > 0 or #self.manifest.prompt.include > 0)
end

-- The project's own templates: their errors, and which are read.
local function check_prompts(self)
  local found = prompts.check(self.home, self.strategy, (providers.of(self.manifest.provider) or {}).reads_answers)
  local _, errors = prompts.included(self.dir, self.manifest.prompt.include)
  table.move(errors, 1, #errors, #found.errors + 1, found.errors)
  if #found.errors > 0 then return nil, table.concat(found.errors, "\n"), 2 end
  if #found.warnings > 0 then return true, table.concat(found.warnings, "\n"), "note" end
  return true, #found.read > 0 and "of the project: " .. table.concat(found.read, ", ") or "none in prompts/ is read"
end

-- apsis's folders should not be committed: those it makes ignore themselves; the user decides about others.
local function check_ignored(self)
  local none <const> = "git sees no file that apsis writes"
  if self.manifest.program_file then return true, none end -- each of a goal's folders ignores itself
  local open = {}
  for _, name in ipairs { "logs", "runs", ".apsis" } do
    local there = fs.stat(self.dir .. "/" .. name)
    if there and not self.world.repo:is_ignored(self.world:repository_path(name .. "/x")) then
      open[#open + 1] = "/" .. name .. "/"
    end
  end
  if #open == 0 then return true, none end
  return true, ("not ignored by git; add these lines to %s/.gitignore: %s"):format(self.dir,
    table.concat(open, " ")), "note"
end

local function check_strategy(self)
  local ok, message, code = self:load_strategy()
  if not ok then return nil, message, code end
  local lines = { self.manifest.strategy.use }
  for _, advice in rooms.each "advice" do
    local texts = advice(self)
    table.move(texts, 1, #texts, #lines + 1, lines)
  end
  return true, table.concat(lines, "\n"), #lines > 1 and "note" or nil
end

-- Whether another evaluator than now measured the baseline.
local function measures_otherwise(self)
  self.otherwise = self.baseline and self.baseline.value and evaluator.changed(self.world, self.baseline)
  return self.otherwise
end

local function check_baseline(self)
  return true, ("%s: the evaluator has changed since %s, so values would not be comparable"):format(self.otherwise,
    self.baseline.id), "note"
end

-- The project's refs that name a commit which is not there, or has no tree: git, too, refuses to work with them.
local function lacking(self)
  local world, gone = self.world, {}
  local function look(name, id)
    if id and not world.repo:resolve(id .. "^{tree}") then gone[#gone + 1] = name end
  end
  for _, prefix in ipairs { world.refs, world.anchors } do
    for _, ref in ipairs(world.repo:refs(prefix) or {}) do look(ref.name, ref.id) end
  end
  look(world.branch.ref, world.repo:ref(world.branch.ref))
  self.lacking = gone
  return #gone > 0
end

local function check_refs(self)
  return true, ("%s%s: what it names is missing: git fetch brings it from where a copy is; else `apsis reset -f` puts "
    .. "the rest away"):format(self.lacking[1], #self.lacking > 1 and (" and %d more"):format(#self.lacking - 1) or ""),
    "note"
end

local all = {
  { "strategy", check_strategy },
  { "prompts", check_prompts, when = has_prompts },
  { "git and files", function(self)
    local ok, message, code = self:open_world(nil, true)
    if ok then ok, message, code = self:check_files(true) end
    local pointer = ok and lfs.pointer(self.world)
    if pointer then return nil, lfs.remedy(pointer), 3 end
    return ok, ok and "HEAD " .. self.world.head:sub(1, 12) or message, code
  end },
  { "files", check_files, needs_world = true },
  { "provider", check_provider, needs_world = true },
  { "verifier", checks.verifier },
  { "workspaces", check_workspaces },
  { "execution", check_execution, needs_world = true,
    when = function(self) return self.world and self.world.executor.programs end },
  { "ignored files", check_ignored, needs_world = true },
  { "candidates", check_refs, needs_world = true, when = lacking },
  { "baseline", check_baseline, needs_world = true, when = measures_otherwise },
}

-- The checks of a session in order, { check, ok, detail, code, note } each; what needs git is left out if git failed.
-- baseline: the newest one, or nil.
function checks.perform(self, baseline)
  self.baseline = baseline
  local results = { { check = "manifest", ok = true, detail = self.manifest.path } }
  for _, check in ipairs(all) do
    if (self.world or not check.needs_world) and (not check.when or check.when(self)) then
      local ok, detail, code = check[2](self)
      results[#results + 1] = { check = check[1], ok = ok and true or false, detail = detail, code = not ok
        and (code or 2) or nil,
        note = code == "note" or nil }
    end
  end
  return results
end

return checks
