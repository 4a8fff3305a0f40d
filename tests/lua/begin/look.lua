-- look: the metric that a command prints, as far as its text or the files show it.
local fs = require "apsis.fs"
local look = require "apsis.begin.look"
local tap = require "tap"

local dir = assert(fs.tempdir "apsis-look-")

local function file(name, text)
  fs.mkdir(dir .. "/" .. (name:match "^(.*)/" or ""))
  assert(fs.write(dir .. "/" .. name, text))
end

tap.test("in the command's text, in a script that it names, else in the files at the top", function()
  tap.equal(look.metric(dir, "stat -c 'METRIC bytes=%s' a"), "bytes")
  tap.equal(look.metric(dir, "make -s bench"), nil)
  file("bench/run.sh", "echo METRIC time_us=5")
  tap.equal(look.metric(dir, "cd . && sh bench/run.sh"), "time_us")
  tap.equal(look.metric(dir, "make -s bench"), nil)
  file("main.c", 'printf("METRIC ops=%d", 1);')
  tap.equal(look.metric(dir, "make -s bench"), "ops")
  tap.equal(look.metric(dir, "sh bench/run.sh"), "time_us")
end)

tap.test("several metrics are no answer", function()
  file("other.c", 'printf("METRIC loss=%d", 1);')
  tap.equal(look.metric(dir, "make -s bench"), nil)
end)

fs.remove_tree(dir)
tap.done()
