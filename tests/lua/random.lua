-- apsis.random: what a key gives is written here, for ever: a run done again must draw what it drew before.
local random = require "apsis.random"
local tap = require "tap"
local test, equal, raises = tap.test, tap.equal, tap.raises

local LETTERS = { "a", "b", "c", "d", "e" }
local WEIGHTS = { 1, 0, 2.5, 4, 0.25 }
local LOWEST, HIGHEST = math.mininteger, math.maxinteger

-- Spans of 1, 2, 10, 51, 2^31, 2^32, 2^62, and over; every one but the last fits an integer, the last is every integer.
local SPANS = { { 7, 7 }, { 0, 1 }, { -5, 4 }, { -100, -50 }, { 0, (1 << 31) - 1 }, { -(1 << 31), (1 << 31) - 1 }, { 1, 1 << 62 },
  { -(1 << 61), (1 << 61) - 1 }, { 0, 3 << 61 }, { 1, HIGHEST }, { LOWEST, -2 }, { LOWEST, HIGHEST } }

local GOLDEN = {
  { key = { "" },
    random = { 0x1.bd02013a17a52p-1, 0x1.54fc76d52e1dap-2, 0x1.87351a7585df8p-1, 0x1.d65e0f0399384p-2 },
    integer = { 7, 1, -4, -72, 1028673581, 774628198, 1117164035035899238, 828520154595599604,
      1779122910867503683, 3304891204382491575, -3565679726834127976, -4353749119048287976 },
    normal = "0.835611802467 1.56479298988 0.474602904154 -0.660752172064",
    choice = "dcbbbecadbeceeecdaed", weighted = "dddcaacdddddddddaddd", shuffle = "odstzlqpirjexcvgwbaymhfunk" },
  { key = { "a" },
    random = { 0x1.c5b3f567cf42p-6, 0x1.c376e870ce6f9p-1, 0x1.4187ca7b33602p-1, 0x1.6700c6b7a47a6p-1 },
    integer = { 7, 1, 2, -67, 83186004, -1149099152, 2195470848091832752, 416258745866226107,
      3612878703360163933, 1356630578285102827, -3697125842475288659, -7225499847577469470 },
    normal = "0.923810946734 1.07829563327 0.995136343432 -0.325744882542",
    choice = "ccccddddcbeddedeeaaa", weighted = "dccdddeccdcdadededdd", shuffle = "isgabjnzurpcwdtxfklvqyhoem" },
  { key = { 1, 42, "plan" },
    random = { 0x1.a81bad904911ap-1, 0x1.f856794787d94p-2, 0x1.75b52287568f4p-1, 0x1.9f04a2ef70f58p-4 },
    integer = { 7, 0, -1, -95, 1621979630, 1312291944, 3398042277105428572, -1208149686258672098,
      3563258709434696048, 1858080638369969770, -6865726444719085588, 1872478707656456209 },
    normal = "1.29629058985 0.287692597394 -0.622367668724 0.154456795597",
    choice = "baebebadaeacaaccaaca", weighted = "cdcdcdcdcaecccdddddd", shuffle = "krszyfpocilgqhanmxvudjewtb" },
  { key = { -7, LOWEST, HIGHEST },
    random = { 0x1.f9f62ee106ap-1, 0x1.3e029ca215a54p-2, 0x1.a7bc26a8641c4p-1, 0x1.873789b2a3629p-1 },
    integer = { 7, 0, 4, -95, 981199918, -1119313242, 3051421834447445176, -1617786228947192606,
      958025971357553972, 4414968589810622981, -7081571935274839898, -8082501257450235141 },
    normal = "0.646603483509 -0.430493571188 -2.37756848807 0.800131648902",
    choice = "bdecaceebcacdebedbea", weighted = "cadccddaeccddcdddddc", shuffle = "lgvkxqsritjoazceuphwdbmyfn" },
  { key = { 0.5, -0.0, 1e300, 1 / 0 },
    random = { 0x1.c9f893d8c6186p-1, 0x1.8a3d30227b1eep-2, 0x1.044e6281d109ap-2, 0x1.6577fa37d8cep-1 },
    integer = { 7, 1, 1, -58, 1498017588, -322296472, 3353779278383074186, -254409357226365535,
      682780605654919310, 8927951172686021026, -7589434159662633380, -2436855233725353815 },
    normal = "0.850632934805 -1.05562471817 -1.10777389072 -1.10733108595",
    choice = "aabeaaabccadbbcecdae", weighted = "acadddddcccddcdddcdd", shuffle = "aibjgyeufqozmxkhcnsdprwtlv" },
  { key = { "a\0b", "wörter" },
    random = { 0x1.71d8e6548a51cp-3, 0x1.9687a52012613p-1, 0x1.86b51851d8401p-1, 0x1.16a670f24732fp-1 },
    integer = { 7, 1, -1, -67, 88571770, 1814909417, 1251713648497099981, -948689240663044490,
      2224195639523544550, 3065718420538840652, -8290586841216926427, 8902403050824028869 },
    normal = "-0.553114724121 1.56315326407 -0.660563192868 1.71974940997",
    choice = "bbeeebdaebdcedebedce", weighted = "dddddacdddcddcaddacd", shuffle = "wlbxeujvcopmsryfdgztnqkiah" },
  { key = { 7, true, false },
    random = { 0x1.2a45382f77254p-1, 0x1.bb3bd742551f3p-1, 0x1.1a8d6d4b0dc9ep-1, 0x1.c371a3efe0b79p-1 },
    integer = { 7, 0, 0, -91, 1264396347, -628751399, 1665828167615904222, 913592591184914434,
      1683674312985810637, 5258476493777261896, -8481338275557499016, 3025165031541648240 },
    normal = "0.236350122649 0.137486859106 -1.03009235892 -1.84451198789",
    choice = "eaadcdaabccdaeaadbcc", weighted = "eddceacadccadddccccd", shuffle = "iqsgnamdutphejowfyxvkclbrz" },
  { key = {},
    random = { 0x1.09c17784976b8p-3, 0x1.6d530149d5eb6p-2, 0x1.4c99659ed0f2ap-1, 0x1.a6b82bab2c406p-1 },
    integer = { 7, 0, 1, -71, 1058207784, -50665634, 1015697372753667316, -1117265459227874208,
      2096390610818179806, 4281221326995006483, -7190533709960319688, 1811017841351147853 },
    normal = "-0.895961542199 0.4819128021 0.620111020001 0.0904487881373",
    choice = "eebcabdedeabccdeabed", weighted = "ddcdcddcdaecddacdacd", shuffle = "urmxvcsqfojdyglbitazekpnwh" },
  { key = { 12345678901234567, "provider", 3, 1 },
    random = { 0x1.bd1d7863fe9p-6, 0x1.effc95c73f118p-3, 0x1.f9f1178f7ea3ap-2, 0x1.105767c651c78p-1 },
    integer = { 7, 0, -3, -97, 374247231, -1358916098, 2938077624474293396, -1472788415467670294,
      5402045807784969344, 1133949041850890719, -9204248469096099507, 4410379887802651785 },
    normal = "-0.602789611523 0.531921198789 -0.149114039109 0.00744868258681",
    choice = "adcacaccedddcdabcedb", weighted = "caddcddddddddddcaddc", shuffle = "tbyhamwcvkzfnxedugrpoiljsq" },
}

