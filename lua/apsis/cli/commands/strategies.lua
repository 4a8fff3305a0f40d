-- strategies: the shipped strategies and their options; or the source of one, as a start for your own.
local contract = require "apsis.core.strategy"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local prompt = require "apsis.prompt"
local prompts = require "apsis.project.prompts"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"

local strategies = { place = 200, summary = "the shipped strategies and their options",
  example = "apsis strategies hillclimb > mine.lua" }

function strategies.options(parser)
  parser:argument("name", "print the source of this strategy; for a FILE.lua, its description and options"):args "?"
  parser:option("--prompt", "print a shipped template, as a start for prompts/NAME.md"):argname "NAME"
  parser:flag("--json", "names, descriptions and options as JSON")
  rooms.call("options", "strategies", parser)
end

local function is_file(name)
  return name:find("%.lua$") ~= nil
end

-- The first sentence of the opening comment, without the file's name.
local function first_sentence(source)
  local words = {}
  for line in source:gmatch("([^\n]*)\n") do
    local text = line:match("^%-%-%s?(.*)$")
    if not text then break end
    words[#words + 1] = text
  end
  local comment = table.concat(words, " "):gsub("^SPDX%S* %S+ ", ""):gsub("^[%w_/%.-]+:%s*", "")
  return comment:match("^(.-[%.!?])%s") or comment
end

-- { name, description, options = {name = default}, hooks } of a shipped strategy or a file.
local function describe(name)
  local loaded, message = contract.load { use = name, options = {}, dir = "." }
  if not loaded then return nil, message end
  local hooks, own = {}, loaded.own or {}
  for _, hook in ipairs(contract.hooks) do
    if own[hook] then hooks[#hooks + 1] = hook end
  end
  local source = is_file(name) and fs.read(loaded.where) or host.read("strategies/" .. name .. ".lua")
  return { name = name, description = own.description or first_sentence(source),
    options = own.options or {}, hooks = json.array(hooks) }
end

local function option_text(options)
  local parts = {}
  for _, name in ipairs(show.sorted(options)) do
    local ok, text = pcall(json.encode, options[name])
    parts[#parts + 1] = ("%s=%s"):format(name, ok and text or tostring(options[name]))
  end
  return table.concat(parts, " ")
end

local function print_source(name)
  local source = host.read("strategies/" .. name .. ".lua")
  if not source then
    local shipped = contract.shipped()
    return 2, ("no strategy %q%s; shipped: %s"):format(name, suggest.sentence(name, shipped),
      table.concat(shipped, ", "))
  end
  io.stdout:write(source)
  return 0
end

local function print_prompt(name, as_json)
  local text, shipped = prompts.source(name), prompts.shipped()
  if not text then
    return 2, ("--prompt: no template %q%s; shipped: %s"):format(name, suggest.sentence(name, shipped),
      table.concat(shipped, ", "))
  end
  if as_json then
    local fields = table.move(prompt.field_names, 1, #prompt.field_names, 1, {})
    -- the shipped ones are its templates
    local extra = assert(contract.load { use = "openevolve", options = {} }).own.fields
    print(json.encode { name = name, text = text, fields = json.array(table.move(extra, 1, #extra, #fields + 1,
      fields)) })
    return 0
  end
  io.stdout:write(text)
  return 0
end

function strategies.run(args)
  local code, why = rooms.first("strategies", args)
  if code then return code, why end
  if args.prompt and args.name then return 2, "--prompt prints a template and NAME a strategy: give one of them" end
  if args.prompt then return print_prompt(args.prompt, args.json) end
  if args.name and not args.json and not is_file(args.name) then return print_source(args.name) end
  local list, names = {}, args.name and is_file(args.name) and { args.name } or contract.shipped()
  for _, name in ipairs(names) do
    if not args.name or args.name == name then
      local about, message = describe(name)
      if not about then return 2, message end
      list[#list + 1] = about
    end
  end
  if args.name and #list == 0 then return print_source(args.name) end
  if args.json then
    print(json.encode(args.name and list[1] or json.array(list)))
    return 0
  end
  for _, about in ipairs(list) do
    print(("%s: %s"):format(show.line(about.name, 200), show.line(about.description, 200)))
    if next(about.options) then print("    options: " .. show.line(option_text(about.options), 1000)) end
    if args.name then print("    hooks: " .. table.concat(about.hooks, " ")) end
  end
  if args.name then return 0 end
  print "\n`apsis strategies NAME` prints one; `strategy: {use: NAME, options: {...}}` in the manifest uses it"
  print("`apsis strategies --prompt mutation > prompts/mutation.md` begins a template of your own; shipped: "
    .. table.concat(prompts.shipped(), ", "))
  return 0
end

return strategies
