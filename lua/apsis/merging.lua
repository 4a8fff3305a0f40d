-- merging: what two lines of descent would make together, file by file, by their common ancestor; after GEPA's merge of
-- components (github.com/gepa-ai/gepa). Draws only from the stream passed in. For strategies.
local selection = require "apsis.selection"
local suggest = require "apsis.suggest"

local merging = {}

local ATTEMPTS <const>, COMPARED <const> = 10, 5

-- The set of the ancestors of an id. parents: the list of parents of each id that counts.
function merging.ancestors(parents, id, found)
  found = found or {}
  for _, parent in ipairs(parents[id] or {}) do
    if parents[parent] and not found[parent] then
      found[parent] = true
      merging.ancestors(parents, parent, found)
    end
  end
  return found
end

-- The paths of any of three versions, sorted.
local function paths_of(...)
  local all = {}
  for _, texts in ipairs { ... } do
    for path in pairs(texts) do all[path] = true end
  end
  return suggest.names(all)
end

-- Whether a merge would combine something: a file that only one of the two changed. Of a single file: whether they
-- differ.
function merging.worthwhile(base, one, two)
  local paths = paths_of(base, one, two)
  for _, path in ipairs(paths) do
    local before, mine, other = base[path], one[path], two[path]
    if mine ~= other and (before == mine or before == other or not paths[2]) then return true end
  end
  return false
end

-- The edits that turn the first version into the merge, and from whom each file is, as "1" and "2". A file that one
-- changed is from that one; prefer() is asked for 1 or 2 if both did. nil if there is a single file, changed by both.
function merging.edits(base, one, two, prefer)
  local edits, from, paths = {}, {}, paths_of(base, one, two)
  if not paths[2] and base[paths[1]] ~= one[paths[1]] and base[paths[1]] ~= two[paths[1]] then return nil end
  for index, path in ipairs(paths) do
    local before, mine, other, whose = base[path], one[path], two[path], 1
    if before == mine and mine ~= other then whose = 2
    elseif before ~= mine and before ~= other then whose = prefer() end
    from[index] = whose
    if whose == 2 and mine ~= other then edits[path] = other or false end
  end
  return edits, table.concat(from)
end

-- `count` of the items that both have (fewer if there are not so many): a third of each kind, on which the one, the
-- other, or neither is better, then any; and how many both have. Draws from the stream.
function merging.contested(rng, metric, one, two, count)
  local kinds, chosen, rest = { {}, {}, {} }, {}, {}
  for _, item in ipairs(suggest.names(one)) do
    local mine, other = one[item], two[item]
    local kind = other and (metric:better(mine, other) and 1 or metric:better(other, mine) and 2 or 3)
    if kind then table.insert(kinds[kind], item) end
  end
  for _, items in ipairs(kinds) do
    for index, item in ipairs(rng:shuffle(items)) do
      table.insert(index <= (count + 2) // 3 and #chosen < count and chosen or rest, item)
    end
  end
  table.sort(rest)
  local common = #chosen + #rest
  return table.move(rng:shuffle(rest), 1, math.max(0, math.min(count - #chosen, #rest)), #chosen + 1, chosen), common
end

-- A common ancestor that is better than neither of two, of which none descends from the other; drawn by its mean.
local function ancestor_of(spec, one, two)
  local metric, list, scores = spec.metric, {}, {}
  local of_one, of_two = merging.ancestors(spec.parents, one), merging.ancestors(spec.parents, two)
  if of_one[two] or of_two[one] then return nil end
  for _, id in ipairs(suggest.names(of_one)) do
    local mean = spec.mean(id)
    if of_two[id] and not spec.tried[("%s %s %s"):format(one, two, id)]
      and not metric:better(mean, spec.mean(one)) and not metric:better(mean, spec.mean(two))
      and merging.worthwhile(spec.texts(id), spec.texts(one), spec.texts(two)) then
      list[#list + 1], scores[#scores + 1] = id, mean
    end
  end
  if #list == 0 then return nil end
  return selection.pick(spec.rng, list, selection.probabilities("proportional", { scores = scores }, metric))
end

local function pair(spec)
  for _ = 1, ATTEMPTS do
    local drawn = spec.rng:shuffle(table.move(spec.ids, 1, #spec.ids, 1, {}))
    local one, two = drawn[1], drawn[2]
    if two < one then one, two = two, one end
    local base = ancestor_of(spec, one, two)
    if base then return one, two, base end
  end
end

-- A merge that was not tried yet, of two of spec.ids: { one, two, edits, marks, items }; edits: nil if both changed the
-- only file; marks: what to remember as tried; items: those to compare it by. nil if there is none.
function merging.propose(spec)
  local texts = {}
  local seen = setmetatable({ texts = function(id)
    texts[id] = texts[id] or spec.texts(id)
    return texts[id]
  end }, { __index = spec })
  for _ = 1, #spec.ids > 1 and ATTEMPTS or 0 do
    local one, two, base = pair(seen)
    local mine, other = one and spec.mean(one), two and spec.mean(two)
    local function prefer()
      if spec.metric:tied(mine, other) then return spec.rng:choice { 1, 2 } end
      return spec.metric:better(mine, other) and 1 or 2
    end
    if one then
      local edits, from = merging.edits(seen.texts(base), seen.texts(one), seen.texts(two), prefer)
      local marks = { ("%s %s %s"):format(one, two, base), from and ("%s %s from %s"):format(one, two, from) }
      local items, common = merging.contested(spec.rng, spec.metric, spec.values[one], spec.values[two], COMPARED)
      if not spec.tried[marks[2] or ""] and common >= spec.overlap then
        return { one = one, two = two, edits = edits, marks = marks, items = items }
      end
    end
  end
end

return merging
