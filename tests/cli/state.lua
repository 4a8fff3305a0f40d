-- state: exits 0 where a logs/state.json is whole and of this version, for the tests of the command line.
local json = require "apsis.json"

local file = assert(io.open((...), "rb"))
local value = assert(json.decode(file:read("a")))
assert(value.version == 1 and value.status == "finished" and #value.slots == 0, "not the state of a finished run")
