-- history: what a fold makes of lines, one rule after another: counts, who leads, baselines, twins, and which names are found.
local direction = require "apsis.direction"
local history = require "apsis.core.history"
local listed = require "apsis.core.listed"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

-- Lines folded; a line's experiment is its place if it does not say. given: { metric, forgets, of_branch }.
local function fold(lines, given)
  given = given or {}
  local source = listed.new { forgets = given.forgets }
  local made = history.new(direction.new(given.metric or { name = "score", epsilon = 0.5 }), source, given.of_branch)
  local led = {}
  for index, line in ipairs(lines) do
    line.experiment, line.timestamp = line.experiment or index - 1, "then"
    line.commit = line.commit ~= false and ("%040x"):format(index) or nil
    line.candidate = line.outcome ~= "measured" and line.outcome ~= "asked" and ("c%04d"):format(line.experiment) or nil
    source:append(line)
    local record, took = made:add(line)
    assert(record == line, took)
    led[index] = took
  end
  return made, led
end

local function base(more)
  local line = { outcome = "baseline", primary_metric = 1, tree = "t0" }
  for key, value in pairs(more or {}) do line[key] = value end
  return line
end

local function kept(value, more)
  local line = base(more)
  line.outcome, line.primary_metric = "kept", value
  line.tree = more and more.tree
  return line
end

local function worse(value, more)
  local line = kept(value, more)
  line.outcome = more and more.outcome or "reverted_worse_metric"
  return line
end

test("a fold counts what was taken, in all and in this run, and what came of it", function()
  local made = fold {
    base { run = 1, tokens = 5, cost = 0.5, measurements = 2, machines = { usd = 0.5, run_s = 3 } },
    kept(2, { run = 1, tokens = 7, cost = 0.25, measurements = 1 }),
    { outcome = "skipped_provider_failure", run = 2, tokens = 3, answers = 2 },
    { outcome = "asked", run = 2, tokens = 10, cost = 1 },
    { outcome = "measured", run = 2, measurements = 4 },
    worse(1, { run = 2 }),
  }
  equal(made.totals, { tokens = 25, usd = 2.25, iterations = 3, measurements = 7, asked = 5, machines = 0.5,
    priced = 2 }) -- only measurements that cost dollars on other machines
  equal(made.run_totals, { tokens = 13, usd = 1, iterations = 2, measurements = 4, asked = 3, machines = 0, priced = 0 })
  equal(made.outcomes, { baseline = 1, kept = 1, skipped_provider_failure = 1, asked = 1, measured = 1, reverted_worse_metric = 1 })
  equal({ made.run, made.count, made.last_experiment, made:next_experiment() }, { 2, 6, 5, 6 })
  equal({ made.since_kept, made.since_best }, { 1, 1 })
  equal({ made.newest.experiment, made.current.id, made.best.id, made.baseline.id }, { 5, "c0001", "c0001", "c0000" })
end)

test("an empty history has nothing, and its next experiment is 0", function()
  local made = fold {}
  equal({ made.count, made.run, made.last_experiment, made:next_experiment(), made.since_kept, made.since_best }, { 0, 0, -1, 0, 0, 0 })
  equal({ made.best, made.current, made.baseline, made.newest, made.bar, made:at(0), made:at(1), made:get "c0000" }, {})
end)

test("what is better by more than epsilon leads; a tie that is kept leads, and retains the better; what is worse does not", function()
  local made, led = fold { base(), kept(1.4), kept(0.9), kept(3), kept(2), worse(9), kept(3.5), kept(4.1) }
  equal(led, { true, true, true, true, false, false, true, true })
  equal({ made.best.id, made.bar, made.since_best, made.since_kept }, { "c0007", 4.1, 0, 0 })
  equal({ made:get("c0001").retained, made:get("c0002").retained, made:get("c0003").retained, made:get("c0006").retained },
    { 1.4, 1.4, nil, 3.5 })
  equal({ made.current.id, made:get("c0004").retained }, { "c0007", nil })
  made, led = fold({ base(), kept(0.2), kept(2) }, { metric = { name = "score", direction = "lower" } })
  equal({ led, made.bar }, { { true, true, false }, 0.2 })
end)

