-- cage: milliseconds of a command that does nothing, kept in as APSIS_CAGE says, as a verifier is. `apsis exec tests/bench/cage.lua
-- FOLDER`. Prints nothing where that way does not work here.
local cage = require "apsis.live.cage.cage"
local fs = require "apsis.fs"
local process = require "apsis.process"
local wait = require "apsis.wait"

local COUNT <const> = 100
local root = arg[1] .. "/cage"
for _, name in ipairs { "/project", "/pool/workspace", "/pool/scratch", "/pool/tmp" } do assert(fs.mkdir(root .. name)) end
if os.getenv "APSIS_CAGE" ~= "none" and not require("apsis.live.cage.ways").find() then return end
local kept = assert(cage.new { mode = "auto", root = root .. "/project", pool = root .. "/pool", private_mb = 1024, disk_reserve_mb = 1 })

local function run(count)
  for _ = 1, count do
    local spec = { argv = { "/bin/true" }, cwd = root .. "/pool/workspace", clean_env = true, env = { PATH = os.getenv "PATH" } }
    local result = assert(process.run(kept:put(spec, { write = { root .. "/pool/workspace", root .. "/pool/scratch" },
      temporary = root .. "/pool/tmp", run = spec.argv })))
    assert(result.code == 0, result.stderr.head)
  end
end

run(10)
local began = wait.now()
run(COUNT)
print((wait.now() - began) / COUNT * 1000)
