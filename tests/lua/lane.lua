-- lane: the short way and the loop's own give the same journal, line for line, whatever the strategy does.
local definition = require "apsis.lab.definition"
local json = require "apsis.json"
local lane = require "apsis.core.lane"
local loop = require "apsis.core.loop"
local tap = require "tap"
local trial = require "apsis.lab.trial"

local test, equal = tap.test, tap.equal

local fields = { "id", "experiment", "outcome", "value", "operator", "parents", "notes", "best", "delta", "improved", "kept", "planned",
  "seconds", "seen", "changed_lines", "measurements", "tokens", "cost", "samples", "metrics", "hypothesis", "description", "learned",
  "next_action_hint", "rollback_reason", "trace", "stage", "model", "run", "commit", "status", "timestamp", "proposal",
  "secondary_metrics" }

local function strategy_file(source)
  local path = os.tmpname() .. ".lua"
  local file = assert(io.open(path, "w"))
  file:write(source)
  file:close()
  return path
end

-- What a trial leaves behind, as text: its record, every line, and what the strategy remembers.
local function told(spec, short)
  local open_to, new, engine, took = lane.open_to, loop.new, nil, 0
  function lane.open_to(...) return short and open_to(...) end
  local run = lane.run
  function lane.run(on, ...)
    local before = on.history.count
    local plan = run(on, ...)
    took = took + on.history.count - before
    return plan
  end
  function loop.new(...)
    engine = new(...)
    return engine
  end
  local ok, record, message = pcall(trial.run, spec)
  lane.open_to, lane.run, loop.new = open_to, run, new
  if not ok then error(record, 0) end
  local lines = { json.encode(record or { message = message }) }
  for index = 1, engine.history.count do
    local line, parts = engine.history:at(index), {}
    for _, key in ipairs(fields) do parts[#parts + 1] = key .. "=" .. (line[key] ~= nil and json.encode(line[key]) or "-") end
    lines[#lines + 1] = table.concat(parts, " "):gsub("\\n\\tlane.lua:%d+: in function 'apsis.core.lane.run'", "") -- the wrapper's
  end
  local memory = {}
  for key, value in pairs(engine.strategy.memory or {}) do
    if type(value) ~= "table" then memory[key] = value end
  end
  lines[#lines + 1] = json.encode(memory)
  lines[#lines + 1] = json.encode { engine.history.since_kept, engine.history.since_best, engine.history.totals, engine.history.outcomes }
  return lines, took
end

-- Both ways on a world and seed; how many experiments went the short way.
local function same(use, world, seed, options, evaluations)
  local spec = { strategy = { use = use, options = options or {} }, definition = assert(definition.load(world)), seed = seed,
    evaluations = evaluations or 120 }
  local short, took = told(spec, true)
  local long = told(spec, false)
  equal(#short, #long)
  for index = 1, #long do equal(short[index], long[index], ("%s on %s, line %d"):format(use, world, index)) end
  return took
end

local worlds = { "onemax:n=30", "nk:n=10,k=2", "sphere:d=3,noise_sd=0.5", "proposer:crash=0.2", "kmodule" }

for _, use in ipairs { "hillclimb", "annealing", "random_walk", "openevolve" } do
  test(use .. " gives the same journal by the short way", function()
    local took = 0
    for seed, world in ipairs(worlds) do
      took = took + same(use, world, seed, use == "hillclimb" and { patience = 60 } or nil)
    end
    equal(took > 100, true, took .. " experiments went the short way")
  end)
end

local odd = {
  ["a proposal without an operator, an id for a parent, one candidate for a list"] = [[return {
    plan = function(run)
      local turn = run.experiment % 4
      if turn == 0 then return {} elseif turn == 1 then return { parents = { run.best.id } } end
      if turn == 2 then return { parents = run.current, operator = "exploration" } end
      return { parents = { run.baseline, run.best }, operator = "crossover" }
    end }]],
  ["unknown keys, no parent, a parent that is none, no table"] = [[return {
    plan = function(run)
      local turn = run.experiment % 8
      if turn == 1 then return { parent = run.best } elseif turn == 3 then return { parents = {} } end
      if turn == 5 then return { parents = { "c9999" } } elseif turn == 7 then return "best" end
      return { parents = { run.best }, operator = "exploitation" }
    end }]],
  ["edits, measurements, questions and a plan of nothing"] = [[return {
    plan = function(run)
      local turn = run.experiment % 5
      if turn == 1 then return { parents = { run.best }, edits = { genome = run.best:read() } } end
      if turn == 2 then return { measure = { run.best.id }, repeats = 2 } elseif turn == 3 then return { ask = "why?" } end
      if run.experiment > 40 then return nil end
      return { parents = { run.best }, operator = "exploitation", title = "try", notes = { turn = turn } }
    end }]],
  ["a select hook that takes, leaves, resamples and says why"] = [[return {
    select = function(run, proposal, answers)
      local turn = run.experiment % 5
      if turn == 1 then return nil, "not this one" elseif turn == 2 then return 1, nil, { notes = { chosen = true }, learned = "so" } end
      if turn == 3 and not (proposal.notes or {}).again then
        return "resample", { parents = { run.best }, operator = "exploration", notes = { again = true } }
      end
      if turn == 4 and run.experiment % 3 == 0 then return 7 end
      return 1, { hypothesis = "because" }
    end }]],
  ["an accept that measures again, rejects the better, gives reasons and fails"] = [[return {
    accept = function(run, candidate)
      local turn = run.experiment % 7
      if turn == 1 and #candidate.samples < 3 then return "measure", { ids = { candidate.id, run.best.id }, repeats = 1 } end
      if turn == 2 then return false, "on principle" elseif turn == 3 then return true, "whatever it is", { notes = { odd = 1 } } end
      if turn == 4 and run.experiment % 3 == 0 then error("broken") elseif turn == 5 then return "yes" end
      if turn == 6 then return false, { notes = { bad = function() end } } end
      candidate.value = 1e9
      return run.rng:random() < 0.3
    end }]],
  ["a learn hook, its memory, and a halt by what it learnt"] = [[return {
    init = function(run) run.memory.sum, run.memory.seen = 0, "" end,
    learn = function(run, line)
      run.memory.sum = run.memory.sum + (line.value or 0)
      run.memory.seen = (run.memory.seen .. line.outcome:sub(1, 1) .. #line.parents):sub(-60)
    end,
    plan = function(run)
      local newest = run.recent(1)[1]
      return { parents = { run.rng:random() < 0.5 and run.best or newest }, operator = #run.history % 2 == 0 and "exploration" or "x" }
    end,
    halt = function(run) if run.memory.sum > 1500 then return "enough" end end }]],
  ["a learn hook that goes by what is best and current, and since when"] = [[return {
    init = function(run) run.memory.wins, run.memory.since = 0, 0 end,
    learn = function(run, line)
      if run.best and line.id == run.best.id and line.id ~= "c0000" then run.memory.wins = run.memory.wins + 1 end
      run.memory.since = run.memory.since + run.since_kept + 3 * run.since_best
      if run.current and run.current.id == line.id then run.memory.newest = line.id end
    end,
    plan = function(run)
      return { parents = { run.best }, operator = run.memory.wins < 4 and "exploration" or "exploitation",
        notes = { since = run.memory.since } }
    end, halt = function() end }]],
  ["a select hook that draws, and looks at the proposal, where evaluations crash"] = [[return {
    select = function(run, proposal, answers)
      assert(type(proposal.experiment) == "number" and type(proposal.parents[1]) == "string")
      if run.rng:random() < 0.3 and not proposal.notes then
        return "resample", { parents = { run.best }, operator = "exploration", notes = { again = run.pending[1].experiment } }
      end
      return 1, nil, { notes = { drawn = run.rng:random(), by = proposal.experiment } }
    end, halt = function() end }]],
  ["a candidate that is held from one accept to the next"] = [[local last
    return {
      accept = function(run, candidate)
        local better = last == nil or run.metric:better(candidate, last)
        local learned = last and last.id .. (last.outcome or "") .. last.parents[1] .. (last.kept and "+" or "-")
        last = candidate
        return better, nil, run.experiment % 2 == 0 and { learned = learned } or nil
      end, halt = function() end }]],
  ["an accept that writes where it should not"] = [[return {
    accept = function(run, candidate)
      candidate.value, candidate.samples, candidate.mark = 1e9, { 5 }, (candidate.mark or 0) + 1
      candidate.parents = { "c0000" }
      return run.rng:random() < 0.2, candidate.mark > 1 and "marked before" or nil
    end, halt = function() end }]],
  ["holes in the list of parents"] = [[return {
    plan = function(run) return { parents = { run.best, nil, run.experiment % 3 == 0 and run.baseline or nil }, operator = "x" } end,
    halt = function() end }]],
  ["budget, free and pending as they are in each hook"] = [[local seen = {}
    local function note(run, hook)
      local budget = run.budget.iterations
      return hook .. budget.spent .. "/" .. budget.left .. "/" .. run.free .. "/" .. #run.pending
        .. (run.pending[1] and run.pending[1].operator .. run.pending[1].parents[1] or "")
    end
    return {
      plan = function(run) seen = { note(run, "plan") } return { parents = { run.best }, operator = "exploitation" } end,
      accept = function(run, candidate)
        local better = run.metric:better(candidate, run.best)
        return better, nil, run.experiment % 3 == 0 and { learned = seen[1] .. " " .. note(run, "accept") .. candidate.parents[1]
          .. candidate.proposal.operator .. candidate.proposal.experiment } or nil
      end,
      halt = function(run) if run.since_kept > 50 or run.since_best > 60 then return "stuck" end end }]],
  ["a halt that fails, and one that returns no text"] = [[return {
    halt = function(run)
      if run.experiment == 9 then error("no") elseif run.experiment == 12 then return 5 end
      if run.experiment > 30 then return "done at " .. run.experiment end
    end }]],
}

local names = {}
for name in pairs(odd) do names[#names + 1] = name end
table.sort(names)

for _, name in ipairs(names) do
  test("the same journal by the short way: " .. name, function()
    local path = strategy_file(odd[name])
    local ok, message = pcall(function()
      for seed, world in ipairs(worlds) do same(path, world, seed, nil, 80) end
    end)
    os.remove(path)
    os.remove((path:gsub("%.lua$", "")))
    if not ok then error(message, 0) end
  end)
end

test("what the lane does not know goes the loop's way: limits on tokens, several workers, a stage hook", function()
  local path = strategy_file "return { stage = function() return true end }"
  local spec = { strategy = { use = path, options = {} }, definition = assert(definition.load "onemax:n=20"), seed = 1, evaluations = 30 }
  local _, took = told(spec, true)
  equal(took, 0)
  spec.strategy = { use = "hillclimb", options = {} }
  for _, more in ipairs { { workers = 2 }, { limits = { usd = 5 } }, { limits = { minutes = 9 } } } do
    spec.workers, spec.limits = more.workers, more.limits
    _, took = told(spec, true)
    equal(took, 0)
  end
  os.remove(path)
  os.remove((path:gsub("%.lua$", "")))
end)

tap.done()
