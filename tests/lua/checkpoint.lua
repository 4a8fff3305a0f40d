-- checkpoint: a fold that is put away at any line and taken up again comes to the same as one that never stopped; and a
-- run writes one every some thousand lines. (What becomes of it when files are changed: tests/cli/checkpoint.t.)
local checkpoint = require "apsis.live.checkpoint"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local history = require "apsis.core.history"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local packed = require "apsis.core.packed"
local random = require "apsis.random"
local tap = require "tap"

local dir = assert(fs.tempdir())
assert(fs.mkdir(dir .. "/.apsis"))
local path = dir .. "/results.jsonl"
local metric = direction.new { name = "score", epsilon = 0.2 }

-- A line of a run with everything that a fold minds: candidates measured again, ties, workers that end out of order, a
-- lost number, runs, spending, judged ones, and a baseline by another metric.
local function line_of(number, rng)
  local id = ("c%04d"):format(number)
  local line = { experiment = number, candidate = id, run = 1 + number // 20, tree = "t" .. rng:integer(1, 40),
    tokens = rng:integer(0, 9), cost = rng:random(), measurements = 1, timestamp = "x", commit = "a" .. number }
  local kind = rng:integer(1, 10)
  if number == 0 or number == 41 then
    line.outcome, line.primary_metric, line.metric = "baseline", 1, number == 0 and "score" or "loss"
    line.direction = number == 0 and "higher" or "lower"
  elseif kind <= 2 then
    line.outcome, line.candidate, line.tree, line.commit = "measured", nil, nil, nil
    line.trace = { { id = ("c%04d"):format(rng:integer(0, number - 1)), value = rng:integer(0, 9) / 2 } }
  elseif kind == 3 then
    line.outcome = "skipped_provider_failure"
  else
    line.outcome, line.primary_metric = kind < 8 and "kept" or "reverted_worse_metric", rng:integer(0, 20) / 2
    if kind == 4 then line.samples, line.trace = { 1, line.primary_metric }, { { id = id, value = 1 } } end
    if number > 60 and kind == 5 then
      line.acceptance = { verdict = "kept", state = { level = 1 }, gain = number % 2 == 0 and { gain = number } or nil }
    end
  end
  return json.encode(line)
end

