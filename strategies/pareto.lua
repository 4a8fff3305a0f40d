-- strategies/pareto.lua: change a member of the front, rather one that stands apart; keep what joins the front; stop
-- when nothing has joined for long. With one metric the front is the best, and this is hill-climbing.
local numbers = require "apsis.pareto"

local pareto = {
  options = {
    patience = 40, -- the run ends after that many experiments of which none joined the front
  },
  breaks_ties = false,
}

-- Of two members drawn at random the one that stands further apart: the ends of the front and its gaps.
local function draw(run)
  local front = run.front
  local apart = numbers.crowding(run.metric.parts or { run.metric }, front)
  local one, other = run.rng:integer(1, #front), run.rng:integer(1, #front)
  return front[apart[other] > apart[one] and other or one]
end

function pareto.plan(run)
  local parent, other = draw(run), draw(run)
  return { parents = { parent }, operator = "exploitation", inspirations = other ~= parent and { other } or nil }
end

function pareto.accept(run, candidate)
  return run.metric:better(candidate, run.best)
end

function pareto.halt(run)
  if run.since_kept >= run.options.patience then
    return "nothing has joined the front in " .. run.since_kept .. " experiments"
  end
end

return pareto
