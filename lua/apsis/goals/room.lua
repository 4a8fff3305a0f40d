-- room: the hooks of standing goals (lua/apsis/core/DETAILS.md lists them). Each loads its part at first use, so an
-- ordinary project loads none.
local room = {}

-- ---- a goal as a project ----

function room.project_at(path)
  if not path:find("/.autoloop/programs/", 1, true) then return nil end
  return require("apsis.goals.place").at(path)
end

function room.project_named(name) return require("apsis.goals.place").named(name) end

function room.project_files(dir) return require("apsis.goals.find").files(dir) end

function room.no_project(dir, start) return require("apsis.goals.place").goals_instead(dir, start) end

function room.project_layer(path) return require("apsis.goals.place").layer(path) end

function room.lower_layer(layer, path, place)
  if not place.file and layer.value.program == nil then return nil end
  return require("apsis.goals.place").shared(layer, path, place)
end

function room.program_reader() return require "apsis.goals.program.file" end

function room.keys() return require("apsis.goals.schema").keys end

function room.rules(draft) require("apsis.goals.schema").check(draft) end

-- ---- the world and the engine ----

local function method(file, name)
  return function(...) return require("apsis.goals." .. file)[name](...) end
end

function room.world()
  return {
    -- { run, timeout_sec, attempts, minutes, env }, or nil
    gate_limits = function(world) return world.manifest.gate end,
    gate = method("ci.command", "gate"), repair = method("ci.command", "repair"),
      begin_anew = method("ci.command", "begin_anew"),
    bars = method("branch.carry", "bars"), carry_over = method("branch.carry", "carry_over"),
  }
end

function room.head(repo, manifest)
  if manifest.program_name then return require("apsis.goals.branch.tip").start(repo, manifest) end
end

function room.run(engine)
  if engine.world.gate_limits then require("apsis.goals.ci.gate").install(engine) end
end

-- ---- commands ----

function room.init_options(parser) require("apsis.goals.start").options(parser) end

function room.init(args) return require("apsis.goals.start").goal(args) end

function room.status(reader, facts)
  facts.goal = require("apsis.json").null
  if reader.manifest.program_name then require("apsis.goals.status").facts(reader, facts) end
end

function room.status_rows(reader, facts, rows)
  if reader.manifest.program_name then return require("apsis.goals.status").rows(reader, facts, rows) end
end

function room.stored_journal(reader)
  if reader.manifest.program_name then return require("apsis.goals.restore").stored(reader) end
end

function room.before_journal(session)
  if not session.manifest.program_name then return nil end
  local ok, message, code = require("apsis.goals.restore").session(session, session.world.repo)
  if not ok then return false, message, code end
end

function room.opened(session) return require("apsis.goals.upkeep").opened(session) end

function room.before_run(session, at)
  if not session.manifest.program_name or not require("apsis.goals.branch.tip").is_strange(session.world) then
    return nil
  end
  return false, ("%s has moved to a commit that is not measured (a merge, or somebody's commit): measure it with "
    .. "`apsis tick` or `apsis baseline --again%s`"):format(session.world.branch.short, at), 3
end

function room.after_run(session)
  if session.upkeep then session.upkeep:flush() end
end

return room
