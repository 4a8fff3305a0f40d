-- main: the command line. Finds the command, builds the parser of that command alone (the start of every other costs nothing)
-- and returns its exit code. Errors go to stderr.
local host = require "apsis.host"

-- name, summary; in the order of a user's day. Each is lua/apsis/cli/NAME.lua.
local commands = {
  { "init", "write a manifest, a strategy or both to begin with" },
  { "setup", "check that the project can run: git, files, provider, verifier" },
  { "baseline", "measure the project as it stands" },
  { "run", "run experiments until the budget, the target or the strategy ends it" },
  { "step", "run one experiment" },
  { "eval", "score the project as it stands, outside any loop" },
  { "status", "where the loop stands" },
  { "log", "the experiments so far" },
  { "show", "one candidate, whole" },
  { "diff", "what a candidate changed" },
  { "best", "the best candidate" },
  { "direct", "leave a note that the next prompts carry" },
  { "pause", "let a running loop finish what is in flight and wait" },
  { "resume", "let a paused loop go on" },
  { "replay", "fold the journal again and check what the strategy decided" },
  { "exec", "run a Lua file with apsis's primitives" },
  { "metrics", "read METRIC lines" },
  { "strategies", "the shipped strategies and their options" },
  { "doctor", "what this machine and this project offer apsis" },
}

local main = { commands = commands }

function main.help()
  local lines = { "usage: apsis COMMAND [OPTIONS]", "",
    "Measured improvement loops: propose a change, measure it, keep it or not, remember, stop.", "" }
  for _, entry in ipairs(commands) do lines[#lines + 1] = ("  %-11s %s"):format(entry[1], entry[2]) end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "`apsis COMMAND --help` has the options and an example. In a project: apsis baseline && apsis run"
  return table.concat(lines, "\n") .. "\n"
end

local function names()
  local list = {}
  for index, entry in ipairs(commands) do list[index] = entry[1] end
  return list
end

-- The parser of one command.
function main.parser(name, command)
  local argparse = require "argparse"
  local parser = argparse("apsis " .. name, command.summary, "example: " .. command.example)
  command.options(parser)
  return parser
end

local function run_command(name, arguments)
  local command = require("apsis.cli." .. name)
  if command.raw then return command.run(arguments) end -- its arguments are its own
  local parser = main.parser(name, command)
  local ok, parsed = parser:pparse(arguments)
  if not ok then
    io.stderr:write("apsis ", name, ": ", parsed, "\n", parser:get_usage(), "\nexample: ", command.example, "\n")
    return 2
  end
  local code, message = command.run(parsed)
  if message then io.stderr:write("apsis: ", message, "\n") end
  return code
end

local function dispatch(argv)
  local name = argv[1]
  if name == nil or name == "--help" or name == "-h" or name == "help" then
    io.stdout:write(main.help())
    return name == nil and 2 or 0
  end
  if name == "--version" then
    print("apsis " .. host.version)
    return 0
  end
  for _, entry in ipairs(commands) do
    if entry[1] == name then return run_command(name, table.move(argv, 2, #argv, 1, {})) end
  end
  local suggest = require "apsis.suggest"
  io.stderr:write(("apsis: no command %q%s\n"):format(name, suggest.sentence(name, names())), "`apsis --help` lists them\n")
  return 2
end

return setmetatable(main, { __call = function(_, argv)
  local code = dispatch(argv)
  io.stdout:flush()
  return code
end })
