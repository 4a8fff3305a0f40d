-- command: `apsis report --serve`: opens the projects and the server, prints the address, and serves until Ctrl-C.
local app = require "apsis.serve.app"
local indexes = require "apsis.serve.index"
local json = require "apsis.json"
local servers = require "apsis.server"
local wait = require "apsis.wait"

-- Options that make no sense together; nil if there are none.
local function conflict(args)
  for _, name in ipairs { "out", "svg", "card", "animated" } do
    if args[name] then return ("--serve writes no file: leave out --%s"):format(name) end
  end
  if args.port and (args.port < 0 or args.port > 65535) then return "--port: a port is from 0 to 65535" end
end

local function announce(self, args)
  local at = self.address:of(self.index.first and "1/" or "")
  print(args.json and json.encode({ url = at, control = args.control == true }, { sorted = true }) or at)
  io.stdout:flush()
  if not args.json then
    io.stderr:write(("apsis: the page is served%s; whoever has this address can open it; Ctrl-C ends it\n"):format(
      args.control and ", and can pause, resume and direct the run, and approve" or ", to look at only"))
  end
  return at
end

return function(args, tools)
  local wrong = conflict(args)
  if wrong then return 2, wrong end
  local index, message, code = indexes.open(args.dir, { tools = tools, control = args.control })
  if not index then return code, message end
  local trapped, refused = wait.trap()
  if not trapped then return 2, refused end
  local server <close>, problem, why = servers.open(args.port or 0)
  if not server then return why == "ENOLIB" and 2 or 3, "cannot serve: " .. problem end
  local self = app.new(server, index)
  local at = announce(self, args)
  if args.open then
    self:beside(function()
      local failed, text = tools.open(at)
      if failed ~= 0 then io.stderr:write(("apsis: %s\n"):format(text)) end
    end)
  end
  self:run()
  return 0
end
