-- strategy: the hook contract. Loads a strategy file into its sandbox, validates it naming the file and the nearest
-- hook, fills in the defaults (strategies/hillclimb.lua) and checks options against those it declares. Knows no world.
local best_of = require "apsis.core.best_of"
local guard = require "apsis.guard"
local host = require "apsis.host"
local own_files = require "apsis.core.shipped"
local json = require "apsis.json"
local library = require "apsis.strategy"
local sandbox = require "apsis.core.sandbox"
local suggest = require "apsis.suggest"

local contract = {}

contract.hooks = { "init", "plan", "prompt", "select", "stage", "stopped", "accept", "learn", "halt" }

local known = { options = true, check = true, fields = true, climbs = true, breaks_ties = true, name = true,
  description = true }
for _, hook in ipairs(contract.hooks) do known[hook] = true end

local function read_file(path)
  local file <close>, message = io.open(path, "rb")
  if not file then return nil, message end
  return file:read "a"
end

-- The source of a shipped name, or of a path relative to dir: text, path shown, dir of the file.
local function find_source(name, dir)
  if not name:find("%.lua$") then
    local text, where = host.read("strategies/" .. name .. ".lua")
    if text then return text, where, nil end
    local shipped = contract.shipped()
    return nil, ("no strategy %q; shipped: %s; or give a path that ends in .lua%s"):format(
      name, table.concat(shipped, ", "), suggest.sentence(name, shipped))
  end
  local path = name:sub(1, 1) == "/" and name or (dir or ".") .. "/" .. name
  path = path:gsub("^%./", "")
  local text, message = read_file(path)
  if not text then return nil, "cannot read the strategy file: " .. message end
  return text, path, path:match("^(.*)/[^/]*$") or "."
end

