-- look: what a directory has that a first manifest needs: what may measure and check it, what may change, which coding
-- agents are installed. Reads names and a few files; runs nothing but `command -v`, and Python to look for pytest.
-- Called by choose.
local fs = require "apsis.fs"
local json = require "apsis.json"
local process = require "apsis.process"
local programs = require "apsis.live.programs"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"

local look = {}

local MOST_FILES = 6 -- named one by one; from there on, a glob

local function has(dir, name) return fs.stat(dir .. "/" .. name) end

-- The targets that a Makefile names.
local function targets(dir)
  local found = {}
  for _, name in ipairs { "GNUmakefile", "makefile", "Makefile" } do
    for target in ("\n" .. (fs.read(dir .. "/" .. name) or "")):gmatch "\n([%w_-]+)%s*:[^=]" do found[target] = true end
  end
  return found
end

local function is_folder(dir, name)
  local stat = has(dir, name)
  return stat ~= nil and stat.type == "directory"
end

-- The scripts of package.json. npm's placeholder for tests is none, nor are tests whose packages are not installed.
local function npm_scripts(dir)
  local package = json.decode(fs.read(dir .. "/package.json") or "")
  if type(package) ~= "table" then return {} end
  local scripts = type(package.scripts) == "table" and package.scripts or {}
  local installed = has(dir, "node_modules") or not (package.dependencies or package.devDependencies)
  if not installed or tostring(scripts.test):find "no test specified" then scripts.test = nil end
  return scripts
end

-- The first Python package in a folder that is not a test's.
local function python_package(dir)
  for _, name in ipairs(fs.list(dir) or {}) do
    if not name:find "^tests?$" and has(dir, name .. "/__init__.py") then return name end
  end
end

-- What a Python command needs before it, so that it measures the files here and not an installed package.
local function python_path(dir, path)
  if python_package(dir .. "/src") then return "PYTHONPATH=src " end
  return path:find "/" and python_package(dir) and "PYTHONPATH=. " or ""
end

local runners = { sh = "sh", py = "python3", js = "node", mjs = "node", rb = "ruby", pl = "perl", lua = "lua" }

-- A script as a command: by its path if it may be run, else by its interpreter.
local function command_of(dir, path)
  local ending = path:match "%.(%w+)$"
  local before = ending == "py" and python_path(dir, path) or ""
  if fs.stat(dir .. "/" .. path).mode & 73 ~= 0 then return before .. "./" .. path end -- 0111
  return before .. runners[ending] .. " " .. path
end

local function measures_by_name(name)
  local stem = name:match "^[^.]+"
  return stem and (stem:find "^bench" or stem:find "bench$" or stem:find "^measure" or stem:find "^perf"
    or stem:find "^eval") ~= nil
end

local benchmark_folders = { "", "bench/", "benches/", "benchmark/", "benchmarks/", "scripts/", "tools/" }
local usual = { index = true, main = true, run = true } -- names of a benchmark in a folder of benchmarks

