-- room: the hooks of approval: its key, the engine's hold, and what waits, for status, watch and the end of a run.
-- Called through core/rooms.
local room = {}

local function waiting(self, history)
  return require("apsis.live.held").waiting(self.home, history)
end

-- "c0003, c0007 wait for approval: apsis approve"; at: the project's directory for a command.
local function text_of(list, at)
  local ids = {}
  for index, one in ipairs(list) do ids[index] = one.line.candidate end
  at = at ~= "" and " -C" .. at or ""
  if #ids == 1 then return ids[1] .. " waits for approval: apsis approve " .. ids[1] .. at end
  return ("%s wait for approval: apsis approve%s"):format(table.concat(ids, ", "), at)
end

local function here(self)
  local dir = self.manifest.program_file or self.dir
  local fs = require "apsis.fs"
  if fs.realpath(dir) == fs.cwd() then return "" end
  return require("apsis.cli.table").at(require("apsis.project.path").display(dir))
end

function room.keys() return require("apsis.approval.schema").keys end

function room.rules(draft) require("apsis.approval.schema").check(draft) end

-- What was asked before is answered also if the key is gone.
function room.before_run(session, at)
  if session.manifest.approval or #waiting(session, session.engine.history) > 0 then
    session.engine.hold = require("apsis.approval.asking").new(session, at and at ~= "" and " -C" .. at or "")
  end
end

-- What waits is in this clone; a standing goal's journal may go on in another one.
function room.ended(session)
  local list, manifest = waiting(session, session.engine.history), session.manifest
  local moves = manifest.program_name and manifest.memory.kind == "branch"
  return list[1] and text_of(list, here(session)) .. (moves and "\nanswer in this clone, and tick here until then: a "
    .. "fresh clone does not have what waits (.apsis/held), and proposes anew" or "")
end

function room.status(reader, facts)
  local list = waiting(reader, reader.history)
  facts.approval = list[1] and require("apsis.approval.question").facts(reader, list) or nil
end

function room.status_rows(reader, _, rows)
  local list = waiting(reader, reader.history)
  if list[1] then table.insert(rows, 3, { "approval", text_of(list, here(reader)) }) end
end

function room.watch_keys()
  return { { key = "a", help = "what waits for approval; there, and on its candidate: approve or reject it",
    press = function(app) require("apsis.approval.page").press(app) end } }
end

return room
