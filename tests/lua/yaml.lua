-- yaml: the 1.2 core schema, one document, no repeated keys, few aliases; every error and every key has its line.
local tap = require "tap"
local yaml = require "apsis.yaml"
local json = require "apsis.json"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function refused(text, pattern)
  local value, message, code = yaml.decode(text, { name = "m.yaml" })
  equal(value, nil, text)
  equal(code, "EYAML", text)
  tap.matches(message, "^EYAML: m%.yaml:" .. pattern, text)
end

local function read(text)
  local value, message = yaml.decode(text)
  assert(value ~= nil, message)
  return value
end

test("plain scalars are read by the core schema of 1.2", function()
  local cases = {
    { "true", true }, { "True", true }, { "TRUE", true }, { "false", false }, { "False", false }, { "FALSE", false },
    { "on", "on" }, { "off", "off" }, { "yes", "yes" }, { "no", "no" }, { "y", "y" }, { "tRue", "tRue" },
    { "1:30", "1:30" },
    { "010", 10 }, { "0o17", 15 }, { "0x1f", 31 }, { "0x1F", 31 }, { "-5", -5 }, { "+5", 5 }, { "0", 0 },
    { "-0x1f", "-0x1f" },
    { "0o18", "0o18" }, { "0x", "0x" }, { "1_000", "1_000" }, { "1e3", 1000.0 }, { ".5", 0.5 }, { "1.", 1.0 },
    { "-1.5e-3", -0.0015 }, { "1E3", 1000.0 }, { "1e+3", 1000.0 }, { "1E+3", 1000.0 }, { "1E-3", 0.001 }, { "0e0", 0.0 },
    { "1E", "1E" }, { "1e+", "1e+" }, { "1e+-3", "1e+-3" }, { "1e3x", "1e3x" }, { "+", "+" }, { "+.", "+." },
    { "+.5", 0.5 }, { ".", "." }, { "-", json.array { json.null } }, { "1e", "1e" }, { "e3", "e3" },
    { ".e3", ".e3" }, { "-e3", "-e3" }, { "+.e", "+.e" }, { "5.e3", 5000.0 },
    { "1.2.3", "1.2.3" },
    { ".inf", math.huge }, { "-.Inf", -math.huge }, { "+.INF", math.huge }, { "inf", "inf" }, { "nan", "nan" },
    { "2026-05-30", "2026-05-30" }, { "<<", "<<" }, { "=", "=" }, { "0b1", "0b1" },
    { "0xABCDEF0000000000", 0xABCDEFp40 }, { "0xabcdef0000000000", 0xABCDEFp40 }, { "0o7000000000000000000000", 0x7p63 },
    { "9223372036854775807", math.maxinteger }, { "9223372036854775808", 0x1p63 }, { "0xffffffffffffffff", 0x1p64 },
    { "null", yaml.null }, { "Null", yaml.null }, { "NULL", yaml.null }, { "~", yaml.null }, { "nULL", "nULL" },
  }
  for _, case in ipairs(cases) do
    local value = read(case[1])
    equal(value, case[2], case[1])
    equal(math.type(value), math.type(case[2]), case[1])
  end
  local nan = read ".nan"
  assert(nan ~= nan)
end)

test("quoted and block scalars are strings whatever they look like", function()
  for _, text in ipairs { '"true"', "'true'", "! true", "!!str true", "|-\n  true", ">-\n  true" } do
    equal(read(text), "true", text)
  end
  equal(read '"1"', "1")
  equal(read "''", "")
  equal(read "! 1", "1")
  equal(read '"a\\0b"', "a\0b")
end)

test("an empty value and an empty document are null, the same as json's", function()
  equal(read "a:", { a = json.null })
  equal(read "", yaml.null)
  equal(read "# only a comment\n", yaml.null)
  equal(read "---\n...\n", yaml.null)
  assert(rawequal(yaml.null, json.null))
end)

test("explicit core tags are honoured, others refused", function()
  equal(read "!!int 5", 5)
  equal(math.type(read "!!float 5"), "float")
  equal(read "!!str 5", "5")
  equal(read '!!int "5"', 5)
  equal(read "!!bool true", true)
  equal(read "!!null ~", yaml.null)
  equal(read "!!seq [1]", { 1 })
  equal(read "!!map {a: 1}", { a = 1 })
  refused("a: 1\nb: !!int x", "2: the value does not match its tag: !!int")
  refused("!!bool yes", "1: the value does not match its tag")
  for _, scalar in ipairs { "!!int '1", "!!float '1.5", "!!bool 'true", "!!null '~" } do
    refused(scalar:gsub("'", '"') .. '\\0"', "1: the value does not match its tag")
  end
  equal(read '!!str "1\\0"', "1\0")
  equal(read "!!str a: 1", { a = 1 })
  equal(read "! 5: 1", { ["5"] = 1 })
  refused("!x a: 1", "1: this tag is not known here: !x")
  refused("!!float 1.5x", "1: the value does not match its tag")
  refused("a: !lua os.exit()", "1: this tag is not known here: !lua")
  refused("!!binary aGk=", "1: this tag is not known")
  refused("!!set {a}", "1: this tag is not known")
  refused("!!map [1]", "1: this tag is not known")
  refused("!foo [1]", "1: this tag is not known")
end)

