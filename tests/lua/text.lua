-- apsis.text: what sketches say of texts, and that they say it on every machine.
local text = require "apsis.text"
local tap = require "tap"
local test, equal, raises = tap.test, tap.equal, tap.raises

-- About 2 kB of a program, different for every seed.
local function program(seed)
  local lines = {}
  for index = 1, 50 do
    lines[index] = ("local v%d = f%d(x + %d, y_%d) -- %d"):format(seed * index, seed + index * 7, seed * 13 + index, index % seed + 3,
      seed * index * 11)
  end
  return table.concat(lines, "\n")
end

local function likeness(a, b)
  return text.similarity(text.sketch(a), text.sketch(b))
end

test("a sketch is the same on every machine, for ever", function()
  equal(text.sketch "", "7c35f54c4cc4c45f5bd7db6eaae6aaf1007131001f0000131e1317226d22e43d")
  equal(text.sketch "x = sin(y) + 0.5", "9f535f52d7d22e61263001c3df53eae36e22f52db0f1307131e6236e198aa6eb")
  equal(text.sketch(program(3)), "506a8e37d1bafe5ab02202804df249a0c882261fdb1ca91f80d808d458ae551f")
  equal(text.sketch(("wörter_und_zeichen "):rep(300) .. ("a"):rep(5000) .. " end"),
    "f9b4f9b9f8b9788888883000000707d3df5226e22e61e8888f9b979b86aa7988")
end)

test("a sketch is 64 hexadecimal digits, whatever the text", function()
  for _, s in ipairs { "", " ", "\0", "\0\0\0", "a", "a b", "a b c", "\xff\xfe", ("x"):rep(100000), (" \n"):rep(100000),
    (";"):rep(5000) } do
    equal(text.sketch(s):match "^[0-9a-f]+$" and #text.sketch(s), 64)
  end
end)

test("identical texts are alike by 1", function()
  for _, s in ipairs { "", "a", "one two", program(2), "\0" } do equal(likeness(s, s), 1) end
end)

test("one changed constant in 2 kB stays near 1", function()
  for seed = 1, 20 do
    local s = program(seed)
    local changed, count = s:gsub("%d+", "90210", 1)
    equal(count, 1)
    assert(likeness(s, changed) > 0.85, likeness(s, changed))
  end
end)

test("half of a text is about half alike", function()
  local sum = 0
  for seed = 1, 20 do sum = sum + likeness(program(seed), program(seed):sub(1, #program(seed) // 2)) end
  assert(sum / 20 > 0.4 and sum / 20 < 0.6, sum / 20)
end)

test("unrelated texts are near 0", function()
  local sum = 0
  for seed = 1, 40 do sum = sum + likeness(program(seed), ("while energy > limit_%d: step(%d)\n"):format(seed, seed):rep(60)) end
  assert(sum / 40 < 0.05, sum / 40)
end)

test("short texts compare too", function()
  equal(likeness("return x", "return x"), 1)
  assert(likeness("return x", "while y") < 0.3)
  assert(likeness("", "x") < 0.3)
  assert(likeness("\0", "") < 0.3)
  assert(likeness("a b c d e f g h", "a b c d e f g i") > 0.5)
end)

test("how much blank stands between tokens is no matter; that some does, is", function()
  equal(text.sketch "a = b+1", text.sketch "  a\t=\r\n b + 1 \f\v")
  assert(likeness("ab", "a b") < 0.5)
end)

test("where a text is cut into parts within is no matter", function()
  -- A token at every place of the 2048 bytes that are read at a time, and over their ends.
  local tail = " then some more words, and an end_of_all"
  for _, size in ipairs { 2, 8, 9, 15, 16, 17, 18, 63, 64, 65, 200 } do
    local token = ("k"):rep(size)
    for pad = 2040 - size, 2056 do
      equal(text.sketch((" "):rep(pad) .. token .. tail), text.sketch(token .. tail), size .. " at " .. pad)
    end
  end
  equal(text.sketch((" "):rep(2047) .. "+" .. tail), text.sketch("+" .. tail))
  equal(text.sketch((" "):rep(2047) .. "a+b" .. tail), text.sketch("a+b" .. tail))
  equal(text.sketch((" "):rep(2047) .. "+a" .. tail), text.sketch("+a" .. tail))
end)

test("each byte is a part of words, a blank, or a token of its own", function()
  local function alike(between, other) return text.sketch("x a" .. between .. "b y") == text.sketch("x a" .. other .. "b y") end
  for byte = 0, 255 do
    local c = string.char(byte)
    local word, blank = c:find "[%w_\x80-\xff]" ~= nil, c:find "[ \t-\r]" ~= nil
    equal({ alike(c, " "), alike(c, " " .. c .. " ") }, { blank, not word }, byte)
  end
end)

test("NUL and bytes that are no UTF-8 are bytes as any other", function()
  assert(text.sketch "a\0b" ~= text.sketch "a b")
  assert(text.sketch "a\0b" ~= text.sketch "a\0c")
  equal(text.sketch "\xff\x80z 1", text.sketch "\xff\x80z  1")
end)

test("10 MB are read, and as one word", function()
  local line = "value = value * 2 + offset;\n"
  local large = line:rep(10000000 // #line)
  assert(likeness(large, line:rep(100)) > 0.9)
  equal(#text.sketch(("w"):rep(10000000)), 64)
end)

test("the mean is over a list", function()
  local a, b = text.sketch(program(1)), text.sketch(program(2))
  equal(text.mean_similarity(a, { a, b }), (1 + text.similarity(a, b)) / 2)
  equal(text.mean_similarity(a, {}), nil)
end)

test("what is no sketch is refused", function()
  local sketch = text.sketch "x"
  raises("not a sketch", text.similarity, sketch, "abc")
  raises("not a sketch", text.similarity, sketch:upper():gsub("%d", "G"), sketch)
  raises("not a sketch", text.similarity, ("g"):rep(64), sketch)
  raises("element 2 is not a sketch", text.mean_similarity, sketch, { sketch, "ab" })
  raises("element 1 is not a sketch", text.mean_similarity, sketch, { 12 })
  raises("string", text.sketch)
  raises("table", text.mean_similarity, sketch)
end)

tap.done()
