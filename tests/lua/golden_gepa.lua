-- strategies/gepa.lua against GEPA's own code: tests/data/golden/gepa.jsonl has 1,000 states with what that code decided
-- (gepa-ai/gepa b265bf9ca; tests/data/golden/README.md says how it was run). A line: the parents of each program; their
-- scores by item, in eighths; their components (one letter each); the seed of the draws; the weights of the parents that
-- may be drawn; the merge (two parents, ancestor, components), none, or error; a pair and by which items its merge is
-- compared; minibatch size, iteration and its items; a parent, its child's scores, and whether that is kept; whose turn
-- the components were, and are next.
local contract = require "apsis.core.strategy"
local direction = require "apsis.direction"
local json = require "apsis.json"
local merging = require "apsis.merging"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local metric = direction.new { name = "score" }
local loaded = assert(contract.load { use = "gepa" })
local gepa = loaded.hooks
local rng_of = random.stream

-- The draws of a seed, as the recording had them.
local function draws(seed)
  local self, state = {}, seed
  local function u()
    state = (state * 1103515245 + 12345) % 2147483648
    return state / 2147483648
  end
  function self.choice(_, list, weights)
    self.list, self.weights = list, weights
    local left, total = u(), 0
    if not weights then return list[1 + math.floor(left * #list)] end
    for _, weight in ipairs(weights) do total = total + weight end
    left = left * total
    for index, weight in ipairs(weights) do
      left = left - weight
      if left < 0 then return list[index] end
    end
    return list[#list]
  end
  function self.shuffle(_, list)
    local from = table.move(list, 1, #list, 1, {})
    for index = 1, #list do list[index] = table.remove(from, 1 + math.floor(u() * #from)) end
    return list
  end
  return self
end

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local function id(number) return ("c%04d"):format(number) end

-- Programs as the journal's lines.
local function lines_of(state)
  local scores, texts, lines = words(state[2]), words(state[3]), {}
  for number, parents in ipairs(words(state[1])) do
    local items, files, ids = {}, {}, {}
    for at = 1, #scores[number] do items[("i%02d"):format(at - 1)] = { score = tonumber(scores[number]:sub(at, at)) / 8 } end
    for at = 1, #texts[number] do files[at] = { path = "f" .. at, text = texts[number]:sub(at, at) } end
    for parent in parents:gmatch "%d+" do ids[#ids + 1] = id(tonumber(parent)) end
    lines[number] = { id = id(number - 1), parents = ids, items = items, kept = true, value = 0,
      outcome = number == 1 and "baseline" or "kept", sources = function() return files end, files = #files }
  end
  return lines
end

-- A run that has learnt the lines; turns: whose turn each reflection's component is, checked by the caller.
local function folded(state, lines, options)
  local all = { minibatch = state[9], merges = 5, overlap = 1, patience = 0 }
  for key, value in pairs(options) do all[key] = value end
  local run = { metric = metric, memory = {}, options = all, pending = {}, seed = 1, experiment = state[10],
    rng = draws(state[4]) }
  function run.get(wanted) return lines[1 + tonumber(wanted:sub(2))] end
  gepa.init(run)
  return run
end

local function with_reversed(body)
  random.stream = function() -- luacheck: ignore
    return { shuffle = function(_, list)
      for index = 1, #list // 2 do list[index], list[#list + 1 - index] = list[#list + 1 - index], list[index] end
      return list
    end }
  end
  local ok, message = pcall(body)
  random.stream = rng_of -- luacheck: ignore
  if not ok then error(message, 0) end
end

local states = {}
for line in io.lines "../data/golden/gepa.jsonl" do states[#states + 1] = assert(json.decode(line)) end

-- What the strategy plans to draw from: "0:2 3:1".
local function weights_of(rng)
  local parts = {}
  for index, one in ipairs(rng.list) do parts[index] = ("%d:%d"):format(tonumber(one:sub(2)), rng.weights[index]) end
  return table.concat(parts, " ")
end

test("there are 1,000 states", function() equal(#states, 1000) end)

test("parents are drawn with the weights of the original, and reflect on the same items", function()
  with_reversed(function()
    for number, state in ipairs(states) do
      local lines = lines_of(state)
      local run = folded(state, lines, { merges = 0 })
      for _, line in ipairs(lines) do gepa.learn(run, line) end
      local made = gepa.plan(run)
      equal(weights_of(run.rng), state[5], "state " .. number)
      local batch = words(state[11])
      for index, item in ipairs(batch) do batch[index] = ("i%02d"):format(item) end
      equal(made.notes.items, batch, "items of state " .. number)
    end
  end)
end)

test("the components of a program take turns as in the original, also after merges", function()
  for number, state in ipairs(states) do
    local lines, taken = lines_of(state), {}
    local run = folded(state, lines, { merges = 0 })
    gepa.learn(run, lines[1])
    local function next_of(parent)
      run.memory.fronts.needed = function() return { parent }, { 1 } end
      local notes = gepa.plan(run).notes
      run.memory.fronts.needed = nil
      return notes
    end
    for index = 2, #lines do
      if lines[index].parents[2] then
        taken[#taken + 1] = "9"
      else
        lines[index].notes = next_of(lines[index].parents[1])
        taken[#taken + 1] = tonumber(lines[index].notes.file:sub(2)) - 1
      end
      gepa.learn(run, lines[index])
    end
    equal(table.concat(taken), state[15], "state " .. number)
    for index, line in ipairs(lines) do
      local notes = next_of(line.id)
      gepa.learn(run, { parents = { line.id }, notes = notes, outcome = "reverted_rejected" })
      equal(tonumber(notes.file:sub(2)) - 1, tonumber(state[16]:sub(index, index)), "next of state " .. number)
    end
  end
end)

test("with the same draws the same two are merged, by the same ancestor, into the same program", function()
  local merged = 0
  for number, state in ipairs(states) do
    if state[6] ~= "one" and state[6] ~= "error" then
      local lines = lines_of(state)
      local run = folded(state, lines, {})
      for _, line in ipairs(lines) do gepa.learn(run, line) end
      run.memory.found = run.memory.due > 0
      local made, got = gepa.plan(run), "none"
      if made.notes.merge then
        local texts = {}
        for _, file in ipairs(run.get(made.parents[1]).sources()) do
          texts[#texts + 1] = made.edits[file.path] or file.text
        end
        local base = made.notes.merge[1]:match " c0*(%d+)$"
        got = ("%d %d %s %s"):format(tonumber(made.parents[1]:sub(2)), tonumber(made.parents[2]:sub(2)), base,
          table.concat(texts))
        merged = merged + 1
      end
      equal(got, state[6], "state " .. number)
    end
  end
  equal(merged > 200, true, merged .. " merges")
end)

test("a merge is compared by the same items", function()
  local first = { shuffle = function(_, list) return list end }
  for number, state in ipairs(states) do
    if state[8] ~= "" then
      local lines, values = lines_of(state), {}
      for index, at in ipairs(words(state[7])) do
        values[index] = {}
        for item, metrics in pairs(lines[at + 1].items) do values[index][item] = metrics.score end
      end
      local items = merging.contested(first, metric, values[1], values[2], 5)
      for index, item in ipairs(items) do items[index] = tostring(tonumber(item:sub(2))) end
      equal(table.concat(items, " "), state[8], "state " .. number)
    end
  end
end)

test("a child is kept where the original keeps it", function()
  for number, state in ipairs(states) do
    local lines, items = lines_of(state), {}
    local run = folded(state, lines, {})
    for index, item in ipairs(words(state[11])) do items[index] = ("i%02d"):format(item) end
    local child = { parents = { id(state[12]) }, items = {}, proposal = { notes = { items = items } } }
    for at = 1, #state[13] do child.items[("i%02d"):format(at - 1)] = { score = tonumber(state[13]:sub(at, at)) / 8 } end
    equal((gepa.accept(run, child)), state[14], "state " .. number)
  end
end)

test("under acceptance, what would be the best is kept only if that was shown", function()
  local run = folded(states[1], {}, {})
  run.best = { id = "c0001", value = 0.5 }
  run.get = function() return { value = 0.1 } end
  local function kept(value, confirmed)
    return (gepa.accept(run, { parents = { "c0000" }, value = value, confirmed = confirmed, proposal = {} }))
  end
  equal({ kept(0.4, false), kept(0.5, false), kept(0.6, false), kept(0.6, true), kept(0.6, nil), kept(0.1, nil) },
    { true, false, false, true, true, false })
end)

tap.done()
