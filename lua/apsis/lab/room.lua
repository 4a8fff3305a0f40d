-- room: what the lab adds to the rest: `apsis replay` with another strategy, `apsis strategies --check`, and `apsis
-- report --beside`. Called through core/rooms.
local room = {}

function room.options(command, parser)
  if command == "strategies" then require("apsis.lab.check.shown").options(parser) end
  if command == "report" then require("apsis.lab.beside_shown").options(parser) end
end

function room.report(args, tools)
  if args.beside and args.beside[1] then return require("apsis.lab.beside_shown").run(args, tools) end
end

-- The page's data of several projects' runs. each: whether each run stands by itself.
function room.beside(sources, each)
  local data, message = require("apsis.lab.beside").of(sources, each)
  return data or false, message
end

function room.strategies(args) return require("apsis.lab.check.shown").run(args) end

function room.replay(session, args, open_fold) return require("apsis.lab.redecide_shown").run(session, args,
  open_fold) end

-- Another strategy's decisions on a recorded journal, with its proposals held fixed.
function room.redecide(source) return require("apsis.lab.redecide").new(source, 1, true) end

-- A world to be stepped through instead of a recorded run.
function room.play(args)
  local play, message = require("apsis.lab.play").new(args)
  return play or false, message
end

return room
