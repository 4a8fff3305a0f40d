-- starts: every place that starts a process. What is run for a candidate or a provider goes through the cage; the rest
-- runs programs of the user's own or of the machine, never files that a candidate could have written, and is listed
-- here with its reason.
local tap = require "tap"
local fs = require "apsis.fs"
local test, equal = tap.test, tap.equal

local root = "../.."

-- By file, wherever it lies: how many places, why they need no cage, and the feature room that the file goes with.
local listed = {
  ["cage.c"] = { 3, "the cage's inner process, and the command in it" },
  ["mounts.c"] = { 1, "a process of the cage's that makes its network" },
  ["child.lua"] = { 2, "apsis itself, for a call of an agent; kill, to end it", "drive" },
  ["command.lua"] = { 1, "doctor asks the user's coding agent for its version, outside the project" },
  ["doctor.lua"] = { 2, "git says who commits" },
  ["import.lua"] = { 2, "python -I reads an evaluator as text; git makes the new repository", "import" },
  ["launcher.c"] = { 1, "apsis itself, by the loader of its bundle" },
  ["look.lua"] = { 1, "python -I imports pytest, to see whether it is installed", "begin" },
  ["templates.lua"] = { 1, "apsis itself, in the test of a strategy that is written for the user", "begin" },
  ["jobs.lua"] = { 1, "apsis itself", "lab" },
  ["notify.lua"] = { 1, "on: the user's own commands", "goals" },
  ["anchors.lua"] = { 1, "git packs what is older, without hooks" },
  ["proc.c"] = { 1, "process.run and process.start: they start the cage's program" },
  ["again.lua"] = { 1, "apsis itself, for a candidate on the screen", "watch" },
  ["queue.lua"] = { 1, "submit, status and cancel of the user's scheduler", "cluster" },
  ["card.lua"] = { 1, "rsvg-convert or chromium draws a picture that apsis made", "report" },
  ["report.lua"] = { 1, "the user's browser, with --open", "report" },
  ["programs.lua"] = { 1, "`command -v`: whether a program is there" },
  ["terminal.lua"] = { 1, "the user's pager" },
  ["next.lua"] = { 1, "git makes the checkout a repository, without hooks", "drive" },
  ["work.lua"] = { 1, "apsis itself, in the background", "drive" },
  ["standby.c"] = { 2, "apsis itself, which goes on in a copy of its process" },
  ["steer.lua"] = { 1, "the user's editor", "goals" },
  ["ways.lua"] = { 1, "tries the cage" },
}

local starts = {
  lua = { "process%.run%f[^%w_]", "process%.start%f[^%w_]", "process%[", "os%.execute", "io%.popen" },
  c = { "%f[%w_]v?fork%s*%(", "%f[%w_]posix_spawnp?%s*%(", "%f[%w_]clone3?%s*%(", "%f[%w_]f?execv?l?[vlpe]*%s*%(",
    "%f[%w_]fexecve%s*%(", "%f[%w_]execveat%s*%(", "%f[%w_]popen%s*%(", "%f[%w_]system%s*%(", "syscall%s*%(%s*SYS_exec%w*",
    "syscall%s*%(%s*SYS_clone%w*", "syscall%s*%(%s*SYS_v?fork" },
}

local function without_comments(text, language)
  if language == "c" then return (text:gsub("/%*.-%*/", "")) end
  return ("\n" .. text):gsub("\n%s*%-%-[^\n]*", "\n"):gsub(" %-%- [^\n]*", "")
end

-- How many places of a source start a process: all, and those that go through the cage.
local function count(path, language)
  local text, all = without_comments(assert(fs.read(root .. "/" .. path)), language), 0
  for _, pattern in ipairs(starts[language]) do
    for _ in text:gmatch(pattern) do all = all + 1 end
  end
  local _, caged = text:gsub("process%.%l+%(%l+:in_cage%(", "")
  return all, caged
end

local found = {} -- the places outside the cage
local in_cage = 0

local function look(dir)
  for _, name in ipairs(assert(fs.list(root .. "/" .. dir))) do
    local path = dir .. "/" .. name
    local language = name:match "%.(lua)$" or name:match "%.(c)$"
    if fs.stat(root .. "/" .. path).type == "directory" then
      if path ~= "lua/meta" then look(path) end
    elseif language then
      local all, caged = count(path, language)
      in_cage = in_cage + caged
      if all > caged then found[name] = (found[name] or 0) + all - caged end
    end
  end
end

look "lua"
look "runtime"

test("what is run for candidates and providers goes through the cage", function()
  -- a place's run: the provider and its throwaway git, the verification and a program's version all take it; a kept
  -- evaluator and its client
  assert(in_cage == 3, in_cage .. " places")
  assert(fs.read(root .. "/lua/apsis/live/executor/here.lua"):find("function Place:in_cage%b()\n[^\n]*\n"
    .. "%s*return self.here.cage:put%("))
end)

test("every other place that starts a process is listed with its reason", function()
  local expected = {}
  for name, entry in pairs(listed) do
    local there = not entry[3] or fs.stat(root .. "/lua/apsis/" .. entry[3])
    expected[name] = there and entry[1] or nil
  end
  equal(found, expected)
end)

tap.done()
