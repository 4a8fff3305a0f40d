-- declared: what the commands declare to their parsers: arguments and options. Called by the manual and completion.
local main = require "apsis.cli.main"

local declared = {}

-- A parser that only records what a command declares.
local function recorder(name)
  local self = { name = name, arguments = {}, options = {} }
  local function element(list, kind)
    return function(_, names, doc)
      local made = { kind = kind, names = names, doc = doc or "" }
      list[#list + 1] = made
      return setmetatable(made, { __index = function(_, property)
        return function(_, value)
          rawset(made, "_" .. property, value == nil and true or value)
          return made
        end
      end })
    end
  end
  self.argument = element(self.arguments, "argument")
  self.option = element(self.options, "option")
  self.flag = element(self.options, "flag")
  function self.mutex(_, ...) return ... end
  return self
end

-- Every command with its summary, example, arguments and options.
function declared.commands()
  local commands = {}
  for _, entry in ipairs(main.commands()) do
    local command = entry[2]
    local parser = recorder(entry[1])
    if command.options then command.options(parser) end
    commands[#commands + 1] = { name = entry[1], summary = command.summary, example = command.example,
      arguments = parser.arguments, options = parser.options }
    table.insert(parser.options, { kind = "flag", names = "-h --help", doc = "help with an example" })
  end
  return commands
end

function declared.words(option)
  local list = {}
  for word in option.names:gmatch("%S+") do list[#list + 1] = word end
  return list
end

function declared.property(made, name)
  return rawget(made, "_" .. name)
end

function declared.value_name(option)
  if option.kind == "flag" then return nil end
  local choices = declared.property(option, "choices")
  return declared.property(option, "argname") or choices and table.concat(choices, "|") or "VALUE"
end

return declared
