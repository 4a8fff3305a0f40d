-- sandbox: the globals of a strategy: pairs in sorted order, coroutines that yield nothing out of a hook, and what is refused, each
-- with the place in the strategy.
local sandbox = require "apsis.core.sandbox"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

-- What a chunk gives in a new environment, or its error. Its first line is where:1.
local function run(source, required)
  return select(2, pcall(assert(load(source, "=where", "t", sandbox.new(required or function() end)))))
end

local function visited(t)
  local list = {}
  for key, value in sandbox.sorted_pairs(t) do list[#list + 1] = { key, value } end
  return list
end

test("pairs visits numbers, then strings, each in order, with their values, false ones too", function()
  equal(visited { b = 1, a = false, [3] = "x", [1] = false, [2.5] = 0, c = "" },
    { { 1, false }, { 2.5, 0 }, { 3, "x" }, { "a", false }, { "b", 1 }, { "c", "" } })
  equal(visited {}, {})
end)

test("a key that is removed while pairs visits is passed over, and one that is changed has its new value", function()
  local t, seen = { a = 1, b = 2, c = 3, d = 4 }, {}
  for key, value in sandbox.sorted_pairs(t) do
    seen[#seen + 1] = key .. tostring(value)
    if key == "a" then t.b, t.c, t.d = nil, false, 5 end
  end
  equal(seen, { "a1", "cfalse", "d5" })
end)

test("a table's own __pairs is asked, and keys without an order are refused", function()
  local own = setmetatable({}, { __pairs = function(t) return function(_, last) return not last and "only" or nil end, t, nil end })
  local list = {}
  for key in sandbox.sorted_pairs(own) do list[#list + 1] = key end
  equal(list, { "only" })
  equal(visited(setmetatable({ x = 1 }, {})), { { "x", 1 } })
  equal(run "pairs { [true] = 1 }", "where:1: pairs in a strategy visits keys in sorted order; a boolean key has none")
end)

test("what no run can repeat is refused, where it is called", function()
  for name, instead in pairs { ["math.random"] = "run.rng", ["math.randomseed"] = "run.rng", ["os.date"] = "run.now",
    ["os.time"] = "run.now", ["os.clock"] = "run.now" } do
    equal(run("\n" .. name .. "()"),
      ("where:2: %s is not for strategies: it would make the run impossible to repeat; use %s"):format(name, instead))
  end
  equal(run "setmetatable({}, { __gc = print })",
    "where:1: __gc is not for strategies: it would run at a different moment in each run")
  equal(run "coroutine.yield(1)", "where:1: a hook may wait for a handle, but not yield anything else")
  equal(run "return collectgarbage 'count'", 0)
  equal(run "collectgarbage()\nreturn (collectgarbage 'count')", 0)
  equal(run "return os.execute, io and 1, debug.getinfo", nil)
end)

test("print writes to stderr, with a tab between any values", function()
  local stderr, written = io.stderr, {}
  io.stderr = { write = function(_, ...) written[#written + 1] = table.concat { ... } end }
  local ok, message = pcall(run, "print(nil, 1, 'a', nil) print()")
  io.stderr = stderr
  assert(ok, message)
  equal(written, { "nil\t1\ta\tnil\n", "\n" })
end)

test("setmetatable is the usual one otherwise", function()
  equal(run "return setmetatable({}, { __index = { a = 5 } }).a", 5)
  equal(run "return getmetatable(setmetatable({}, nil))", nil)
end)

test("coroutines of a strategy pass values both ways, and none yields out of the hook", function()
  equal(run [[
    local co = coroutine.create(function(a, b)
      local c = coroutine.yield(a + b)
      return c * 2
    end)
    local list = { select(2, coroutine.resume(co, 1, 2)) }
    list[2] = select(2, coroutine.resume(co, 5))
    list[3] = coroutine.status(co)
    local inner = coroutine.wrap(function()
      local deeper = coroutine.wrap(function() coroutine.yield "deep" end)
      coroutine.yield(deeper())
    end)
    list[4] = inner()
    list[5] = pcall(coroutine.yield, "out")
    list[6] = select(2, pcall(coroutine.wrap(function() error("as it is", 0) end)))
    list[7] = coroutine.resume(coroutine.create(function() error "x" end))
    return list]], { 3, 10, "dead", "deep", false, "as it is", false })
end)

test("what a strategy loads has its globals, or those that it gives", function()
  equal(run "x = 7 return load 'return x'() .. load('return y', 'n', 't', { y = 8 })()", "78")
  matches(run "load 'math.random()'()", "math.random is not for strategies")
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write("return y, math.random"):flush()
  equal(run(("y = 5 return dofile(%q)"):format(path)), 5)
  equal(run(("y = 5 return loadfile(%q)()"):format(path)), 5)
  equal(run(("return loadfile(%q, 't', { y = 6, math = {} })()"):format(path)), 6)
  os.remove(path)
  equal(run("return dofile(" .. ("%q"):format(path) .. ")"):find("No such file", 1, true) ~= nil, true)
end)

test("what a strategy does to a library is its own", function()
  run "string.upper, math.floor, table.concat, utf8.char, _G.os = nil, nil, nil, nil, nil"
  assert(string.upper and math.floor and table.concat and utf8.char and os.time)
  equal(run "return _G.string == string and require(1)", nil)
  equal(run("return require 'name'", function(name) return name .. "!" end), "name!")
end)

test("while a reason is set, modules that touch the world raise it where they are called; others do not", function()
  local real = { go = function(...) return select("#", ...), ... end, constant = 5 }
  local seen, other = sandbox.module("apsis.process", real), sandbox.module("apsis.stats", real)
  equal(other == real and sandbox.module("apsis.git", "text"), "text")
  equal({ seen.go(1, nil, 3) }, { 3, 1, nil, 3 })
  sandbox.forbid "not now"
  local code = run("return function(module) module.go() end")
  equal({ pcall(code, seen) }, { false, "where:1: not now" })
  equal({ seen.constant, (other.go()) }, { 5, 0 })
  sandbox.forbid(nil)
  equal(seen.go(), 0)
  for _, name in ipairs { "process", "git", "wait", "http", "fs", "state" } do
    equal(sandbox.module("apsis." .. name, real) ~= real, true, name)
  end
end)

tap.done()
