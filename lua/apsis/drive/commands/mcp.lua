-- mcp: apsis as a server of the Model Context Protocol, on standard input and output.
local fs = require "apsis.fs"
local mcp = require "apsis.drive.mcp"
local running = require "apsis.live.running"
local wait = require "apsis.wait"

local BLOCK <const> = 65536

local command = { place = 54, summary = "serve a coding agent its tools: an MCP server on stdio",
  example = "claude mcp add apsis -- apsis mcp" }

function command.options(parser)
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
end

function command.run(args)
  local dir, message = fs.realpath(args.directory)
  if not dir then return 2, message end
  wait.trap()
  running.as_task(function() return mcp.serve(dir, function() return wait.input(BLOCK) end, io.stdout) end)
  return 0
end

return command
