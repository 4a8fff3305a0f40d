-- definition: a world as its file says it: loads a shipped world's name or a .lua file, checks it, and sets the options that
-- a text such as "nk:n=20,k=4" names. Some options every world has; the rest are its own. Called by trial and the command.
local host = require "apsis.host"
local suggest = require "apsis.suggest"

local definition = {}

-- What every world may be given beside its own options.
definition.common = {
  noise = "none", -- or gaussian, student-t, lognormal, drift: what is added to each measurement
  noise_sd = 1.0, -- its standard deviation, in the metric's units
  seconds = 60.0, spread = 0.5, -- simulated time of an experiment: its median, and the standard deviation of its logarithm
  tokens = 0, cost = 0.0, -- what asking for one proposal takes
}

local functions = { "init", "baseline", "propose", "evaluate", "text" }
local needed = { "baseline", "propose", "evaluate" }
local known = { options = "table", direction = "string", metric = "string", description = "string" }
for _, name in ipairs(functions) do known[name] = "function" end

-- The names of the shipped worlds.
function definition.shipped()
  local names = {}
  for _, file in ipairs(host.list "lua/apsis/lab/worlds/") do names[#names + 1] = file:match("([%w_]+)%.lua$") end
  return names
end

local function source_of(name)
  if name:find("%.lua$") then
    local file, message = io.open(name, "rb")
    if not file then return nil, "cannot read the world: " .. message end
    local text = file:read("a")
    file:close()
    return text, name
  end
  local text, where = host.read("lua/apsis/lab/worlds/" .. name .. ".lua")
  if text then return text, where end
  local shipped = definition.shipped()
  return nil, ("no world %q%s; shipped: %s; or give a path that ends in .lua"):format(name, suggest.sentence(name, shipped),
    table.concat(shipped, ", "))
end

local function names_of(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- What is wrong with what a world's file returned; nil where nothing is.
local function problem_of(module)
  if type(module) ~= "table" then return "a world's file returns a table, not " .. type(module) end
  for _, name in ipairs(names_of(module)) do
    if not known[name] then
      return ("unknown key %q%s; keys: %s"):format(name, suggest.sentence(name, names_of(known)), table.concat(names_of(known), ", "))
    end
    if type(module[name]) ~= known[name] then return ("%s must be a %s, not %s"):format(name, known[name], type(module[name])) end
  end
  for _, name in ipairs(needed) do
    if not module[name] then return ("a world needs a function %s"):format(name) end
  end
  for name in pairs(module.options or {}) do
    if definition.common[name] ~= nil then return ("option %s is every world's: give it another name"):format(name) end
  end
end

local function value_of(text)
  if text == "true" then return true elseif text == "false" then return false end
  return tonumber(text) or text
end

-- Sets one option; nil and what is wrong.
local function set(options, name, text)
  local default = options[name]
  if default == nil then
    return nil, ("unknown option %q%s; options: %s"):format(name, suggest.sentence(name, names_of(options)),
      table.concat(names_of(options), ", "))
  end
  local value = value_of(text)
  if type(default) == "string" then value = text end
  if type(value) ~= type(default) or math.type(default) == "integer" and math.type(value) ~= "integer" then
    return nil, ("option %s must be a %s (default %s), not %s"):format(name, math.type(default) == "integer" and "whole number"
      or type(default), default, text)
  end
  options[name] = value
  return true
end

-- load("nk:n=20,k=4") -> { label, name, where, module, options } | nil, message.
function definition.load(text)
  local name, settings = text:match("^(.-):([%w_]+=.*)$")
  name, settings = name or text:gsub(":$", ""), settings or ""
  local source, where = source_of(name)
  if not source then return nil, where end
  local chunk, message = load(source, "@" .. where, "t")
  if not chunk then return nil, message end
  local ok, module = pcall(chunk, name)
  if not ok then return nil, tostring(module) end
  local wrong = problem_of(module)
  if wrong then return nil, where .. ": " .. wrong end
  local options = {}
  for key, value in pairs(definition.common) do options[key] = value end
  for key, value in pairs(module.options or {}) do options[key] = value end
  for setting in settings:gmatch("[^,]+") do
    local key, value = setting:match("^([%w_]+)=(.*)$")
    if not key then return nil, ("%s: %q is not KEY=VALUE"):format(text, setting) end
    ok, message = set(options, key, value)
    if not ok then return nil, ("world %s: %s"):format(name, message) end
  end
  return { label = text, name = name, where = where, module = module, options = options }
end

return definition