local function benchmark_scripts(dir)
  local list = {}
  for _, folder in ipairs(benchmark_folders) do
    for _, name in ipairs(fs.list(dir .. "/" .. folder) or {}) do
      local stem, ending = name:match "^([^.]+)%.(%w+)$"
      local measures = measures_by_name(name) or folder:find "^bench" and usual[stem]
      if runners[ending] and measures then list[#list + 1] = command_of(dir, folder .. name) end
    end
  end
  return list
end

-- The commands that may measure, the likeliest first.
local function measures(dir)
  local list, target, scripts = benchmark_scripts(dir), targets(dir), npm_scripts(dir)
  for _, name in ipairs { "bench", "benchmark", "perf", "eval" } do
    if target[name] then list[#list + 1] = "make -s " .. name end
    if scripts[name] then list[#list + 1] = "npm run -s " .. name end
  end
  if has(dir, "Cargo.toml") and has(dir, "benches") then list[#list + 1] = "cargo bench -q" end
  return list
end

local function can_import(name)
  local result = process.run { argv = { "python3", "-I", "-c", "import " .. name }, cwd = "/", timeout_s = 10 }
  return result ~= nil and result.code == 0
end

-- The folder of Python's tests and one of them, or nil.
local function python_tests(dir)
  for _, folder in ipairs { "tests", "test", "." } do
    for _, name in ipairs(fs.list(dir .. "/" .. folder) or {}) do
      if name:find "^test_.*%.py$" or name:find "_test%.py$" then return folder, dir .. "/" .. folder .. "/" .. name end
    end
  end
end

-- The command that runs Python's tests: pytest if it is installed, unittest if they are written for it, or nil.
local function python_check(dir)
  local folder, one = python_tests(dir)
  if not folder then return nil end
  local before = python_path(dir, "")
  if can_import "pytest" then return before .. "python3 -m pytest -q" end
  local text = fs.read(one) or ""
  return text:find "import unittest" and not text:find "import pytest"
    and ("%spython3 -m unittest discover -q -s %s"):format(before, folder) or nil
end

-- The command that tests, or nil.
local function check(dir)
  local target = targets(dir)
  if target.test or target.check then return "make " .. (target.test and "test" or "check") end
  if npm_scripts(dir).test then return "npm test" end
  if has(dir, "Cargo.toml") then return "cargo test -q" end
  if has(dir, "go.mod") then return "go test ./..." end
  return python_check(dir)
end

local languages = {}
for ending in ("c h cc cpp hpp rs go py js mjs ts java rb lua zig jl R f90 cs swift sh pl php kt hs ml"):gmatch "%S+" do
  languages[ending] = true
end

local function is_source(dir, name)
  return languages[name:match "%.(%w+)$"] and not name:find "[Tt]est" and not name:find "%.d%.ts$"
    and name ~= "setup.py" and not measures_by_name(name) and fs.stat(dir .. "/" .. name).type == "file"
end

-- Source files at the top, without tests and what measures; more than `most` of them as globs.
local function sources(dir, most)
  local list, endings = {}, {}
  for _, name in ipairs(fs.list(dir) or {}) do
    if is_source(dir, name) then
      local ending = name:match "%.(%w+)$"
      list[#list + 1] = name
      if not endings[ending] then endings[#endings + 1], endings[ending] = "*." .. ending, true end
    end
  end
  return #list <= most and list or endings
end

local writable

-- What may change in the packages of a monorepo: the same in each.
local function of_packages(dir)
  local list, known = {}, {}
  for _, folder in ipairs { "packages", "crates" } do
    for _, name in ipairs(fs.list(dir .. "/" .. folder) or {}) do
      for _, glob in ipairs(writable(dir .. "/" .. folder .. "/" .. name, 0)) do
        local path = folder .. "/*/" .. glob
        if not known[path] then list[#list + 1], known[path] = path, true end
      end
    end
  end
  return list
end

-- What may change: the source folder, a Python package, the source files at the top, or those of a monorepo's packages.
function writable(dir, most)
  for _, folder in ipairs { "src", "lib", "source", "app", "internal", "pkg" } do
    if is_folder(dir, folder) then return { folder .. "/**" } end
  end
  local package = python_package(dir)
  if package then return { package .. "/**" } end
  local list = sources(dir, most)
  return #list > 0 and list or most > 0 and of_packages(dir) or list
end

-- The only metric whose line METRIC NAME= is in these files, or nil.
local function metric_in(dir, names, text)
  local texts, found = { text }, nil
  for _, name in ipairs(names) do
    local stat = fs.stat(dir .. "/" .. name)
    if stat and stat.type == "file" and stat.size < 1e5 then texts[#texts + 1] = fs.read(dir .. "/" .. name) end
  end
  for name in table.concat(texts, "\n"):gmatch "METRIC%s+([%w_.]+)=" do
    if found and found ~= name then return nil end
    found = name
  end
  return found
end

-- The only metric in a command or in a script that it names, else in the files at the top; or nil.
function look.metric(dir, command)
  local words, files = {}, {}
  for word in command:gmatch "[^%s;&|<>()\"']+" do words[#words + 1] = word end
  for _, name in ipairs(fs.list(dir) or {}) do
    if languages[name:match "%.(%w+)$"] or name:find "^[Mm]akefile$" then files[#files + 1] = name end
  end
  return metric_in(dir, words, command) or metric_in(dir, files)
end

local function agents()
  local list = {}
  local preset = shape.field(shape.field(schema.manifest, "provider"), "preset")
  for _, name in ipairs(preset.allowed) do
    if programs.in_path(".", name) then list[#list + 1] = name end
  end
  return list, preset.allowed
end

-- Folders of installed packages that git ignores, which commands see only by a link.
local function links(dir, is_ignored)
  local list = {}
  for _, folder in ipairs(benchmark_folders) do
    for _, name in ipairs { "node_modules", ".venv", "venv", "vendor" } do
      local path = folder .. name
      if is_folder(dir, path) and is_ignored(path .. "/x") then list[#list + 1] = path end
    end
  end
  return list
end

-- { measures, check, writable, agents (installed), known (all presets), links }. is_ignored(path): whether git ignores
-- a path of the directory.
function look.at(dir, is_ignored)
  local installed, known = agents()
  return { measures = measures(dir), check = check(dir), writable = writable(dir, MOST_FILES), agents = installed,
    known = known, links = links(dir, is_ignored) }
end

return look
