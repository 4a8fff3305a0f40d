-- strategies/adaptive.lua: changes the best, or what ties with it; explores and crosses as much as that pays; when
-- stuck, lets challengers climb beside the best. `kept` means better than the best, as in hillclimb. A candidate that
-- ties with the best becomes the next parent and nothing else; where `acceptance` is on it does not.
local limits = require "apsis.options"
local prompt = require "apsis.prompt"

local adaptive = {
  options = {
    exploration = 0.05, crossover = 0.05, -- how often these operators are drawn at first; the rest is exploitation
    inspirations = 3, -- how many other good candidates a prompt shows
    stuck = 30, -- experiments without a new best before the first challenger, at least
    grant = 30, -- experiments without a step forward after which a line of challengers is given up
    patience = 0, -- 0: off; else the run ends after N experiments without a new best
  },
}

local share, whole = { least = 0, most = 1 }, { integer = true, least = 0 }

function adaptive.check(options)
  if options.exploration + options.crossover > 1 then
    return "options exploration and crossover: their sum must not be above 1"
  end
  return limits.problem(options, { exploration = share, crossover = share, inspirations = whole, patience = whole,
    stuck = { integer = true, least = 1 }, grant = { integer = true, least = 1 } })
end

local operators <const> = { "exploitation", "exploration", "crossover" }
local GOOD <const> = 20 -- candidates that are remembered, the best first, one of each value
local RATE_WINDOW <const>, FADING <const> = 50, 0.95 -- how soon the rate of success and the records forget

function adaptive.init(run)
  local memory = run.memory
  memory.top, memory.good = nil, {} -- the next parent
  memory.count, memory.before, memory.since = 0, 0, 0 -- experiments: all, up to the newest best, after it
  memory.line, memory.idle, memory.lines = nil, 0, 0 -- the challengers' best, its age, lines that were given up
  memory.rate, memory.record = 0.5, {} -- how often any change succeeds of late, and what came of each operator
  for _, name in ipairs(operators) do memory.record[name] = { successes = 0, expected = 0 } end
end

-- ---- learn ----

local function remember(run, line)
  local good, metric, at = run.memory.good, run.metric, 1
  for index = #good, 1, -1 do
    if metric:tied(line, good[index]) then table.remove(good, index) end
  end
  while good[at] and metric:better(good[at], line) do at = at + 1 end
  table.insert(good, at, line)
  good[GOOD + 1] = nil
end

-- What is expected of an operator is the rate of the run: one that seldom succeeds is no worse than the others where
-- these seldom do, either. Old successes fade.
local function count(memory, line, succeeded)
  local record = memory.record[line.operator]
  if not record then return end
  if succeeded then
    for _, one in pairs(memory.record) do
      one.successes, one.expected = one.successes * FADING, one.expected * FADING
    end
    record.successes = record.successes + 1
  end
  record.expected = record.expected + memory.rate
  memory.rate = memory.rate + ((succeeded and 1 or 0) - memory.rate) / RATE_WINDOW
end

-- A line of challengers goes on from its own best, or what ties with it, and ends after a while without a better one.
-- Each fourth that was given up doubles this while.
local function learn_challenger(run, line, usable, better)
  local memory = run.memory
  memory.idle = (better or not memory.line) and 0 or memory.idle + 1
  if usable and (not memory.line or not run.metric:better(memory.line, line)) then memory.line = line end
  if memory.idle >= run.options.grant << math.min(memory.lines // 4, 6) then
    memory.line, memory.idle, memory.lines = nil, 0, memory.lines + 1
  end
end

function adaptive.learn(run, line)
  local memory, metric = run.memory, run.metric
  memory.count = memory.count + 1
  local challenger, usable = line.notes and line.notes.challenger, line.value and not line.stopped
  if line.id and run.best and line.id == run.best.id then
    if line.kept then count(memory, line, true) end
    memory.top, memory.before, memory.since, memory.line, memory.lines = line, memory.count, 0, nil, 0
  elseif line.id and line.outcome ~= "baseline" then
    memory.since = memory.since + 1
    local better = usable and metric:better(line, challenger and (memory.line or line) or memory.top)
    count(memory, line, better)
    if challenger then learn_challenger(run, line, usable, better)
    elseif usable and not line.acceptance and metric:tied(line, memory.top) then memory.top = line end
  end
  if usable and line.id then remember(run, line) end
end

-- ---- plan ----

-- 1: as many experiments without a new best as it took to find the newest one.
local function stuckness(run)
  return run.memory.since / math.max(run.options.stuck, run.memory.before)
end

-- Operators by weight: what they have brought, against what was to be expected; the more stuck, the more of the others.
local function draw(run, stuck)
  local options, weights = run.options, {}
  local shares = { 1 - options.exploration - options.crossover, options.exploration, options.crossover }
  for index, name in ipairs(operators) do
    local record, more = run.memory.record[name], index > 1 and 1 + 4 * math.min(1, stuck) or 1
    weights[index] = shares[index] * more * (record.successes + 0.5) / (record.expected + 0.5)
  end
  if not run.memory.good[2] then weights[3] = 0 end
  return weights[1] + weights[2] + weights[3] > 0 and run.rng:choice(operators, weights) or "exploitation"
end

-- Good candidates but the parent, at random.
local function others(run, parent, most)
  local list = {}
  for _, one in ipairs(run.memory.good) do
    if one.id ~= parent.id then list[#list + 1] = one end
  end
  return table.move(run.rng:shuffle(list), 1, math.min(most, #list), 1, {})
end

function adaptive.plan(run)
  local memory, stuck = run.memory, stuckness(run)
  local parent, operator, notes = memory.top or run.best, draw(run, stuck), nil
  if stuck > 1 and run.rng:random() < math.min(1, stuck - 1) / 2 then
    notes = { challenger = true }
    if not memory.line then parent, operator = others(run, parent, 1)[1] or parent, "exploration" end
    parent = memory.line or parent
  end
  local shown = others(run, parent, math.max(1, run.options.inspirations))
  local parents = { parent, operator == "crossover" and shown[1] or nil }
  return { parents = parents, operator = operator, notes = notes,
    inspirations = table.move(shown, 1, run.options.inspirations, 1, {}) }
end

function adaptive.prompt(run, made)
  local fields = { parent = made.parents[1], other = "", inspirations = prompt.programs(run, made.inspirations) }
  return prompt.fitted(run, made, fields, function()
    local others_text = fields.inspirations ~= "" and "\n## Other good versions\n\n" .. fields.inspirations or ""
    return prompt.default(run, made) .. others_text
  end)
end

function adaptive.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then return "no new best in " .. run.since_best .. " experiments" end
end

return adaptive
