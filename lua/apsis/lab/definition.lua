-- definition: a world as its file defines it: loads a shipped world's name or a .lua file, checks it, and sets the
-- options that a text such as "nk:n=20,k=4" names. Some options every world has; the rest are its own. What is wrong is
-- said here, with the file or the option and what is allowed, so that nothing is left to go wrong in a run. Runs no
-- world. Called by trial and the command.
local guard = require "apsis.guard"
local host = require "apsis.host"
local own_files = require "apsis.core.shipped"
local noise = require "apsis.lab.noise"
local problems = require "apsis.options"
local sandbox = require "apsis.core.sandbox"
local suggest = require "apsis.suggest"

local definition = {}

-- What every world may be given beside its own options.
definition.common = {
  -- What is added to each measurement: gaussian, student-t, lognormal, lognormal-low, drift, trend, rounded,
  -- flaky, rare, quantised, ar1, spikes, by-candidate, cold, t2, bimodal or telegraph (see noise.lua).
  noise = "none",
  noise_sd = 1.0, -- in the metric's units; given without noise, the noise is gaussian; 0 is none
  -- Simulated time of an experiment: its median, and the standard deviation of its logarithm.
  seconds = 60.0, spread = 0.5,
  tokens = 0, cost = 0.0, -- what asking for one proposal takes
}

local limit = { least = 0 }
local rules = { noise = { one_of = noise.names }, noise_sd = limit, seconds = limit, spread = limit, tokens = limit,
  cost = limit }

local functions = { "init", "baseline", "propose", "evaluate", "text", "parse", "check" }
local needed = { "baseline", "propose", "evaluate" }
local known = { options = "table", direction = "string", metric = "string", description = "string",
  operators = "table", pareto = "table" }
for _, name in ipairs(functions) do known[name] = "function" end