test("sequences stay arrays in JSON, mappings objects", function()
  equal(json.encode(read "{a: [], b: {}, c: [1, [2]]}"), '{"a":[],"b":{},"c":[1,[2]]}')
end)

test("keys are their text, and << is a key like any other", function()
  equal(read "1: a\ntrue: b\nnull: c\n1.0: d", { ["1"] = "a", ["true"] = "b", ["null"] = "c", ["1.0"] = "d" })
  equal(read "<<: {a: 1}\nb: 2", { ["<<"] = { a = 1 }, b = 2 })
end)

test("lines say where everything stands, and in which order", function()
  local value, lines = yaml.decode "b: 1\na:\n  - x\n  -\n    z: 1\n    y: 2\n"
  equal(lines[value], { at = 1, keys = { b = 1, a = 2 }, order = { "b", "a" } })
  equal(lines[value.a].at, 3)
  equal(lines[value.a].keys[1], 3)
  equal(lines[value.a[2]], { at = 5, keys = { z = 5, y = 6 }, order = { "z", "y" } })
end)

test("a repeated key is an error with its line", function()
  refused("a: 1\nb: 2\na: 3", "3: duplicate key a")
  refused("x: {a: ~, 'a': 1}", "1: duplicate key a")
  refused("a:\na: 1", "2: duplicate key a")
end)

test("keys that are no scalars are refused", function()
  refused("[a]: 1", "1: a key must be")
  refused("? {a: 1}\n: 1", "1: a key must be")
  refused("a: &x k\n*x : 1", "2: a key must be")
  refused("!!int 1: a", "1: this tag is not known")
end)

test("aliases are read as if their text stood there, as copies with lines", function()
  local value, lines = yaml.decode "a: &x {k: [1, 2]}\nb: *x\nc: &y 5\nd: *y\n"
  equal(value.b, { k = { 1, 2 } })
  assert(value.a ~= value.b and value.a.k ~= value.b.k)
  equal(value.d, 5)
  equal(lines[value.b].keys.k, 1)
  equal(json.encode(read "a: &x []\nb: *x"), '{"a":[],"b":[]}')
  equal(read "a: &k v\nb: &k w\nc: *k", { a = "v", b = "w", c = "w" })
  equal(read "&k key: *k", { key = "key" })
  refused("a: *x", "1: alias without an anchor before it: %*x")
  refused("a: &x [*x]", "1: alias without an anchor")
end)

