-- lab_progress: what is said of a campaign under way, with a clock that is set by hand.
local tap = require "tap"
local test, equal = tap.test, tap.equal

local now = 0.0
package.loaded["apsis.wait"] = { now = function() return now end }
package.loaded["apsis.lab.progress"] = nil
local progress = require "apsis.lab.progress"

-- What updates at { {seconds, done}... } write, of four trials.
local function said(updates, options)
  local written, stderr = {}, io.stderr
  now = 100.0
  io.stderr = { write = function(_, ...) written[#written + 1] = table.concat { ... } end }
  local ok, message = pcall(function()
    local bar = progress.new(options)
    bar:begin "lab"
    for _, update in ipairs(updates) do
      now = 100.0 + update[1]
      bar:update(update[2], 4, function() return "mine.lua on loop.lua, seed 3" end)
    end
  end)
  io.stderr = stderr
  if not ok then error(message, 0) end
  return (table.concat(written):gsub("\r\27%[K", ""))
end

test("who is busy is named once nothing has ended for five seconds, and no more when something has", function()
  equal(said({ { 5.0, 0 } }, { spoken = true }), "lab  0 of 4 trials  busy for 5 s: mine.lua on loop.lua, seed 3\n")
  equal(said({ { 4.5, 3 }, { 9, 3 } }, { spoken = true }), "lab  3 of 4 trials  0:03 left\n")
  equal(said({ { 4, 1 }, { 11, 1 }, { 17, 2 } }, { spoken = true }),
    "lab  1 of 4 trials  busy for 7 s: mine.lua on loop.lua, seed 3\nlab  2 of 4 trials  0:17 left\n")
end)

test("quiet is quiet, however long it takes", function()
  equal(said({ { 60, 0 } }, { spoken = true, quiet = true }), "")
end)

tap.done()
