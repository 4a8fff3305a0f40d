-- mcp: apsis as a server of the Model Context Protocol, on standard input and output.
local fs = require "apsis.fs"
local mcp = require "apsis.drive.mcp"
local running = require "apsis.live.running"
local wait = require "apsis.wait"

local command = { place = 54, summary = "serve a coding agent its tools: an MCP server on stdio",
  example = "claude mcp add apsis -- apsis mcp" }

function command.options(parser)
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
end

-- A line of standard input, waited for in a task.
local function next_line()
  wait.input()
  return io.read "L"
end

function command.run(args)
  local dir, message = fs.realpath(args.directory)
  if not dir then return 2, message end
  wait.trap()
  io.stdin:setvbuf "no"
  running.as_task(function() return mcp.serve(dir, next_line, io.stdout) end)
  return 0
end

return command
