-- stubs: compares lua/meta with the live modules, both ways: every function a stub names exists, every function a module has is
-- named. Prints what differs; nothing is a pass. Run by `make check` from the repository's root.
local fs = require "apsis.fs"

-- Modules that strategies and scripts may require but that are apsis's own machinery, and so without a stub.
local machinery = { host = true, guard = true, standby = true }

local function acceptance_state()
  local acceptance, direction = require "apsis.acceptance", require "apsis.direction"
  local state = acceptance.new(acceptance.settings(), direction.new {})
  state:baseline { 1, 2, 3, 4, 5 }
  return state
end

-- Handles: the class a C binding registers (the metatable's name), or an object of a Lua module.
local handles = {
  git = { "apsis.repo" }, worktree = { "apsis.worktree" }, metric = { "apsis.metric.scanner" }, process = { "apsis.process" },
  terminal = { "apsis.terminal" },
  http = { "apsis.http" }, server = { "apsis.server" },
  regex = { "apsis.regex" }, state = { "apsis.state.lock", "apsis.state.journal" }, wait = { "apsis.timer" },
  direction = { function() return require("apsis.direction").new {} end },
  random = { "apsis.random.stream" },
  archive = { function() return require("apsis.archive").new { metric = require("apsis.direction").new {} } end },
  acceptance = { acceptance_state, function() return acceptance_state():judge(require("apsis.random").stream(1)) end },
  fronts = { function() return require("apsis.fronts").new(require("apsis.direction").new {}) end },
  adaptation = { function() return require("apsis.adaptation").new(0, 1) end },
  populations = { function() return require("apsis.populations").new(require("apsis.direction").new {}, 1) end },
  elites = { function() return require("apsis.elites").new(require("apsis.direction").new {}, 1) end },
  model_bandit = { function() return require("apsis.model_bandit").new { "a" } end },
  prompt_pool = { function() return require("apsis.prompt_pool").new "" end },
  bandit = { function() return require("apsis.bandit").new { names = { "a" } } end },
}

local function methods_of(what)
  local meta = type(what) == "function" and getmetatable(what()) or debug.getregistry()[what]
  return meta and meta.__index or {}
end

-- Names a stub documents: functions of the module, and methods of its handles.
local function documented(name, text)
  local functions, methods = {}, {}
  for owner, mark, called in text:gmatch("\nfunction ([%w_]+)([.:])([%w_]+)%(") do
    if owner == name and mark == "." then functions[called] = true else methods[called] = true end
  end
  return functions, methods
end

local function live(name)
  local functions, methods = {}, {}
  local module = require("apsis." .. name)
  for key, value in pairs(type(module) == "table" and module or {}) do
    if type(value) == "function" then functions[key] = true end
  end
  for _, what in ipairs(handles[name] or {}) do
    for key, value in pairs(methods_of(what)) do
      if type(value) == "function" and key:sub(1, 2) ~= "__" then methods[key] = true end
    end
  end
  return functions, methods
end

local function compare(name, kind, stub, real)
  for key in pairs(stub) do
    if not real[key] then print(("lua/meta/%s.lua documents %s %s, which does not exist"):format(name, kind, key)) end
  end
  for key in pairs(real) do
    if not stub[key] then print(("apsis.%s has %s %s, which lua/meta/%s.lua does not document"):format(name, kind, key, name)) end
  end
end

local names = {}
for _, file in ipairs(fs.list("lua/apsis")) do
  if file:find("%.lua$") then names[#names + 1] = file:sub(1, -5) end
end
for name in pairs(package.preload) do names[#names + 1] = name:match("^apsis%.(.*)") end
table.sort(names)
for _, name in ipairs(names) do
  if not machinery[name] then
    local text = fs.read("lua/meta/" .. name .. ".lua")
    if text then
      local functions, methods = documented(name, "\n" .. text)
      local real_functions, real_methods = live(name)
      compare(name, "function", functions, real_functions)
      compare(name, "method", methods, real_methods)
    else
      print("there is no lua/meta/" .. name .. ".lua")
    end
  end
end
