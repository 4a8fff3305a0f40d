-- features: the place of a candidate in an archive's grid, by a list of { name, bins } or { name, values }.
-- complexity (bytes of its program) and diversity (distance from the archive's references) are computed; the model
-- names one with values; any other is the metric of that name. For strategies.
local families = require "apsis.families"
local near_duplicate = require "apsis.near_duplicate"
local suggest = require "apsis.suggest"
local text = require "apsis.text"

local features = {}

local computed = { complexity = true, diversity = true }

-- The list from an option: a name means { name = name }; `bins` applies to those with neither bins nor values.
function features.list(given, bins)
  local list = {}
  for index, one in ipairs(given) do
    local feature = {}
    for key, value in pairs(type(one) == "table" and one or { name = one }) do feature[key] = value end
    if not feature.values then feature.bins = feature.bins or bins end
    list[index] = feature
  end
  return list
end

-- What is wrong if one is neither computed nor named nor an existing metric; nil if nothing is.
function features.problem(list, metrics)
  for _, feature in ipairs(list) do
    local name = feature.name
    if not computed[name] and not feature.values and not metrics[name] then
      local names = suggest.names(metrics)
      names = table.move(names, 1, #names, 3, { "complexity", "diversity" })
      return ("option features: %q is no feature, and the baseline has no metric of that name%s; "
        .. "there are %s"):format(name, suggest.sentence(name, names), table.concat(names, ", "))
    end
  end
end

-- Whether there is one that is "computed", "named" by a model or "measured" as a metric.
function features.any(list, kind)
  for _, feature in ipairs(list) do
    if (feature.values and "named" or computed[feature.name] and "computed" or "measured") == kind then return true end
  end
  return false
end

features.most_like = near_duplicate.most_like -- older copies of openevolve.lua call it here

-- A candidate's features by name, its sketch, and its program. named: the values that a model chose.
function features.of(list, candidate, archive, named)
  local program = near_duplicate.program(candidate:sources())
  local found = { complexity = nil, diversity = nil } -- with room for these
  local sketch = text.sketch(program)
  for index = 1, #list do
    local name = list[index].name
    if list[index].values then found[name] = named and named[name]
    elseif name == "complexity" then found.complexity = #program
    elseif name == "diversity" then found.diversity = archive:diversity(sketch)
    else found[name] = candidate.metrics[name] end
  end
  return found, sketch, program
end

-- What a line must keep of a candidate, so that a fold finds its place: features and sketch, and (with_marks) what near
-- duplicates are recognised by.
function features.noted(list, candidate, archive, with_marks)
  local notes = candidate.notes
  local found, sketch, program = features.of(list, candidate, archive, notes and notes.named)
  return { features = found, sketch = sketch, marks = with_marks and near_duplicate.marks(program) or nil }
end

-- Stored features without names that are no longer among the feature's values.
function features.valid(list, found)
  local valid = {}
  for _, feature in ipairs(list) do
    local value = found[feature.name]
    if not feature.values or families.has(feature.values, value) then valid[feature.name] = value end
  end
  return valid
end

return features
