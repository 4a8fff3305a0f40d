-- room: the hooks of several metrics at once: the key metric.pareto, the engine's front, a branch for each of its
-- members, and what commands show of it. Called through core/rooms.
local direction = require "apsis.direction"
local git = require "apsis.git"
local show = require "apsis.cli.table"

local room = {}

function room.keys() return require("apsis.pareto.schema").keys end

function room.early_rules(draft) require("apsis.pareto.schema").begin(draft) end

function room.rules(draft) require("apsis.pareto.schema").check(draft) end

function room.measures(manifest)
  local parts = manifest.metric.pareto
  return parts and { pareto = require("apsis.pareto.schema").measures(parts) } or nil
end

function room.engine(engine, spec)
  if not spec.metric.pareto then return end
  engine.front = require("apsis.pareto.front").new(engine, spec.metric.pareto)
  engine.metric.parts = engine.front.metrics
  engine.shown_metric = direction.judged(engine.metric, function() return engine.history.best end)
end

function room.branch(world, say)
  return world.manifest.metric.pareto and require("apsis.pareto.branches").new(world, say) or nil
end

-- What keeps the front from having its branches, before the first run.
function room.advice(session)
  local repo = session.manifest.metric.pareto and git.open(session.dir)
  return { repo and require("apsis.pareto.branches").in_the_way(repo, session.manifest.branch) }
end

-- The value by themselves of metrics that were measured outside a run; nil before there is a baseline.
local function own_value(world, metrics)
  local parts = world.manifest.metric.pareto
  return parts and require("apsis.pareto.front").new(world, parts):alone(metrics) or nil
end

function room.world() return { own_value = own_value } end

local function has(owner) return owner.manifest.metric.pareto ~= nil end

local function shown() return require "apsis.pareto.shown" end

function room.status(reader, facts)
  if has(reader) then facts.front = shown().members(reader) end
end

function room.status_rows(reader, _, rows)
  if has(reader) then shown().add_rows(reader, rows) end
end

function room.best(reader, args)
  if not has(reader) or args.json or args.apply_hint or not reader.history.best then return nil end
  local at = show.at(args.dir)
  shown().print(reader, at ~= "" and " -C" .. at or "")
  return 0
end

function room.best_facts(reader) return has(reader) and { front = shown().members(reader) } or nil end

function room.ended(session) return has(session) and shown().text(session) or nil end

function room.report_fact(reader) return has(reader) and shown().fact(reader) or nil end

function room.report_figures(reader) return has(reader) and shown().figures(reader) or {} end

return room
