-- agent_failure: how long an agent's message asks to wait.
local failure = require "apsis.live.provider.command.failure"
local tap = require "tap"

local NOW = os.time { year = 2026, month = 5, day = 4, hour = 14, min = 30, sec = 0 }

local cases = {
  { "try again in 3 hours 12 minutes", 11520 }, { "Please retry in 1h 5m.", 3900 }, { "try again in 1.5s", 1.5 },
  { "Limit reached. Try again in 500ms", 0.5 }, { "try again in 2 days 1 hour", 176400 }, { "Retry-After: 20", 20 },
  { "You've hit your limit · resets 3pm (Europe/Berlin)", 1800 }, { "resets at 3:05 PM", 2100 },
  { "Try again at 15:04.", 2040 }, { "resets 2pm", 84600 }, { "resets 12am", 34200 },
  { "usage limit reached|" .. NOW + 600, 600 }, { "usage limit reached|" .. NOW - 600, 1 },
  { "too many requests" }, { "try again in a while" }, { "resets 7" }, { "resets 99:99" }, { "" },
}

tap.test("the time that a message names", function()
  for _, case in ipairs(cases) do tap.equal({ case[1], failure.wait_of(case[1], NOW) }, { case[1], case[2] }) end
end)

tap.test("without one the pause doubles, up to a quarter of an hour", function()
  local list = {}
  for times = 1, 7 do list[times] = failure.wait({ said = "429" }, times) end
  tap.equal(list, { 30, 60, 120, 240, 480, 900, 900 })
end)

tap.done()
