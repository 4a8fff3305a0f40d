-- The gate: what a failure's signature is and is not, and the loop: green, red and repaired, stuck, used up, cut, over
-- noise and in
-- groups, and what a replay makes of it. The world is the fake one; its gate and repairs are the tests' own.
local definition = require "apsis.lab.definition"
local direction = require "apsis.direction"
local fake = require "fake"
local fs = require "apsis.fs"
local redecide = require "apsis.lab.redecide"
local journal = require "apsis.core.journal"
local loop = require "apsis.core.loop"
local listed = require "apsis.core.listed"
local prompt = require "apsis.prompt"
local recorded = require "recorded"
local recordings = require "apsis.core.recording"
local signature = require "apsis.goals.ci.signature"
local tap = require "tap"
local wait = require "apsis.wait"
local worlds = require "apsis.lab.world"
local test, equal, matches = tap.test, tap.equal, tap.matches

local FAILED = { outcome = "exit", code = 1 }

local function of(output, result) return signature.of(output, result or FAILED) end

-- ---- signature ----

local same = {
  { "a line number", "src/a.c:12:5: error: expected ';'", "src/a.c:14:5: error: expected ';'" },
  { "a line and no column", "a.lua:3: assertion failed!", "a.lua:40: assertion failed!" },
  { "line in words", 'File "t.py", line 12, in x\nAssertionError: no',
    'File "t.py", line 13, in x\nAssertionError: no' },
  { "a place in brackets", "src/a.ts(12,5): error TS2322: no", "src/a.ts(13,9): error TS2322: no" },
  { "a makefile's line", "make: *** [Makefile:10: all] Error 1", "make: *** [Makefile:12: all] Error 1" },
  { "a duration", "--- FAIL: TestX (0.00s)", "--- FAIL: TestX (1.37s)" },
  { "a duration with a blank", "test_x failed after 12 ms", "test_x failed after 340 ms" },
  { "a long duration", "tests failed in 1m 3.2s", "tests failed in 2m 59.0s" },
  { "seconds in words", "1 failed in 0.34 seconds", "1 failed in 12.5 seconds" },
  { "an address", "panic at 0x7ffdeadbeef0", "panic at 0x55d0c0ffee00" },
  { "a time of day", "10:00:00 ERROR boom", "23:59:59 ERROR boom" },
  { "an ISO time", "2026-11-22T10:00:00.123Z ERROR boom", "2027-01-02T23:00:01.9Z ERROR boom" },
  { "an ISO time with an offset", "2026-11-22 10:00:00+02:00 ERROR boom", "2026-11-23 11:00:00+01:00 ERROR boom" },
  { "a date in words", "Sun Nov 22 10:00:00 UTC 2026: error", "Mon Nov 30 11:12:13 UTC 2026: error" },
  { "a temporary folder", "error in /tmp/tmpab12/x.lua", "error in /tmp/tmpcd34/x.lua" },
  { "a temporary file", "error: /tmp/ccXy12.o: bad", "error: /tmp/ccZz98.o: bad" },
  { "a temporary folder of a mac", "error in /var/folders/ab/cd12/T/tmp1/x.lua",
    "error in /var/folders/ef/gh34/T/tmp2/x.lua" },
  { "a process's id", "==1234==ERROR: AddressSanitizer: heap", "==77==ERROR: AddressSanitizer: heap" },
  { "a process's id in words", "worker pid 123 failed", "worker pid 4567 failed" },
  { "a port", "error: connect 127.0.0.1:5432 refused", "error: connect 127.0.0.1:6111 refused" },
  { "a seed", "failed with seed 12", "failed with seed 99" },
  { "a commit", "error in a1b2c3d4e5", "error in 99aabbccdd" },
  { "a UUID", "job 123e4567-e89b-12d3-a456-426614174000 failed", "job 00000000-e89b-12d3-a456-426614174fff failed" },
  { "a time stamp", "failed at 1763800000", "failed at 1763899999123" },
  { "colours", "\27[31mFAILED\27[0m x", "FAILED x" },
  { "a link of the terminal", "\27]8;;http://x\7error\27]8;;\7: y", "error: y" },
  { "carriage returns", "error: x\r\nerror: y\r\n", "error: x\nerror: y\n" },
  { "progress", "tests/t.py::test_x FAILED [ 45%]", "tests/t.py::test_x FAILED [100%]" },
  { "how many passed", "1 failed, 12 passed", "1 failed, 13 passed" },
  { "the order of lines", "b failed\na failed\n", "a failed\nb failed\n" },
  { "a line that comes again", "a failed\na failed\n", "a failed\n" },
  { "what passed", "ok 1 - raises an error\nnot ok 2 - adds", "ok 1 - does not fail\nnot ok 2 - adds" },
  { "the number of a test with a name", "not ok 2 - adds", "not ok 3 - adds" },
  { "what is said beside", "compiling a\nx failed", "compiling b\nx failed" },
  { "a count of no errors", "x failed\n0 errors in a", "x failed\n0 errors in b" },
}

