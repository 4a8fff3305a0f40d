-- hyperagents: an open-ended archive, after HyperAgents (github.com/facebookresearch/HyperAgents). Every candidate that
-- has a value (with `fitness`: a score in every domain) is kept, better or not, and may be a parent; which one is drawn
-- by a rule of apsis.selection. Which is best stays the engine's word. The rules with sigmoid(10 (s - m)) are made for
-- scores from 0 to 1 that differ by tenths; for other metrics take weighted, which goes by their spread, or power_law,
-- which goes by rank.
local limits = require "apsis.options"
local selection = require "apsis.selection"

local hyperagents = {
  options = {
    rule = "score_child_prop", -- HyperAgents' default; its plugin's: proportional; ShinkaEvolve's: weighted
    alpha = 1.0, -- power_law: how much the best are preferred
    patience = 0, -- 0: off; else so many experiments without a new best end the run
  },
}

function hyperagents.check(options)
  return limits.problem(options, { rule = { one_of = selection.rules }, alpha = { least = 0, most = 100 },
    patience = { integer = true, least = 0 } })
end

function hyperagents.init(run)
  local memory = run.memory -- the archive in columns, and where in them an id is
  memory.ids, memory.scores, memory.children, memory.place = {}, {}, {}, {}
end

function hyperagents.learn(run, line)
  local ids, scores, children, place = run.memory.ids, run.memory.scores, run.memory.children, run.memory.place
  for _, id in ipairs(line.id and line.parents or {}) do -- a child counts, whatever became of it
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
  for _, proposal in ipairs(pending) do -- children on their way count too, so that workers spread
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
