-- view: what all faces draw from: the health of the search, the ranking, the way to the best, the pace.
local direction = require "apsis.direction"
local folds = require "apsis.view.fold"
local healths = require "apsis.view.health"
local paces = require "apsis.view.pace"
local paths = require "apsis.view.path"
local rankings = require "apsis.view.ranking"
local series = require "apsis.view.series"
local tap = require "tap"

local higher = direction.new { name = "score", direction = "higher" }

local function id(number) return ("c%04d"):format(number) end

tap.test("a series has a point for each line, and few of very many; nothing that is added up is lost", function()
  local made = series.new(16, function(one, other) return { sum = one.sum + other.sum } end)
  for number = 1, 5000 do
    local point = made:next()
    point.sum = (point.sum or 0) + number
    assert(#made.points <= 16, #made.points)
  end
  local sum = 0
  for _, point in ipairs(made.points) do sum = sum + point.sum end
  tap.equal({ sum, made.lines, #made.points >= 8 }, { 5000 * 5001 // 2, 5000, true })
end)

tap.test("what was kept is counted by operator, model and island, in all and in each part of the run", function()
  local health = healths.new()
  health:add { experiment = 0, outcome = "baseline", candidate = "c0000", operator = "baseline" }
  for number = 1, 100 do
    health:add { experiment = number, outcome = number % 4 == 0 and "kept" or "reverted_worse_metric",
      candidate = id(number), operator = number <= 50 and "early" or "late", model = "m",
      notes = { island = number % 2 } }
  end
  local list = health:shares("operator", 8)
  tap.equal({ list[1].name, list[1].count, list[1].kept, list[2].name, list[2].kept }, { "early", 50, 12, "late", 13 })
  local counts = { 0, 0 }
  for _, part in ipairs(list[1].parts) do counts = { counts[1] + part[1], counts[2] + part[2] } end
  tap.equal({ counts, list[1].parts[#list[1].parts] }, { { 50, 12 }, { 0, 0 } })
  tap.equal({ health:shares("model", 8)[1].kept, #health:shares("island", 8), health:shares("island", 1)[1].name },
    { 25, 2, "0" })
end)

tap.test("failures are counted by their first line, without what differs from one to the next", function()
  local health = healths.new()
  for number = 1, 6 do
    health:add { experiment = number, outcome = "skipped_verification_crash", candidate = id(number),
      rollback_reason = ("runs/%04d/verifier.log of %s: exit 1\nline %d"):format(number, id(number), number) }
  end
  health:add { experiment = 7, outcome = "skipped_duplicate", candidate = "c0007", rollback_reason = "as c0001" }
  health:add { experiment = 8, outcome = "skipped_strategy_error" }
  local list, count = health:crashes(1)
  tap.equal({ list, count, health.failed, health.duplicates }, { { { signature = "runs/N/verifier.log of cN: exit 1",
    outcome = "skipped_verification_crash", count = 6, first = 1, last = 6 } }, 2, 7, 1 })
end)

tap.test("whatever a journal names, what is held stays small, and nothing goes uncounted", function()
  local health, count = healths.new(), 0
  for number = 1, 3000 do
    health:add { experiment = number, outcome = "skipped_verification_crash", candidate = id(number),
      operator = "operator" .. number, rollback_reason = "reason x" .. number }
  end
  local list, names = health:shares("operator", 1000)
  for _, one in ipairs(list) do count = count + one.count end
  tap.equal({ count, names <= 41 }, { 3000, true })
  local crashes, kinds = health:crashes(1000)
  tap.equal({ #crashes <= 201, kinds <= 201, crashes[1].signature }, { true, true, "(others)" })
end)

-- A history of the lines that were added: { id, value } each.
local function history(values)
  local made = { metric = higher, began = 1, more = {} }
  function made.new_value_of(_, name) return made.more[name] end
  function made.line_of(_, number) return number + 1 end
  function made.get(_, name)
    local number = tonumber(name:sub(2))
    return { experiment = number, candidate = name, outcome = "reverted_worse_metric", primary_metric = values(number) }
  end
  return made
end

tap.test("the best stands first though thousands are tied with it; later samples bring a candidate back", function()
  local past = history(function(number) return number == 5 and 1 or 7 end)
  local ranking = rankings.new(past)
  past.best = { id = "c4000", experiment = 4000, value = 7 }
  for number = 0, 4500 do ranking:add(past:get(id(number)), number + 1) end
  local first = ranking:first("all", 20)
  tap.equal({ #first, first[1].id, first[2].id }, { 20, "c4000", "c0000" })
  past.more.c0005 = 9 -- it was measured again
  ranking:again "c0005"
  first = ranking:first("all", 20)
  tap.equal({ first[1].id, first[2].id, first[2].value }, { "c4000", "c0005", 9 })
end)

tap.test("shares of the gain add up, whichever way is better; none where nothing was gained", function()
  for _, toward in ipairs { "higher", "lower" } do
    local sign, known = toward == "higher" and 1 or -1, {}
    local metric = direction.new { name = "x", direction = toward }
    for number, value in ipairs { 10, 15, 20 } do
      known[id(number)] = { id = id(number), experiment = number, value = sign * value, commit = "x", kept = true,
        outcome = number == 1 and "baseline" or "kept", parents = { id(number - 1) }, measured_by = metric }
    end
    local past = { best = known.c0003, get = function(_, name) return known[name] end }
    local way, base = paths.of(metric, past)
    tap.equal({ base.id, #way, way[1].share, way[2].share, way[2].start }, { "c0001", 2, 0.5, 0.5, 0.5 })
    known.c0003.value = sign * 10
    tap.equal(paths.of(metric, past)[1].share, nil)
  end
end)

tap.test("the pace: what is in flight is still to be done, and the shorter limit counts", function()
  tap.equal({ paces.of(10, 20, {}) }, { 0.5 })
  tap.equal({ paces.of(10, 20, { iterations = 5, minutes = math.huge }) }, { 0.5, 10.0 })
  tap.equal({ paces.of(10, 20, { iterations = 500, minutes = 1 }) }, { 0.5, 60 })
  tap.equal({ paces.of(0, 0, { iterations = 5, minutes = 2 }) }, { nil, 120 })
  tap.equal({ paces.of(0, 9, { iterations = 5 }) }, {})
end)

tap.test("lines before the baseline that counts are counted, and compared with nothing", function()
  local past = history(function(number) return number end)
  past.began = 3
  local fold = folds.new(past)
  for number = 0, 3 do
    fold:add({ experiment = number, candidate = id(number), primary_metric = number, best = number, operator = "o",
      outcome = number % 2 == 0 and "baseline" or "kept", tokens = 2, seconds = 60 }, number + 1)
  end
  tap.equal({ fold.outcomes[1].count, fold.operators[1].kept, fold.spent.tokens, fold.spent.minutes },
    { 2, 2, 8, 4.0 })
  tap.equal({ #fold.curve:points(), #fold.ranking:first("all", 9), fold.curve:range() },
    { 2, 2, { low = 2, high = 3 } })
end)

tap.done()