test("one that retained the value it tied with retains none when more samples show it to be better", function()
  local made = fold { base(), kept(0.9) }
  equal({ made.best.id, made.best.retained, made.bar }, { "c0001", 1, 1 })
  local twice = { { id = "c0001", value = 5 }, { id = "c0001", value = 5 } }
  made = fold { base(), kept(0.9), worse(0, { trace = twice }) }
  equal({ made.best.id, made.best.value, made.bar, made.best.retained }, { "c0001", 5, 5 })
end)

test("lines after the best count since it; a provider that fails, and what measures or asks, do not", function()
  local made = fold { base(), kept(3), kept(2), worse(1), { outcome = "skipped_provider_failure" }, { outcome = "measured" },
    { outcome = "asked" }, { outcome = "skipped_no_change" } }
  equal({ made.since_kept, made.since_best }, { 2, 3 })
  made:begin(7)
  equal({ made.run, made.since_kept, made.since_best, made.run_totals.iterations, made.totals.iterations }, { 7, 0, 0, 0, 5 })
end)

test("a baseline without a value is one only if there is none; without a value nothing leads", function()
  local made, led = fold { { outcome = "baseline", tree = "t0" } }
  equal({ led, made.best, made.current, made.baseline.id, made.bar }, { { false }, nil, nil, "c0000" })
  made = fold { base(), { outcome = "baseline", tree = "other" }, kept(3) }
  equal({ made.best.id, made.baseline.id, made.newest_baseline.id, made.began }, { "c0002", "c0000", "c0001", 1 })
end)

test("of several baselines the newest leads; a kept best stays above one of the same tree, and another tree starts a new comparison", function()
  local made, led = fold { base(), base { primary_metric = 0.2 } }
  equal({ led, made.best.id, made.bar, made.began }, { { true, true }, "c0001", 0.2, 2 })
  made, led = fold { base(), kept(3), base() }
  equal({ led, made.best.id, made.began, made.baseline.id }, { { true, true, false }, "c0001", 1, "c0002" })
  made, led = fold { base(), kept(3), base { tree = "t1" }, kept(2) }
  equal({ led, made.best.id, made.began, made.bar }, { { true, true, true, true }, "c0003", 3, 2 })
  made = fold({ base(), kept(3), base() }, { of_branch = true })
  equal({ made.best.id, made.began }, { "c0002", 3 })
  equal({ made:begins_anew(base()), made:begins_anew(base { tree = "t9" }) }, { true, true })
  made = fold { base(), kept(3) }
  equal({ made:begins_anew(base()), made:begins_anew(base { tree = "t9" }), fold({}):begins_anew(base()) }, { false, true, false })
end)

test("a baseline of other machines than the last one's begins anew; a digest that only one of them has is no change", function()
  local there, digest = { queue_s = 1, run_s = 2 }, { verification = "0", ["execution.target"] = "1" }
  local function made(before, after)
    before.metric, after.metric, before.direction, after.direction = "score", "score", "higher", "higher"
    return fold({ base(before), kept(3), base(after) }).best.id
  end
  equal({ made({}, { machines = there }), made({ machines = there }, {}) }, { "c0002", "c0002" })
  equal({ made({}, {}), made({ machines = there }, { machines = there }) }, { "c0001", "c0001" })
  equal(made({ machines = there, evaluator = { verification = "0" } }, { machines = there, evaluator = digest }), "c0001")
  equal(made({ machines = there, evaluator = { ["execution.target"] = "2" } }, { machines = there, evaluator = digest }), "c0002")
  equal({ made({ evaluator = digest }, {}), made({}, { evaluator = digest }) }, { "c0001", "c0001" }) -- an older apsis wrote none
end)

