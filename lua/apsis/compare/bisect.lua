-- bisect: measures a candidate again without some of its changes, and reports which pieces to revert. Called by
-- against.
local items = require "apsis.compare.items"
local pieces = require "apsis.live.pieces"
local search = require "apsis.live.search"
local versions = require "apsis.live.versions"

local bisect = {}

local Bisect = {}
Bisect.__index = Bisect

-- The measurement of a tree and the targets it reaches; nil if interrupted.
local function measure_tree(self, tree)
  local result, message, code = self.versions:measure(tree)
  if not result and code ~= 130 then error({ fatal = true, message = message, code = code }, 0) end
  if not result then return nil end
  result.reached, result.count = items.reached(self.metric, self.targets, result.value,
    items.values(result, self.metric, items.predictions(self.versions.dir)), result.metrics)
  result.all = result.count == #self.targets
  return result
end

-- The piece numbers of some groups.
local function numbers_in(self, groups)
  local numbers = {}
  for _, group in ipairs(groups) do
    table.move(self.pieces.groups[group], 1, #self.pieces.groups[group], #numbers + 1, numbers)
  end
  table.sort(numbers)
  return numbers
end

-- One step of the search: a measurement without some groups, cached. answer | nil (interrupted), and whether it was
-- free.
local function step(self, groups)
  local numbers = numbers_in(self, groups)
  local tree, message = self.pieces:without(numbers)
  local answer
  if not tree then
    answer = { status = "failed", reason = "does not apply: " .. message, reached = {}, count = 0, all = false }
  else
    self.versions:announce(("measuring %s %s (%d of at most %d)"):format(self.record.id,
      #numbers == 0 and "as it is" or "without " .. pieces.words(numbers), self.measured + 1, self.most))
    answer = measure_tree(self, tree)
    if not answer then return nil end
    self.measured = self.measured + 1
  end
  answer.without, answer.tree = numbers, tree
  self.steps[#self.steps + 1] = answer
  return answer, not tree
end

-- Measures the candidate unchanged first: a regression that does not repeat was chance. nil: interrupted; false and
-- why: no use to continue.
local function control(self)
  local first = step(self, {})
  if not first then return nil end
  if first.status ~= "ok" and self.record.value then
    return false, ("measured again, %s itself has no metric: %s"):format(self.record.id, first.reason or first.status),
      5
  end
  local left = {}
  self.unrepeated = {}
  for index, target in ipairs(self.targets) do
    if first.reached[index] then table.insert(self.unrepeated, target) else left[#left + 1] = target end
  end
  self.targets, first.count, first.reached = left, 0, {}
  return true
end

-- The groups with several numbers, which go together because of git.
local function joined(self)
  local list = {}
  for _, group in ipairs(self.pieces.groups) do
    if #group > 1 then list[#list + 1] = group end
  end
  return list
end

local function answer_for(self, numbers)
  local key = table.concat(numbers, " ")
  for _, one in ipairs(self.steps) do
    if table.concat(one.without, " ") == key then return one end
  end
end

-- The sets that restore all regressions: the one with the best value, and the others.
local function best_first(self, found)
  local sets = { numbers_in(self, found.found) }
  for index, group in ipairs(found.others or {}) do sets[index + 1] = numbers_in(self, { group }) end
  local best = 1
  for index = 2, #sets do
    if self.metric:better(answer_for(self, sets[index]).value, answer_for(self, sets[best]).value) then best = index end
  end
  return table.remove(sets, best), sets
end

-- The step with the best value, if that beats the candidate and the set that restores all; or nil.
local function best_step(self, restored)
  local best = restored and not self.metric:better(self.steps[1].value, restored.value) and restored or self.steps[1]
  for _, one in ipairs(self.steps) do
    if self.metric:better(one.value, best.value) then best = one end
  end
  return best and #best.without > 0 and best ~= restored and best or nil
end

-- The result. whole: nothing of the candidate would be left; costs: its value would be worse than measured now; best:
-- the step whose value beats the candidate and the set that restores all.
local function result_of(self, found)
  local result = { steps = self.steps, measured = self.measured, most = self.most, targets = self.targets,
    tokens = self.versions.tokens, cost = self.versions.cost, unrepeated = self.unrepeated or {}, joined = joined(self),
    ended = found.ended,
    minimal = found.minimal, others = {} }
  local answer
  if found.found then
    result.found, result.others = best_first(self, found)
    answer = answer_for(self, result.found)
    result.value, result.tree, result.whole = answer.value, answer.tree, #result.found == #self.pieces
    result.costs = self.metric:better(self.steps[1].value, answer.value)
    result.advised = not result.whole and not result.costs
    result.patch = self.repo:diff(answer.tree, self.record.commit)
  end
  result.best = best_step(self, answer)
  if result.best then result.best.patch = self.repo:diff(result.best.tree, self.record.commit) end
  return result
end

local function work(self)
  local ready, message, code = control(self)
  if ready == nil then return result_of(self, { ended = "interrupted" }) end
  if not ready then return nil, message, code end
  if #self.targets == 0 then return result_of(self, {}) end
  return result_of(self, search.run { count = #self.pieces.groups, most = self.most - 1,
    measure = function(groups) return step(self, groups) end })
end

-- run(reader, { record, pieces, targets, most, quiet }) -> { steps = { { without = numbers, value, status, reason,
-- count }... }, found = numbers | nil, value, tree, patch, whole, costs, advised (neither), best, minimal, others,
-- joined, unrepeated, targets, measured, most, tokens, cost (of chat models that judge), ended } | nil, message, code.
function bisect.run(reader, spec)
  local parent = spec.record.parents and spec.record.parents[1] and reader.history:get(spec.record.parents[1])
  local opened <close>, message, code = versions.open(reader, { name = "bisect", record = spec.record,
    parent = parent and parent.commit, quiet = spec.quiet })
  if not opened then return nil, message, code end
  local self = setmetatable({ versions = opened, repo = opened.world.repo, metric = reader.metric, record = spec.record,
    pieces = spec.pieces, targets = spec.targets, most = spec.most, measured = 0, steps = {} }, Bisect)
  local done, result
  done, result, message, code = pcall(work, self)
  if done then return result, message, code end
  if type(result) == "table" and result.fatal then return nil, result.message, result.code end
  error(result, 0)
end

return bisect
