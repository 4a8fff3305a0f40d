-- apsis.features, apsis.near_duplicate and apsis.knowledge: where a candidate belongs, what was tried before, what is remembered.
local archive = require "apsis.archive"
local direction = require "apsis.direction"
local features = require "apsis.features"
local knowledge = require "apsis.knowledge"
local near_duplicate = require "apsis.near_duplicate"
local random = require "apsis.random"
local tap = require "tap"
local text = require "apsis.text"
local test, equal, matches = tap.test, tap.equal, tap.matches

local LIST = features.list({ "complexity", "diversity", "speed", { name = "move", values = { "swap", "shift" } },
  { name = "x", bins = 3 } }, 7)

local function candidate(files, metrics)
  return { metrics = metrics or {}, sources = function() return files end }
end

test("a name in the option is a feature with the bins of all; what says its own keeps it", function()
  equal(LIST, { { name = "complexity", bins = 7 }, { name = "diversity", bins = 7 }, { name = "speed", bins = 7 },
    { name = "move", values = { "swap", "shift" } }, { name = "x", bins = 3 } })
  equal({ features.any(LIST, "computed"), features.any(LIST, "named"), features.any(LIST, "measured") }, { true, true, true })
  local short = features.list({ "complexity" }, 2)
  equal({ features.any(short, "computed"), features.any(short, "named"), features.any(short, "measured") }, { true, false, false })
end)

test("complexity is the bytes of all files, diversity is the archive's word, others are metrics or what a model said", function()
  local held = archive.new { metric = direction.new {}, features = LIST }
  local found, sketch = features.of(LIST, candidate({ { text = "one two" }, { text = "three" } }, { speed = 4 }), held, { move = "swap" })
  equal(found, { complexity = 13, diversity = 0, speed = 4, move = "swap" })
  held:add { id = 1, value = 1, features = found, sketch = sketch }
  equal(features.of(LIST, candidate { { text = "one two\nthree" } }, held), { complexity = 13, diversity = 0 })
  assert(features.of(LIST, candidate { { text = "wholly other words stand here" } }, held).diversity > 0.5)
end)

test("a feature that is no metric either is named, with what there is", function()
  equal(features.problem(LIST, { speed = 1, x = 2 }), nil)
  matches(features.problem(LIST, { sped = 1, x = 2 }),
    '"speed" is no feature.*did you mean "sped".*there are complexity, diversity, sped, x')
end)

test("a name that is no value any more is no feature", function()
  equal(features.valid(LIST, { complexity = 3, move = "swap", old = 1 }), { complexity = 3, move = "swap" })
  equal(features.valid(LIST, { complexity = 3, move = "turn" }), { complexity = 3 })
end)

test("a near duplicate is the program that edits bring back, else the parent", function()
  local function sketch_of(program)
    local _, sketch = features.of({}, candidate { { text = program } })
    return sketch
  end
  local parent = { id = "c1" }
  function parent.sources() return { { path = "a", text = "one two three four five six" }, { path = "b", text = "end" } } end
  local known = { { id = "c6", sketch = sketch_of "seven eight nine ten eleven\nend", marks = near_duplicate.marks "other = 2" },
    { id = "c7", sketch = sketch_of "seven eight nine ten eleven\nend", marks = near_duplicate.marks "seven" } }
  local function refusal(edits, limit) return table.pack(near_duplicate.refusal(parent, edits, known, limit)) end
  equal(refusal({ a = "seven eight nine ten eleven" }, 1), { "nearly the same as c7 (similarity 1.00)", "c7", n = 2 })
  equal(refusal({}, 1), { "nearly the same as c1 (similarity 1.00)", "c1", n = 2 })
  equal(refusal({ b = false }, 0.1)[2], "c1")
  equal({ refusal({ b = false }, 1)[1], refusal({}, 0)[1] }, {})
  equal(refusal({ a = { 0.5, 2 } }, 0.1)[1], nil, "what is no text cannot be compared")
end)

-- A program as models write them, of 60 functions; a constant of every kind in each.
local function program_of(rng)
  local parts = {}
  for index = 1, 60 do
    parts[index] = ("def step_%d(points, radius):\n    for point in range(%d):\n        if radius < %.4f:\n            points[point] += %d * radius\n"
      .. "    return method(points, kind='%s', exact=%s)\n"):format(index, rng:integer(2, 5000), rng:random(), rng:integer(1, 9),
      rng:choice { "slsqp", "powell", "cobyla" }, rng:random() < 0.5 and "True" or "False")
  end
  return table.concat(parts)
end

-- Changes one constant of a program.
local function one_constant(rng, program)
  local places = {}
  for from, number, to in program:gmatch "()%f[%w_.](%d[%d.]*)()" do places[#places + 1] = { from, number, to } end
  local place = rng:choice(places)
  local new = rng:random() < 0.5 and place[2] .. "0" .. rng:integer(1, 9) or tostring(rng:integer(10000, 99999))
  return program:sub(1, place[1] - 1) .. new .. program:sub(place[3])
end

test("of 1,000 changes of one constant none is taken for a near duplicate, at a limit of 0.99", function()
  local rng, refused, by_sketch = random.stream(5), 0, 0
  for _ = 1, 1000 do
    local old = program_of(rng)
    local new = one_constant(rng, old)
    local parent = { id = "c1", sources = function() return { { path = "a", text = old } } end }
    if near_duplicate.refusal(parent, { a = new }, { { id = "c1", sketch = text.sketch(old), marks = near_duplicate.marks(old) } }, 0.99) then
      refused = refused + 1
    end
    if text.similarity(text.sketch(new), text.sketch(old)) >= 0.99 then by_sketch = by_sketch + 1 end
  end
  print(("# taken for the same: %d of 1000; by the sketch alone %d"):format(refused, by_sketch))
  equal(refused, 0)
  equal(by_sketch > 500, true)
end)

test("marks are numbers, quoted texts and operators in their order, not blanks and names", function()
  local marks = near_duplicate.marks
  for _, other in ipairs { "b  =\n2 + min(u, 'x')", "a = 2 + the_least(v, 'x')" } do equal(marks(other), marks "a = 2 + min(u, 'x')") end
  for _, other in ipairs { "a = 3 + min(u, 'x')", "a = 2 - min(u, 'x')", "a = 2 + min(u, 'y')", "a = 2 + True(u, 'x')", "a = 2.0 + min(u, 'x')" } do
    equal(marks(other) ~= marks "a = 2 + min(u, 'x')", true, other)
  end
end)

test("what is remembered is there once, the newest last, the oldest gone", function()
  local list = {}
  for _, said in ipairs { "a", "b", "a", "", "c", "d" } do knowledge.remember(list, said, 3) end
  knowledge.remember(list, nil, 3)
  knowledge.remember(list, 4, 3)
  equal(list, { "b", "c", "d" })
end)

-- What a user would have lost: a copy of openevolve.lua that `apsis strategies openevolve` once printed.
tap.test("most_like is found where older copies of openevolve.lua call it", function()
  local known = { { id = "c0002", sketch = text.sketch "one two three four" } }
  local id, most = features.most_like({ { path = "a", text = "other words" } }, "c0001", { a = "one two three four" }, known)
  tap.equal({ id, most }, { "c0002", 1.0 })
end)

tap.done()
