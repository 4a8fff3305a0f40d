-- breakpoint: which steps a breakpoint stops at.
local breakpoint = require "apsis.debug.breakpoint"
local lines = require "apsis.core.line"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local hooks = { accept = true, learn = true, plan = true, line = true }

local function step(hook, experiment, outcome)
  return { hook = hook, experiment = experiment, passed = { { outcome = outcome, value = 3 } }, bodies = {},
    run = { experiment = experiment } }
end

-- Whether a breakpoint stops at each of some steps, one after another.
local function stops(text, ...)
  local one, last, found = assert(breakpoint.new(text, hooks, lines.status_of)), nil, {}
  for index, at in ipairs { ... } do found[index], last = one:matches(at, last), at.experiment end
  return found
end

test("a hook, an experiment where it is entered, an outcome", function()
  equal(stops("accept", step("plan", 1), step("accept", 1), step("accept", 2)), { false, true, true })
  equal(stops("2", step("plan", 1), step("plan", 2), step("accept", 2), step("plan", 3), step("line", 2)),
    { false, true, false, false, true })
  equal(stops("kept", step("learn", 1, "kept"), step("line", 1, "kept"), step("line", 2, "measured")),
    { false, true, false })
end)

test("several conditions hold together", function()
  equal(stops("learn kept", step("learn", 1, "kept"), step("line", 1, "kept"), step("learn", 2, "measured")),
    { true, false, false })
  equal(stops("accept 2", step("accept", 1), step("plan", 2), step("accept", 2)), { false, false, true })
  equal(stops("accept if run.experiment > 1", step("accept", 1), step("accept", 2), step("plan", 2)),
    { false, true, false })
end)

test("an expression sees what the hook was given; where it fails it is not true", function()
  equal(stops("if candidate.value == 3", step("accept", 1), step("plan", 1)), { true, false })
  local one = assert(breakpoint.new("if candidate.value == 3", hooks, lines.status_of))
  equal(one:matches(step("plan", 1)), false)
  equal(one.problem:match "candidate", "candidate")
end)

test("before a step it is known whether one may stop there, unless an expression decides", function()
  local function may(text, at) return assert(breakpoint.new(text, hooks, lines.status_of)):may_match(at) end
  equal({ may("accept", step("accept", 1)), may("accept", step("plan", 1)), may("learn kept", step("learn", 1, "kept")),
    may("learn kept", step("learn", 1, "measured")), may("kept", step("line", 1, "kept")), may("kept", step("learn", 1, "kept")),
    may("if true", step("plan", 1)) }, { true, false, true, false, true, false, false })
end)

test("what is no breakpoint is refused with a reason", function()
  local function refused(text) return (select(2, breakpoint.new(text, hooks, lines.status_of))) end
  equal(refused("akcept"):match '^.- did you mean "accept"', '"akcept" is no hook, experiment or outcome; did you mean "accept"')
  equal(refused("accept kept"):match "^[^:]*", "an outcome is known once the line is there")
  equal(refused("if ]"):match "^[^:]*", "no Lua expression")
end)

tap.done()
