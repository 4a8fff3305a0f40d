-- json: numbers and strings go both ways exactly; what is no JSON is refused with its place; what JSON cannot say
-- raises.
local tap = require "tap"
local json = require "apsis.json"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function refused(text, pattern)
  local value, message, code = json.decode(text)
  equal(value, nil, text)
  equal(code, "EJSON", text)
  tap.matches(message, pattern, text)
end

test("integers keep all 64 bits", function()
  for _, value in ipairs { 0, 1, -1, 9007199254740993, math.maxinteger, math.mininteger } do
    local text = json.encode(value)
    equal(text, string.format("%d", value))
    equal(math.type(json.decode(text)), "integer")
    equal(json.decode(text), value)
  end
  equal(math.type(json.decode("9223372036854775808")), "float")
  equal(json.decode("-9223372036854775809"), -0x1p63)
  equal(json.decode("123456789012345678901234567890"), 123456789012345678901234567890)
end)

test("every double comes back as it was, in the shortest of 15 to 17 digits", function()
  math.randomseed(7)
  for _ = 1, 20000 do
    local value = string.unpack("d", string.pack("i8", math.random(0)))
    if value == value and math.abs(value) ~= math.huge then
      local text = json.encode(value)
      local back = json.decode(text)
      assert(back == value, text)
      local short = string.format("%.15g", value)
      if tonumber(short) + 0.0 == value then equal(text, short) end
    end
  end
  equal(json.encode(0.1), "0.1")
  equal(json.encode(1 / 3), "0.3333333333333333")
  equal(json.encode(0.1 + 0.2), "0.30000000000000004")
  equal(json.encode(5e-324), "4.94065645841247e-324")
  equal(json.encode(1e300), "1e+300")
  equal(json.encode(2.0 ^ 53), "9007199254740992")
end)

test("a float that is whole prints as an integer, and minus zero keeps its sign", function()
  equal(json.encode(1.0), "1")
  equal(json.encode(-3.0), "-3")
  equal(json.encode(-0.0), "-0")
  equal(1 / json.decode("-0"), -math.huge)
  equal(1 / json.decode("-0.0"), -math.huge)
  equal(json.encode(1e15), "1e+15")
end)

test("an exponent has e or E, and a sign or none", function()
  for text, value in pairs { ["1E5"] = 1e5, ["1e+2"] = 100, ["1E+2"] = 100, ["25e-1"] = 2.5, ["-5E-1"] = -0.5, ["0e0"] = 0,
    ["10e00"] = 10 } do equal(json.decode(text), value, text) end
  for _, text in ipairs { "1E", "1E+", "1e-", "1E-x", "1ee5", "1e+-5", "0e" } do refused(text, "^EJSON: 1:%d+: ") end
end)

test("numbers have a point: no script changes the locale", function()
  equal({ os.setlocale(), os.setlocale "C", os.setlocale "de_DE.UTF-8", os.setlocale("", "numeric") }, { "C", "C" })
  equal(json.encode(1.5), "1.5")
end)

test("numbers that are not finite are refused both ways, naming the place", function()
  raises("%$%.a%[3%]%.b: inf", json.encode, { a = { 1, 2, { b = math.huge } } })
  raises("%$%[1%]: NaN", json.encode, { 0 / 0 })
  refused("1e400", "1:1: number is not finite")
  refused('[[1e400],2,{"a":3}]', "1:3: number is not finite")
  refused('{"a":{"b":[1,2]},\n"c":[0,-1e400],"d":5}', "2:8: number is not finite")
  refused('[1,{"a":[7],"a":2},5]', "1:13: duplicate key a")
  refused("[-1e400]", "1:2: ")
end)

test("malformed numbers are refused", function()
  for _, text in ipairs { "01", "-01", "1.", "+1", ".5", "1e", "1e+", "-", "0x10", "1.e3", "--1", "1e5.5", "NaN",
    "Infinity", "1_000" } do
    refused(text, "^EJSON: 1:%d+: ")
  end
end)

test("the control characters from U+0080 on are escaped, for a terminal takes them for sequences", function()
  equal(json.encode "\xC2\x9B31m \xC2\xA0\xC2\x80", [["\u009b31m ]] .. "\xC2\xA0" .. [[\u0080"]])
  equal(json.decode(json.encode "\xC2\x9B31m"), "\xC2\x9B31m")
end)

