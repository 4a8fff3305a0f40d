-- domains: prepares the components of a manifest's fitness: the module, file or command of each harness and report,
-- and whether their files exist. Called by fitness/scoring.
local ask = require "apsis.fitness.domains.ask"
local fs = require "apsis.fs"
local hooks = require "apsis.core.hooks"
local items = require "apsis.fitness.domains.items"
local outside = require "apsis.fitness.domains.outside"
local sandbox = require "apsis.core.sandbox"

local domains = {}

-- A custom domain's function, guarded like a hook: an error means no score, with its place.
local function guarded(path, name, body)
  return function(...)
    local result = table.pack(hooks.guarded(body, ...))
    if not result[1] then return nil, ("%s: %s: %s"):format(path, name, tostring(result[2]):match("^[^\n]*")) end
    if result[2] == nil then return true end -- it wrote its files and returned nothing
    return result[2], result[3]
  end
end

-- A custom domain: { name, harness, report } | nil, message.
local function load_own(world, path)
  local text, message = fs.read(world.dir .. "/" .. path)
  if not text then return nil, ("%s: %s"):format(path, message) end
  local chunk
  chunk, message = load(text, "@" .. path, "t", setmetatable({ print = sandbox.print }, { __index = _G }))
  if not chunk then return nil, message end
  local ok, made = hooks.guarded(chunk)
  if not ok then return nil, made end
  if type(made) ~= "table" then
    return nil, ("%s must return { name =, harness =, report = }, not %s"):format(path, type(made))
  end
  if made.name ~= nil and type(made.name) ~= "string" then return nil, path .. ": name must be a text" end
  local domain = { name = made.name, stamp = text }
  for _, name in ipairs { "harness", "report" } do
    if made[name] ~= nil and type(made[name]) ~= "function" then
      return nil, ("%s: %s must be a function, not %s"):format(path, name, type(made[name]))
    end
    domain[name] = made[name] and guarded(path, name, made[name])
  end
  return domain
end

-- A component's files must exist, and candidates must not be able to change them.
local function check_files(world, spec, key)
  local head = { commit = world.head, tree = world:need(world.repo:commit_info(world.head)).tree }
  for _, name in ipairs { "tasks", "expected" } do
    local path = spec[name]
    if type(path) == "string" then
      local text, message = items.file(world, head, path)
      if not text then
        return nil, ("%s: %s.%s: %s"):format(world.manifest.where(key .. "." .. name), key, name, message)
      end
      if world.scope:mode(path) == "writable" then
        return nil, ("%s: %s.%s: %s is writable, so that a candidate could change what it is judged by; give it mode: "
          .. "hidden or read_only")
          :format(world.manifest.where(key .. "." .. name), key, name, path)
      end
    end
  end
  local open = items.writable(world, head, spec)
  if open then
    return nil, ("%s: %s.tasks: %s is writable, so that a candidate could add, change or delete what it is judged by; "
      .. "give it mode: hidden "
      .. "or read_only, or make tasks a file of ids"):format(world.manifest.where(key .. ".tasks"), key, open)
  end
  local list, message = items.of(world, head, spec)
  if message then return nil, ("%s: %s.tasks: %s"):format(world.manifest.where(key .. ".tasks"), key, message) end
  return list or true
end

-- One component: { name, where (FILE:LINE), spec, weight, harness, report, own_name, raw = whether its score must
-- still be divided }.
local function open_one(world, spec, key)
  local domain, message
  if spec.domain:find("%.lua$") then domain, message = load_own(world, spec.domain)
  else domain = require("apsis.fitness.domains." .. spec.domain) end
  if not domain then
    return nil, ("%s: %s.domain: %s"):format(world.manifest.where(key .. ".domain"), key, message), 2
  end
  local ok
  ok, message = check_files(world, spec, key)
  if not ok then return nil, message, 2 end
  local component = { name = spec.name, where = world.manifest.where(key), spec = spec,
    weight = spec.weight, own_name = domain.name, stamp = domain.stamp,
    harness = spec.harness and outside.harness(spec.harness) or domain.harness,
    report = spec.report and outside.report(spec.report) or domain.report,
    raw = (spec.scale or spec.span) and (spec.report or domain.stamp) and true or nil }
  for _, part in ipairs { "harness", "report" } do
    if not component[part] then
      return nil, ("%s: %s.domain: %s has no function %s; add it, or %s: {run: COMMAND} here"):format(
        world.manifest.where(key .. ".domain"), key, spec.domain, part, part), 2
    end
  end
  -- Where candidates of different parents are compared, all are judged from one version.
  if spec.domain == "review" then spec.against = spec.against or world.climbs and "baseline" or "parent" end
  if spec.domain == "review" or spec.domain == "rubric" and not spec.run and not spec.harness then
    ok, message = ask.chat(world, { number = 0 }, spec.name, spec)
    if not ok then return nil, ("%s: %s: %s"):format(world.manifest.where(key), key, message), 4 end
  end
  return component
end

-- The components in order | nil, message, exit code.
function domains.open(world, spec)
  local list = {}
  for index, one in ipairs(spec.components or { spec }) do
    local key = spec.components and ("fitness.components[%d]"):format(index) or "fitness"
    local component, message, code = open_one(world, one, key)
    if not component then return nil, message, code end
    list[index] = component
  end
  return list
end

return domains
