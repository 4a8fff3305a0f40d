-- field: one field of one experiment's journal line, for the tests of the command line: apsis exec field.lua FILE EXPERIMENT KEY.
local json = require "apsis.json"

local path, experiment, key = ...
local found = "(no line)"
for text in io.lines(path) do
  local line = json.decode(text)
  if line.experiment == math.tointeger(experiment) then
    local value = line[key]
    if type(value) == "string" then found = value
    elseif math.type(value) == "float" then found = ("%.14g"):format(value)
    elseif value == nil then found = "(no field)"
    else found = json.encode(value) end
  end
end
print(found)