test("the same failure has the same signature at another time and place", function()
  for _, case in ipairs(same) do equal(of(case[2]), of(case[3]), case[1]) end
end)

local different = {
  { "another test", "not ok 1 - adds", "not ok 1 - subtracts" },
  { "another test without a name", "not ok 1", "not ok 2" },
  { "another test of a file", "FAILED t.py::test_a", "FAILED t.py::test_b" },
  { "numbered tests", "test_1 failed", "test_2 failed" },
  { "a parameter of a test", "FAILED t.py::test[1]", "FAILED t.py::test[2]" },
  { "a case's number after a colon", "case:3 failed", "case:4 failed" },
  { "another file", "a.c:1: error: x", "b.c:1: error: x" },
  { "another file in a temporary folder", "error in /tmp/tmpab12/x.lua", "error in /tmp/tmpab12/y.lua" },
  { "another message", "a.c:1: error: x", "a.c:1: error: y" },
  { "one more failure", "a failed", "a failed\nb failed" },
  { "another code", "error TS2322", "error TS2345" },
  { "a rate that rises", "error: coverage 70.1% is below 80%", "error: coverage 75.3% is below 80%" },
  { "a size that falls", "error: 104857 bytes, at most 1000", "error: 104111 bytes, at most 1000" },
  { "how many failed", "3 failed, 1 passed", "2 failed, 1 passed" },
}

test("another failure has another signature", function()
  for _, case in ipairs(different) do
    if of(case[2]) == of(case[3]) then error(("%s: both are %q"):format(case[1], of(case[2])), 0) end
  end
end)

test("output that names no failure: how it ended and its last line", function()
  equal(of "one\ntwo at a.c:7\n\n---\n", "exit 1: two at a.c:_")
  equal(of "", "exit 1")
  equal(of("", { outcome = "signal", signal_name = "SIGKILL" }), "killed by SIGKILL")
  equal(of("so far 12\n", { outcome = "timeout" }), "over its time limit")
  equal(of("a failed\nso far 12\n", { outcome = "timeout" }), "over its time limit; a failed")
  equal(of("", { outcome = "failed", message = "ENOENT: no such command" }), "ENOENT: no such command")
end)

