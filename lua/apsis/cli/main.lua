-- main: the command line. Finds the command, builds the parser of that command alone (the start of every other costs nothing)
-- and returns its exit code. Errors go to stderr.
local host = require "apsis.host"

-- name, summary; in the order of a user's day. Each is lua/apsis/cli/NAME.lua.
local commands = {
  { "init", "write a project, a strategy or a standing goal to begin with" },
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
  { "report", "the run as one HTML page: charts, lineage, the best" },
  { "direct", "leave a note that the next prompts carry" },
  { "pause", "let a running loop finish what is in flight and wait" },
  { "resume", "let a paused loop go on" },
  { "replay", "fold the journal again and check what the strategy decided" },
  { "lab", "compare strategies on synthetic worlds, over many seeds" },
  { "exec", "run a Lua file with apsis's primitives" },
  { "metrics", "read METRIC lines" },
  { "strategies", "the shipped strategies and their options" },
  { "import", "make a project of one of OpenEvolve, goalseek, pi-autoresearch or autoloop" },
  { "schedule", "the standing goals of this repository: due, next due, best" },
  { "tick", "advance the most overdue standing goal by an experiment" },
  { "steer", "edit a standing goal's state file: pause it, set priorities, lessons, what to avoid" },
  { "doctor", "what this machine and this project offer apsis" },
}

local main = { commands = commands }

local BROKEN_PIPE = 32 -- EPIPE: the reader has had enough, as head has

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

local kinds = { [math.tointeger] = "a whole number", [tonumber] = "a number" }

-- A command's option for a number, made to name itself where what it is given is none.
local function name_itself(option)
  local convert = option._convert
  local kind = kinds[convert]
  if not kind then return end
  option:convert(function(text)
    local number = convert(text)
    if number then return number end
    local shown = text:gsub("[%c\127]", "?"):sub(1, 60)
    return nil, ("%s: '%s' is not %s"):format(option._aliases[#option._aliases], shown, kind)
  end)
end

-- An option with its other names in one line of the help: argparse gives each a line as soon as there is a value.
local function label_of(option)
  local values = option:_get_argument_list()
  table.insert(values, 1, table.concat(option._public_aliases, ", "))
  return { table.concat(values, " ") }
end

-- The parser of one command.
function main.parser(name, command)
  local argparse = require "argparse"
  local parser = argparse("apsis " .. name, command.summary, "example: " .. command.example)
  command.options(parser)
  for _, option in ipairs(parser._options) do
    name_itself(option)
    option._get_label_lines = label_of
  end
  return parser
end

-- "--iterations -3" as "--iterations=-3", "-n -3" as "-n-3": a negative number, which argparse would take for an option.
local function bind_negatives(parser, arguments)
  local takes, bound = {}, {}
  for _, option in ipairs(parser._options) do
    for _, alias in ipairs(option._aliases) do takes[alias] = option._maxargs > 0 end
  end
  local ended = false
  for _, word in ipairs(arguments) do
    local before = bound[#bound]
    if not ended and takes[before] and word:find("^%-%.?%d") then
      bound[#bound] = before .. (before:find("^%-%-") and "=" or "") .. word
    else
      bound[#bound + 1] = word
    end
    ended = ended or word == "--"
  end
  return bound
end

-- argparse would end the process there, and never know that its text was not written.
local function asks_for_help(arguments)
  for _, word in ipairs(arguments) do
    if word == "--" then return false end
    if word == "-h" or word == "--help" then return true end
  end
  return false
end

local function run_command(name, arguments)
  local command = require("apsis.cli." .. name)
  if command.raw then return command.run(arguments) end -- its arguments are its own
  local parser = main.parser(name, command)
  if asks_for_help(arguments) then
    print((parser:get_help():gsub("\n+$", "")))
    return 0
  end
  local ok, parsed = parser:pparse(bind_negatives(parser, arguments))
  if not ok then
    local usage = parser:get_usage()
    if parsed == "too many arguments" and usage:find("-C", 1, true) and not usage:find("dir", 1, true) then
      parsed = parsed .. "; the project is named with -C DIR"
    end
    io.stderr:write("apsis ", name, ": ", parsed, "\n", parser:get_usage(), "\nexample: ", command.example, "\n")
    return 2
  end
  if parsed.directory then
    if parsed.dir then
      io.stderr:write(("apsis %s: the project is given twice, as %s and with -C %s; leave one out\n"):format(name, parsed.dir,
        parsed.directory))
      return 2
    end
    parsed.dir = parsed.directory
  end
  local code, message = command.run(parsed)
  if message then io.stderr:write("apsis: ", message:gsub("[%z\1-\8\11-\31\127]", "?"):gsub("\xC2[\x80-\x9F]", "?"), "\n") end
  return code
end

local function is_command(name)
  for _, entry in ipairs(commands) do
    if entry[1] == name then return true end
  end
  return false
end

local function dispatch(argv)
  local name, rest = argv[1], table.move(argv, 2, #argv, 1, {})
  if name == "help" and argv[2] then name, rest = argv[2], { "--help" } end
  if name == nil or name == "--help" or name == "-h" or name == "help" then
    io.stdout:write(main.help())
    return name == nil and 2 or 0
  end
  if name == "--version" then
    print("apsis " .. host.version)
    return 0
  end
  if is_command(name) then return run_command(name, rest) end
  local suggest = require "apsis.suggest"
  io.stderr:write(("apsis: no command %q%s\n"):format(name, suggest.sentence(name, names())), "`apsis --help` lists them\n")
  return 2
end

-- print as Lua's, line by line, which forgets that it failed; this one tells unwritten.
local function checked_print(unwritten)
  return function(...)
    local words = table.pack(...)
    for index = 1, words.n do words[index] = tostring(words[index]) end
    local ok, message, number = io.stdout:write(table.concat(words, "\t"), "\n")
    if ok then ok, message, number = io.stdout:flush() end
    if not ok and not unwritten.message then unwritten.message, unwritten.number = message, number end
  end
end

return setmetatable(main, { __call = function(_, argv)
  local unwritten = {}
  _G.print = checked_print(unwritten)
  local code = dispatch(argv)
  local ok, message, number = true, nil, nil
  if io.type(io.stdout) == "file" then ok, message, number = io.stdout:flush() end -- a script may have closed it
  if not ok and not unwritten.message then unwritten.message, unwritten.number = message, number end
  if not unwritten.message then return code end
  if unwritten.number ~= BROKEN_PIPE then
    io.stderr:write("apsis: cannot write to standard output: ", unwritten.message, "\n")
  end
  return code ~= 0 and code or 3
end })
