-- main: the command line. Finds the command (a file ROOM/commands/NAME.lua), builds its parser, returns its exit code.
-- Loads no other command. Errors go to stderr.
local host = require "apsis.host"
local plain = require "apsis.project.plain"
local rooms = require "apsis.core.rooms"

local main = {}

local NARROW = 60 -- columns; below, an option's text begins on a line of its own
local BROKEN_PIPE = 32 -- EPIPE: the reader closed its end, like head
local DIED_OF_PIPE = 141 -- what a shell shows of a program that SIGPIPE ends, as it ends those that do not trap signals

-- Commands stand in the order of their places, and by name where two have the same.
local function precedes(place, name, other_place, other_name)
  if place ~= other_place then return place < other_place end
  return name < other_name
end

-- Every command as { name, command }, in order.
function main.commands()
  local list = {}
  for name, module in pairs(rooms.commands()) do list[#list + 1] = { name, require(module) } end
  table.sort(list, function(a, b) return precedes(a[2].place, a[1], b[2].place, b[1]) end)
  return list
end

-- A command as the help shows it, { name, place, summary }, from the text of its file if that has both literally: to
-- load every command is to load the whole program.
local function head_of(name, module)
  local text = host.read("lua/" .. module:gsub("%.", "/") .. ".lua")
  local place, summary = text:match "place = (%d+), ", text:match 'summary = "([^"\\]*)",'
  if place and summary then return { name, tonumber(place), summary } end
  local command = require(module)
  return { name, command.place, command.summary }
end

-- Broken at a terminal's width, nil elsewhere; the table's code is loaded only then.
local function wrapped(text, indent, width)
  return width and #text > width and require("apsis.cli.table").wrap(text, width, (" "):rep(indent)) or text
end

function main.help()
  local width = host.columns(1)
  local lines = { "usage: apsis COMMAND [OPTIONS]", "",
    wrapped("Measured improvement loops: propose a change, measure it, keep it or not, remember, stop.", 0, width), "" }
  local heads = {}
  for name, module in pairs(rooms.commands()) do heads[#heads + 1] = head_of(name, module) end
  table.sort(heads, function(a, b) return precedes(a[2], a[1], b[2], b[1]) end)
  for _, head in ipairs(heads) do lines[#lines + 1] = wrapped(("  %-11s %s"):format(head[1], head[3]), 14, width) end
  lines[#lines + 1] = ""
  lines[#lines + 1] = wrapped("`apsis COMMAND --help` has the options and an example. In a project: apsis baseline && "
    .. "apsis run", 0, width)
  return table.concat(lines, "\n") .. "\n"
end

local kinds = { [math.tointeger] = "a whole number", [tonumber] = "a number" }

-- Makes a number option name itself in the error for a bad value.
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

-- An option's names in one line of the help; argparse uses a line for each if there is a value.
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
  local width = host.columns(1)
  if width then parser:usage_max_width(width):help_max_width(width) end
  if width and width < NARROW then parser:help_description_margin(8) end
  for _, option in ipairs(parser._options) do
    name_itself(option)
    option._get_label_lines = label_of
  end
  return parser
end

-- "--iterations -3" as "--iterations=-3", "-n -3" as "-n-3": argparse takes a negative number for an option. And "-3"
-- as "-n3", as git log has it.
local function bind_numbers(parser, arguments)
  local takes, bound = {}, {}
  for _, option in ipairs(parser._options) do
    for _, alias in ipairs(option._aliases) do takes[alias] = option._maxargs > 0 end
  end
  local ended = false
  for _, word in ipairs(arguments) do
    local before = bound[#bound]
    if not ended and takes[before] and word:find("^%-%.?%d") then
      bound[#bound] = before .. (before:find("^%-%-") and "=" or "") .. word
    elseif not ended and takes["-n"] and word:find("^%-%d+$") then
      bound[#bound + 1] = "-n" .. word:sub(2)
    else
      bound[#bound + 1] = word
    end
    ended = ended or word == "--"
  end
  return bound
end

-- argparse would exit here without noticing a failed write
local function asks_for_help(arguments)
  for _, word in ipairs(arguments) do
    if word == "--" then return false end
    if word == "-h" or word == "--help" then return true end
  end
  return false
end

local shown = function(text) return text end -- how print shows a text

local function run_command(name, command, arguments)
  if command.raw then return command.run(arguments) end -- it parses its own arguments; a script prints what it likes
  shown = require("apsis.cli.terminal").safe
  local parser = main.parser(name, command)
  if asks_for_help(arguments) then
    print((parser:get_help():gsub("\n+$", "")))
    return 0
  end
  local ok, parsed = parser:pparse(bind_numbers(parser, arguments))
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
      io.stderr:write(("apsis %s: the project is given twice, as %s and with -C %s; leave one out\n"):format(name,
        parsed.dir, parsed.directory))
      return 2
    end
    parsed.dir = parsed.directory
  end
  local paged = command.pages and require("apsis.cli.terminal").page()
  local code, message = command.run(parsed)
  if paged then paged() end
  if message then io.stderr:write("apsis: ", plain.text(message), "\n") end
  return code
end

local function dispatch(argv)
  local name, rest = argv[1], table.move(argv, 2, #argv, 1, {})
  if name == nil or name == "--help" or name == "-h" or name == "help" and not argv[2] then
    io.stdout:write(main.help())
    return name == nil and 2 or 0
  end
  if name == "--version" or name == "-V" then
    print("apsis " .. host.version)
    return 0
  end
  local modules = rooms.commands()
  if modules[name] then return run_command(name, require(modules[name]), rest) end
  local suggest = require "apsis.suggest"
  io.stderr:write(("apsis: no command %q%s\n"):format(name, suggest.sentence(name, suggest.names(modules))),
    "`apsis --help` lists them\n")
  return 2
end

-- print like Lua's, but safe for a terminal, and it records a failed write in unwritten; then it returns nil.
local function checked_print(unwritten)
  return function(...)
    local words = table.pack(...)
    for index = 1, words.n do words[index] = tostring(words[index]) end
    local ok, message, number = io.stdout:write(shown(table.concat(words, "\t")), "\n")
    if ok then ok, message, number = io.stdout:flush() end
    if not ok and not unwritten.message then unwritten.message, unwritten.number = message, number end
    return ok
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
  if code == 0 and unwritten.number == BROKEN_PIPE then return DIED_OF_PIPE end
  if unwritten.number ~= BROKEN_PIPE then
    io.stderr:write("apsis: cannot write to standard output: ", unwritten.message, "\n")
  end
  return code ~= 0 and code or 3
end })
