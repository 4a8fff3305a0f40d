-- loop: how a run ends when it is interrupted, and what strategies within strategies are asked.
local fake = require "fake"
local fs = require "apsis.fs"
local hold = require "apsis.core.hold"
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
    local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
    if measured == 3 then assert(io.popen("kill -INT " .. own_pid):close()) end
    wait.sleep(60)
    return { value = x }
  end }
  local _, ended = fake.run("return {}", { workers = 2, world = world })
  tap.equal({ ended.interrupted, closed }, { true, 2 })
end)

tap.test("plans of which none waits for an answer are done again, all of them and in order", function()
  local plans = { { number = 1 }, { number = 2 }, { number = 3 } }
  tap.equal(hold.resume({ hold = {} }, plans), plans)
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

tap.test("each of a group is called with its own number, and a plan that fails has no proposal", function()
  local source = [[return { plan = function(run)
      if run.experiment == 3 then error "no plan" end
      return { {}, {} }
    end, select = function(run) error("at " .. run.experiment) end }]]
  local lines = fake.run(source, { workers = 2, budget = { iterations = 3 }, world = { delay = nil } })
  table.sort(lines, function(a, b) return a.experiment < b.experiment end)
  tap.matches(lines[2].rollback_reason, "at 1")
  tap.matches(lines[3].rollback_reason, "at 2")
  tap.matches(lines[4].rollback_reason, "no plan")
  tap.equal({ lines[2].operator, lines[4].operator, lines[4].proposal, lines[4].outcome },
    { lines[3].operator, nil, nil, "skipped_strategy_error" })
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
