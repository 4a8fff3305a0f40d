-- beside_shown: `apsis report --beside`: the runs of several projects as one page or JSON.
local beside = require "apsis.lab.beside"
local json = require "apsis.json"
local state = require "apsis.state"

local shown = {}

function shown.options(parser)
  parser:option("--beside", "a page of several projects' runs side by side, for --out or --json: curves, tables and "
    .. "runtimes by strategy; repeat it; NAME=DIR names what a run counts as"):count "*":argname "DIR"
end

-- { dir, group } each.
local function sources_of(list)
  local sources = {}
  for index, text in ipairs(list) do
    local group, dir = text:match "^([^=/]+)=(.+)$"
    sources[index] = { dir = dir or text, group = group }
  end
  return sources
end

-- Why the options do not go together; nil if they do.
local function contradiction(args)
  if args.dir then return "--beside names the projects: leave out " .. args.dir end
  for _, name in ipairs { "serve", "svg", "card", "animated" } do
    if args[name] then return ("--beside and --%s do not go together"):format(name) end
  end
  if (args.out ~= nil) == (args.json == true) then
    return "--beside: add --out FILE (- for standard output) or --json"
  end
  if args.json and args.open then return "--json goes to standard output: leave out --open" end
end

function shown.run(args, tools)
  local wrong = contradiction(args)
  if wrong then return 2, wrong end
  local data, message, code = beside.of(sources_of(args.beside))
  if not data then return code, message end
  if args.json then
    print(json.encode(tools.plain(data), { sorted = true }))
    return 0
  end
  local made = tools.lab(data)
  if args.out == "-" then
    io.stdout:write(made)
    return 0
  end
  local ok
  ok, message = state.replace(args.out, made)
  if not ok then return 3, ("cannot write the report: %s"):format(message) end
  print(args.out)
  return args.open and tools.open(args.out) or 0
end

return shown
