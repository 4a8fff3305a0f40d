-- loop: how a run ends when it is interrupted, and what strategies within strategies are asked.
local fake = require "fake"
local fs = require "apsis.fs"
local json = require "apsis.json"
local tap = require "tap"
local wait = require "apsis.wait"

local own_pid = fs.read("/proc/self/stat"):match "^%d+"

tap.test("one signal ends a run, and what its tasks hold is closed", function()
  assert(wait.trap())
  local closed, measured = 0, 0
  local world = { answers = function(slot) return { edits = { x = slot.number } } end, measure = function(x)
    measured = measured + 1
    if measured == 1 then return { value = x } end -- the baseline
    local held <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
    if measured == 3 then assert(io.popen("kill -INT " .. own_pid):close()) end
    wait.sleep(60)
    return { value = x }
  end }
  local _, ended = fake.run("return {}", { workers = 2, world = world })
  tap.equal({ ended.interrupted, closed }, { true, 2 })
end)

tap.test("a line is learnt at the time it was planned, or at 0 where it has none", function()
  local source = [[return { learn = function(run, one) run.memory.at = (run.memory.at or "") .. run.now .. " " end,
    plan = function(run) return { notes = { at = run.memory.at } } end }]]
  local function learnt(change)
    local lines = fake.run(source, { budget = { iterations = 1 } })
    tap.equal(lines[2].notes.at, "1000 ")
    change(lines[1])
    local again = fake.run(source, { budget = { iterations = 1 }, texts = { json.encode(lines[1]) },
      world = { x = { c0000 = 0 }, clock = 1000 } })
    return again[2].notes.at
  end
  tap.equal({ learnt(function() end), learnt(function(line) line.planned = 7 end), learnt(function(line) line.planned = nil end) },
    { "1000 ", "7 ", "0 " })
end)

tap.test("a fold asks one sub-strategy to learn, even if the strategy does not", function()
  local source = [[local sub = require("apsis.strategy").use({
      learn = function(run) run.memory.count = (run.memory.count or 0) + 1 end }, {})
    return { plan = function(run) return { notes = { count = sub.plan and "it has" or "none" } } end,
      halt = function(run) return nil end }]]
  local lines = fake.run(source, { budget = { iterations = 2 } })
  local texts = {}
  for index, line in ipairs(lines) do texts[index] = json.encode(line) end
  local engine = fake.engine(source, { texts = texts })
  local seen = {}
  for _, part in ipairs(engine.strategy.subs) do
    seen[#seen + 1] = require("apsis.core.run").sub(engine, engine:view(9, 0), part).memory.count
  end
  tap.equal(seen, { 3 })
end)

tap.done()