local function stream(row)
  return random.stream(table.unpack(row.key))
end

local function times(count, draw)
  local list = {}
  for index = 1, count do list[index] = draw(index) end
  return list
end

local function alphabet()
  return times(26, function(index) return string.char(96 + index) end)
end

test("random: a key gives the same floats for ever", function()
  for number, row in ipairs(GOLDEN) do
    local rng = stream(row)
    equal(times(4, function() return rng:random() end), row.random, "key " .. number)
  end
end)

test("integer: a key gives the same integers for ever, over every span", function()
  for number, row in ipairs(GOLDEN) do
    local rng = stream(row)
    local got = times(#SPANS, function(index) return rng:integer(SPANS[index][1], SPANS[index][2]) end)
    equal(got, row.integer, "key " .. number)
    for index, value in ipairs(got) do
      equal(math.type(value), "integer")
      assert(value >= SPANS[index][1] and value <= SPANS[index][2], value)
    end
  end
end)

test("normal: a key gives the same deviates for ever", function()
  for number, row in ipairs(GOLDEN) do
    local rng = stream(row)
    -- Twelve digits: the last ones are the logarithm's, and so the C library's.
    equal(table.concat(times(4, function() return ("%.12g"):format(rng:normal()) end), " "), row.normal, "key " .. number)
  end
end)

test("choice and shuffle: a key gives the same elements for ever", function()
  for number, row in ipairs(GOLDEN) do
    local rng = stream(row)
    equal(table.concat(times(20, function() return rng:choice(LETTERS) end)), row.choice, "key " .. number)
    equal(table.concat(times(20, function() return rng:choice(LETTERS, WEIGHTS) end)), row.weighted, "key " .. number)
    equal(table.concat(rng:shuffle(alphabet())), row.shuffle, "key " .. number)
  end
end)

test("fifty thousand draws of every kind, interleaved, are the same for ever", function()
  local fold = 0
  local function take(value) fold = (fold ~ value) * 0x100000001B3 end
  for _, row in ipairs(GOLDEN) do
    local rng = stream(row)
    for index = 1, 300 do
      take(rng:random() * 0x1p53 | 0)
      for _, span in ipairs(SPANS) do take(rng:integer(span[1], span[2])) end
      rng:normal()
      take(rng:choice(SPANS)[1])
      take(rng:choice(LETTERS, WEIGHTS):byte())
      take(rng:integer(-index, index * index * index << 30))
      for _, letter in ipairs(rng:shuffle { "x", "y", "z" }) do take(letter:byte()) end
    end
  end
  equal(("%016x"):format(fold), "535f651f4aefd412")
end)

test("parts of a key are told apart, and are what tostring makes of them", function()
  local function first(...) return random.stream(...):integer(LOWEST, HIGHEST) end
  equal(first(1, 23), first("1", "23"))
  equal(first(1.0), first "1.0")
  equal(first(true), first "true")
  equal(first(setmetatable({}, { __tostring = function() return "me" end })), first "me")
  equal(first("a", nil, "b"), first "a") -- as ipairs: to the first nil
  equal(first(nil), first())
  local seen = {}
  for _, key in ipairs { {}, { "" }, { "", "" }, { 1, 23 }, { 12, 3 }, { 123 }, { 1.0, 23 }, { -1, 23 }, { "a", "b" }, { "b", "a" } } do
    local value = first(table.unpack(key))
    assert(not seen[value], "two keys, one stream")
    seen[value] = true
  end
  raises("__tostring", random.stream, setmetatable({}, { __tostring = function() return {} end }))
end)

test("streams do not know each other", function()
  local a, b, c = random.stream "a", random.stream "a", random.stream "c"
  local alone = times(50, function() return a:random() end)
  equal(times(50, function() c:random() return b:random() end), alone)
end)

test("a stream may have any number of parts in its key, and there may be many streams", function()
  local key = times(200, function(index) return index end)
  equal(random.stream(table.unpack(key)):random(), random.stream(table.unpack(key)):random())
  local held = times(10000, function(index) return random.stream("held", index % 100) end)
  collectgarbage()
  for index, one in ipairs(held) do equal(one:random(), random.stream("held", index % 100):random()) end
end)

test("a choice by weights is in their proportion, and never of weight 0", function()
  local rng, counts = random.stream "weights", { a = 0, b = 0, c = 0, d = 0, e = 0 }
  for _ = 1, 31000 do
    local letter = rng:choice(LETTERS, WEIGHTS)
    counts[letter] = counts[letter] + 1
  end
  equal(counts.b, 0)
  for index, letter in ipairs(LETTERS) do assert(math.abs(counts[letter] - 4000 * WEIGHTS[index]) < 400, letter) end
  for _ = 1, 100 do equal(rng:choice({ 1, 2, 3 }, { 0, 1 << 62, 0 }), 2) end
  equal(rng:choice({ "x", "y" }, { 1, 1 / 0 }), "y") -- what is left is NaN: the last that has a weight
  equal(rng:choice({ "x" }, { 1, 2, 3 }), "x")
  assert(rng:choice({ "x", "y" }, false))
end)

test("a choice reads its lists as any code would, so that run.history is one", function()
  local rng, face = random.stream "face", { __len = function() return 3 end, __index = function(_, index) return index * 10 end }
  for _ = 1, 100 do assert(rng:choice(setmetatable({}, face)) % 10 == 0) end
  raises("weight 2 is not a number but nil", rng.choice, rng, { 1, 2 }, { 1 })
end)

test("a stream is no other userdata, and no other userdata is a stream", function()
  local rng = random.stream "kind"
  for _, name in ipairs { "random", "integer", "normal", "choice", "shuffle" } do
    for _, wrong in ipairs { io.stdout, {}, 1, "s", setmetatable({}, { __index = rng }), false } do
      raises("apsis.random.stream", rng[name], wrong, 1, 2)
    end
    raises("apsis.random.stream", rng[name])
  end
  tap.matches(tostring(rng), "^apsis.random.stream")
end)

test("a shuffle is of the list itself, and loses nothing", function()
  local rng, list = random.stream "shuffle", times(1000, function(index) return index end)
  assert(rng:shuffle(list) == list)
  local moved = 0
  for index, value in ipairs(list) do moved = moved + (index ~= value and 1 or 0) end
  assert(moved > 900, moved)
  table.sort(list)
  equal(list, times(1000, function(index) return index end))
  equal(rng:shuffle {}, {})
  equal(rng:shuffle { "one" }, { "one" })
  local frozen = setmetatable({}, { __len = function() return 2 end, __newindex = function() error "read-only" end })
  raises("read%-only", rng.shuffle, rng, frozen)
end)

test("what cannot be drawn raises, and draws nothing", function()
  local rng, untouched = random.stream "errors", random.stream "errors"
  local needs = "integer%(low, high%) needs two integers, low <= high; got "
  raises(needs .. "1.0, 2", rng.integer, rng, 1.0, 2)
  raises(needs .. "1, 2", rng.integer, rng, "1", 2)
  raises(needs .. "1, 2.5", rng.integer, rng, 1, 2.5)
  raises(needs .. "2, 1", rng.integer, rng, 2, 1)
  raises(needs .. "5, nil", rng.integer, rng, 5)
  raises(needs .. "nil, nil", rng.integer, rng)
  raises("choice of an empty list", rng.choice, rng, {})
  raises("choice of an empty list", rng.choice, rng, {}, { 1 })
  for _, weights in ipairs { { 0, 0 }, { 0.0, -1 }, { 0 / 0, 1 }, { -1, 1 } } do
    raises("choice: the weights must not all be zero", rng.choice, rng, { 1, 2 }, weights)
  end
  raises("nil", rng.choice, rng, { 1, 2 }, { 1 })
  raises("nil", rng.choice, rng, { 1, 2, 3 }, { 1, nil, 3 })
  raises("table", rng.choice, rng, { 1, 2 }, { 1, {} })
  raises("number", rng.choice, rng, { 1, 2 }, 5)
  raises("n[io]", rng.choice, rng) -- nil, or no value
  raises("number", rng.choice, rng, 5)
  raises("n[io]", rng.shuffle, rng)
  raises("number", rng.shuffle, rng, 5)
  equal(rng:random(), untouched:random())
end)

test("a method of a stream that is given something else says so", function()
  local rng = random.stream "x"
  for _, name in ipairs { "random", "integer", "normal", "choice", "shuffle" } do
    for _, wrong in ipairs { io.stdout, 5, {} } do raises("^bad argument #1 to '.*stream expected", rng[name], wrong) end
    raises("^bad argument #1", rng[name])
  end
end)

test("the bounds of an integer are two integers", function()
  local rng = random.stream "bounds"
  for _, bounds in ipairs { { 1, 2.5 }, { 0.5, 2 }, { 1 }, {}, { 1, "2" }, { "1", 2 }, { false, 2 }, { 2, 1 } } do
    raises(("needs two integers, low <= high; got %s, %s"):format(bounds[1], bounds[2]), rng.integer, rng, bounds[1], bounds[2])
  end
end)

test("an error says where the caller stands", function()
  local ok, message = pcall(function() local value = random.stream(1):integer(2, 1) return value end)
  assert(not ok)
  tap.matches(message, "random.lua:%d+: integer")
end)

test("a list with a hole gives what stands there, or nil", function()
  local rng = random.stream "holes"
  for _ = 1, 100 do
    local value = rng:choice { 1, nil, 3 }
    assert(value == 1 or value == nil or value == 3)
  end
  local list = rng:shuffle { 1, nil, 3, nil, 5 }
  local sum = 0
  for index = 1, 5 do sum = sum + (list[index] or 0) end
  equal(sum, 9)
end)

tap.done()
