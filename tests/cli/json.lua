-- json: prints the value at a dotted path of the JSON on standard input; for the transcripts. Exits 1 where there is none.
local json = require "apsis.json"

local value = assert(json.decode(io.read("a")))
for key in (... or ""):gmatch("[^.]+") do
  if type(value) ~= "table" then os.exit(1) end
  value = value[tonumber(key) or key]
  if value == nil then os.exit(1) end
end
print(type(value) == "table" and json.encode(value) or tostring(value))
