-- legible: any value as one line of text, as run.log writes it.
local legible = require "apsis.core.legible"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local function record(fields) return setmetatable(fields, {}) end

test("texts, numbers and other single values are as they are", function()
  for value, text in pairs { [""] = "", ["a\nb"] = "a\nb", [5] = "5", [0.1 + 0.2] = "0.3", [2.0] = "2", [-1e300] = "-1e+300",
    [true] = "true", [print] = "function" } do
    equal(legible(value), text)
  end
  equal(legible(nil), "nil")
  equal(#legible(("x"):rep(1000)), 1000)
end)

test("tables are lists, then names in order, with texts in quotes", function()
  for text, value in pairs {
    ["{}"] = {}, ["{ 1, \"a\", {} }"] = { 1, "a", {} },
    ["{ 1, [3] = 3, a = 1, b = 2 }"] = { 1, b = 2, a = 1, [3] = 3 }, ["{ [0] = 0 }"] = { [0] = 0 },
    ["{ [\"9\"] = 1, _a9 = false, [\"a b\"] = \"c\\nd\" }"] = { ["a b"] = "c\nd", ["9"] = 1, _a9 = false },
    ["{ [1.5] = 1 }"] = { [1.5] = 1 }, ["{ [2] = 2 }"] = { [2] = 2 },
    ["{ keys that are neither numbers nor strings }"] = { [true] = 1 },
  } do equal(legible(value), text) end
end)

test("what lies deeper than four tables, or in itself, is left out", function()
  equal(legible { { { { 1 } } } }, "{ { { { 1 } } } }")
  equal(legible { { { { { 1 } } } } }, "{ { { { {...} } } } }")
  equal(legible { a = { b = { c = { d = 1 } } } }, "{ a = { b = { c = { d = 1 } } } }")
  equal(legible { a = { b = { c = { d = {} } } } }, "{ a = { b = { c = { d = {...} } } } }")
  local own = { 1 }
  own[2] = own
  equal(legible(own), "{ 1, {...} }")
  local twice = { 5 }
  equal(legible { twice, twice }, "{ { 5 }, { 5 } }")
end)

test("a candidate is its id and value", function()
  equal(legible(record { experiment = 3, id = "c0003", value = 0.53 }), "c0003 (0.53)")
  equal(legible { record { experiment = 3, id = "c0003" } }, "{ c0003 (no value) }")
  equal(legible(record { experiment = 4, outcome = "skipped_no_change" }), "experiment 4 (skipped_no_change)")
  equal(legible(record { experiment = 4 }), "experiment 4 (in flight)")
  equal(legible(record { other = 4 }), "{ other = 4 }")
  equal(legible { experiment = 4 }, "{ experiment = 4 }")
end)

test("a long table is cut to 500 bytes and three dots, between characters", function()
  equal(legible { ("x"):rep(494) }, '{ "' .. ("x"):rep(494) .. '" }')
  equal(legible { ("x"):rep(495) }, '{ "' .. ("x"):rep(495) .. '" ...')
  equal(legible { ("x"):rep(495) .. "ä" .. ("x"):rep(9) }, '{ "' .. ("x"):rep(495) .. "...")
  equal(legible { ("x"):rep(496) .. "ä" .. ("x"):rep(9) }, '{ "' .. ("x"):rep(496) .. "...")
end)

tap.done()
