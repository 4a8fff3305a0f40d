-- strategies/adaevolve.lua's modules against AdaEvolve's own code: tests/data/golden/adaevolve.jsonl has 1,000 states with
-- what that code computed (tests/data/golden/README.md says how it was run). A line: how many islands; their programs
-- (island, score, e: measured there, r: received); iterations; the island chosen, or any of some; the intensities; the
-- productivity; an island's members, by value; a draw; how a parent is drawn then, from whom, and with which weights (none:
-- all alike); the best that a prompt shows; whether its first programs are one on every island, as at the start of a run.
local adaptation = require "apsis.adaptation"
local contract = require "apsis.core.strategy"
local direction = require "apsis.direction"
local json = require "apsis.json"
local populations = require "apsis.populations"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local metric = direction.new { name = "score" }
local adaevolve = assert(contract.load { use = "adaevolve" })
local NEAR <const> = 1e-9

local states = {}
for line in io.lines "../data/golden/adaevolve.jsonl" do states[#states + 1] = assert(json.decode(line)) end

test("there are 1,000 states", function() equal(#states, 1000) end)

local function near(got, expected, what)
  if not (math.abs(got - expected) <= NEAR) then error(("%s: %.17g, expected %.17g"):format(what, got, expected), 2) end
end

local function numbers(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = tonumber(word) end
  return list
end

-- The islands of a state.
local function adapted(state)
  local options = adaevolve.options
  local islands = adaptation.new(options.intensity_min, options.intensity_max)
  for _ = 1, state[1] do islands:add() end
  for island, score, how in state[2]:gmatch "(%d+),([^,]+),(%a)" do
    islands[how == "r" and "receive" or "record"](islands, tonumber(island), tonumber(score))
  end
  return islands
end

test("the intensity of each island, and the productivity of all, are the original's", function()
  for number, state in ipairs(states) do
    local islands = adapted(state)
    for island, expected in ipairs(numbers(state[5])) do
      near(islands:intensity(island), expected, ("state %d, island %d"):format(number, island))
    end
    near(islands:productivity(), tonumber(state[6]), "state " .. number)
  end
end)

test("the same island is chosen; of new ones any", function()
  local ucb = 0
  for number, state in ipairs(states) do
    local rng = { choice = function(_, list) return "any " .. table.concat(list, " ") end }
    equal(tostring(adapted(state):choose(rng, state[3])), state[4], "state " .. number)
    ucb = ucb + (state[4]:find "^any" and 0 or 1)
  end
  equal(ucb > 300, true, ucb .. " by UCB")
end)

test("the strategy's hooks come to the same island from the journal's lines", function()
  local seeded = 0
  for number, state in ipairs(states) do
    local run = { metric = metric, memory = {}, models = {}, pending = {}, options = {}, experiment = state[3] + 1 }
    for name, value in pairs(adaevolve.options) do run.options[name] = value end
    run.options.islands, run.options.migration_interval, run.options.spawn_cooldown = state[1], 0, 0
    adaevolve.hooks.init(run)
    local lines = {}
    for island, score in (state[13] and state[2] or ""):gmatch "(%d+),([^,]+),e" do
      lines[#lines + 1] = { id = "m" .. #lines, experiment = #lines, value = tonumber(score), parents = {},
        outcome = lines[1] and "reverted_worse_metric" or "baseline", notes = { island = tonumber(island) } }
      adaevolve.hooks.learn(run, lines[#lines])
    end
    local calls = {}
    run.rng = { random = function() return 0 end, choice = function(_, list)
      calls[#calls + 1] = "any " .. table.concat(list, " ", 1, type(list[1]) == "number" and #list or 0)
      return list[1]
    end }
    if state[13] then
      local made = adaevolve.hooks.plan(run)
      equal(calls[2] and calls[1] or tostring(made.notes.island), state[4], "state " .. number)
      seeded = seeded + 1
    end
  end
  equal(seeded > 400, true, seeded .. " states")
end)

-- Members by their place.
local function population(state)
  local held = populations.new(metric, 20)
  held:add()
  for place, value in ipairs(numbers(state[7])) do held:enter(1, { id = ("m%02d"):format(place), value = value }) end
  return held
end

local function places(list)
  local parts = {}
  for index, member in ipairs(list) do parts[index] = tostring(tonumber(member.id:sub(2))) end
  return table.concat(parts, " ")
end

test("with the same draw a parent is drawn in the same way, from the same members, with the same weights", function()
  for number, state in ipairs(states) do
    local list, weights
    local rng = { random = function() return state[8] end, choice = function(_, from, with)
      list, weights = from, with
      return from[1]
    end }
    local _, mode = population(state):draw(rng, 1, numbers(state[5])[1])
    equal(mode, state[9], "state " .. number)
    equal(places(list), state[10], "members of state " .. number)
    local sum, expected = 0, numbers(state[11])
    for _, weight in ipairs(weights or {}) do sum = sum + weight end
    equal(weights and #weights or 0, #expected, "weights of state " .. number)
    for place, weight in ipairs(weights or {}) do near(weight / sum, expected[place], "state " .. number) end
  end
end)

test("prompts show the same programs of all islands", function()
  for number, state in ipairs(states) do
    if state[12] ~= "" then equal(places(population(state):best(4, "m01")), state[12], "state " .. number) end
  end
end)

tap.done()
