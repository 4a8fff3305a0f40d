-- valid: exits 0 where every line of a journal is whole and every experiment is there once, for the tests of the command line.
local json = require "apsis.json"

local seen, file = {}, assert(io.open((...), "rb"))
local text = file:read("a")
assert(text == "" or text:sub(-1) == "\n", "the last line is torn")
for line in text:gmatch("([^\n]*)\n") do
  local value = assert(json.decode(line, true))
  assert(not seen[value.experiment], "an experiment twice")
  seen[value.experiment] = true
end
