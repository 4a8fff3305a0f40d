-- room: `apsis report --serve`: the page of a run that moves while the run goes on. Called through core/rooms.
local room = {}

function room.options(command, parser)
  if command ~= "report" then return end
  parser:flag("--serve", "show the page to browsers of this machine until Ctrl-C; it moves while the run goes on")
  parser:flag("--control", "with --serve: the page can pause, resume and direct the run, and approve")
  parser:option("--port", "with --serve: the port to listen on (default: one that is free)"):convert(math.tointeger)
    :argname "N"
end

-- tools: what the report has for a page: data(reader, dir), page(data, more), projects(data, more), lab(data),
-- json(data), open(address).
function room.report(args, tools)
  if args.serve then return require("apsis.serve.command")(args, tools) end
  for _, name in ipairs { "control", "port" } do
    if args[name] then return 2, ("--%s: works only with --serve"):format(name) end
  end
end

return room
