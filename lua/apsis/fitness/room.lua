-- room: the hooks of scoring by domains (listed in lua/apsis/core/DETAILS.md). Each loads its part at first use.
local room = {}

local function components(manifest)
  local spec = manifest.fitness
  return spec and (spec.components or { spec }) or {}
end

local function key_of(manifest, index)
  return manifest.fitness.components and ("fitness.components[%d]"):format(index) or "fitness"
end

-- ---- the manifest ----

function room.keys(parts)
  return { { "fitness", require("apsis.fitness.schema").node(parts), after = "verification",
    stands_for = { "verification", "verification.commands", "metric" } } }
end

function room.early_rules(draft) require("apsis.fitness.schema").variants(draft) end

function room.rules(draft, checks) require("apsis.fitness.schema").check(draft, checks) end

function room.lower_layer(layer, path, place)
  if place.file then return nil end
  return require("apsis.fitness.hyperagents").layer(layer, path, place)
end

-- ---- the world ----

function room.measurer(world)
  if not world.manifest.fitness then return nil end
  local made, message, code = require("apsis.fitness.scoring").open(world)
  return made or false, message, code
end

function room.key_holders(manifest)
  local list = { manifest.fitness }
  table.move(components(manifest), 1, #components(manifest), #list + 1, list)
  return list
end

function room.commands(manifest)
  local list = {}
  for index, one in ipairs(components(manifest)) do
    local key = key_of(manifest, index)
    if one.run and not one.harness then list[#list + 1] = { command = one, key = key } end
    for _, part in ipairs { "harness", "report" } do
      if one[part] then
        list[#list + 1] = { command = { run = one[part].run, cwd = one.cwd }, key = key .. "." .. part }
      end
    end
  end
  return list
end

-- Where a judge is asked, and how patiently, is not what measures.
local around = { base_url = true, api_key_env = true, timeout_sec = true, retries = true, price = true }

local function without_addresses(value)
  if type(value) ~= "table" then return value end
  local copy = setmetatable({}, getmetatable(value))
  for key, one in pairs(value) do
    if not around[key] then copy[key] = without_addresses(one) end
  end
  return copy
end

function room.measures(manifest) return { fitness = without_addresses(manifest.fitness) } end

-- Scores since the parent, kept by how they compare: a change as good as its parent's is no better than it.
function room.advice(session)
  local list = {}
  for index, one in ipairs(session.strategy and session.strategy.climbs and components(session.manifest) or {}) do
    local key = key_of(session.manifest, index) .. ".against"
    if one.against == "parent" then
      list[#list + 1] = ("%s: %s: parent: each score is of one change only, and %s compares it with the scores of "
        .. "other changes, so that a candidate as good as its parent is reverted; remove it, or write against: "
        .. "baseline")
        :format(session.manifest.where(key), key, session.strategy.name)
    end
  end
  return list
end

function room.endpoints(manifest)
  local ask, list = require "apsis.fitness.domains.ask", {}
  for index, one in ipairs(ask.judges(manifest.fitness)) do
    local settings, wrong = ask.settings(one.spec, manifest.provider)
    list[index] = { key = one.key, name = one.spec.name, settings = settings, wrong = wrong }
  end
  return list
end

-- ---- commands ----

function room.options(command, parser)
  if command == "eval" then require("apsis.fitness.eval").options(parser) end
end

function room.eval_session(session, args) return require("apsis.fitness.eval").session(session, args) end

function room.predictions(run_dir) return require "apsis.fitness.predictions"(run_dir) end

return room
