-- providers: the kinds of providers, each a file ROOM/provider/NAME.lua that declares what it can do, so that nothing
-- else tests a kind's name. live/provider/README.md has the contract.
local json = require "apsis.json"
local nodes = require "apsis.project.node"
local rooms = require "apsis.core.rooms"

local providers = {}

local known -- in the order of their `place`, and by name

local function read()
  if known then return known end
  known = {}
  for name, module in pairs(rooms.modules "provider") do
    local kind = require(module)
    kind.name, known[name] = name, kind
    known[#known + 1] = kind
  end
  table.sort(known, function(a, b)
    if (a.place or math.huge) ~= (b.place or math.huge) then return (a.place or math.huge) < (b.place or math.huge) end
    return a.name < b.name
  end)
  return known
end

-- Every kind, in the order in which a list shows them.
function providers.all() return read() end

-- The kind of the manifest's provider; nil if it is missing or unknown.
function providers.of(spec) return spec and read()[spec.kind] end

-- The provider's chat endpoint, which others may use too: { base_url, api_key_env, models, choice, ... }; or nil.
function providers.endpoint(spec)
  local kind = providers.of(spec)
  return kind and kind.endpoint and kind.endpoint(spec) or nil
end

-- What a provider's answers report: { tokens, usd }, each true or false.
function providers.counts(spec)
  local counts = (providers.of(spec) or {}).counts
  if type(counts) == "function" then return counts(spec) end
  return { tokens = counts or false, usd = counts or false }
end

-- What was counted of answers, tokens or usd, as JSON: null if it is 0 because the provider's command does not report
-- it, or has not. none: no answer so far was reported.
function providers.reported(spec, kind, sum, none)
  local silent = (providers.of(spec) or {}).command and (none or not providers.counts(spec)[kind])
  return (sum == nil or sum == 0 and silent) and json.null or sum
end

-- Why parts of a budget cannot end a run, or count only a part; nil if they can and count all. Of a provider that runs
-- no command nothing is known.
function providers.uncounted(manifest)
  local spec, hourly = manifest.provider, (manifest.execution or {}).usd_per_hour
  local counts, missing, caps, effects = providers.counts(spec), {}, {}, {}
  for _, key in ipairs { "tokens", "usd" } do
    if (manifest.budget or {})[key] and not counts[key] then
      missing[#missing + 1] = key == "usd" and "dollars" or key
      if key == "usd" and hourly then effects[1] = "budget.usd counts only what execution.usd_per_hour costs"
      else caps[#caps + 1] = "budget." .. key end
    end
  end
  if #missing == 0 or not (providers.of(spec) or {}).command then return nil end
  local remedy = counts.tokens and "price: {input: USD, output: USD} per million tokens in `provider` makes them known"
    or "`usage` in `provider` shows how it reports them"
  if #caps > 0 then
    effects[#effects + 1] = table.concat(caps, " and ") .. (#caps == 1 and " does" or " do") .. " not end the run"
  end
  return ("the provider reports no %s, so %s: %s"):format(table.concat(missing, " and no "),
    table.concat(effects, ", and "), remedy)
end

-- The keys of `provider`: kind, those of each kind, and the common ones.
function providers.fields(common)
  local names, docs, fields = {}, {}, {}
  for _, kind in ipairs(read()) do
    names[#names + 1], docs[#docs + 1] = kind.name, kind.doc
    table.move(kind.keys or {}, 1, #(kind.keys or {}), #fields + 1, fields)
  end
  local doc = table.concat(docs, ", ", 1, #docs - 1) .. ", or " .. docs[#docs]
  table.insert(fields, 1, { "kind", nodes.node("enum", doc, { allowed = names, required = true }) })
  return table.move(common, 1, #common, #fields + 1, fields)
end

-- Which keys go with which kind.
function providers.variants()
  local variants = { by = "kind" }
  for _, kind in ipairs(read()) do
    local may = nodes.set(table.unpack(kind.takes or {}))
    for _, field in ipairs(kind.keys or {}) do may[field[1]] = true end
    variants[kind.name] = { need = nodes.set(table.unpack(kind.needs or {})), may = may }
  end
  return variants
end

return providers
