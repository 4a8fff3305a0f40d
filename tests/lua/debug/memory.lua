-- memory: what a strategy remembers as a flat map, and what differs between two moments.
local memory = require "apsis.debug.memory"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local function changes(before, after)
  local texts = {}
  for index, one in ipairs(memory.changes(memory.picture { memory = before }, memory.picture { memory = after })) do
    texts[index] = ("%s: %s -> %s"):format(one.path, one.before or "nil", one.after or "nil")
  end
  return texts
end

test("each value that changed is named by its path, with what it was and is", function()
  equal(changes({ a = 1, b = { c = { 1, 2 } } }, { a = 2, b = { c = { 1, 3, 4 } } }),
    { "a: 1 -> 2", "b.c[2]: 2 -> 3", "b.c[3]: nil -> 4" })
  equal(changes({ a = 1 }, { a = 1 }), {})
  equal(changes({}, { ["a b"] = "x\ny" }), { '["a b"]: nil -> "x\\ny"' })
end)

test("a table that begins or ends to have values is shown by them; an empty one by itself", function()
  equal(changes({}, { a = {} }), { "a: nil -> {}" })
  equal(changes({ a = {} }, { a = { 1 } }), { "a[1]: nil -> 1" })
  equal(changes({ a = { 1 } }, { a = {} }), { "a[1]: 1 -> nil" })
  equal(changes({ a = { 1 } }, { a = 2 }), { "a: {...} -> 2", "a[1]: 1 -> nil" })
  equal(changes({ a = { 1 } }, {}), { "a[1]: 1 -> nil" })
end)

test("any key is shown, also one that a strategy's pairs refuses", function()
  equal(memory.picture { memory = { [{}] = 1, [true] = 2, [1.5] = 3 } }, { ["[table]"] = "1", ["[true]"] = "2", ["[1.5]"] = "3" })
  local store = { [{}] = 1 }
  equal(memory.picture { memory = setmetatable({}, { __index = store, __pairs = function() error "no order" end }) }, { ["[table]"] = "1" })
end)

test("a table within itself ends", function()
  local loop = {}
  loop.again = loop
  equal(memory.picture { memory = { loop = loop } }, { loop = "{...}", ["loop.again"] = "a table above" })
end)

tap.done()
