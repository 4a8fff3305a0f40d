-- selection: the probability of each candidate as a parent, by published rules. Drawing is a second step, so that
-- rules can be inspected and tested. The metric decides which value is better; lower is better is the mirror image.
-- Draws only from the stream passed in. For strategies; lua/meta/selection.lua names the sources.
local direction = require "apsis.direction"
local stats = require "apsis.stats"
local suggest = require "apsis.suggest"

local selection = {}

local exp, log = math.exp, math.log
local SHARPNESS, CHILDREN, BEST = 10, 8, 3
local turned = direction.new {} -- orders scores that the metric has oriented: higher is better

-- The logarithm of 1 / (1 + exp(-x)), which itself may underflow.
local function log_sigmoid(x)
  if x < -30 then return x end
  return -log(1 + exp(-x))
end

-- The middle of the best three.
local function top_mean(scores)
  local top = {}
  for index = 1, #scores do
    local score, rank = scores[index], #top
    if rank < BEST or turned:beats(score, top[rank]) then
      while rank > 0 and turned:beats(score, top[rank]) do rank = rank - 1 end
      table.insert(top, rank + 1, score)
      top[BEST + 1] = nil
    end
  end
  local mean = 0
  for index = 1, #top do mean = mean + top[index] / #top end
  return mean
end

local function exponentials(logarithms)
  local most, weights = stats.max(logarithms), {}
  for index = 1, #logarithms do weights[index] = exp(logarithms[index] - most) end
  return weights
end

-- Scores as shares, none negative: if one is, all are shifted so that the worst has a share of the spread too, which
-- is scale-free like the plain shares.
local function shares(scores)
  local least, most, moved = stats.min(scores), stats.max(scores), {}
  local scale = math.max(math.abs(least), math.abs(most))
  if scale == 0 then scale = 1 end
  local shift = least < 0 and (most / scale - least / scale) / #scores - least / scale or 0
  for index, score in ipairs(scores) do moved[index] = score / scale + shift end
  return moved
end

local rules = {}

function rules.score_prop(scores)
  local middle, logarithms = top_mean(scores), {}
  for index, score in ipairs(scores) do logarithms[index] = log_sigmoid(SHARPNESS * (score - middle)) end
  return exponentials(logarithms)
end

function rules.score_child_prop(scores, children)
  local middle, logarithms = top_mean(scores), {}
  for index, score in ipairs(scores) do
    logarithms[index] = log_sigmoid(SHARPNESS * (score - middle)) - (children[index] / CHILDREN) ^ 3
  end
  return exponentials(logarithms)
end

function rules.proportional(scores)
  return shares(scores)
end

function rules.proportional_child(scores, children)
  local weights = shares(scores)
  for index, weight in ipairs(weights) do weights[index] = weight / (1 + children[index]) end
  return weights
end

function rules.weighted(scores, children)
  local middle, apart, logarithms = stats.median(scores), {}, {}
  for index, score in ipairs(scores) do apart[index] = math.abs(score - middle) end
  local spread = math.max(stats.median(apart), 1e-6)
  for index, score in ipairs(scores) do
    logarithms[index] = log_sigmoid(SHARPNESS * (score - middle) / spread) - math.log(1 + children[index])
  end
  return exponentials(logarithms)
end

-- Equal scores share the weight of their ranks.
function rules.power_law(scores, _, options)
  local order, weights, alpha = {}, {}, options.alpha or 1
  for index = 1, #scores do order[index] = { value = scores[index], index = index } end
  turned:sort(order)
  local first = 1
  while first <= #order do
    local last, sum = first, first ^ -alpha
    while turned:tied(order[last + 1], order[first]) do
      last = last + 1
      sum = sum + last ^ -alpha
    end
    for rank = first, last do weights[order[rank].index] = sum / (last - first + 1) end
    first = last + 1
  end
  return weights
end

-- Of equals the most recent, which is the last.
function rules.best(scores)
  local weights, at = {}, 1
  for index, score in ipairs(scores) do
    weights[index] = 0
    if not turned:better(scores[at], score) then at = index end
  end
  weights[at] = 1
  return weights
end

function rules.latest(scores)
  local weights = {}
  for index = 1, #scores do weights[index] = index == #scores and 1 or 0 end
  return weights
end

function rules.random(scores)
  local weights = {}
  for index = 1, #scores do weights[index] = 1 end
  return weights
end

selection.rules = {}
for name in pairs(rules) do selection.rules[#selection.rules + 1] = name end
table.sort(selection.rules)

-- The values and child counts of a list of members, or the given ones.
local function columns(members)
  if members.scores then return members.scores, members.children or {}, #members.scores end
  local values, children = {}, {}
  for index, member in ipairs(members) do
    values[index] = member.value ~= nil and member.value or false
    children[index] = member.children
  end
  return values, children, #members
end

local function check(rule, options)
  if not rules[rule] then
    error(("no selection rule %q; there are %s%s"):format(tostring(rule), table.concat(selection.rules, ", "),
      suggest.sentence(tostring(rule), selection.rules)), 3)
  end
  for key in pairs(options) do
    if key ~= "alpha" then error(("selection has no option %q; there is alpha"):format(tostring(key)), 3) end
  end
  if options.alpha ~= nil and not direction.finite(options.alpha) then error("selection: alpha is a number", 3) end
end

-- Members without a finite value have no chance, unless none has one.
function selection.probabilities(rule, members, metric, options)
  options = options or {}
  check(rule, options)
  local values, children, count = columns(members)
  local at, scores, born, result = {}, {}, {}, {}
  for index = 1, count do
    result[index] = 0
    local score = metric:gain(values[index] or nil, 0)
    if score then
      local last = #at + 1
      at[last], scores[last], born[last] = index, score, children[index] or 0
    end
  end
  if #at == 0 then -- nothing distinguishes them
    for index = 1, count do at[index], scores[index], born[index] = index, 0, children[index] or 0 end
  end
  if #at == 0 then return result end
  local weights = rules[rule](scores, born, options)
  local sum = stats.sum(weights)
  for index, place in ipairs(at) do result[place] = sum > 0 and weights[index] / sum or 1 / #at end
  return result
end

-- One of a list by its probabilities; nil for an empty list.
function selection.pick(rng, list, probabilities)
  if #list == 0 then return nil end
  if #probabilities ~= #list then error("selection.pick: as many probabilities as there are to pick from", 2) end
  return rng:choice(list, probabilities)
end

return selection