function contract.shipped()
  local names = {}
  for _, file in ipairs(own_files.list "strategies/") do names[#names + 1] = file:match("([%w_]+)%.lua$") end
  return names
end

-- Raises with a message that names the file if the table is no strategy.
local function validate(module, where)
  if type(module) ~= "table" then
    error(("%s: a strategy file returns a table of hooks, not %s"):format(where, type(module)), 0)
  end
  local keys = {}
  for key in pairs(module) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  for _, key in ipairs(keys) do
    if not known[key] then
      local allowed = table.move(contract.hooks, 1, #contract.hooks, 1, {})
      allowed[#allowed + 1] = "options"
      error(("%s: unknown hook %q%s; hooks: %s"):format(where, key, suggest.sentence(key, allowed),
        table.concat(contract.hooks, ", ")), 0)
    end
  end
  for _, hook in ipairs(contract.hooks) do
    if module[hook] ~= nil and type(module[hook]) ~= "function" then
      error(("%s: hook %q must be a function, not %s"):format(where, hook, type(module[hook])), 0)
    end
  end
  if module.check ~= nil and type(module.check) ~= "function" then
    error(("%s: check must be a function, not %s"):format(where, type(module.check)), 0)
  end
  if module.fields ~= nil and type(module.fields) ~= "table" then
    error(("%s: fields must be a list of names, not %s"):format(where, type(module.fields)), 0)
  end
  for _, key in ipairs { "climbs", "breaks_ties" } do
    if module[key] ~= nil and type(module[key]) ~= "boolean" then
      error(("%s: %s must be true or false, not %s"):format(where, key, type(module[key])), 0)
    end
  end
  if module.options ~= nil and type(module.options) ~= "table" then
    error(("%s: options must be a table of defaults, not %s"):format(where, type(module.options)), 0)
  end
  return module
end

local function shown(value)
  local ok, text = pcall(json.encode, value)
  return ok and type(value) == "table" and text or tostring(value)
end

-- What a strategy declares in options may be set, to a value of the same type.
local function merge_options(declared, given, where)
  local options, names = {}, {}
  for key, value in pairs(declared) do
    options[key] = value
    names[#names + 1] = tostring(key)
  end
  table.sort(names)
  for key, value in pairs(given) do
    local default = declared[key]
    if default == nil then
      error(("%s: unknown option %q%s; options: %s"):format(where, tostring(key), suggest.sentence(tostring(key),
        names), table.concat(names, ", ")), 0)
    end
    if type(value) ~= type(default) then
      error(("%s: option %s must be a %s (default %s), not %s"):format(where, key,
        type(default) == "table" and "list or mapping" or type(default), shown(default), shown(value)), 0)
    end
    options[key] = value
  end
  return setmetatable(options, { __index = function(_, key)
    error(("the strategy declares no option %q%s"):format(tostring(key), suggest.sentence(tostring(key), names)), 2)
  end })
end

-- A strategy's check of its options: check(options) -> nil, or what is wrong with them.
local function check_options(full, options, where)
  local message = full.check and full.check(options)
  if message then error(("%s: %s"):format(where, message), 0) end
  return options
end

local load_module

-- A strategy's require: the library, the primitives, and files beside the strategy; never the machinery.
local function requirer(dir, env)
  local loaded = {}
  return function(name)
    if name:find("^apsis%.[%w_]+%.") then
      error(("require %q: a strategy may require modules directly in lua/apsis, not those in its folders")
        :format(name), 2)
    end
    if loaded[name] ~= nil then return loaded[name] end
    local path = dir and package.searchpath(name, dir .. "/?.lua;" .. dir .. "/?/init.lua")
    if not path then return sandbox.module(name, require(name)) end
    local chunk = assert(loadfile(path, "t", env))
    loaded[name] = chunk(name, path) or true
    return loaded[name]
  end
end

-- A file that loops while it loads is stopped as a hook is.
local function guarded(chunk, where)
  local ok, result = guard.call(chunk)
  if ok then return result end
  local message = result:gsub("\nstack traceback:.*$", "")
  error(message:find(where, 1, true) and message or where .. ": " .. message, 0)
end

load_module = function(name, dir, loader, prepare)
  local text, where, own_dir = find_source(name, dir)
  if not text then error(where, 0) end
  local require_module
  local env = sandbox.new(function(wanted) return require_module(wanted) end)
  require_module = requirer(own_dir, env)
  if prepare then prepare(env) end
  local chunk, message = load(text, "@" .. where, "t", env)
  if not chunk then error(message:find(where, 1, true) and message or where .. ": " .. message, 0) end
  local module = library.with_loader(loader(own_dir), guarded, chunk, where)
  return validate(module, where), where
end

-- Fills hooks that are absent with those of the defaults.
local function complete(module, defaults)
  local full = {}
  for key, value in pairs(defaults) do full[key] = value end
  for key, value in pairs(module) do full[key] = value end
  full.options = {}
  for key, value in pairs(defaults.options or {}) do full.options[key] = value end
  for key, value in pairs(module.options or {}) do full.options[key] = value end
  return full
end

-- load{use=, options=, dir=} -> strategy | nil, message. strategy = { name, where, hooks, options, climbs (what it
-- keeps depends on how candidates of different parents compare; if a file does not say, it does), breaks_ties (it asks
-- for metric.tie_breaker; if a file does not say, it does), subs = {sub...} };
-- a sub = { name, hooks, options, bind(invoke) } whose hooks the strategy calls with its own run. spec.prepare(env), if
-- given, gets the globals of each file before it is loaded.
function contract.load(spec)
  local subs, where = {}, spec.use
  local loader
  loader = function(dir)
    return {
      load = function(name) return (load_module(name, dir, loader, spec.prepare)) end,
      adopt = function(module, name, options)
        local label = name or "sub-strategy " .. #subs + 1
        local full = complete(validate(module, label), contract.defaults())
        local sub = { name = label, hooks = full, index = #subs + 1,
          options = check_options(full, merge_options(full.options, options, label), label) }
        subs[#subs + 1] = sub
        local face = { options = sub.options }
        for _, hook in ipairs(contract.hooks) do
          face[hook] = full[hook] and function(run, ...) return full[hook](run:sub(sub), ...) end
        end
        return face
      end,
    }
  end
  local ok, result = pcall(function()
    local module
    module, where = load_module(spec.use, spec.dir, loader, spec.prepare)
    local full = complete(module, contract.defaults())
    return { name = spec.use, where = where, hooks = full, declared = full.options, own = module,
      climbs = module.climbs ~= false, breaks_ties = module.breaks_ties ~= false,
      options = check_options(full, merge_options(full.options, spec.options or {}, where), where), subs = subs }
  end)
  if ok then return result end
  return nil, tostring(result)
end

-- What absent hooks do: hill-climbing's policy, the library's prompt, the best of the answers without an error, every
-- stage.
local builtin = {}

function builtin.prompt(run, proposal)
  return require("apsis.prompt").default(run, proposal)
end

function builtin.select(_, _, answers)
  return best_of.select(answers)
end

function builtin.stage()
  return true
end

local defaults
function contract.defaults()
  if not defaults then
    defaults = {}
    for hook, body in pairs(builtin) do defaults[hook] = body end
    for key, value in pairs((load_module("hillclimb", nil, function() return {} end))) do defaults[key] = value end
  end
  return defaults
end

return contract
