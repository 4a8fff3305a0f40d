-- policy: a strategy for apsis, and this example's candidate. It begins as hill-climbing does.
-- EVOLVE-BLOCK-START
local settings = {
  ties = 0, -- the chance that a candidate equal to the best becomes the next parent
  explore = 0, -- the share of experiments that change more (operator "exploration")
  back = 0, -- the chance that an earlier good candidate is the parent
  kept = 2, -- how many good candidates are remembered
}
-- EVOLVE-BLOCK-END

local policy = {}

function policy.init(run) run.memory.good = {} end

-- Remembers what was measured: the newest of the best, and good ones before it.
function policy.learn(run, line)
  local memory, metric = run.memory, run.metric
  if not line.value then return end
  local equal = memory.top and metric:tied(line, memory.top) and run.rng:random() < settings.ties
  if not memory.top or metric:better(line, memory.top) or equal then
    table.insert(memory.good, 1, memory.top)
    memory.good[settings.kept + 1] = nil
    memory.top = line
  end
end

function policy.plan(run)
  local good = run.memory.good
  local parent = run.memory.top or run.best
  if #good > 0 and run.rng:random() < settings.back then parent = good[run.rng:integer(1, #good)] end
  local explores = run.rng:random() < settings.explore
  return { parents = { parent }, operator = explores and "exploration" or "exploitation" }
end

function policy.halt() return nil end -- the lab ends a run

return policy
