-- setup: checks, without measuring anything, that a project can run: one line per check, `ok` or what to do. Makes
-- nothing but the workspaces' folder, and edits no file of the user.
local common = require "apsis.cli.common"
local environment = require "apsis.live.environment"
local fs = require "apsis.fs"
local json = require "apsis.json"
local pool = require "apsis.live.pool"
local process = require "apsis.process"
local session = require "apsis.cli.session"
local show = require "apsis.cli.table"

local setup = { summary = "check that the project can run: git, files, provider, verifier", example = "apsis setup" }

local NEEDED_BYTES = 64 * 1048576

function setup.options(parser)
  common.project_argument(parser)
  parser:flag("--json", "the checks as a JSON list")
end

-- What sh would run for a command: the first word, past NAME=value; nil where that is not plain to see.
local function first_word(run)
  if type(run) == "table" then return run[1] end
  local rest = run:gsub("^%s+", "")
  while rest:find("^[%a_][%w_]*=[^%s\"'$`]*%s+") do rest = rest:gsub("^%S+%s+", "", 1) end
  local word = rest:match("^[^%s;&|<>()]+")
  if word and not word:find("[\"'$`*?{}\\]") then return word end
end

-- A command given as a path, from the folder it is run in. true | nil, why.
local function runnable(dir, word)
  local stat = fs.stat(word:sub(1, 1) == "/" and word or dir .. "/" .. word)
  if not stat then return nil, ("%s is not found in the project"):format(word) end
  if stat.mode & 73 ~= 0 then return true end -- 0111
  return nil, ("%s is not executable: chmod +x %s && git add %s, then commit"):format(word, word, word)
end

-- true | nil, why. Looked for as the command would be: apsis's own folder first, from the command's folder.
local function findable(self, run, cwd)
  local word = first_word(run)
  if not word then return true end
  local dir = self.dir .. (cwd and cwd ~= "." and "/" .. cwd or "")
  if word:find("/") then return runnable(dir, word) end
  local env = environment.base({ number = 0 }, dir, nil)
  local result, message = process.run { argv = { "sh", "-c", 'command -v -- "$1"', "sh", word }, cwd = dir,
    env = env, timeout_s = 10 }
  if not result then return nil, ("%s: %s"):format(word, message) end
  if result.code == 0 then return true end
  return nil, word .. " is not found in PATH: install it, or write its path"
end

-- The provider's command as the manifest gives it; nil for one that is none.
local function provider_command(spec)
  if spec.kind ~= "command" then return nil end
  local preset = spec.preset and require("apsis.live.provider.command").presets[spec.preset]
  return spec.run or preset and preset.run
end

local function check_provider(self)
  local ok, message, code = self.world:open_provider()
  if not ok then return nil, message, code end
  local run = provider_command(self.manifest.provider)
  if not run then return true end
  ok, message = findable(self, run)
  if not ok then return nil, "provider: " .. message, 4 end
  return true
end

local function check_verifier(self)
  for _, key in ipairs { "checks", "commands" } do
    for index, command in ipairs(self.manifest.verification[key] or {}) do
      local ok, message = findable(self, command.run, command.cwd)
      if not ok then
        return nil, ("%s: verification.%s[%d]: %s"):format(self.manifest.where(("verification.%s[%d]"):format(key,
          index)),
          key, index, message), 5
      end
    end
  end
  return true
end

local function check_workspaces(self)
  local root = pool.root(self.dir, self.manifest.workspace.root)
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

-- apsis's own folders should not be committed; whether they are is the user's to say.
local function check_ignored(self)
  local open = {}
  for _, name in ipairs { "logs", "runs", ".apsis" } do
    if not self.world.repo:is_ignored(self.world:repository_path(name .. "/x")) then open[#open + 1] = "/" .. name
      .. "/" end
  end
  if #open == 0 then return true end
  return true, ("not ignored by git; add these lines to %s/.gitignore: %s"):format(self.dir,
    table.concat(open, " ")), "note"
end

local checks = {
  { "strategy", function(self)
    local ok, message, code = self:load_strategy()
    return ok, ok and self.manifest.strategy.use or message, code
  end },
  { "git and files", function(self)
    local ok, message, code = self:open_world()
    return ok, ok and "HEAD " .. self.world.head:sub(1, 12) or message, code
  end },
  { "provider", check_provider, needs_world = true },
  { "verifier", check_verifier },
  { "workspaces", check_workspaces },
  { "ignored files", check_ignored, needs_world = true },
}

-- The checks in order; what needs git is left out where git failed.
local function perform(self)
  local results = { { check = "manifest", ok = true, detail = self.manifest.path } }
  for _, check in ipairs(checks) do
    if self.world or not check.needs_world then
      local ok, detail, code = check[2](self)
      results[#results + 1] = { check = check[1], ok = ok and true or false, detail = detail, code = not ok
        and (code or 2) or nil,
        note = code == "note" or nil }
    end
  end
  return results
end

local function first_failure(results)
  for _, result in ipairs(results) do
    if not result.ok then return result.code end
  end
  return 0
end

function setup.run(args)
  local self, message, code = session.configure(args.dir)
  local results = self and perform(self) or { { check = "manifest", ok = false, detail = message, code = code } }
  if self then self:close() end
  if args.json then
    print(json.encode(json.array(results)))
    return first_failure(results)
  end
  for _, result in ipairs(results) do
    if result.ok then
      print(("%-5s %s%s"):format(result.note and "note" or "ok", result.check, result.detail and ": "
        .. show.escape(result.detail) or ""))
    else
      io.stdout:flush()
      io.stderr:write(("%s (%s)\n"):format(show.escape(result.detail), result.check))
    end
  end
  local failed = first_failure(results)
  if failed == 0 then print "next: apsis baseline && apsis run" end
  return failed
end

return setup