test("a signature is one short line of text, and a long one ends in what tells it apart", function()
  local long, longer = ("failed: " .. ("x"):rep(200)), ("failed: " .. ("x"):rep(201))
  equal(#of(long) <= 120, true)
  equal(of(long) ~= of(longer), true)
  for _, wild in ipairs { "error \255\254\1\0 x", ("error ä"):rep(40), "error\tx\n\n\nfail\27[2K", ("é"):rep(100)
    .. " failed" } do
    local made = of(wild)
    equal(#made <= 120 and utf8.len(made) ~= nil and not made:find "%c", true, made)
  end
end)

-- ---- the loop ----

local CLIMB = "return { options = { patience = 1000 } }"

local red = function(output, more)
  local result = { outcome = "exit", code = 1, output = output }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end
local GREEN = { outcome = "exit", code = 0, output = "" }

-- A world whose gate returns gate(slot, candidate, x, left_s) and whose repairs are repair(slot, prompt), an answer. It
-- records every version.
local function gated(gate, repair, limits, more)
  local told = { gates = {}, repairs = {}, prompts = {} }
  local world = {
    gate_limits = function()
      return { run = "make check", attempts = limits and limits.attempts or 5, minutes = limits and limits.minutes
        or 60 }
    end,
    gate = function(self, slot, candidate, left_s)
      table.insert(told.gates, ("%s=%g"):format(candidate.id, self.x[candidate.id]))
      return gate(slot, candidate, self.x[candidate.id], left_s)
    end,
    repair = function(self, slot, text)
      table.insert(told.repairs, ("%s=%g"):format(slot.repair.candidate.id, self.x[slot.repair.candidate.id]))
      table.insert(told.prompts, text or slot.ask_prompt())
      local answer = repair(slot, text)
      return answer and { answer } or {}
    end,
    commit = function(self, slot, answer)
      if answer.violation then return nil, "reverted_scope_violation", answer.violation end
      local id = journal.id(slot.number)
      local parent = self.x[slot.proposal.parents[1]]
      local base = slot.repair and self.x[slot.repair.candidate.id] or parent
      local x = base + (answer.edits.x or 0)
      if x == base or x == parent then return nil, "skipped_no_change", "the edits change nothing" end
      self.x[id] = x
      local tree = ("x=%.17g"):format(x)
      return { commit = ("%039x%d"):format(slot.number, slot.repair and slot.repair.attempt or 0), tree = tree,
        changed_lines = 1, duplicate_of = self.history:twin(tree) }
    end,
  }
  for key, value in pairs(more or {}) do world[key] = value end
  return world, told
end

local function step(x, more)
  local answer = { edits = { x = x }, tokens = 10, cost = 0.5 }
  for key, value in pairs(more or {}) do answer[key] = value end
  return answer
end

local function run(world, spec)
  local all = { world = world, budget = { iterations = 3 } }
  for key, value in pairs(spec or {}) do all[key] = value end
  return fake.run(all.source or CLIMB, all)
end

test("a green gate keeps what is better, and only that is gated", function()
  local world, told = gated(function() return GREEN end, nil, nil, {
    answers = function(slot) return step(slot.number == 2 and -2 or 1) end })
  local lines = run(world)
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "reverted_worse_metric", "kept" })
  equal(told.gates, { "c0001=1", "c0003=2" })
  equal(lines[2].gate, { status = "green" })
  equal({ lines[2].fix_attempts or "none", lines[3].gate or "none" }, { "none", "none" })
end)