test("strings keep NUL and control characters", function()
  equal(json.encode "a\0b\1\n\t\"\\/\127", [["a\u0000b\u0001\n\t\"\\/\u007f"]])
  equal(json.decode [["a\u0000b\u0001\n\t\"\\\/"]], "a\0b\1\n\t\"\\/")
  local all = {}
  for byte = 0, 127 do all[#all + 1] = string.char(byte) end
  equal(json.decode(json.encode(table.concat(all))), table.concat(all))
  equal(json.decode(json.encode { ["k\0ey"] = 1 }), { ["k\0ey"] = 1 })
end)

test("invalid UTF-8 becomes U+FFFD both ways", function()
  local mark = "\u{FFFD}"
  equal(json.encode "a\xFFb", '"a' .. mark .. 'b"')
  equal(json.decode '"a\xFFb\xC3"', "a" .. mark .. "b" .. mark)
  equal(json.encode "\xED\xA0\x80", '"' .. mark:rep(3) .. '"')
  equal(json.encode "\xC0\x80", '"' .. mark:rep(2) .. '"')
  equal(json.encode "\xF4\x90\x80\x80", '"' .. mark:rep(4) .. '"')
  equal(json.encode "\xE2\x82", '"' .. mark:rep(2) .. '"')
  for _, text in ipairs { "é", "€", "\u{10FFFF}", "\u{D7FF}", "\u{E000}", "\u{800}", "\u{10000}" } do
    equal(json.encode(text), '"' .. text .. '"')
    equal(json.decode('"' .. text .. '"'), text)
  end
end)

-- Lua's own utf8.len is the second opinion.
test("which bytes are UTF-8: every lead with every second byte, and the ends of what a later one may be", function()
  local later = { "", "\x7F", "\x80", "\xBF", "\xC0", "\x80\x7F", "\x80\x80", "\xBF\xBF", "\xBF\xC0" }
  for lead = 0x80, 0xFF do
    for second = 0x7E, 0xFF do
      for _, rest in ipairs(later) do
        local bytes = string.char(lead, second) .. rest
        local valid = utf8.len(bytes) ~= nil
        equal(json.decode('"' .. bytes .. '"') == bytes, valid, ("%x %x %q"):format(lead, second, rest))
        equal(json.decode(json.encode(bytes)) == bytes, valid, ("%x %x %q"):format(lead, second, rest))
      end
    end
  end
end)

test("escapes: surrogate pairs join, half of one becomes U+FFFD", function()
  equal(json.decode [["\u00e9\u20AC\ud83d\ude00"]], "é€\u{1F600}")
  equal(json.decode [["\ud83d"]], "\u{FFFD}")
  equal(json.decode [["\ud7ff\ud800\udc00\udbff\udfff\ue000"]], "\u{D7FF}\u{10000}\u{10FFFF}\u{E000}")
  equal(json.decode [["\ud800\udbff"]], "\u{FFFD}\u{FFFD}")
  equal(json.decode [["\ud800\ue000"]], "\u{FFFD}\u{E000}")
  equal(json.decode [["\udc00\udc00"]], "\u{FFFD}\u{FFFD}")
  equal(json.decode " \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n", { 1, 2 })
  equal(json.decode [["\ude00x"]], "\u{FFFD}x")
  equal(json.decode [["\ud83d\u0041"]], "\u{FFFD}A")
  equal(json.decode [["\ud83d\ud83d\ude00"]], "\u{FFFD}\u{1F600}")
  refused([["\x41"]], "1:2: malformed escape")
  refused([["\u12"]], "malformed escape")
  refused([["\u12G4"]], "malformed escape")
end)

test("a control character in a string is refused", function()
  refused('"a\nb"', "1:3: control character")
  refused('"a\0b"', "1:3: control character")
  refused('"a', "1:1: string without a closing quote")
  refused('["a\\', "malformed escape")
end)

test("what is no JSON is refused with line and column", function()
  refused("", "1:1: the text ends")
  refused('{"a":1,\n "b":}', "2:6: expected a value")
  refused('{"a":1,"a":2}', "1:8: duplicate key a")
  refused('{"x":{"a":1,"a":null}}', "duplicate key a")
  refused("[1,]", "1:4: expected a value")
  refused('{"a":1,}', "1:8: expected a key in quotes")
  refused("{a:1}", "1:2: expected a key in quotes")
  refused("[1 2]", "1:4: expected ',' or ']'")
  refused('{"a" 1}', "expected ':'")
  refused("[1] x", "1:5: text after the value")
  refused("[1]\0", "1:4: text after the value")
  refused("// c\n1", "1:1: ")
  refused("[1, /* c */ 2]", "1:5: ")
  refused("\xEF\xBB\xBF1", "byte order mark")
  refused("tru", "expected a value")
  refused("True", "expected a value")
  refused("nullx", "1:5: text after")
  refused("[", "1:2: the text ends")
  refused("{", "1:2: expected a key")
end)

test("a duplicate of a key whose value is null or false is found", function()
  refused('{"a":null,"a":1}', "duplicate key a")
  refused('{"a":false,"a":1}', "duplicate key a")
  refused('{"\\u0061":1,"a":1}', "duplicate key a")
end)

test("depth is limited both ways to 1000", function()
  local deep = ("["):rep(1000) .. ("]"):rep(1000)
  equal(json.encode(json.decode(deep)), deep)
  refused(("["):rep(1001), "nested too deeply")
  refused(('{"a":'):rep(200000), "nested too deeply")
  local value = 1
  for _ = 1, 1001 do value = { value } end
  raises("nested too deeply", json.encode, value)
end)

test("what the library behind would lose is kept: long numbers, NUL in keys, bytes that stand in for others", function()
  equal(json.decode("1" .. ("0"):rep(100)), 1e100)
  equal(json.decode("0." .. ("0"):rep(100) .. "1"), 1e-101)
  equal(json.decode '["\xFE1","\xFF",{"\xFE1":1}]', json.array { "\u{FFFD}1", "\u{FFFD}", { ["\u{FFFD}1"] = 1 } })
  equal(json.encode { "\xFE1", "\xFF\0" }, '["\u{FFFD}1","\u{FFFD}\\u0000"]')
  equal(json.decode [[{"k\u0000a":1,"k\u0000b":2,"k":3}]], { ["k\0a"] = 1, ["k\0b"] = 2, k = 3 })
  equal(json.encode { a = { ["k\0"] = "\xC2\x85" }, k = json.array() }, [[{"a":{"k\u0000":"\u0085"},"k":[]}]])
end)

test("with names of members, the others are checked but not built, wherever they stand", function()
  local wanted = { a = true, ["b c"] = true }
  equal(json.decode(' { "x" : [1, {"a":2}] , "a" : 1 , "y":2, "b c":[{"x":3}], "z" : {} } ', wanted), { a = 1, ["b c"] =
    json.array { { x = 3 } } })
  equal(json.decode([[{"\u0061":1,"\u0078":2,"x":3}]], wanted), { a = 1 })
  equal(json.decode('{"x":1}', wanted), {})
  equal(json.decode('[{"x":1}]', wanted), json.array { { x = 1 } })
  local function fails(text, pattern)
    local value, message = json.decode(text, wanted)
    equal(value, nil)
    tap.matches(message, pattern)
  end
  fails('{"x":[1,],"a":1}', "1:9: expected a value")
  fails('{"x":1 "a":1}', "1:8: expected ',' or '}'")
  fails('{"x":{"a":1,"a":1},"a":1,"y":1,"a":2}', "1:32: duplicate key a")
  fails('{"x":{"a":1},\n"a":1e999,"y":1}', "2:5: number is not finite")
end)

test("null is one value that prints as null", function()
  equal(tostring(json.null), "null")
  assert(rawequal(json.decode("null"), json.null))
  equal(json.encode { a = json.null }, '{"a":null}')
  equal(json.decode('{"a":null}').a, json.null)
end)

test("an empty table is an object, an empty array stays an array", function()
  equal(json.encode {}, "{}")
  equal(json.encode(json.array {}), "[]")
  equal(json.encode(json.array()), "[]")
  equal(json.encode(json.decode '{"a":[],"b":{}}'), '{"a":[],"b":{}}')
end)

test("gaps of a marked array are null; of a plain table they raise", function()
  equal(json.encode(json.array { [1] = 1, [3] = 3 }), "[1,null,3]")
  raises("%$%.x: indices have gaps", json.encode, { x = { [2] = 1 } })
  raises("almost empty", json.encode, json.array { [1 << 40] = 1 })
  equal(#json.encode(json.array { [16 * 4098 - 1] = 1 }), 5 * (16 * 4098 - 1) - 3 + 1)
  raises("almost empty", json.encode, json.array { [16 * 4098] = 1 })
  raises("an array has string keys", json.encode, json.array { a = 1 })
  raises("already has a metatable", json.array, setmetatable({}, {}))
end)

test("keys are in byte order, unless asked otherwise", function()
  equal(json.encode { b = 1, a = 2, ["a "] = 3, A = 4, ["é"] = 5, aa = 6 }, '{"A":4,"a":2,"a ":3,"aa":6,"b":1,"é":5}')
  equal(json.encode { ["a\0"] = 1, ["a!"] = 2, a = 3 }, '{"a":3,"a\\u0000":1,"a!":2}')
  equal(json.encode { ["\0"] = 1, ["\1"] = 2 }, '{"\\u0000":1,"\\u0001":2}')
  equal(json.encode { ["\1"] = 2, ["\0"] = 1 }, '{"\\u0000":1,"\\u0001":2}')
  equal(json.encode({ a = 1 }, { sorted = false }), '{"a":1}')
  local many = {}
  for i = 1, 300 do many[("key %d"):format(i):rep(3)] = i end
  equal(json.decode(json.encode(many)), many)
  equal(json.decode(json.encode(many, { sorted = false })), many)
end)

test("pretty indents by two, and leaves the empty on one line", function()
  equal(json.encode({ a = { 1, { b = true } }, c = {}, d = json.array() }, { pretty = true }),
    '{\n  "a": [\n    1,\n    {\n      "b": true\n    }\n  ],\n  "c": {},\n  "d": []\n}')
end)

test("what JSON cannot say raises, naming the place", function()
  raises("%$%.f: a function", json.encode, { f = print })
  raises("%$: a nil", json.encode, nil)
  raises("%$%.x%.y: a userdata", json.encode, { x = { y = io.stdout } })
  raises("mixed", json.encode, { 1, a = 2 })
  raises("a key is true", json.encode, { [true] = 1 })
  raises("a key is 1.5", json.encode, { [1.5] = 1 })
  raises("a key is 0", json.encode, { [0] = 1 })
  local cycle = { a = {} }
  cycle.a.b = { cycle }
  raises("%$%.a%.b%[1%]: the table contains itself", json.encode, cycle)
end)

test("a table that appears twice, but not in itself, is written twice", function()
  local shared = { 1 }
  equal(json.encode { a = shared, b = { shared, shared } }, '{"a":[1],"b":[[1],[1]]}')
end)

test("mistakes in the call raise", function()
  raises("unknown option 'prety' %(known: pretty sorted%)", json.encode, 1, { prety = true })
  raises("option 'pretty' must be a boolean", json.encode, 1, { pretty = 1 })
  raises("string expected", json.decode, {})
end)

test("nothing is kept of a refused text or value", function()
  local deep = ('[{"a":'):rep(400)
  local cycle = {}
  cycle[1] = cycle
  for _ = 1, 200 do
    json.decode(deep)
    pcall(json.encode, cycle)
  end
  local function collect() -- what has a finalizer is freed by the second
    collectgarbage()
    collectgarbage()
  end
  collect()
  local before = collectgarbage "count"
  for _ = 1, 2000 do
    json.decode(deep)
    pcall(json.encode, cycle)
  end
  collect()
  assert(collectgarbage "count" < before + 100)
end)

test("marks that reorder text, C1 controls and DEL are escaped, and come back", function()
  local given = "a\u{202E}b\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}\u{85}\127\u{2010}\u{65}"
  equal(json.encode { [given] = given }, ('{"%s":"%s"}'):format(([[
a\u202eb\u2066\u2069\u200e\u200f\u061c\u0085\u007f]] .. "\u{2010}e"), [[
a\u202eb\u2066\u2069\u200e\u200f\u061c\u0085\u007f]] .. "\u{2010}e"))
  equal(json.decode(json.encode(given)), given)
end)

tap.done()