test("files of before a baseline that was measured otherwise were not tried since; the baseline's own were", function()
  local of = { metric = "score", direction = "higher" }
  local function twins(last)
    local made = fold { base(of), kept(3, { tree = "t1" }), base(last), worse(2, { tree = "t2" }) }
    return { made:twin "t0" or "none", made:twin "t1" or "none", made:twin "t2" }
  end
  equal(twins(of), { "c0000", "c0001", "c0003" })
  equal(twins { metric = "loss", direction = "higher" }, { "c0002", "none", "c0003" })
end)

test("from a baseline by another metric on, values are compared and shown under that", function()
  local of = { metric = "loss", direction = "lower" }
  local made, led = fold { base { metric = "score", direction = "higher" }, kept(3), base(of), kept(0.5), kept(0.2) }
  equal(led, { true, true, true, true, true })
  equal({ made.best.id, made.metric.name, made.metric.direction, made.began }, { "c0004", "loss", "lower", 3 })
  equal({ made:at(2).measured_by.name, made:at(3).measured_by.name, made:at(5).metrics, made:at(2).metrics },
    { "score", "loss", { loss = 0.2 }, { score = 3 } })
  equal({ made:measured_otherwise(base(of)), made:measured_otherwise(base { metric = "loss", direction = "higher" }),
    made:measured_otherwise(base { metric = "score", direction = "lower" }), made:measured_otherwise(base()) }, { false, true, true, false })
  made = fold { base { metric = "score", direction = "higher" }, base(of), base { metric = "score", direction = "higher" } }
  equal({ made.metric == made.given, made.metric.epsilon, #made.classes }, { true, 0.5, 3 })
  for _, other in ipairs { { metric = "score", direction = "lower" }, { metric = "loss", direction = "higher" } } do
    made = fold { base { metric = "score", direction = "higher" }, base(other), kept(2) }
    equal({ made.metric.name, made.metric.direction, #made.classes }, { other.metric, other.direction, 2 })
  end
  made = fold { base { metric = "loss", direction = "nowhere" }, base { metric = 5, direction = "lower" } }
  equal({ made.metric == made.given, #made.classes }, { true, 1 })
  made = fold { { outcome = "baseline", tree = "t0", metric = "loss", direction = "lower" } }
  equal({ made.metric.name, #made.classes, made.classes[1].from }, { "loss", 1, 1 })
end)

test("one that was shown to be better leads whatever its value, and the same baseline does not take its place", function()
  local function judged(value, verdict, state)
    return kept(value, { acceptance = { verdict = verdict, state = state or { level = 1 } } })
  end
  local made, led = fold { base(), judged(0.1, "kept"), judged(9, "tied"), kept(5) }
  equal({ led, made.best.id, made.bar }, { { true, true, false, true }, "c0003", 5 })
  made, led = fold { base(), judged(0.1, "kept"), base() }
  equal({ led, made.best.id }, { { true, true, false }, "c0001" })
  made, led = fold { base(), judged(0.1, "tied"), base() }
  equal({ led, made.best.id }, { { true, false, true }, "c0002" })
  made = fold { base(), kept(5), kept(9), judged(6, "kept"), { outcome = "measured",
    trace = { { id = "c0002", value = 0 }, { id = "c0002", value = 0 }, { id = "c0001", value = 100 } } } }
  equal({ made.best.id, made.judged, made.kept_lines }, { "c0003", true, { 3, 4 } })
  equal(fold({ base(), judged(6, "kept"), kept(7) }).judged, false)
  equal(fold({ base(), judged(6, "kept"), worse(1) }).judged, true)
  equal(fold({ base(), worse(1, { acceptance = { state = { level = 1 } } }) }).judged, true)
  equal({ fold({ base(), kept(2, { acceptance = { gain = { by = 3 } } }) }).gain,
    fold({ base(), kept(2, { acceptance = { gain = { by = 3 } } }), base() }).gain }, { { by = 3 } })
end)

test("later samples are a candidate's, and may change who leads; its own line's are not counted twice", function()
  local made, led = fold { base(), kept(5), kept(7), { outcome = "measured", trace = { { id = "c0002", value = 1 },
    { id = "c0002", value = 1 }, { id = "c0001", value = 5 }, { id = "c0099", value = 5 }, { id = "c0000" } } } }
  equal({ made.best.id, made.bar, led[4] }, { "c0001", 5, false })
  equal({ made:get("c0002").samples, made:value_of "c0002", made:get("c0001").samples, made:get("c0000").samples },
    { { 7, 1, 1 }, 1, { 5, 5 }, { 1 } })
  equal({ made:new_value_of "c0002", made:new_value_of "c0000", made:value_of "c0000", made:value_of "c0099" }, { 1, nil, 1, nil })
  made = fold { base(), kept(5, { samples = { 4, 6 }, trace = { { id = "c0001", value = 6 }, { id = "c0000", value = 3 } } }) }
  equal({ made:get("c0001").samples, made:get("c0000").samples, made:value_of "c0000" }, { { 4, 6 }, { 1, 3 }, 2 })
  made = fold { base(), worse(5), { outcome = "measured", trace = { { id = "c0001", value = 9 } } },
    { outcome = "measured", trace = { { id = "c0001", value = 10 } } } }
  equal({ made:get("c0001").samples, made.best.id }, { { 5, 9, 10 }, "c0000" })
end)

test("a measured tree is known, by the first that had it; a failure, a red gate and one unlucky rejection are not", function()
  local unlucky = { verdict = "rejected", state = {} }
  local made = fold { base(), worse(2, { tree = "a" }), worse(3, { tree = "a" }),
    worse(nil, { tree = "b", outcome = "skipped_verification_crash" }), worse(2, { tree = "c", outcome = "reverted_gate_failure" }),
    worse(2, { tree = "d", outcome = "skipped_strategy_error" }), worse(nil, { tree = "e", outcome = "reverted_stage_failure" }),
    worse(2, { tree = "f", acceptance = unlucky }), worse(2, { tree = "g", acceptance = unlucky }),
    worse(2, { tree = "g", acceptance = unlucky }) }
  equal({ made:twin "t0", made:twin "a", made:twin "e", made:twin "g" }, { "c0000", "c0001", "c0006", "c0009" })
  for _, tree in ipairs { "b", "c", "d", "f", "none" } do equal(made:twin(tree), nil, tree) end
end)

test("a candidate is found by its exact id, and has a commit or the outcome that tells why not", function()
  local made = fold { base(), kept(2), { outcome = "measured" }, { outcome = "skipped_no_change", commit = false }, { outcome = "asked" } }
  for _, wrong in ipairs { "c1", "c00001", "x0001", "0001", "c0001 ", "c-001", "c0x1", "c0009", "", "c", 1 } do
    equal({ made:get(wrong), made:value_of(wrong), made:has(wrong) }, {}, wrong)
  end
  equal({ made:get("c0001").experiment, made:get "c0002", made:get "c0004" }, { 1 })
  equal({ made:has "c0001", made:has "c0001", made:has "c0002" }, { true, true })
  equal({ made:has "c0003" }, { false, "has no commit (skipped_no_change)" })
  equal({ made:at(0), made:at(6), made:at(-1) }, {})
  equal({ made:at(1).id, made:at(5).outcome, made:line_of(0), made:line_of(4), made:line_of(5), made:line_of(-1) },
    { "c0000", "asked", 1, 5 })
end)

test("lines out of order are found by their experiment, and none may come twice", function()
  local made = fold { base(), kept(2, { experiment = 5 }), kept(3, { experiment = 2 }), kept(4, { experiment = 6 }) }
  equal({ made:line_of(0), made:line_of(5), made:line_of(2), made:line_of(6), made:get("c0002").value, made.last_experiment },
    { 1, 2, 3, 4, 3, 6 })
  equal({ made:line_of(1), made:line_of(3), made:line_of(4), made:next_experiment() }, { nil, nil, nil, 7 })
  for number, line in pairs { [5] = 2, [0] = 1, [6] = 4 } do
    equal({ made:add { experiment = number, outcome = "kept" } }, { nil, ("experiment %d occurs twice, first at line %d"):format(number, line) })
  end
  equal({ fold({ base() }):add { experiment = 0, outcome = "kept" } }, { nil, "experiment 0 occurs twice, first at line 1" })
end)

test("each visits the folded lines, whole or as they are in the file, and no later ones", function()
  local made = fold { base(), kept(2) }
  made.source:append { experiment = 2, outcome = "kept" }
  local seen = {}
  equal(made:each(function(record, index) seen[index] = record.value or record.id end), true)
  equal(seen, { 1, 2 })
  seen = {}
  equal(made:fold(made.source, function(record) seen[#seen + 1] = record.experiment end), true)
  equal({ seen, made.count }, { { 2 }, 3 })
end)

test("a journal that forgets keeps the lines that led and the newest; what is gone is named", function()
  local window = listed.WINDOW
  listed.WINDOW = 3
  local made = fold({ base(), kept(5), kept(4), worse(1), kept(9), worse(1), worse(1), worse(1), worse(1) }, { forgets = true })
  listed.WINDOW = window
  local there = {}
  for index = 1, 9 do there[index] = made.source:read(index) ~= nil end
  equal(there, { true, true, false, false, true, false, true, true, true })
  equal({ made.source:holds(2), made.source:holds(3), made.kept_lines }, { true, false, { 1, 2, 5 } })
  equal({ made.source:read(3) },
    { nil, "line 3 of the history is not kept: leave --no-history out for a strategy that looks so far back" })
  made = fold { base(), kept(5), kept(4), worse(1) }
  equal({ made.kept_lines, made.source:read(4).experiment }, { { 1, 2, 3 }, 3 })
  local seen = {}
  equal({ made.source:each(function(line, index) seen[index] = line.experiment return index == 3 and "no more" or nil end, nil, 2) },
    { nil, "no more", "EJOURNAL" })
  equal(seen, { nil, 1, 2 })
end)

test("a line is read again once, also one without a time", function()
  local made, reads = fold { base(), kept(2), worse(1) }, 0
  made.cache, made.recent = {}, {}
  made.source.read = function()
    reads = reads + 1
    return { experiment = 0, outcome = "baseline", model = reads > 1 and "m" or nil }
  end
  local line = made:at(1)
  equal({ line.model, line.operator or "none", line.timestamp, reads }, { "m", "none", "", 2 })
end)

test("what cannot be read again is why", function()
  local made = fold { base(), kept(2) }
  made.cache, made.recent = {}, {}
  made.source.lines[2] = nil
  matches(select(2, made:whole(2)), "^line 2 of the history is not kept")
  local ok, message = pcall(made.at, made, 2)
  equal({ ok, message }, { false, select(2, made.source:read(2)) })
  for at, held in ipairs { false, { experiment = 1, outcome = "kept", primary_metric = 2 } } do -- the latter: as folded
    made.cache[2] = held or nil
    equal({ made:add { experiment = 1 + at, outcome = "measured", trace = { { id = "c0001", value = 3 } } } },
      { nil, (select(2, made.source:read(2))), true })
  end
  made.cache[2] = nil
  local other = fold { base(), kept(2), kept(3) }
  other.cache, other.recent, other.source.lines[2] = {}, {}, nil
  equal({ other:add { experiment = 3, outcome = "measured", trace = { { id = "c0002", value = 4 } } } },
    { nil, (select(2, other.source:read(2))), true }) -- who leads cannot be worked out
  made.source.read = function() return nil, "j:2: broken", "EJOURNAL" end
  equal({ pcall(made.at, made, 2) }, { false, { fatal = true, message = "j:2: broken", code = 3 } })
end)

tap.done()
