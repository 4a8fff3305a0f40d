-- the engine's judge and objections (lua/apsis/core/DETAILS.md): what the core asks of them, and when, without the room that brings them.
local direction = require "apsis.direction"
local fake = require "fake"
local history = require "apsis.core.history"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local CLIMB = "return { halt = function() end }"

-- Experiment N steps N higher. The lines after the baseline, and the engine.
local function run(install, iterations)
  local engine = fake.engine(CLIMB, { budget = { iterations = iterations or 2 },
    world = { answers = function(slot) return { edits = { x = slot.number } } end } })
  install(engine)
  assert(engine:run { run_number = 1 })
  local lines = {}
  for index = 2, engine.history.count do lines[index - 1] = engine.journal:read(index) end
  return lines, engine
end

-- A judge that shows what `verdicts` has for an experiment, and writes down what it is asked.
local function judge_of(verdicts, asked, more)
  local judge = { hold_back = function() end, short_of_time = function() end, level = function() end, final = function() end }
  function judge.is_final(_, proposal) return proposal.operator == "final" end
  function judge.judge(_, slot)
    asked[#asked + 1] = "judge " .. slot.number
    return verdicts[slot.number], "by the judge"
  end
  function judge.take_back(_, slot) asked[#asked + 1] = "take back " .. slot.number end
  for name, body in pairs(more or {}) do judge[name] = body end
  return judge
end

test("the first objection reverts what would be kept, with its reason, and later ones are not asked", function()
  local asked = {}
  local lines = run(function(engine)
    engine.objections[1] = function(slot)
      asked[#asked + 1] = slot.number
      return slot.number == 1 and "not that one" or nil
    end
    engine.objections[2] = function(slot) asked[#asked + 1] = -slot.number end
  end)
  equal({ lines[1].outcome, lines[1].rollback_reason, lines[2].outcome }, { "reverted_threshold_failure", "not that one", "kept" })
  equal(asked, { 1, 2, -2 })
end)

test("what the judge does not show to be better is not kept, for the judge's reason, and no objection is asked about it", function()
  local asked, objected = {}, {}
  local lines = run(function(engine)
    engine.judge = judge_of({ false, true }, asked)
    engine.shown_metric = direction.judged(engine.metric, function() return engine.history.best end)
    engine.objections[1] = function(slot) objected[#objected + 1] = slot.number end
  end)
  equal({ lines[1].outcome, lines[1].rollback_reason }, { "reverted_worse_metric", "by the judge" })
  equal({ lines[2].outcome, lines[2].rollback_reason }, { "kept", nil })
  equal({ asked, objected }, { { "judge 1", "take back 1", "judge 2" }, { 2 } })
end)

test("what an objection reverts is taken back, though it was shown to be better", function()
  local asked = {}
  local lines = run(function(engine)
    engine.judge = judge_of({ true }, asked)
    engine.objections[1] = function() return "spoilt" end
  end, 1)
  equal({ lines[1].outcome, asked }, { "reverted_threshold_failure", { "judge 1", "take back 1" } })
end)

test("where the judge has nothing to show, values decide as without one", function()
  local lines = run(function(engine) engine.judge = judge_of({}, {}) end)
  equal({ lines[1].outcome, lines[2].outcome }, { "kept", "kept" })
end)

test("the judge's final proposal is measured last, and its gain stands in the line", function()
  local lines = run(function(engine)
    engine.judge = judge_of({ true, true }, {}, {
      final = function() return { parents = { "c0002" }, operator = "final", measure = { "c0002", "c0000" }, repeats = 2 } end,
      gain = function(_, slot) return { final = true, count = #slot.trace } end })
  end)
  equal({ #lines, lines[3].operator, lines[3].outcome, lines[3].acceptance }, { 3, "final", "measured", { final = true, count = 4 } })
end)

test("the judge says when the target is reached, and that planning must end", function()
  local lines, engine = run(function(engine)
    engine.metric.target = 1
    engine.judge = judge_of({ true, true, true }, {}, { level = function() return engine.history.count > 3 and 1 or 0 end })
  end, 9)
  equal({ #lines, engine.stopping:match "^target reached" }, { 3, "target reached" })
  lines, engine = run(function(made)
    made.judge = judge_of({ true, true }, {}, { short_of_time = function() return made.history.count > 2 and "no time" or nil end })
  end, 9)
  equal({ #lines, engine.stopping }, { 2, "no time" })
end)

test("a judge learns every line of a fold, and hears of its end", function()
  local _, engine = run(function(made) made.judge = judge_of({ true, true }, {}) end)
  local heard = {}
  engine.judge.learn = function(_, record) heard[#heard + 1] = record.id end
  engine.judge.folded = function() heard[#heard + 1] = "end" end
  engine.history = history.new(engine.metric, engine.journal)
  assert(engine:fold())
  equal(heard, { "c0000", "c0001", "c0002", "end" })
end)

tap.done()
