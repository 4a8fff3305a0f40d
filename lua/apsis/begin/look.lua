-- look: what a directory has that a first manifest needs: what may measure and check it, what may change, which coding
-- agents are installed. Reads names and a few files; runs nothing but `command -v`. Called by choose.
local fs = require "apsis.fs"
local json = require "apsis.json"
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

-- The scripts of package.json; npm's placeholder for tests is none.
local function npm_scripts(dir)
  local package = json.decode(fs.read(dir .. "/package.json") or "")
  local scripts = type(package) == "table" and type(package.scripts) == "table" and package.scripts or {}
  if type(scripts.test) == "string" and scripts.test:find "no test specified" then scripts.test = nil end
  return scripts
end

local runners = { sh = "sh", py = "python3", js = "node", mjs = "node", rb = "ruby", pl = "perl", lua = "lua" }

-- A script as a command: by its path if it may be run, else by its interpreter.
local function command_of(dir, path)
  if fs.stat(dir .. "/" .. path).mode & 73 ~= 0 then return "./" .. path end -- 0111
  return runners[path:match "%.(%w+)$"] .. " " .. path
end

local function is_benchmark(name)
  local stem, ending = name:match "^([^.]+)%.(%w+)$"
  return stem and runners[ending] and (stem:find "^bench" or stem:find "bench$" or stem:find "^measure"
    or stem:find "^perf" or stem:find "^eval")
end

local function benchmark_scripts(dir)
  local list = {}
  for _, folder in ipairs { "", "bench/", "benches/", "benchmark/", "benchmarks/", "scripts/", "tools/" } do
    for _, name in ipairs(fs.list(dir .. "/" .. folder) or {}) do
      if is_benchmark(name) then list[#list + 1] = command_of(dir, folder .. name) end
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

local function python_tests(dir)
  if has(dir, "pytest.ini") or has(dir, "conftest.py") or has(dir, "tox.ini") then return true end
  for _, folder in ipairs { ".", "tests", "test" } do
    for _, name in ipairs(fs.list(dir .. "/" .. folder) or {}) do
      if name:find "^test_.*%.py$" then return true end
    end
  end
  return false
end

-- The command that tests, or nil.
local function check(dir)
  local target = targets(dir)
  if target.test or target.check then return "make " .. (target.test and "test" or "check") end
  if npm_scripts(dir).test then return "npm test" end
  if has(dir, "Cargo.toml") then return "cargo test -q" end
  if has(dir, "go.mod") then return "go test ./..." end
  if python_tests(dir) then return "python3 -m pytest -q" end
end

local languages = { c = true, h = true, cc = true, cpp = true, hpp = true, rs = true, go = true, py = true, js = true,
  ts = true, java = true, rb = true, lua = true, zig = true, jl = true, R = true, f90 = true, cs = true, swift = true }

-- Source files at the top, without tests and what measures.
local function sources(dir)
  local list, endings = {}, {}
  for _, name in ipairs(fs.list(dir) or {}) do
    local ending = name:match "%.(%w+)$"
    local source = languages[ending] and not name:find "[Tt]est" and name ~= "setup.py" and name ~= "conftest.py"
    if source and not is_benchmark(name) and fs.stat(dir .. "/" .. name).type == "file" then
      list[#list + 1] = name
      if not endings[ending] then endings[#endings + 1], endings[ending] = "*." .. ending, true end
    end
  end
  return #list <= MOST_FILES and list or endings
end

-- What may change: the source folder, a Python package, or the source files at the top.
local function writable(dir)
  for _, folder in ipairs { "src", "lib", "source", "app", "internal", "pkg" } do
    local stat = has(dir, folder)
    if stat and stat.type == "directory" then return { folder .. "/**" } end
  end
  for _, name in ipairs(fs.list(dir) or {}) do
    if not name:find "^tests?$" and has(dir, name .. "/__init__.py") then return { name .. "/**" } end
  end
  return sources(dir)
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
  for _, name in ipairs { "node_modules", ".venv", "venv", "vendor" } do
    local stat = has(dir, name)
    if stat and stat.type == "directory" and is_ignored(name .. "/x") then list[#list + 1] = name end
  end
  return list
end

-- { measures, check, writable, agents (installed), known (all presets), links }. is_ignored(path): whether git ignores
-- a path of the directory.
function look.at(dir, is_ignored)
  local installed, known = agents()
  return { measures = measures(dir), check = check(dir), writable = writable(dir), agents = installed, known = known,
    links = links(dir, is_ignored) }
end

return look
