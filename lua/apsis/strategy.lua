-- strategy: builds a strategy from others. extend overrides hooks of a base; use makes a sub-strategy with separate
-- memory, options and random streams, to which the engine passes every line. Both take a shipped name, a path to a
-- .lua file or a strategy's table, and are called while a strategy file loads.
local strategy = {}

-- Set by the engine while a strategy file loads: load(name) -> strategy table, adopt(sub).
local loading

function strategy.with_loader(loader, body, ...)
  local outer = loading
  loading = loader
  local results = table.pack(pcall(body, ...))
  loading = outer
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

local function resolve(base)
  if type(base) == "table" then return base end
  if not loading then error("strategy.extend and strategy.use are for the top level of a strategy file", 3) end
  return loading.load(base)
end

function strategy.extend(base, overrides)
  local merged = {}
  for key, value in pairs(resolve(base)) do merged[key] = value end
  local options, fields = {}, merged.fields
  for key, value in pairs(merged.options or {}) do options[key] = value end
  for key, value in pairs(overrides.options or {}) do options[key] = value end
  for key, value in pairs(overrides) do merged[key] = value end
  if overrides.accept then merged.climbs, merged.breaks_ties = overrides.climbs, overrides.breaks_ties end
  merged.options = options
  if fields and overrides.fields then
    merged.fields = table.move(overrides.fields, 1, #overrides.fields, #fields + 1, table.move(fields, 1, #fields, 1,
      {}))
  elseif overrides.prompt then
    merged.fields = overrides.fields -- if there are none: a prompt hook may fill in fields unknown to the base
  end
  return merged
end

function strategy.use(name, options)
  if not loading then error("strategy.use is for the top level of a strategy file", 2) end
  return loading.adopt(resolve(name), type(name) == "string" and name or nil, options or {})
end

return strategy
