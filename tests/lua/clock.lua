-- clock: the time of day, or what APSIS_NOW holds. (The dates themselves: goals/schedule.)
local clock = require "apsis.core.clock"
local host = require "apsis.host"
local tap = require "tap"
local wait = require "apsis.wait"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

test("APSIS_NOW replaces the time of day: seconds of up to 12 digits, or a date", function()
  for text, seconds in pairs { ["0"] = 0, ["1"] = 1, ["1700000000"] = 1700000000, ["999999999999"] = 999999999999,
    ["2026-11-22T10:00:00Z"] = 1795341600 } do
    host.setenv("APSIS_NOW", text)
    equal({ clock.check(), clock.time() }, { true, seconds })
  end
end)

test("what is no time is refused, by check with a message, by time with an error", function()
  for _, text in ipairs { "1000000000000", "-1", "1.5", "now", "2026-13-01T00:00:00Z", " 1" } do
    host.setenv("APSIS_NOW", text)
    local ok, message = clock.check()
    equal(ok, nil, text)
    matches(message, "^APSIS_NOW: ")
    raises("^APSIS_NOW: ", clock.time)
  end
end)

test("without it the clock is the system's", function()
  for _, text in ipairs { "", false } do
    host.setenv("APSIS_NOW", text or nil)
    local before = wait.time()
    local now = clock.time()
    equal({ clock.check(), before <= now and now <= wait.time() }, { true, true })
  end
end)

tap.done()
