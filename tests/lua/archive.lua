-- apsis.archive: who stays, who goes, who is drawn; what the Python project does wrong; and a plain model of it that must agree
-- after every one of many random operations.
local archive = require "apsis.archive"
local direction = require "apsis.direction"
local draw = require "apsis.archive.draw"
local random = require "apsis.random"
local text = require "apsis.text"
local tap = require "tap"
local test, equal, raises, matches = tap.test, tap.equal, tap.raises, tap.matches

local higher, lower = direction.new { direction = "higher" }, direction.new { direction = "lower" }

local function make(options)
  options = options or {}
  options.metric = options.metric or higher
  return archive.new(options)
end

local function ids(list)
  local found = {}
  for index, member in ipairs(list) do found[index] = member.id end
  return found
end

-- ---- what the Python project does wrong ----

test("a crashed candidate never beats a negative score", function()
  for _, metric in ipairs { higher, lower } do
    local a = make { metric = metric }
    local sign = metric == higher and 1 or -1
    a:add { id = "bad", value = -1e300 * sign }
    a:add { id = "crashed" }
    equal(a:best().id, "bad")
    equal(a:worst().id, "crashed")
    equal(ids(a:elites()), { "bad" })
    equal(ids(a:top(5)), { "bad" })
    local rng = random.stream(1)
    for _ = 1, 50 do
      for _, how in ipairs { "random", "elite", "weighted", "quartile" } do equal(a[how](a, rng).id, "bad", how) end
    end
  end
end)

test("NaN never becomes best", function()
  local a = make { population_size = 2, archive_size = 1 }
  for index, value in ipairs { 0 / 0, 1 / 0, -1 / 0, 3, 0 / 0, 1 / 0 } do a:add { id = index, value = value } end
  equal(a:best().id, 4)
  equal(a:best_value(), 3)
  equal(ids(a:elites()), { 4 })
  equal(a:statistics().obj_max, 3)
  equal(a:get(4).id, 4)
end)

test("negative scores still weight parents sensibly", function()
  local a, rng, drawn = make(), random.stream(2), {}
  for index = 1, 10 do
    a:add { id = index, value = -1000 + index }
    drawn[index] = 0
  end
  local draws = 20000
  for _ = 1, draws do
    local id = a:weighted(rng).id
    drawn[id] = drawn[id] + 1
  end
  for index = 1, 10 do -- linear ranking: (2 (n - rank) + 1) / n^2
    local expected = (2 * index - 1) / 100
    assert(math.abs(drawn[index] / draws - expected) < 0.015, ("%d: %f, expected %f"):format(index, drawn[index] / draws, expected))
  end
end)

