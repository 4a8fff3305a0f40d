-- command: the page of a command, from what it declares to its parser.
local declared = require "apsis.cli.declared"
local page = require "apsis.manual.page"

local property, value_name, words = declared.property, declared.value_name, declared.words

local function shown(argument)
  local name, args = argument.names:upper(), property(argument, "args")
  return args == "?" and "[" .. name .. "]" or args == "*" and "[" .. name .. "...]" or name
end

local function option_term(option)
  local value = value_name(option)
  return { table.concat(words(option), ", ") .. (value and " " .. value or ""), option.doc }
end

-- command: as declared.commands lists it.
return function(command)
  local self = page.new("apsis-" .. command.name, 1, command.summary, "commands")
  local usage, arguments, options = { "apsis", command.name }, {}, {}
  for index, argument in ipairs(command.arguments) do
    usage[#usage + 1] = shown(argument)
    arguments[index] = { shown(argument), argument.doc }
  end
  for index, option in ipairs(command.options) do options[index] = option_term(option) end
  table.insert(usage, 3, "[OPTIONS]")
  self:heading "Synopsis":code(table.concat(usage, " "))
  if #arguments > 0 then self:heading "Arguments":terms(arguments) end
  self:heading "Options":terms(options)
  self:heading "Example":code(command.example or "apsis " .. command.name)
  return self
end