test("a world whose manifest has no gate is never asked", function()
  local world, told = gated(function() error "asked" end)
  world.gate_limits = function() return nil end
  local lines = run(world)
  equal({ #told.gates, lines[2].outcome, lines[2].gate or "none" }, { 0, "kept", "none" })
end)

test("red is repaired from the candidate, verified and judged anew, and gated again", function()
  local world, told = gated(function(_, _, x) return x < 1.5 and red "test_a failed" or GREEN end,
    function() return step(0.75, { tokens = 7, cost = 0.25 }) end, nil, { answers = function() return step(1) end })
  local lines = run(world, { budget = { iterations = 1 } })
  local line = lines[2]
  equal({ line.outcome, line.primary_metric, line.fix_attempts, line.gate }, { "kept", 1.75, 1, { status = "green" } })
  equal({ told.gates, told.repairs }, { { "c0001=1", "c0001=1.75" }, { "c0001=1" } })
  equal({ line.tokens, line.cost, line.answers, line.measurements }, { 17, 0.75, 2, 2 })
  equal({ line.commit:sub(-1), line.parents, line.tree }, { "1", { "c0000" }, "x=1.75" })
  equal(line.samples, { 1.75 })
end)

test("a repair is asked for with the change, the gate's command and what it said", function()
  local world, told = gated(function(_, _, x) return x < 1.5 and red "test_a failed at 12" or GREEN end,
    function() return step(1) end, nil, { answers = function() return step(1) end })
  run(world, { budget = { iterations = 1 } })
  local text = told.prompts[1]
  for _, part in ipairs { "repair 1 of at most 5", "a diff", "`make check` failed %(exit 1%)", "test_a failed at 12",
    "smallest change" } do
    matches(text, part)
  end
end)

test("the same failure again ends it, and the run", function()
  local world, told = gated(function(_, _, x) return red(("test_a failed at a.c:%d after %gs"):format(x, x)) end,
    function() return step(1) end, nil, { answers = function() return step(1) end })
  local lines, ended = run(world)
  local line = lines[2]
  equal({ #lines, line.outcome, line.status, line.fix_attempts }, { 2, "reverted_gate_failure", "discard", 1 })
  equal({ line.gate.status, line.gate.reason }, { "stuck", "stuck in CI fix loop: " .. line.gate.signature })
  equal(line.gate.signature, "test_a failed at a.c:_ after _")
  matches(line.rollback_reason,
    "^the gate cannot be made green: test_a failed at a%.c:_ after _; repair 1 left it failing in the same way$")
  matches(ended.reason, "^the gate cannot be made green: test_a failed .*the next candidate would fail")
  equal({ #told.gates, line.primary_metric, line.tree }, { 2, 2, "x=2" })
  equal(line.best, 0)
end)

test("attempts are used up where each failure is another", function()
  local count = 0
  local world, told = gated(function() count = count + 1 return red(("test_%d failed"):format(count)) end,
    function() return step(1) end, { attempts = 3 }, { answers = function() return step(1) end })
  local line = run(world)[2]
  equal({ line.gate.status, line.fix_attempts, #told.gates, #told.repairs }, { "exhausted", 3, 4, 3 })
  equal(line.gate.reason, "ci-fix-exhausted: test_4 failed")
  matches(line.rollback_reason, "3 repairs did not fix it")
end)

test("attempts: 0 asks for none", function()
  local world, told = gated(function() return red "x failed" end, error, { attempts = 0 })
  local line = run(world)[2]
  equal({ line.gate.status, line.fix_attempts or "none", #told.repairs }, { "exhausted", "none", 0 })
end)

test("a repair that comes to nothing is one that failed in the same way", function()
  local useless = { { "changes nothing", step(0), "the edits change nothing" }, { "is none", nil, "gave no answer" },
    { "takes the change back", step(-1), "change nothing" },
    { "fails", { error = "it is tired", tokens = 3, cost = 0 }, "it is tired" },
    { "is out of scope", step(1, { violation = "a.c is read only" }), "a.c is read only" } }
  for _, case in ipairs(useless) do
    local world, told = gated(function() return red "x failed" end, function() return case[2] end)
    local line = run(world)[2]
    equal({ line.outcome, line.gate.status, line.fix_attempts, #told.gates, line.tree },
      { "reverted_gate_failure", "stuck", 1, 1, "x=1" }, case[1])
    matches(line.rollback_reason, "repair 1 failed: .*" .. case[3])
    equal({ line.primary_metric, line.samples }, { 1, { 1 } }, case[1])
  end
end)

test("a repaired candidate that is no longer better has its ordinary outcome, and the run goes on", function()
  local world = gated(function(_, candidate) return candidate.experiment == 1 and red "x failed" or GREEN end,
    function() return step(-3) end)
  local lines = run(world)
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_worse_metric", "kept", "kept" })
  equal({ lines[2].primary_metric, lines[2].fix_attempts, lines[2].gate or "none", lines[2].delta },
    { -2, 1, "none", -2 })
  matches(lines[2].rollback_reason, "not better")
end)

test("a repaired candidate that cannot be measured, or is a known one, has its ordinary outcome", function()
  local world = gated(function() return red "x failed" end, function() return step(1) end, nil, {
    measure = function(x) return x == 2 and { status = "crash", reason = "it broke" } or { value = x } end })
  local line = run(world, { budget = { iterations = 1 } })[2]
  equal({ line.outcome, line.primary_metric or "none", line.fix_attempts }, { "skipped_verification_crash", "none", 1 })

  local again = gated(function(_, candidate) return candidate.experiment == 1 and GREEN or red "x failed" end,
    function() return step(-2) end, nil, { answers = function(slot) return step(({ 4, -1 })[slot.number] or 1) end })
  local lines = run(again, { budget = { iterations = 3 } }) -- 4 kept, 3 worse, 5 and repaired 3: that is the second
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "reverted_worse_metric", "skipped_duplicate" })
  equal({ lines[4].primary_metric or "none", lines[4].rollback_reason, lines[4].tree },
    { "none", "the same tree as c0002", "x=3" })
end)

test("a gate that is over its own limit is red; one that is cut by the cap ends it", function()
  local world = gated(function(_, _, x) return x < 1.5 and red("", { outcome = "timeout", code = nil }) or GREEN end,
    function() return step(1) end, nil, { answers = function() return step(1) end })
  equal(run(world, { budget = { iterations = 1 } })[2].outcome, "kept")
  world = gated(function() return red("a failed", { outcome = "timeout", code = nil, cut = true }) end, error)
  local line = run(world)[2]
  equal({ line.gate.status, line.gate.reason, line.gate.signature },
    { "timeout", "ci-timeout: wall-clock cap reached", "over its time limit; a failed" })
  matches(line.rollback_reason, "its 60 minutes are used up")
end)

test("the wall-clock cap counts repairs too, and is handed to the gate", function()
  local left = {}
  local world = gated(function(_, _, x, left_s)
    left[#left + 1] = left_s
    return red(("test_%g failed"):format(x))
  end, function()
    wait.sleep(0.03)
    return step(1)
  end, { minutes = 0.02 / 60 })
  local line = run(world)[2]
  equal({ line.gate.status, line.fix_attempts, #left }, { "timeout", 1, 1 })
  equal(left[1] > 0 and left[1] <= 0.02, true)
end)

test("a failure without one in its output has how it ended as its signature", function()
  local world = gated(function() return { outcome = "signal", signal_name = "SIGSEGV", output = "" } end,
    function() return step(1) end)
  equal(run(world)[2].gate.signature, "killed by SIGSEGV")
end)

test("a budget that is used up stops repairing", function()
  local count = 0
  local function ever() count = count + 1 return red(("test_%d failed"):format(count)) end
  local world, told = gated(ever, function() return step(1) end, nil, { answers = function() return step(1) end })
  local line = run(world, { budget = { measurements = 2 } })[2]
  equal({ line.gate.status, line.fix_attempts, line.measurements, #told.repairs }, { "short", 1, 2, 1 })
  matches(line.gate.reason, "^ci%-fix%-exhausted: test_2 failed %(budget: .*measurement")
  world = gated(ever, function() return step(1) end, nil, { answers = function() return step(1) end })
  line = run(world, { budget = { tokens = 25 } })[2] -- ten each: the third is not covered
  equal({ line.gate.status, line.fix_attempts, line.tokens }, { "short", 1, 20 })
  matches(line.gate.reason, "budget: .*tokens")
  world = gated(ever, function() return step(1) end)
  world.context = function(_, engine) engine.elapsed_s = (engine.elapsed_s or 0) + 40 end
  line = run(world, { budget = { minutes = 1 } })[2]
  matches(line.gate.reason, "budget: minutes used up")
end)

test("the last experiment of a budget may be repaired", function()
  local world = gated(function(_, _, x) return x < 1.5 and red "x failed" or GREEN end, function() return step(1) end)
  equal(run(world, { budget = { iterations = 1 } })[2].outcome, "kept")
end)

test("accept is asked again with the repaired candidate, and its extra measurements of the version before are "
  .. "not this one's", function()
  local source = [[return { accept = function(run, candidate)
    local note = ("%d:%g"):format(candidate.fix_attempts or 0, candidate.value)
    if #candidate.trace % 2 == 0 and not candidate.trace[(candidate.fix_attempts or 0) * 2 + 1] then
      return "measure", { ids = { candidate.id, run.best.id } } end
    return run.metric:better(candidate, run.best), note end }]]
  local world = gated(function(_, _, x) return x < 1.5 and red "x failed" or GREEN end, function() return step(1) end)
  local line = run(world, { source = source, budget = { iterations = 1 } })[2]
  equal({ line.outcome, line.notes.kept_because, line.samples }, { "kept", "1:2", { 2, 2 } })
  equal(line.trace, { { id = "c0001", was = 1, repaired = true }, { id = "c0000", value = 0, repaired = true },
    { id = "c0001", value = 2 }, { id = "c0000", value = 0 } })
  equal(line.measurements, 6)
end)

test("metrics that only the version before had do not stay", function()
  local world = gated(function(_, _, x) return x < 1.5 and red "x failed" or GREEN end, function() return step(1) end,
    nil, {
    measure = function(x) return { value = x, metrics = x == 1 and { old = 1 } or { new = 2 } } end })
  equal(run(world, { budget = { iterations = 1 } })[2].secondary_metrics, { new = 2 })
end)

test("a strategy's notes of the version before do not stay", function()
  local source = [[return { select = function() return 1, nil, { notes = { chosen = "yes" } } end,
    accept = function(run, candidate)
      return run.metric:better(candidate, run.best), "better", { notes = { version = candidate.fix_attempts or 0 } } end }]]
  local world = gated(function(_, _, x) return x < 1.5 and red "x failed" or GREEN end, function() return step(1) end)
  local line = run(world, { source = source, budget = { iterations = 1 } })[2]
  equal(line.notes, { chosen = "yes", version = 1, kept_because = "better" })
  world = gated(function() return red "x failed" end, function() return step(0) end)
  line = run(world, { source = source, budget = { iterations = 1 } })[2]
  equal(line.notes, { chosen = "yes", version = 0 })
end)

test("an acceptance that the journal cannot hold is not gated", function()
  local world, told = gated(function() return GREEN end)
  local line = run(world, { source = "return { accept = function() return true, 12 end }",
    budget = { iterations = 1 } })[2]
  equal({ line.outcome, #told.gates }, { "skipped_strategy_error", 0 })
end)

tap.with_room("noise", "guards are asked before the gate, and again of the repaired candidate", function()
  local world, told = gated(function(_, _, x) return x < 1.5 and red "x failed" or GREEN end,
    function() return step(1) end, nil, {
    measure = function(x) return { value = x, metrics = { ms = x >= 2 and 200 or 100 } } end })
  local line = run(world, { budget = { iterations = 1 }, metrics = { ms = { direction = "lower" } },
    guards = { { metric = "ms", max_regression = "5%" } } })[2]
  equal({ line.outcome, line.fix_attempts, #told.gates }, { "reverted_threshold_failure", 1, 1 })
  matches(line.rollback_reason, "guard ms")
end)

tap.with_room("noise", "with acceptance the repaired candidate is confirmed again, and a fold knows the same noise",
  function()
  local turn = 0
  local function noisy(x)
    turn = turn + 1
    return { value = x + (turn * 37 % 11) / 100 }
  end
  local world, told = gated(function(_, _, x) return x < 6 and red "x failed" or GREEN end,
    function() return step(5) end, nil, {
    measure = noisy, answers = function() return step(5) end })
  local lines, ended, engine = run(world, { budget = { iterations = 2 }, acceptance = { baseline = 8, final = 0 } })
  local line = lines[2]
  equal({ line.outcome, line.fix_attempts, line.acceptance.verdict, #told.repairs }, { "kept", 1, "kept", 1 })
  for _, sample in ipairs(line.samples) do equal(sample > 9, true, "a sample of the version before") end
  equal(line.primary_metric > 9, true)
  local again = fake.engine(CLIMB,
    { texts = engine.journal.texts, world = {}, acceptance = { baseline = 8, final = 0 } })
  equal(again.judge.state:save(), engine.judge.state:save())
  equal(ended.reason, "budget: iterations used up (2 in this run)")
end)

local function noise()
  local turn = 0
  return function(x, more)
    turn = turn + 1
    return { value = x + (turn * 37 % 11) / 100, metrics = more }
  end
end

tap.with_room("noise", "with acceptance a repaired candidate is compared with the best, not with the version before",
  function()
  local measured = noise()
  local world = gated(function(_, _, x) return x == 5 and red "x failed" or GREEN end, function() return step(-3) end,
    nil, {
    measure = function(x) return measured(x) end, answers = function() return step(5) end })
  local line = run(world, { budget = { iterations = 1 }, acceptance = { baseline = 8, final = 0 } })[2]
  equal({ line.outcome, line.fix_attempts, math.floor(line.primary_metric) }, { "kept", 1, 2 })
end)

tap.with_room("noise", "with acceptance and guards nothing that was shown of the version before stays", function()
  local measured = noise()
  local world = gated(function() return red "x failed" end, function() return step(1) end, nil,
    { answers = function() return step(5) end, measure = function(x)
      if x == 6 then return { status = "crash", reason = "it broke" } end
      return measured(x, { ms = 100 })
    end })
  local line = run(world, { budget = { iterations = 1 }, acceptance = { baseline = 8, final = 0 },
    metrics = { ms = { direction = "lower" } }, guards = { { metric = "ms", max_regression = "5%" } } })[2]
  equal({ line.outcome, line.fix_attempts, line.acceptance or "none", line.notes or "none" },
    { "skipped_verification_crash", 1, "none", "none" })
end)

tap.with_room("noise", "with acceptance one that the gate rejects is not what the next is compared with", function()
  local turn = 0
  local world = gated(function() return red "x failed" end, function() return step(0) end, nil, {
    measure = function(x)
      turn = turn + 1
      return { value = x + (turn * 37 % 11) / 100 }
    end, answers = function() return step(5) end })
  local lines, _, engine = run(world, { acceptance = { baseline = 8, final = 0 } })
  equal(lines[2].outcome, "reverted_gate_failure")
  equal(engine.judge.state:save(), lines[1].acceptance.state)
end)

-- ---- several at once ----

test("while the gate runs others are measured and planned, and decided afterwards", function()
  local world, told = gated(function(slot)
    if slot.number == 1 then wait.sleep(0.05) end
    return GREEN
  end, nil, nil, { answers = function(slot) return step(slot.number) end })
  local lines = run(world, { workers = 3, budget = { iterations = 4 } })
  equal(#lines, 5)
  equal(told.gates[1], "c0001=1")
  local seen_all = 0
  for _, line in ipairs(lines) do seen_all = seen_all + (line.outcome == "kept" and 1 or 0) end
  equal(seen_all >= 3, true)
end)

test("what is in flight when the gate gives up finishes, and nothing is planned any more", function()
  local world = gated(function(slot) return slot.number == 1 and red "x failed" or GREEN end, function()
    wait.sleep(0.03)
    return step(0)
  end, nil, { answers = function(slot) return step(slot.number) end })
  local lines, ended = run(world, { workers = 3, budget = { iterations = 30 } })
  equal(lines[2].outcome, "reverted_gate_failure")
  equal(#lines <= 5, true)
  for index = 3, #lines do equal(lines[index].outcome ~= "reverted_gate_failure", true) end
  matches(ended.reason, "^the gate cannot be made green")
end)

test("a group: the siblings of one that was repaired see the new version", function()
  local source = [[return { plan = function(run)
      if run.experiment > 1 then return nil end
      return { { parents = { run.best } }, { parents = { run.best } } } end,
    accept = function(run, candidate)
      local values = {}
      for _, sibling in ipairs(candidate.siblings) do values[#values + 1] = sibling.id .. "=" .. sibling.value end
      table.sort(values)
      return run.metric:better(candidate, run.best), table.concat(values, " ") end }]]
  local world = gated(function(_, _, x) return x < 1.5 and red "x failed" or GREEN end, function() return step(1) end,
    nil, {
    answers = function(slot) return step(slot.number == 1 and 1 or 3) end })
  local lines = run(world, { source = source, workers = 2 })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "kept" })
  equal({ lines[2].notes.kept_because, lines[3].notes.kept_because }, { "c0001=2 c0002=3", "c0001=2 c0002=3" })
end)

-- ---- afterwards ----

test("a tree that the gate failed on is tried again in a later run", function()
  local world = gated(function() return red "x failed" end, function() return step(0) end)
  local _, _, engine = run(world)
  local green = gated(function() return GREEN end)
  green.x = nil
  local lines = fake.run(CLIMB, { texts = engine.journal.texts, x = { c0000 = 0, c0001 = 1 }, world = green, run = 2,
    budget = { iterations = 1 } })
  equal({ lines[3].outcome, lines[3].tree }, { "kept", "x=1" })
end)

test("a prompt's words for it, and a metric's value beside", function()
  local run_face = { metric = direction.new { name = "score" }, directions = {},
    project = { name = "p", files = {}, provider = "chat", reads_answers = true },
    recent = function() return { { id = "c0001", experiment = 1, outcome = "reverted_gate_failure" } } end }
  matches(prompt.recent(run_face), "c0001 rejected: the project's gate fails on it")
  local candidate = { experiment = 3, value = 1.5, diff = function() return ("d"):rep(20000) end }
  local text = prompt.repair(run_face, { candidate = candidate, attempt = 2, attempts = 5,
    command = { "make", "check" }, ended = "exit 2", output = ("o"):rep(30000) })
  matches(text, "`make check` failed %(exit 2%)")
  matches(text, "this change: 1%.5")
  matches(text, "give the edits")
  equal(#text < 40000, true)
  matches(prompt.repair(run_face, { candidate = candidate, attempt = 1, attempts = 1, command = "x", ended = "exit 1",
    output = "\n" }), "printed nothing")
end)

-- Two runs: one candidate repaired and kept, one that the gate fails on, which ends the first; and some more.
local MEASURING = [[return { accept = function(run, candidate)
  if not candidate.trace[(candidate.fix_attempts or 0) * 2 + 1] then
    return "measure", { ids = { candidate.id, run.best.id } } end
  return run.metric:better(candidate, run.best) end, halt = function() end }]]

local function two_runs(source)
  local function gate(_, candidate, x)
    if candidate.experiment == 1 and x < 1.5 then return red "x failed" end
    return candidate.experiment == 3 and red "y failed" or GREEN
  end
  local turn = 0
  local more = { answers = function(slot) return step(slot.number == 2 and -1 or 2 - slot.number % 2) end,
    measure = function(x)
    turn = turn + 1
    return { value = x + (turn * 37 % 11) / 1000 }
  end }
  local world = gated(gate, function() return step(1) end, nil, more)
  local _, _, engine = run(world, { source = source, budget = { iterations = 10 } })
  local x = world.x or engine.world.x
  local second = gated(gate, function() return step(1) end, nil, more)
  return recorded.record(source, { world = second, texts = engine.journal.texts, x = x, run = 2,
    budget = { iterations = 3 } })
end

test("a recorded end of the gate is given to the lab, not decided there, and a run goes on after it", function()
  for _, source in ipairs { CLIMB, MEASURING } do
    local dir, lines = two_runs(source)
    local outcomes = fake.column(lines, "outcome")
    equal({ outcomes[2], outcomes[4], #lines }, { "kept", "reverted_gate_failure", 7 })
    local world = worlds.new(assert(definition.load("replay:dir=" .. dir)), 1, { workers = 1 })
    local strategy = assert(fake.strategy(source))
    local metric = { name = world.module.metric, direction = world.module.direction }
    local engine = loop.new { strategy = strategy, world = world, metric = metric, seed = 1, name = "again",
      workers = 1, journal = listed.new(), project = { name = "again", files = {} } }
    world.engine = engine
    assert(engine:fold())
    assert(engine:baseline(0))
    engine:run { run_number = 1 }
    local again = {}
    for index = 1, engine.history.count do again[index] = engine.history:at(index) end
    equal(fake.column(again, "outcome"), outcomes)
    equal(fake.column(again, "value"), fake.column(lines, "value"))
    matches(world.ended, "the recording ends after experiment 6")
  end
end)

test("with proposals held fixed a gate's failure stays one", function()
  for _, source in ipairs { CLIMB, MEASURING } do
    local dir, lines = two_runs(source)
    local walk = assert(redecide.new(journal.reader(dir .. "/logs/results.jsonl")))
    local still = { now = function() return 0 end, log = function() end, directions = function() return {} end }
    for _, name in ipairs { "read", "sources", "diff", "artifacts" } do still[name] = function() return "" end end
    local engine = loop.new { strategy = assert(fake.strategy(source)), world = still, journal = walk.journal,
      metric = { name = "score", direction = "higher" }, seed = 1 }
    local result, message = recordings.in_task(function() return walk:run(engine) end)
    equal(result and { #result.decisions.differing, result.decisions.unanswered, result.plans.differs or "none" }
      or message, { 0, 0, "none" })
    equal(engine.history:get("c0001").samples[2], lines[2].samples[2], "a sample of the version before")
  end
end)

fs.remove_tree(recorded.root)
tap.done()