-- One life of an archive: what came out of every draw, as text.
local function life(metric, sign, seed)
  local rng, log = random.stream("life", seed), {}
  local a = make { metric = metric, islands = 3, population_size = 60, archive_size = 8, max_islands = 4,
    features = { { name = "length", bins = 5 }, { name = "kind", values = { "x", "y" } } } }
  local function note(member) log[#log + 1] = tostring(member and member.id) end
  for index = 1, 400 do
    local value = rng:integer(-20, 20) / 4
    if rng:random() < 0.1 then value = nil end
    local island = rng:integer(1, #a:islands())
    note(a:add { id = index, value = value and sign * value, island = island,
      sketch = text.sketch(("x%d y "):rep(5):format(index, 1, 2, 3, index // 3)),
      features = { length = rng:integer(1, 5 * index), kind = rng:choice { "x", "y" } } })
    note(a:best())
    note(a:best(island))
    note(a:worst())
    note(a:weighted(rng))
    note(a:elite(rng, island))
    note(a:random(rng))
    note(a:quartile(rng, island))
    for _, member in ipairs(a:diverse(2, rng, island, a:best(island))) do note(member) end
    for _, member in ipairs(a:top(3, island)) do note(member) end
    local shown = { top = 2, diverse = 2, total = 7, own = index % 2 == 0 }
    for _, id in ipairs(a:shown(rng, { a:random(rng).id, index }, island, shown) or {}) do note { id = id } end
    for _, member in ipairs(a:diverse(3, rng)) do note(member) end
    log[#log + 1] = ("%.6f"):format(a:diversity(text.sketch(("x%d "):rep(9):format(1, 2, 3, 4, 5, 6, 7, 8, index))))
    if index % 50 == 0 then
      for _, move in ipairs(a:migrate(0.2)) do note(move.member) end
    end
    if index == 200 then a:new_island() end
    log[#log + 1] = ("%.6f"):format(a:qd_score())
  end
  return table.concat(log, " ")
end

test("lower is better everywhere: the mirror image gives the same decisions", function()
  for seed = 1, 3 do equal(life(lower, -1, seed), life(higher, 1, seed)) end
end)

test("bins are recomputed when a feature's range grows, so no member is misfiled", function()
  local a = make { population_size = 1000, features = { { name = "length", bins = 10 } } }
  for index = 1, 300 do
    a:add { id = index, value = index, features = { length = 100 * index } }
    if index % 10 == 0 then
      for other = 1, index do equal(a:cell(other), a:cell_of { length = 100 * other }, "after " .. index) end
    end
  end
  local cells, last = {}, 0
  for index = 1, 300 do
    local bin = tonumber(a:cell(index))
    assert(bin >= last and bin <= last + 1, "bins follow the length")
    last = bin
    cells[bin] = (cells[bin] or 0) + 1
  end
  assert(#cells >= 8, #cells .. " of 10 cells are used")
  equal(a:coverage(), #cells / 10)
  for bin = 2, #cells - 1 do assert(math.abs(cells[bin] - cells[1]) <= 2, "as many in each") end
end)

test("what stands at the top of a range is in its last bin", function()
  local a = make { features = { { name = "f", bins = 4 }, { name = "g", bins = 4 } } }
  a:add { id = 1, value = 1, features = { f = 5, g = 1 } }
  a:add { id = 2, value = 1, features = { f = 3, g = 1 } }
  equal({ a:cell(1), a:cell(2) }, { "4/1", "1/1" })
end)

test("never the best of any cell, never an elite, is evicted", function()
  local rng = random.stream(4)
  local a = make { islands = 2, population_size = 50, archive_size = 10, features = { { name = "f", bins = 6 } } }
  local left = {}
  for index = 1, 2000 do
    local member = { id = index, value = rng:integer(0, 200), island = index % 2 + 1, features = { f = rng:random() } }
    left[index] = member
    local gone = a:add(member)
    equal(a:size(), math.min(index, 50))
    if gone then
      left[gone.id] = nil
      local better, bests = 0, {}
      for _, other in pairs(left) do
        if other.value > gone.value then better = better + 1 end
        if other.island == gone.island and a:cell(other.id) == a:evicted(gone.id).cell and other.value >= gone.value then
          bests[#bests + 1] = other
        end
      end
      assert(better >= 10, "an elite was evicted")
      assert(#bests > 0, "the best of a cell was evicted")
    end
  end
end)

-- ---- members ----

test("every candidate enters, is found, and is known after it has gone", function()
  local a = make { population_size = 3, archive_size = 1, features = { { name = "kind", values = { "greedy", "exact" } } } }
  equal(a:add { id = "c1", value = 5, features = { kind = "greedy" } }, nil)
  equal(a:add { id = "c2", value = 1, features = { kind = "greedy" } }, nil)
  equal(a:add { id = "c3", value = 3, features = { kind = "exact" } }, nil)
  equal(a:get("c2").value, 1)
  equal(a:cell "c2", "greedy")
  equal(a:evicted "c2", nil)
  local gone = a:add { id = "c4", value = 2, features = { kind = "greedy" } }
  equal(gone.id, "c2")
  equal(a:get "c2", nil)
  equal(a:cell "c2", nil)
  equal(a:evicted "c2", { id = "c2", value = 1, island = 1, cell = "greedy" })
  equal(a:evicted "c9", nil)
end)

test("of equals the most recent is best, and the oldest goes", function()
  local a = make { population_size = 3, archive_size = 1 }
  for index = 1, 3 do a:add { id = index, value = 7 } end
  equal(a:best().id, 3)
  equal(ids(a:top(3)), { 3, 2, 1 })
  equal(a:add({ id = 4, value = 7 }).id, 1)
  equal(a:best().id, 4)
  equal(a:worst().id, 2)
end)

test("a newcomer that is the worst of the most crowded cell goes at once", function()
  local a = make { population_size = 2, archive_size = 1 }
  a:add { id = 1, value = 3 }
  a:add { id = 2, value = 2 }
  equal(a:add({ id = 3, value = 1 }).id, 3)
  equal(a:size(), 2)
end)

test("where all are protected the population exceeds its bound, and comes back to it", function()
  local a = make { population_size = 2, archive_size = 1, features = { { name = "kind", values = { "x", "y", "z" } } } }
  for index, kind in ipairs { "x", "y", "z" } do equal(a:add { id = index, value = index, features = { kind = kind } }, nil) end
  equal(a:size(), 3)
  equal(a:add({ id = 4, value = 9, features = { kind = "x" } }).id, 1)
  equal(a:size(), 3)
end)

test("an unknown island or value is refused, with what there is", function()
  local a = make { islands = { "greedy", "exact" }, features = { { name = "approach", values = { "swap", "shift" } }, { name = "size" } } }
  local got, message, code = a:add { id = 1, value = 1, island = "gredy", features = { approach = "swap", size = 1 } }
  equal({ got == nil, code }, { true, "EISLAND" })
  matches(message, "greedy, exact")
  got, message, code = a:add { id = 1, value = 1, island = "greedy", features = { approach = "swop", size = 1 } }
  equal({ got == nil, code }, { true, "EFEATURE" })
  matches(message, "swap, shift; did you mean")
  got, message, code = a:add { id = 1, value = 1, island = 2, features = { approach = "swap", size = "big" } }
  equal({ got == nil, code }, { true, "EFEATURE" })
  matches(message, "size is a number")
  equal(select("#", a:add { id = 1, value = 1 }), 3)
  equal({ select(3, a:check { features = {} }) }, { "EISLAND" }, "one of several islands must be named")
  equal(a:size(), 0)
  equal(a:check { island = 2, features = { approach = "shift" } }, true)
  equal(a:island "exact", 2)
  raises("no island", a.best, a, "nowhere")
end)

test("programmers' mistakes are raised", function()
  raises("metric", archive.new, {})
  raises("no option \"island\"", make, { island = 3 })
  raises("population_size", make, { population_size = 0 })
  raises("population_size", make, { population_size = 1.5 })
  raises("islands", make, { islands = 3, max_islands = 2 })
  raises("no key \"bin\"", make, { features = { { name = "x", bin = 3 } } })
  raises("named twice", make, { features = { { name = "x" }, { name = "x" } } })
  local a = make()
  a:add { id = 1, value = 1 }
  raises("unique id", a.add, a, { id = 1, value = 2 })
  raises("unique id", a.add, a, { value = 2 })
  raises("rate", a.migrate, a, 2)
end)

test("an empty archive answers", function()
  local a, rng = make { islands = 2 }, random.stream(5)
  equal(a:best(), nil)
  equal(a:worst(), nil)
  equal(a:best_value(), nil)
  equal(a:top(3), {})
  equal(a:elites(), {})
  for _, how in ipairs { "random", "elite", "weighted", "quartile" } do equal(a[how](a, rng), nil, how) end
  equal(a:diverse(2, rng, 1), {})
  equal(a:migrate(0.5), {})
  equal(a:coverage(), 0)
  equal(a:statistics(1).obj_mean, nil)
  equal(a:smallest_island(), 1)
end)

-- ---- features ----

test("features that are missing or not finite have no bin and fill no cell", function()
  local a = make { features = { { name = "x", bins = 4 } } }
  a:add { id = 1, value = 1, features = { x = 0 / 0 } }
  a:add { id = 2, value = 1, features = { x = 1 / 0 } }
  a:add { id = 3, value = 1 }
  equal({ a:cell(1), a:cell(2), a:cell(3), a:coverage() }, { "-", "-", "-", 0 })
  a:add { id = 4, value = 1, features = { x = -3 } }
  equal({ a:cell(4), a:coverage() }, { "1", 0.25 })
end)

test("ranges as wide and as narrow as numbers can be do not break", function()
  for _, values in ipairs { { -1.7e308, 1.7e308, 0 }, { 0, 5e-324, 1e-323 }, { 1e308, 1.0000001e308, -1e308 }, { 3, 3, 3 },
    { math.mininteger, math.maxinteger, 0 } } do
    local a = make { features = { { name = "x", bins = 7 } } }
    for index, x in ipairs(values) do
      a:add { id = index, value = index, features = { x = x } }
      for other = 1, index do equal(a:cell(other), a:cell_of { x = values[other] }) end
    end
    assert(a:coverage() > 0)
  end
end)

-- ---- islands ----

test("new islands are added up to max_islands, under names of their own", function()
  local a = make { islands = { "first" }, max_islands = 3 }
  equal(a:new_island "second", 2)
  equal({ select(3, a:new_island "second") }, { "EISLAND" })
  equal(a:new_island(), 3)
  equal({ select(3, a:new_island()) }, { "EISLAND" })
  a:add { id = 1, value = 2, island = "second" }
  equal(a:smallest_island(), 1)
  local list = a:islands()
  equal({ #list, list[2].name, list[2].size, list[2].best.id, list[1].best == nil }, { 3, "second", 1, 1, true })
end)

test("migration copies the top to both neighbours, once each, and counts a member once", function()
  local a = make { islands = 4, population_size = 100 }
  for index = 1, 40 do a:add { id = index, value = index, island = (index - 1) % 4 + 1 } end
  local moves = a:migrate(0.1)
  equal(#moves, 8)
  equal(ids { moves[1].member, moves[2].member }, { 37, 37 })
  equal({ moves[1].from, moves[1].to, moves[2].to }, { 1, 2, 4 })
  equal(a:size(), 40)
  equal(a:size(1), 12)
  equal(a:islands_of(37), { 1, 2, 4 })
  equal(a:best(1).id, 40)
  equal(#a:migrate(0), 0)
  local again = a:migrate(0.1)
  for _, move in ipairs(again) do assert(move.member.id >= 37) end
  for _ = 1, 4 do a:migrate(0.1) end
  equal(a:migrate(0.1), {}, "all of the best stand everywhere")
  local pair = make { islands = 2 }
  pair:add { id = 1, value = 1, island = 1 }
  equal(#pair:migrate(1), 1, "two islands are one another's neighbour on both sides")
end)

test("a member on several islands leaves them all when it goes", function()
  local a = make { islands = 3, population_size = 6, archive_size = 1 }
  for index = 1, 6 do a:add { id = index, value = index, island = (index - 1) % 3 + 1 } end
  a:migrate(1)
  equal(a:size(2), 6)
  local gone = a:add { id = 7, value = 7, island = 1 }
  equal(gone.id, 1)
  equal({ a:size(), a:size(1), a:size(2), a:size(3) }, { 6, 6, 5, 5 })
  equal(a:get(1), nil)
end)

-- ---- draws ----

test("diverse gives the bests of other cells, none twice", function()
  local a, rng = make { features = { { name = "k", values = { "a", "b", "c", "d" } } } }, random.stream(6)
  for index = 1, 40 do a:add { id = index, value = index, features = { k = ("abcd"):sub(index % 4 + 1, index % 4 + 1) } } end
  local seen = {}
  for _ = 1, 200 do
    local drawn = a:diverse(2, rng, 1, a:get(40))
    equal(#drawn, 2)
    assert(drawn[1] ~= drawn[2])
    for _, member in ipairs(drawn) do
      assert(member.id > 36 and member.id < 40, "the best of another cell")
      seen[member.id] = true
    end
  end
  equal(seen, { [37] = true, [38] = true, [39] = true })
  equal(#a:diverse(9, rng, nil, a:get(40)), 3)
  equal(#a:diverse(9, rng, 1), 4)
  assert(a:other_cell(rng, a:get(40), 1).id ~= 40)
end)

test("diverse for everyone gives the best of every cell over all islands, each as likely", function()
  local a, rng, count = make { islands = 3, features = { { name = "k", values = { "a", "b", "c", "d" } } } }, random.stream(16), {}
  for index = 1, 60 do
    a:add { id = index, value = index // 2, island = index % 3 + 1, features = { k = ("abcd"):sub(index % 4 + 1, index % 4 + 1) } }
  end
  for _ = 1, 4000 do
    for _, member in ipairs(a:diverse(2, rng, nil, a:get(60))) do count[member.id] = (count[member.id] or 0) + 1 end
  end
  for _, id in ipairs { 57, 58, 59 } do assert(math.abs((count[id] or 0) - 4000 * 2 / 3) < 130, id .. ": " .. (count[id] or 0)) end
  equal(count[60], nil)
  equal(#a:diverse(9, rng), 4)
end)

test("shown is the best, then bests of other cells, then random ones: none twice, no parent, as many as asked for at most", function()
  local a, rng = make { islands = 2, max_islands = 3, features = { { name = "k", values = { "a", "b", "c", "d" } } } }, random.stream(17)
  for index = 1, 40 do
    a:add { id = index, value = index, island = index % 2 + 1, features = { k = ("abcd"):sub(index // 2 % 4 + 1, index // 2 % 4 + 1) } }
  end
  local ask, three, counts = { top = 3, diverse = 2, total = 8 }, { [34] = true, [36] = true }, {}
  for _ = 1, 200 do
    local got, seen = a:shown(rng, { 40, 7 }, 1, ask), { [40] = true, [7] = true }
    equal({ got[1], got[2] }, { 39, 38 }) -- 40 is a parent
    assert(three[got[3]], "a best of another cell of the island, and not one that is shown: " .. got[3])
    assert(#got >= 3 and #got <= 8)
    for at, id in ipairs(got) do
      assert(not seen[id], "twice, or a parent: " .. id)
      seen[id] = true
      if at > 2 then equal(a:get(id).island, 1) end
    end
    counts[#got] = true
  end
  equal(counts[8] and counts[7], true)
  local own = { top = 2, diverse = 0, total = 0, own = true }
  equal(a:shown(rng, { 40 }, 2, own), { 39, 37 })
  equal(a:shown(rng, { 40 }, 1, own), { 38 })
  equal(a:shown(rng, { 40 }, 3, own), { 39 }) -- no such island: of everyone
  a:new_island()
  equal(a:shown(rng, { "gone" }, 3, own), { 40, 39 }) -- nobody there
  equal(a:shown(rng, { 40 }, 1, { top = 0, diverse = 0, total = 0 }), nil)
  equal(make {}:shown(rng, { 1 }, 1, ask), nil)
  equal(a:settled(), { 1, 2 })
end)

test("quartile is one of the top quarter, also of many", function()
  local a, rng = make { population_size = 1000 }, random.stream(7)
  for index = 1, 400 do a:add { id = index, value = (index * 37) % 400 } end
  local least = 400
  for _ = 1, 300 do least = math.min(least, a:quartile(rng).value) end
  assert(least >= 300 and least < 310, least)
end)

test("elite keeps to the elites of an island, and takes its best where it has none", function()
  local a, rng = make { islands = 2, archive_size = 3, population_size = 50 }, random.stream(8)
  for index = 1, 10 do a:add { id = index, value = index, island = 1 } end
  a:add { id = "lone", value = 0, island = 2 }
  for _ = 1, 50 do
    assert(a:elite(rng, 1).id >= 8)
    equal(a:elite(rng, 2).id, "lone")
  end
end)

-- ---- diversity, quality ----

test("diversity is 1 less the mean similarity to references that keep up with the population", function()
  local a = make { population_size = 30, archive_size = 2 }
  local function program(index) return ("x = %d + y%d; call_%d(z)"):format(index, index * 7, index * 13):rep(5) end
  equal(a:diversity(text.sketch "anything"), 0)
  a:add { id = 0, value = 0, sketch = text.sketch(program(0)) }
  equal(a:diversity(text.sketch(program(0))), 0)
  assert(a:diversity(text.sketch "something else altogether, with no token of it") > 0.8)
  for index = 1, 30 do a:add { id = index, value = index, sketch = text.sketch(program(index)) } end
  local kind = text.sketch(("for i in range(10): total += weights[i] * values[i]"):rep(5))
  assert(a:diversity(kind) > 0.8)
  for index = 31, 100 do a:add { id = index, value = index, sketch = kind } end
  assert(a:diversity(kind) < 0.1, "the first twenty are long gone")
  a:add { id = "without", value = 1 }
  raises("not a sketch", a.diversity, a, "abc")
end)

test("coverage, QD score and best are as pyribs defines them, per island and over all", function()
  for _, case in ipairs { { higher, 1 }, { lower, -1 } } do
    local metric, sign = case[1], case[2]
    local a = make { metric = metric, islands = 2, features = { { name = "k", values = { "a", "b", "c", "d", "e" } } } }
    for index, spec in ipairs { { 1, "a", 3 }, { 1, "a", 5 }, { 1, "b", 2 }, { 2, "a", 7 }, { 2, "c", 1 }, { 2, "c" }, { 2, "d" } } do
      a:add { id = index, island = spec[1], value = spec[3] and sign * spec[3], features = { k = spec[2] } }
    end
    equal({ a:coverage(1), a:coverage(2), a:coverage() }, { 2 / 5, 2 / 5, 3 / 5 })
    equal({ a:qd_score(1), a:qd_score(2), a:qd_score() }, { 7, 8, 10 })
    equal(a:qd_score(1, sign * -10), 27, "the offset is a value of the metric")
    local all = a:statistics()
    equal({ all.num_elites, all.cells, all.norm_qd_score, all.obj_max, all.obj_mean, all.best.id, all.size },
      { 3, 5, 2, 7, 10 / 3, 4, 7 })
    equal(a:best_value(), sign * 7)
  end
end)

-- ---- a plain model ----

local Model = {}
Model.__index = Model

local function before(a, b)
  if a.score ~= b.score then return a.score > b.score end
  return a.order > b.order
end

function Model:sorted(island)
  local list = {}
  for _, one in pairs(self.of) do
    if not island or one.on[island] then list[#list + 1] = one end
  end
  table.sort(list, before)
  return list
end

-- Whom the archive may evict: the worst of a most crowded place among those that are neither elite nor the best of a cell.
function Model:protected(a)
  local best, elites, place = {}, {}, {}
  for index, one in ipairs(self:sorted()) do
    if index <= a.archive_size and one.score > -math.huge then elites[one] = true end
    for island in pairs(one.on) do
      local name = island .. ":" .. a:cell(one.id)
      place[name] = place[name] or {}
      table.insert(place[name], one)
      if not best[name] and one.score > -math.huge then best[name] = one end
    end
  end
  local is_best = {}
  for _, one in pairs(best) do is_best[one] = true end
  return elites, is_best, place
end

function Model:victims(a)
  local elites, is_best, place = self:protected(a)
  local most, victims = 0, {}
  for _, list in pairs(place) do
    local worst
    for _, one in ipairs(list) do
      if not elites[one] and not is_best[one] then worst = one end
    end
    if worst and #list >= most then
      if #list > most then most, victims = #list, {} end
      victims[worst.id] = true
    end
  end
  return victims
end

-- diverse() of more than there are gives the best of every cell: of an island, and of everyone.
local function check_bests(a, model)
  for island = 0, #a:islands() do
    local cells, expected, got = {}, {}, {}
    for _, one in ipairs(model:sorted(island > 0 and island)) do
      local cell = a:cell(one.id)
      if one.score > -math.huge then cells[cell] = cells[cell] or one.score end
    end
    for cell, score in pairs(cells) do expected[#expected + 1] = cell .. " " .. score end
    for index, member in ipairs(a:diverse(1000, random.stream(1), island > 0 and island or nil)) do
      got[index] = a:cell(member.id) .. " " .. member.value
    end
    table.sort(expected)
    table.sort(got)
    equal(got, expected)
  end
end

local function check_model(a, model, count)
  local all = model:sorted()
  equal(a:size(), #all)
  check_bests(a, model)
  for island = 1, #a:islands() do
    local list, valued = model:sorted(island), {}
    equal(a:size(island), #list)
    for _, one in ipairs(list) do
      if one.score > -math.huge then valued[#valued + 1] = one.id end
    end
    equal(ids(a:top(#list, island)), valued)
    equal((a:best(island) or {}).id, valued[1])
    equal(ids(a:top(3, island)), table.move(valued, 1, math.min(3, #valued), 1, {}))
    local cells, filled = {}, 0
    for _, one in ipairs(list) do
      local cell = a:cell(one.id)
      equal(cell, a:cell_of(one.member.features))
      if one.score > -math.huge and not cell:find("-", 1, true) and not cells[cell] then
        cells[cell] = true
        filled = filled + 1
      end
    end
    equal(a:statistics(island).num_elites, filled)
  end
  local valued = {}
  for _, one in ipairs(all) do
    if one.score > -math.huge and #valued < a.archive_size then valued[#valued + 1] = one.id end
  end
  equal(ids(a:elites()), valued, "elites after " .. count)
  if #all > 0 then equal(a:worst().id, all[#all].id) end
end

local function random_member(rng, id, islands)
  local value = rng:integer(-50, 50) + id // 400
  local chance = rng:random()
  if chance < 0.08 then value = nil elseif chance < 0.1 then value = 0 / 0 end
  return { id = id, value = value, island = rng:integer(1, islands),
    features = { size = chance > 0.02 and rng:normal() * (1 + id / 1000) or nil, kind = rng:choice { "p", "q", "r" } } }
end

test("20,000 random operations keep every invariant, as a plain model has them", function()
  local rng = random.stream(9)
  local a = make { islands = 2, max_islands = 5, population_size = 80, archive_size = 9,
    features = { { name = "size", bins = 6 }, { name = "kind", values = { "p", "q", "r" } } } }
  local model = setmetatable({ of = {} }, Model)
  for count = 1, 20000 do
    local roll = rng:random()
    if roll < 0.002 then
      for _, move in ipairs(a:migrate(rng:random() * 0.3)) do
        local one = model.of[move.member.id]
        assert(not one.on[move.to], "copied twice")
        one.on[move.to] = true
      end
    elseif roll < 0.0025 then a:new_island()
    elseif roll < 0.7 then
      local member = random_member(rng, count, #a:islands())
      local score = direction.finite(member.value) and member.value or -math.huge
      model.of[count] = { id = count, member = member, score = score, order = count, on = { [member.island] = true } }
      local exact = count % 40 == 0
      local full = a:size() >= 80
      local gone = a:add(member)
      if gone then
        if exact then
          -- Asked of the state with the newcomer in it: the same members, so an archive without a bound says where they stand.
          local whole = make { islands = #a:islands(), population_size = 1000, archive_size = 9 }
          whole.cell = function(_, id) return id == gone.id and a:evicted(id).cell or a:cell(id) end
          local victims = model:victims(whole)
          assert(victims[gone.id], "not the worst of the most crowded cell: " .. gone.id)
        end
        assert(full and a:get(gone.id) == nil and a:evicted(gone.id).id == gone.id)
      end
      for id in pairs(model.of) do
        if not a:get(id) then model.of[id] = nil end
      end
    else
      local island = rng:integer(1, #a:islands())
      for _, how in ipairs { "random", "elite", "weighted", "quartile" } do
        local drawn = a[how](a, rng, island)
        assert(drawn == nil or model.of[drawn.id].on[island], how)
      end
    end
    if count % 200 == 0 then check_model(a, model, count) end
  end
end)

test("large populations keep the order, too", function()
  local rng = random.stream(10)
  local a = make { islands = 2, population_size = 3000, archive_size = 700, features = { { name = "f", bins = 8 } } }
  local values = {}
  for index = 1, 6000 do
    local value = rng:integer(1, 100000)
    values[index] = value
    a:add { id = index, value = value, island = index % 2 + 1, features = { f = rng:random() } }
  end
  table.sort(values, function(x, y) return x > y end)
  local elites = a:elites()
  equal(#elites, 700)
  for index, member in ipairs(elites) do equal(member.value, values[index]) end
  equal(a:size(), 3000)
end)

-- ---- draws are the same for ever ----

test("a sample is the first of a shuffle whose places are the digits of one number", function()
  local places = { {}, {}, {}, {}, {} }
  for total = 0, 20 do
    for count = 0, total do
      local got, list, seen = draw.sample(random.stream(total, count), total, count), {}, {}
      equal(#got, count)
      for _, place in ipairs(got) do
        assert(place >= 1 and place <= total and not seen[place], "each once")
        seen[place] = true
      end
      if count > 0 and total ^ count < 2 ^ 62 then
        local span = 1
        for done = 0, count - 1 do span = span * (total - done) end
        local number = random.stream(total, count):integer(0, span - 1)
        for place = 1, total do list[place] = place end
        for done = 0, count - 1 do
          local left = total - done
          local at = number % left + 1
          equal(got[done + 1], list[at])
          number, list[at] = number // left, list[left]
        end
      end
    end
  end
  local rng = random.stream(9)
  for _ = 1, 5000 do
    for at, place in ipairs(draw.sample(rng, 5, 3)) do places[at][place] = (places[at][place] or 0) + 1 end
  end
  for at = 1, 3 do
    for place = 1, 5 do assert(math.abs(places[at][place] - 1000) < 150, "each is as likely at each place") end
  end
end)

-- What version 6dada4b, whose population was written in C, gave for the same seeds: recorded runs must replay.
test("who goes and who is drawn is what older versions gave", function()
  local made = {}
  for seed = 1, 4 do
    local digest = 0
    local log = life(higher, 1, seed)
    for at = 1, #log do digest = (digest * 31 + log:byte(at)) & 0xffffffff end
    made[seed] = ("%08x"):format(digest)
  end
  equal(made, { "9447e61b", "42dddc9f", "22c11b49", "19fafedf" })
end)

tap.test("members that were stopped rank below all others, by stage and value there, through additions and evictions", function()
  local metric = require("apsis.direction").new { direction = "lower" }
  local rng, held = require("apsis.random").stream(3), archive.new { metric = metric, population_size = 200, archive_size = 20 }
  for id = 1, 1500 do
    local stopped = rng:random() < 0.5 and { stage = rng:integer(1, 3), value = rng:integer(0, 9) } or nil
    held:add { id = id, value = not stopped and rng:integer(0, 9) or nil, stopped = stopped }
  end
  local list = held:top(1000)
  tap.equal(#list, 200)
  for index = 2, #list do
    local first, second = metric:standing(list[index - 1])
    local below, its = metric:standing(list[index])
    local ordered = first > below or first == below and (second > its or second == its and list[index - 1].id > list[index].id)
    tap.equal(ordered, true, "place " .. index)
  end
end)

tap.test("home: an island by index or name; a new number makes one while there may be more; else the smallest", function()
  local held = archive.new { metric = higher, islands = 2, max_islands = 3 }
  held:add { id = 1, value = 1, island = 1 }
  tap.equal({ held:home(2), held:home "1", held:home "elsewhere", #held.names }, { 2, 1, 2, 2 })
  tap.equal({ held:home(7), #held.names, held:home(8), #held.names }, { 3, 3, 2, 3 })
end)

tap.test("grown: migrates when an island has had interval newcomers more than at the last time", function()
  local held = archive.new { metric = higher, islands = 2 }
  local sizes = {}
  for id = 1, 6 do
    held:add { id = id, value = id, island = 1 }
    held:grown(1, 3, 0.1)
    sizes[id] = held:size(2)
  end
  tap.equal(sizes, { 0, 0, 1, 1, 1, 2 })
end)

tap.test("akin: the same, or one the other's parent", function()
  local old, child, other = { id = 1, parents = {} }, { id = 2, parents = { 1 } }, { id = 3, parents = { 9 } }
  tap.equal({ archive.akin(old, old), archive.akin(old, child), archive.akin(child, old), archive.akin(child, other) },
    { true, true, true, false })
end)

tap.test("streak: rejections in a row; an override is due once at 3, 5 and its multiples, not while it is pending", function()
  local streak = require "apsis.streak"
  local mine = streak.new()
  local function rejected(at) streak.count(mine, { outcome = "reverted_worse_metric", experiment = 0,
    notes = at and { override = { at = at, since = mine.since } } }) end
  local function due(pending) return streak.due(mine, pending or {}, 3, 5) or false end
  rejected() rejected()
  streak.count(mine, { outcome = "skipped_provider_failure" })
  tap.equal(due(), false)
  rejected()
  tap.equal({ due(), due { { notes = { override = { at = 3, since = 0 } } } } }, { 3, false })
  rejected(3)
  tap.equal(due(), false)
  rejected()
  tap.equal(due(), 5)
  streak.count(mine, { kept = true, experiment = 9 })
  tap.equal({ mine.length, mine.since, due() }, { 0, 9, false })
end)

tap.done()