-- The names of the shipped worlds.
function definition.shipped()
  local names = {}
  for _, file in ipairs(own_files.list "lua/apsis/lab/worlds/") do names[#names + 1] = file:match("([%w_]+)%.lua$") end
  return names
end

local function read_file(name)
  local file, message = io.open(name, "rb")
  local text
  if file then
    text, message = file:read("a")
    file:close()
  end
  if text then return text, name end
  return nil, "cannot read the world: " .. (message:find(name, 1, true) and message or name .. ": " .. message)
end

local function source_of(name)
  if name:find("%.lua$") then return read_file(name) end
  local text, where = host.read("lua/apsis/lab/worlds/" .. name .. ".lua")
  if text then return text, where end
  local shipped = definition.shipped()
  return nil, ("no world %q%s; shipped: %s; or give a path that ends in .lua"):format(name,
    suggest.sentence(name, shipped), table.concat(shipped, ", "))
end

local function names_of(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = tostring(name) end
  table.sort(names)
  return names
end

-- What is wrong with the defaults a world's file declares; nil if nothing is.
local function problem_of_options(options)
  for name, default in pairs(options) do
    if type(name) ~= "string" or not name:find("^[%w_]+$") then
      return ("option %s: a name is made of letters, digits and _"):format(tostring(name))
    end
    if definition.common[name] ~= nil then return ("option %s is every world's: give it another name"):format(name) end
    local kind = type(default)
    if kind ~= "number" and kind ~= "string" and kind ~= "boolean" then
      return ("option %s: its default must be a number, a text, true or false, not a %s"):format(name, kind)
    end
  end
end

-- What is wrong with what a world's file returned; nil if nothing is.
local function problem_of(module)
  if type(module) ~= "table" then return "a world's file returns a table, not " .. type(module) end
  for _, name in ipairs(names_of(module)) do
    if not known[name] then
      return ("unknown key %q%s; keys: %s"):format(name, suggest.sentence(name, names_of(known)),
        table.concat(names_of(known), ", "))
    end
    if type(module[name]) ~= known[name] then
      return ("%s must be a %s, not %s"):format(name, known[name], type(module[name]))
    end
  end
  for _, name in ipairs(needed) do
    if not module[name] then return ("a world needs a function %s"):format(name) end
  end
  if module.direction and module.direction ~= "higher" and module.direction ~= "lower" then
    return ("direction must be higher or lower, not %q"):format(module.direction)
  end
  for index, name in ipairs(module.operators or {}) do
    if type(name) ~= "string" then
      return ("operators: entry %d is a %s, not an operator's name"):format(index, type(name))
    end
  end
  return problem_of_options(module.options or {})
end

-- A text as a value of the kind that a default has; nil if it is none.
local function value_of(text, default)
  if type(default) == "string" then return text end
  if type(default) == "boolean" then
    if text == "true" then return true elseif text == "false" then return false end
    return nil
  end
  local number = tonumber(text)
  if not number or number - number ~= 0 then return nil end
  if math.type(default) == "integer" then return math.tointeger(number) end
  return number + 0.0
end

-- Sets one option; nil and what is wrong.
local function set(options, name, text)
  local default = options[name]
  if default == nil then
    return nil, ("unknown option %q%s; options: %s"):format(name, suggest.sentence(name, names_of(options)),
      table.concat(names_of(options), ", "))
  end
  local value = value_of(text, default)
  if value == nil then
    local kind = math.type(default) == "integer" and "a whole number" or type(default) == "number" and "a number"
      or "true or false"
    return nil, ("option %s must be %s (default %s), not %q"):format(name, kind, default, text)
  end
  options[name] = value
  return true
end

-- "nk:n=20,k=4" -> "nk", "n=20,k=4". A name without dot or slash ends at the first colon; a path ends at the first .lua
-- that a colon or nothing follows. So a path may hold colons, and so may a value.
local function parted(text)
  local name, settings = text:match("^([^:./]+):(.*)$")
  if not name then name, settings = text:match("^(.-%.lua):(.*)$") end
  if name then return name, settings end
  return text, ""
end

-- The settings, each KEY=VALUE: a comma divides them where the next KEY= follows it, so that a value may hold commas
-- and =.
local function settings_of(text)
  local list, rest = {}, text
  while rest ~= "" do
    local key, after = rest:match("^%s*([%w_]+)%s*=(.*)$")
    if not key then return nil, ("%q is not KEY=VALUE"):format(rest) end
    local stop = after:find(",%s*[%w_]+%s*=")
    list[#list + 1] = { key = key, value = after:sub(1, stop and stop - 1) }
    rest = stop and after:sub(stop + 1) or ""
  end
  return list
end

-- The options as a text sets them, checked; nil and what is wrong.
local function options_of(module, text)
  local options, seen = {}, {}
  for key, value in pairs(definition.common) do options[key] = value end
  for key, value in pairs(module.options or {}) do options[key] = value end
  local settings, message = settings_of(text)
  if not settings then return nil, message end
  for _, setting in ipairs(settings) do
    local ok
    ok, message = set(options, setting.key, setting.value)
    if not ok then return nil, message end
    if seen[setting.key] then return nil, ("option %s is set twice"):format(setting.key) end
    seen[setting.key] = true
  end
  if seen.noise_sd and not seen.noise then options.noise = "gaussian" end
  if options.noise_sd == 0 then options.noise = "none" end
  message = problems.problem(options, rules) or module.check and module.check(options)
  if not message and module.pareto and options.noise ~= "none" then
    message = ("noise goes with one metric, and this world has %d"):format(#module.pareto)
  end
  if message then return nil, message end
  return options
end

local function refused(name, instead)
  return sandbox.refused("worlds", name, instead)
end

-- The globals of a world's file: its own, less what would not be the same again. What is nobody's is looked up when it
-- is used.
local function globals()
  local env = setmetatable({}, { __index = _G })
  env._G, env.pairs, env.math, env.os = env, sandbox.sorted_pairs, sandbox.copy(math), sandbox.copy(os)
  for _, name in ipairs { "random", "randomseed" } do env.math[name] = refused("math." .. name, "lab.rng") end
  for _, name in ipairs { "time", "clock", "date" } do
    env.os[name] = refused("os." .. name, "lab.rng for chance, and the answer's seconds for what an experiment takes")
  end
  function env.os.exit() error("os.exit is not for worlds: raise an error, or give nil and { reason = ... }", 2) end
  return env
end

-- The table that a world's file returns; nil and what is wrong. Its globals are its own.
local function module_of(name)
  local source, where = source_of(name)
  if not source then return nil, where end
  local chunk, message = load(source, "@" .. where, "t", globals())
  if not chunk then return nil, message end
  local ok, module = guard.call(chunk, name) -- a file without an end is stopped as a hook is
  if not ok then return nil, (module:gsub("\nstack traceback:.*$", "")) end
  local wrong = problem_of(module)
  if wrong then return nil, where .. ": " .. wrong end
  return module, where
end

-- load("nk:n=20,k=4") -> { label, name, where, module, options } | nil, message.
function definition.load(text)
  local name, settings = parted(text)
  local module, where = module_of(name)
  if not module then return nil, where end
  local options, message = options_of(module, settings)
  if not options then return nil, ("world %s: %s"):format(name, message) end
  return { label = text, name = name, where = where, module = module, options = options }
end

return definition
