-- The live line: never wider than the terminal, what matters most stays longest, and what is being done is seen at once.
local direction = require "apsis.direction"
local progress = require "apsis.cli.progress"
local tap = require "tap"
local wait = require "apsis.wait"

local equal = tap.equal

local function contains(text, part)
  if not text:find(part, 1, true) then error(("%q is not in %q"):format(part, text), 2) end
end

-- An engine with a best, and what is left of its budget.
local function engine(left, spent, done)
  return { metric = direction.new { name = "time", direction = "lower" },
    history = { best = { id = "c0007", value = 18142 }, baseline = { id = "c0000", value = 148654 },
      outcomes = { kept = 4 }, run_totals = { iterations = done or 30 } },
    budget = { left = function(_, kind) return (left or {})[kind] or math.huge end,
      spent = function(_, kind) return (spent or { minutes = 1 })[kind] or 0 end } }
end

local function line(flying)
  local made = progress.new { quiet = true }
  made.unit, made.utf8, made.began = "us", true, made.began - 60
  made.bests = { 148654, 90000, 18142 }
  for number, phase in pairs(flying or {}) do
    made.flying[number] = { number = number, phase = phase, since = made.began + 46 }
  end
  return made
end

local rich = engine({ iterations = 15 }, { usd = 0.42, tokens = 12300, minutes = 1 })

tap.test("all of it, where there is room", function()
  equal(line { [31] = "APPLY_CHANGE" }:lines(rich, 200), { "1:00  experiment 31 proposing 0:14  best 18142 us (c0007, "
    .. "-88 %)  4 kept  0:32 left  $0.42, 12.3k tokens  " .. progress.sparkline { 148654, 90000, 18142 } })
end)

tap.test("never as wide as the terminal, at any width, with one experiment or several; the best stays longest", function()
  for _, flying in ipairs { {}, { [31] = "VERIFY" }, { [31] = "VERIFY", [32] = "APPLY_CHANGE", [33] = "GATE" } } do
    for width = 2, 220 do
      for _, text in ipairs(line(flying):lines(rich, width, 24)) do
        if utf8.len(text) >= width then error(("%d columns: %s"):format(width, text)) end
      end
    end
    contains(line(flying):lines(rich, 40)[1], "best 18142 us (c0007, -88 %)")
  end
  contains(line { [31] = "VERIFY" }:lines(rich, 80)[1], "experiment 31 measuring 0:14  best 18142 us")
end)

tap.test("an experiment that waits for a limit shows until when, in place of what it does", function()
  local made, slot = line {}, { number = 31, phase = "APPLY_CHANGE" }
  made:phase(slot, "waits until 15:04")
  contains(made:lines(rich, 200)[1], "experiment 31 waits until 15:04 0:00")
  made:phase(slot)
  contains(made:lines(rich, 200)[1], "experiment 31 proposing 0:00")
end)

tap.test("one that waits in a queue shows since when, also after a restart", function()
  local made = line {}
  made:phase({ number = 31, phase = "VERIFY", since = wait.time() - 720 }, "queued on short")
  contains(made:lines(rich, 200)[1], "experiment 31 queued on short 12:00")
  made:phase({ number = 31, phase = "VERIFY" }, "on n2")
  contains(made:lines(rich, 200)[1], "experiment 31 measuring on n2 0:00")
end)

tap.test("several experiments have a line each where the terminal has rows for them", function()
  local flying = { [8] = "VERIFY", [9] = "APPLY_CHANGE" }
  local tall = line(flying):lines(rich, 80, 24)
  contains(tall[1], "2 experiments at a time")
  equal({ table.unpack(tall, 2) }, { "  $0.42, 12.3k tokens", "  experiment 8 measuring 0:14",
    "  experiment 9 proposing 0:14" })
  equal(#line(flying):lines(rich, 80, 5), 1)
end)

tap.test("what a narrow terminal has no room for is below, if there are rows", function()
  equal(line { [8] = "VERIFY" }:lines(rich, 50, 24), { "best 18142 us (c0007, -88 %)",
    "  experiment 8 measuring 0:14  0:32 left  4 kept" })
end)

tap.test("what is in flight is still to be done, and the time left runs down between two results", function()
  local made = line { [31] = "VERIFY", [32] = "VERIFY" }
  made.newest = made.began + 50.5
  contains(made:lines(engine({ iterations = 0 }, nil, 5), 200)[1], "4 kept  0:10 left")
end)

tap.test("a share is shown only where the baseline is positive, and a rate where nothing limits the run", function()
  local other = engine()
  other.history.baseline.value = -5
  contains(line():lines(other, 120)[1], "(c0007, +18147)")
  contains(line():lines(other, 120)[1], "  30/min")
  other.history.best = nil
  contains(line():lines(other, 120)[1], "no value yet")
end)

tap.test("how a value stands against a baseline", function()
  local lower, higher = direction.new { direction = "lower" }, direction.new { direction = "higher" }
  equal(lower:against_text(18142, 148654, "us", "baseline"), "8.19x faster than the baseline's 148654 (-88 %)")
  equal(lower:against_text(30, 20, "ms", "baseline"), "1.5x slower than the baseline's 20 (+50 %)")
  equal(lower:against_text(999.99, 1000, "us", "baseline"), "-0.001 % against the baseline's 1000", "no 1x faster")
  equal(lower:against_text(30, 20, "bytes", "baseline"), "+50 % against the baseline's 20")
  equal(higher:against_text(30, 20, "s", "first baseline"), "+50 % against the first baseline's 20")
  equal(lower:against_text(1, -2, "ms", "baseline"), "+3 against the baseline's -2")
  equal(lower:against_text(0.5, 0, "", "baseline"), "+0.5 against the baseline's 0")
  local named = direction.new { name = "time_us", direction = "lower" }
  equal(named:against_text(50, 100, nil, "baseline"), "2x faster than the baseline's 100 (-50 %)")
  equal(direction.new { name = "ops_min", direction = "lower" }:against_text(50, 100, nil, "baseline"),
    "-50 % against the baseline's 100")
  equal({ direction.percent_text(1.004, 1), direction.percent_text(0.5, 1), direction.percent_text(1.05, 1),
    direction.percent_text(571, 147970), direction.percent_text(1, 1e9), direction.percent_text(0, 5) },
    { "+0.4 %", "-50 %", "+5.0 %", "-99.61 %", "-99.99 %", "-100 %" })
end)

tap.test("a gain that may be luck says so", function()
  local metric = direction.new { name = "n", direction = "lower" }
  local function gained(best, baseline) return metric:gained_text(best, baseline) end
  local noisy = { value = 100, samples = { 100, 80, 110 } }
  equal(gained({ value = 50, samples = { 50 } }, noisy), "-50 % against the baseline's 100, measured once")
  equal(gained({ value = 90 }, noisy),
    "-10 % against the baseline's 100, measured once, and within the baseline's spread")
  equal(gained({ value = 50, samples = { 50, 49, 51 } }, noisy), "-50 % against the baseline's 100")
  equal(gained({ value = 50 }, { value = 100, samples = { 100, 100, 100 } }), "-50 % against the baseline's 100")
  equal(gained({ value = 50 }, { value = 100 }), "-50 % against the baseline's 100, measured once")
  equal(gained({ value = 50, samples = { 50, 49 }, acceptance = { verdict = "kept" } }, noisy),
    "-50 % against the baseline's 100, by the measurements that chose it")
end)

tap.done()