local function texts_of(seed, count)
  local rng, texts = random.stream(seed, 0, "checkpoint"), {}
  for number = 0, count - 1 do texts[#texts + 1] = line_of(number == 30 and 1000 or number, rng) end
  if seed % 2 == 0 then
    for at = 12, count - 1, 7 do texts[at], texts[at + 1] = texts[at + 1], texts[at] end
  end
  return texts
end

local function write(texts, count)
  assert(fs.write(path, table.concat(texts, "\n", 1, count) .. "\n"))
end

local function brief(record)
  return record and { record.id, record.value, record.retained, record.samples, record.commit, record.measured_by.name }
end

-- What anybody can see of a history.
local function facts_of(made)
  local facts = { records = {}, values = {}, metric = { made.metric.name, made.metric.direction } }
  for _, name in ipairs { "count", "last_experiment", "run", "since_kept", "since_best", "totals", "run_totals", "outcomes",
    "bar", "gain", "judged" } do
    facts[name] = made[name]
  end
  for _, name in ipairs { "best", "current", "baseline", "newest", "newest_baseline" } do
    facts.records[name] = brief(made[name])
  end
  for index = 1, made.count do
    local record = made:at(index)
    facts.values[index] = { record.id, record.value, record.samples, made:line_of(record.experiment) }
  end
  return facts
end

local function text_of(made)
  local parts = {}
  packed.add(parts, made)
  return table.concat(parts)
end

local function fold(into, source)
  into.trees = nil
  assert(into:fold(source))
  return into
end

for seed = 1, 4 do
  tap.test(("a fold taken up at any line is the fold of all, seed %d"):format(seed), function()
    local texts = texts_of(seed, 90)
    local put_away = {}
    for count = 1, #texts do
      write(texts, count)
      local source = journal.reader(path)
      put_away[count] = text_of(fold(history.new(metric, source), source))
      source:close()
    end
    local source = journal.reader(path)
    local whole = facts_of(fold(history.new(metric, source), source))
    for count = 1, #texts do
      local again = journal.reader(path)
      local made = history.new(metric, again)
      tap.equal(packed.restore(made, put_away[count], 1), true, count)
      tap.equal(made.count, count)
      tap.equal(facts_of(fold(made, again)), whole, "put away at line " .. count)
      again:close()
    end
    source:close()
  end)
end

tap.test("sums keep whether they are whole numbers, whatever they are", function()
  write { '{"experiment":0,"outcome":"baseline","primary_metric":1,"tokens":1.5,"cost":1e308}',
    '{"experiment":1,"outcome":"kept","primary_metric":2,"tokens":1.5,"cost":1e308}' }
  local source = journal.reader(path)
  local text = text_of(fold(history.new(metric, source), source))
  local made = history.new(metric, source)
  tap.equal(packed.restore(made, text, 1), true)
  tap.equal({ tostring(made.totals.tokens), made.totals.usd, math.type(made.totals.asked) }, { "3.0", math.huge, "integer" })
  tap.equal(packed.restore(history.new(metric, source, true), text, 1), false)
  tap.equal(packed.restore(history.new(direction.new { name = "score" }, source), text, 1), false)
end)

-- What the restore of a text gives whose head is changed so, over the same numbers.
local function restored(text, source, change)
  local stop = text:find("\n", 1, true)
  local head = json.decode(text:sub(1, stop - 1), true)
  change(head)
  return packed.restore(history.new(metric, source), json.encode(head) .. text:sub(stop), 1)
end

tap.test("a head in which anything is missing, or is not what it must be, is of no use", function()
  local texts = texts_of(1, 90)
  write(texts, 90)
  local source = journal.reader(path)
  local text = text_of(fold(history.new(metric, source), source))
  tap.equal(restored(text, source, function() end), true)
  for name, wrong in pairs { count = { "x", -1, 1.5, false }, last_experiment = { "x", false }, run = { "x", false },
    since_kept = { "x", false }, since_best = { "x", false }, began = { "x", false }, terms = { "x", false },
    marks = { "x", -1, 0, 1e6, false }, kept = { "x", -1, 0, 1e6, false }, moved = { "x", -1, 1 }, gain = { 1 },
    bar = { "x" }, judged = { 1 }, outcomes = { "x", { kept = "x" }, { kept = -1 }, false },
    epochs = { "x", { "x" }, { {} }, false }, more = { "x", { c0001 = "x" }, { c0001 = { "x" } }, false },
    records = { "x", { best = "x" }, { best = {} }, { best = { at = -1 } }, { best = { at = "x" } }, false },
    totals = { "x", {}, false }, run_totals = { "x", {}, false } } do
    for index, value in ipairs(wrong) do
      tap.equal(restored(text, source, function(head) head[name] = value or nil end), false, name .. " " .. index)
    end
  end
  for _, name in ipairs { "from", "name", "direction" } do
    tap.equal(restored(text, source, function(head) head.epochs[1][name] = nil end), false, name)
    tap.equal(restored(text, source, function(head) head.epochs[1][name] = true end), false, name)
  end
  for key in pairs(history.new(metric, source).totals) do
    for _, name in ipairs { "totals", "run_totals" } do
      tap.equal(restored(text, source, function(head) head[name][key] = 5 end), false, key)
      tap.equal(restored(text, source, function(head) head[name][key] = "x" end), false, key)
    end
  end
  for _, key in ipairs { "version", "metric", "direction", "epsilon", "of_branch" } do
    tap.equal(restored(text, source, function(head) head.terms[key] = nil end), false, key)
  end
  tap.equal(restored(text, source, function(head) head.records.best.retained = "x" end), false)
  tap.equal(restored(text, source, function(head) head.records.best.at = 1000 end), false)
  for _, cut in ipairs { "", "\n", "{}\n", "[]\n", "1\n", text:sub(1, -2), text .. "x" } do
    tap.equal(packed.restore(history.new(metric, source), cut, 1), false, cut:sub(1, 9))
  end
  tap.equal(packed.restore(history.new(metric, source), "before" .. text, 7), true)
  source:close()
  local nothing = text_of(history.new(metric, source))
  tap.equal(restored(nothing, source, function() end), true)
  for _, name in ipairs { "marks", "kept" } do
    tap.equal(restored(nothing, source, function(head) head[name] = nil end), false, name)
  end
end)

tap.test("the first baseline's metric is that of the first lines, given or not", function()
  write { '{"experiment":0,"candidate":"c0000","outcome":"baseline","primary_metric":1,"metric":"loss","direction":"lower"}',
    '{"experiment":1,"candidate":"c0001","outcome":"kept","primary_metric":0.5}' }
  local source = journal.reader(path)
  local made = fold(history.new(metric, source), source)
  local again = history.new(metric, source)
  tap.equal(packed.restore(again, text_of(made), 1), true)
  for _, one in ipairs { made, again } do
    tap.equal({ #one.classes, one:at(1).measured_by.name, one:at(2).measured_by.direction }, { 1, "loss", "lower" })
  end
  source:close()
end)

tap.test("so is a second metric's, which may be the given one again", function()
  local line = '{"experiment":%d,"candidate":"c%04d","outcome":"baseline","primary_metric":1,"metric":"%s","direction":"%s"}'
  write { line:format(0, 0, "loss", "lower"), line:format(1, 1, "score", "higher") }
  local source = journal.reader(path)
  local again = history.new(metric, source)
  tap.equal(packed.restore(again, text_of(fold(history.new(metric, source), source)), 1), true)
  tap.equal({ #again.classes, again:at(1).measured_by.name, again:at(2).measured_by.name, again.metric.name },
    { 2, "loss", "score", "score" })
  source:close()
end)

tap.test("a run writes one when it has folded the journal, then every 4096 lines, and at its end", function()
  local line = '{"experiment":%d,"outcome":"kept","primary_metric":1,"candidate":"c%04d"}'
  local texts = { '{"experiment":0,"outcome":"baseline","primary_metric":1}' }
  for number = 1, 4999 do texts[number + 1] = line:format(number, number) end
  write(texts)
  assert(fs.write(dir .. "/.apsis/fold", "of another journal"))
  local source = assert(journal.open(path))
  local writer = checkpoint.writer(dir, source)
  tap.equal(fs.stat(dir .. "/.apsis/fold"), nil, "none that nobody can trust")
  local made = fold(history.new(metric, source), source)
  local function count()
    local reader = journal.reader(path)
    local found = checkpoint.history(dir, reader, metric).count
    reader:close()
    return found
  end
  tap.equal(count(), 0)
  writer:note(made)
  tap.equal(count(), 5000)
  for number = 5000, 5010 do
    assert(made:add(assert(source:append(json.decode(line:format(number, number), true), metric))))
    writer:note(made)
  end
  tap.equal(count(), 0, "the journal has gone on, and no run holds the lock")
  local held = assert(lock.take(dir))
  tap.equal(count(), 5000, "it has gone on, and a run holds the lock")
  local at = assert(fs.read(path)):find('"experiment":4990', 1, true) + #'"experiment":' - 1
  local function put(digit)
    local file <close> = assert(io.open(path, "r+b"))
    file:seek("set", at)
    file:write(digit)
  end
  put "3"
  tap.equal(count(), 0, "its lines before that are not those that were folded")
  put "4"
  held:close()
  writer:write(made)
  tap.equal(count(), 5011)
  assert(source:append(json.decode(line:format(6000, 6000), true), metric))
  writer:write(made)
  tap.equal(count(), 0, "nothing is written that leaves out a line")
  source:close()
  assert(fs.remove_tree(dir))
end)

tap.done()
