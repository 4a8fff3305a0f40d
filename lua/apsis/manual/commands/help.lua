-- help: a command's help, a page of the manual, or a key of the manifest: what it is, what it takes, its default.
local main = require "apsis.cli.main"
local pages = require "apsis.manual.pages"
local plain = require "apsis.manual.plain"
local rooms = require "apsis.core.rooms"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"

local help = { place = 260, pages = true, summary = "help for a command, a topic or a key of the manifest",
  example = "apsis help manifest.verification.keep" }

function help.options(parser)
  parser:argument("topic", "a command, strategy, journal, manifest, manifest.KEY or a module such as apsis.archive "
    .. "(default: the commands)"):args "?"
end

-- The fields below a node: of a mapping, or of a list's or a dict's items.
local function fields_of(node)
  return node.fields or node.item and node.item.fields or nil
end

local function print_node(name, node)
  print(show.wrap(("%s: %s"):format(name, node.doc), show.width(), "  "))
  print(show.wrap("  takes " .. (shape.expects(node) or node.kind), show.width(), "    "))
  if node.default ~= nil and type(node.default) ~= "table" then print("  default: " .. tostring(node.default)) end
  if node.required then print "  required" end
  for _, field in ipairs(fields_of(node) or {}) do
    local name_here = (node.kind == "dict" and "NAME." or "") .. field[1]
    print(show.wrap(("  %-18s %s"):format(name_here, field[2].doc), show.width(), (" "):rep(21)))
  end
end

-- A key such as verification.commands.run, from the manifest down.
local function key_help(key)
  local node, path = schema.manifest, "manifest"
  for name in key:gmatch "[^.]+" do
    local names, below = {}, nil
    for _, field in ipairs(fields_of(node) or {}) do
      names[#names + 1] = field[1]
      if field[1] == name then below = field[2] end
    end
    if not below and node.kind == "dict" and node.item then below = node.item end -- a name of the user's
    if not below then
      return 2, ("%s has no key %q%s; it has %s"):format(path, name, suggest.sentence(name, names),
        #names > 0 and table.concat(names, ", ") or "none")
    end
    node, path = below, path .. "." .. name
  end
  print_node(path, node)
  return 0
end

function help.run(args)
  local topic = args.topic or "help"
  local key, page = topic:match "^manifest%.(.+)$", pages.topic(topic)
  if key then return key_help(key) end
  if page then
    io.stdout:write(plain(page))
    return 0
  end
  local module = rooms.commands()[topic]
  if module then
    local command = require(module)
    if command.raw then return command.run { "--help" } end
    io.stdout:write((main.parser(topic, command):get_help():gsub("\n*$", "\n")))
    return 0
  end
  local names = pages.topics()
  for _, field in ipairs(schema.manifest.fields) do -- also without "manifest."
    if field[1] == topic:match "^[^.]+" then return key_help(topic) end
    names[#names + 1] = field[1]
  end
  for name in pairs(rooms.commands()) do names[#names + 1] = name end
  table.sort(names)
  return 2, ("no help on %q%s; `apsis --help` lists the commands; other topics: manifest, manifest.KEY, strategy, "
    .. "journal, and modules such as apsis.archive"):format(topic, suggest.sentence(topic, names))
end

return help
