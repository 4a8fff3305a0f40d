-- hyperagents: an open-ended archive, after HyperAgents (github.com/facebookresearch/HyperAgents). Keeps every
-- candidate with a value (with `fitness`: a score in every domain), better or not, as a possible parent; a rule of
-- apsis.selection draws the parent. The engine still decides which is best. The rules with sigmoid(10 (s - m)) suit
-- scores from 0 to 1 that differ by tenths; for other metrics use weighted, which goes by their spread, or power_law,
-- which goes by rank.
local limits = require "apsis.options"
local selection = require "apsis.selection"

local hyperagents = {
  options = {
    -- how the parent is drawn, a rule of apsis.selection: HyperAgents' default; its plugin's is proportional,
    -- ShinkaEvolve's weighted
    rule = "score_child_prop",
    alpha = 1.0, -- with rule power_law: how much the best are preferred
    patience = 0, -- 0: off; else the run ends after N experiments without a new best
  },
}

hyperagents.climbs, hyperagents.breaks_ties = false, false

function hyperagents.check(options)
  return limits.problem(options, { rule = { one_of = selection.rules }, alpha = { least = 0, most = 100 },
    patience = { integer = true, least = 0 } })
end

function hyperagents.init(run)
  local memory = run.memory -- the archive in columns, and the position of each id
  memory.ids, memory.scores, memory.children, memory.place = {}, {}, {}, {}
end

function hyperagents.learn(run, line)
  local ids, scores, children, place = run.memory.ids, run.memory.scores, run.memory.children, run.memory.place
  for _, id in ipairs(line.id and line.parents or {}) do -- a child counts, whatever its outcome
    if place[id] then children[place[id]] = children[place[id]] + 1 end
  end
  if not (line.kept and line.value) then return end
  local at = #ids + 1
  ids[at], scores[at], children[at], place[line.id] = line.id, line.value, 0, at
end

function hyperagents.plan(run)
  local memory, children = run.memory, run.memory.children
  if #memory.ids == 0 then return { parents = { run.baseline } } end
  local pending = run.pending
  if #pending > 0 then children = table.move(children, 1, #children, 1, {}) end
  for _, proposal in ipairs(pending) do -- children in flight count too, so that workers spread
    local at = memory.place[proposal.parents[1]]
    if at then children[at] = children[at] + 1 end
  end
  local chances = selection.probabilities(run.options.rule, { scores = memory.scores, children = children }, run.metric,
    { alpha = run.options.alpha })
  return { parents = { selection.pick(run.rng, memory.ids, chances) }, operator = "exploitation" }
end

function hyperagents.accept()
  return true, "it has a score, and may be a parent"
end

function hyperagents.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then
    return ("no new best in %d experiments"):format(run.since_best)
  end
end

return hyperagents