test("an alias bomb is refused, with its line", function()
  local bomb = { "a0: &a0 [x, x, x, x, x, x, x, x, x, x]" }
  for i = 1, 9 do
    local aliases = ("*a%d, "):format(i - 1):rep(9)
    bomb[#bomb + 1] = ("a%d: &a%d [%s]"):format(i, i, aliases)
  end
  refused(table.concat(bomb, "\n"), "%d+: alias: too much in one document")
  local deep = { "a0: &a0 [x]" }
  for i = 1, 150 do deep[#deep + 1] = ("a%d: &a%d [*a%d]"):format(i, i, i - 1) end
  refused(table.concat(deep, "\n"), "99: alias: nested too deeply")
  assert(yaml.decode(table.concat(deep, "\n", 1, 98)))
end)

test("depth and size are limited", function()
  refused(("["):rep(101) .. ("]"):rep(101), "1: nested too deeply")
  assert(yaml.decode(("["):rep(100) .. ("]"):rep(100)))
  refused("[" .. ("1,"):rep(100001) .. "]", "1: too much in one document")
  refused(("["):rep(100000), "1: ")
end)

test("what is no YAML is refused with its line", function()
  refused("a: 1\nb: [1, 2", "%d:%d+: ")
  refused("a: 1\n b: 2", "2:%d+: ")
  refused("a: 'x\n", "%d:%d+: ")
  refused("a: 1\nb: @x", "2:%d+: ")
  refused("a:\n\t- 1", "2:%d+: ")
  refused("a: 1\n\xFF", "2:%d+: ")
  refused("a: 1\nb: \1", "2:%d+: ")
  refused("a: 1\nb: \0", "2:%d+: ")
  refused("a\0b: 1", "1:%d+: ")
  refused("\255", "1:%d+: ")
  refused("\n\255", "2:%d+: ")
  refused("\n\n\1", "3:%d+: ")
  refused("a: 1\nb: \1\nc: 2", "2:%d+: ")
  refused("a: 1\n---\nb: 2", "2: there is more than one document")
  refused("a: 1\n...\nb", "%d:?%d*: ")
  refused("%YAML 3.0\n--- a", "1:%d+: ")
end)

test("the default name is yaml; mistakes in the call raise", function()
  tap.matches(select(2, yaml.decode "["), "^EYAML: yaml:1:2: ")
  raises("unknown option 'nam' %(known: name%)", yaml.decode, "", { nam = "x" })
  raises("must be a string", yaml.decode, "", { name = 1 })
  raises("string expected", yaml.decode, {})
end)


-- What the user would have lost: time, with "found character that cannot start any token" for a tab.
tap.test("a refused text gets a message with line, column and remedy", function()
  local function message(text) return select(2, yaml.decode(text)) end
  local tabs = "tabs are not allowed in YAML: use spaces"
  local cases = {
    ["a:\n\t- 1\n"] = "2:1: " .. tabs,
    ["a: 1\n\tb: 2\n"] = "2:1: " .. tabs .. " (it begins in line 1)",
    ["version: 1\n\tfiles:"] = "2:1: " .. tabs .. " (it begins in line 1)",
    ["\u{FC}\u{FC}: 1\n\tb: 2"] = "2:1: " .. tabs .. " (it begins in line 1)",
    ["a: @x\n"] = "1:4: a value cannot begin with this character: put it in quotes",
    ["a: b: c\n"] = "1:5: a ':' does not belong here: put the text in quotes, or check the indentation",
    ["- a\nb: 1\n"] = "2:1: a list item, '- ...', was expected here: check the indentation (it begins in line 1)",
    ["a: 'x\n"] = "1:6: a quote is not closed",
    ["key: - a"] = "1:6: a list item, '- ...', does not belong here: begin the list in the next line",
    ["a: ]"] = "1:4: a value was expected here: check the brackets, or put the text in quotes",
    ["a: >x"] = "1:5: text does not belong here: begin it in the next line, or put all of it in quotes",
    ["%YAML 9"] = "1:8: a '%' in the first column begins a directive, and this is none: remove the line",
    ["a: \xFF"] = "1:4: this is not UTF-8: save the file as UTF-8",
    ["a: 1\n\u{FC}: \u{E9}\xFF"] = "2:5: this is not UTF-8: save the file as UTF-8",
    ["a: 1\nb"] = "2:2: a key without ':' after it: write 'name: ...', or check the indentation",
    ["a: !<x"] = "1:7: a '!' begins a tag, and this is none: put it in quotes",
    ["a: *"] = "1:5: a name is missing after * or &: put the text in quotes, if it begins with one of them",
    ["a: 'x\n---\n"] = "2:1: a quote is not closed before this line of --- or ... (it begins in line 1)",
  }
  for text, wanted in pairs(cases) do tap.equal(message(text), "EYAML: yaml:" .. wanted) end
end)

tap.test("a byte order mark at the start is no part of the text", function()
  local function message(text) return select(2, yaml.decode(text)) end
  for _, text in ipairs { "a: 1\n", "# said\na: 1\n", "---\na: 1\n", "{a: 1}", "\r\na: 1" } do
    tap.equal(yaml.decode("\u{FEFF}" .. text), { a = 1 })
  end
  tap.equal(yaml.decode "\u{FEFF}- 1\n- 2", { 1, 2 })
  tap.equal(message "\u{FEFF}a: 1\nb", message "a: 1\nb")
  tap.equal(message "\u{FEFF}a: 'x\n---\n", message "a: 'x\n---\n")
end)

tap.test("no text is refused in libyaml's own words", function()
  local pieces, turn = { "a", ": ", "- ", "\n", " ", "\t", "[", "]", "{", "}", ",", "'", '"', "\\", "\\x", "\\ud800", "&", "*", "!", "!<",
    "!x!", "%", "%YAML", "%TAG", "|", ">", "0", "?", "#", "---", "...", "@", "`", "\xFF", "\xED\xA0\x80", "\1" }, 1
  local function pick(count)
    turn = (turn * 1103515245 + 12345) % 0x80000000
    return turn // 65536 % count + 1
  end
  for _ = 1, 40000 do
    local parts = {}
    for index = 1, pick(7) do parts[index] = pieces[pick(#pieces)] end
    local text = table.concat(parts)
    local value, message = yaml.decode(text)
    if value == nil then
      local words = message:match "^EYAML: yaml:%d+:%d+: (.*)" or message:match "^EYAML: yaml:%d+: (.*)"
      for _, own in ipairs { "found ", "find expected", "is not YAML", "in this context", "octet" } do
        if words:find(own, 1, true) then error(("%q: %s"):format(text, message), 0) end
      end
    end
  end
end)

tap.done()
