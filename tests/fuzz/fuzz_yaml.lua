-- fuzz_yaml: whatever the bytes, decode answers or refuses with a line; every table of the answer has its lines.
local yaml = require "apsis.yaml"

debug.sethook() -- of apsis only C runs here

local function check(node, lines)
  if type(node) ~= "table" then return end
  local record = lines[node]
  assert(record.at >= 1)
  for key, item in pairs(node) do
    assert(record.keys[key] >= 1)
    check(item, lines)
  end
end

return function(text)
  local value, lines, code = yaml.decode(text, { name = "m" })
  if code then
    assert(value == nil and code == "EYAML" and lines:find "^EYAML: m:%d+:[%d:]* ")
  else
    check(value, lines)
  end
end
