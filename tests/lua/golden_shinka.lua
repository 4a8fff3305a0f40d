-- strategies/shinka.lua against ShinkaEvolve's own code: tests/data/golden/shinka.jsonl has 1,000 states with what that
-- code computed (tests/data/golden/README.md says how it was run). A line: the archive's size; how many islands; the
-- baseline's value; programs (parent, island, value: - for one that crashed); an island and the probabilities of its
-- parents; how many models; the baseline for them; their answers (model, cost, the parent's value, value); models that are
-- being asked; their probabilities; a pool of instructions (programs, sum of their shares); two draws; the one that is taken.
local contract = require "apsis.core.strategy"
local direction = require "apsis.direction"
local json = require "apsis.json"
local model_bandit = require "apsis.model_bandit"
local prompt_pool = require "apsis.prompt_pool"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local metric = direction.new { name = "score" }
local shinka = assert(contract.load { use = "shinka" }).hooks
local NEAR <const> = 1e-9

local function id(number) return ("c%04d"):format(number) end

local states = {}
for line in io.lines "../data/golden/shinka.jsonl" do states[#states + 1] = assert(json.decode(line)) end

test("there are 1,000 states", function() equal(#states, 1000) end)

local function near(got, expected, what)
  if not (math.abs(got - expected) <= NEAR) then error(("%s: %.17g, expected %.17g"):format(what, got, expected), 2) end
end

-- The rows of a text: each a list of numbers and words, false for "-".
local function rows(text)
  local list = {}
  for row in text:gmatch "%S+" do
    local cells = {}
    for cell in row:gmatch "[^,]+" do cells[#cells + 1] = cell ~= "-" and (tonumber(cell) or cell) end
    list[#list + 1] = cells
  end
  return list
end

-- A run that has learnt a state's programs.
local function folded(state)
  local run = { metric = metric, memory = {}, models = {}, pending = {}, baseline = { id = id(0), value = state[3] },
    options = { archive_size = state[1], islands = state[2], novelty = 0, recommendations = 0, prompts = 0, diff = 1,
      full = 0, cross = 0 } }
  shinka.init(run)
  shinka.learn(run, { id = id(0), outcome = "baseline", value = state[3], kept = true })
  for number, program in ipairs(rows(state[4])) do
    local value = program[3] or nil
    shinka.learn(run, { id = id(number), parents = { id(program[1]) }, notes = { island = program[2] }, value = value,
      outcome = value and "reverted_worse_metric" or "skipped_verification_crash" })
  end
  return run
end

test("an island's parents have the probabilities of the original, and are the same", function()
  for number, state in ipairs(states) do
    local run, calls = folded(state), {}
    run.rng = { choice = function(_, list, weights)
      calls[#calls + 1] = { list, weights }
      return #calls == 1 and state[5] or list[1]
    end }
    shinka.plan(run)
    local list, weights, at = calls[2][1], calls[2][2], 0
    local order = {}
    for index, member in ipairs(list) do order[index] = { member.id, weights[index] } end
    table.sort(order, function(a, b) return a[1] < b[1] end)
    for program, chance in state[6]:gmatch "(%d+):(%S+)" do
      at = at + 1
      equal(order[at] and order[at][1], id(tonumber(program)), "state " .. number)
      near(order[at][2], tonumber(chance), ("state %d, %s"):format(number, program))
    end
    equal(at, #order, "members of state " .. number)
  end
end)

test("models have the probabilities of the original", function()
  for number, state in ipairs(states) do
    local names, pending, at = { "a", "b", "c", "d" }, {}, 0
    names = table.move(names, 1, state[7], 1, {})
    local bandit = model_bandit.new(names)
    for _, answer in ipairs(rows(state[9])) do
      local value = answer[4]
      bandit:ask(answer[1])
      if answer[2] then bandit:pay(answer[1], answer[2]) end
      bandit:learn(answer[1], value and value - math.max(answer[3], state[8]) or nil)
    end
    for name in state[10]:gmatch "%a" do pending[#pending + 1] = { model = name } end
    local chances = bandit:probabilities(pending)
    for chance in state[11]:gmatch "%S+" do
      at = at + 1
      near(chances[at], tonumber(chance), ("state %d, model %d"):format(number, at))
    end
  end
end)

test("with the same draws the same instructions are taken", function()
  for number, state in ipairs(states) do
    local pool, used, given = prompt_pool.new "", 0, rows(state[12])
    for _ = 2, #given do pool:add "" end
    for index, one in ipairs(given) do pool.list[index].count, pool.list[index].sum = one[1], one[2] end
    local rng = { random = function()
      used = used + 1
      return state[13][used]
    end }
    function rng.choice(_, list) return list[1 + math.floor(rng.random() * #list)] end
    equal(pool:pick(rng).number, state[14], "state " .. number)
  end
end)

tap.done()
