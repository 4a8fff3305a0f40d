-- steps: the way from the baseline to a candidate: the kept steps that gained something, in order. What lies between
-- two of them, steps without gain, belongs to the later one. Reads the history only. Called by the room deliver and by
-- view.
local steps = {}

-- What is held of each record: of a way of 20,000 steps, whole records would be 50 MB.
local function brief(record)
  return { id = record.id, value = record.value, kept = record.kept, metric = record.measured_by,
    verdict = record.acceptance and record.acceptance.verdict }
end

-- The candidate and its first parents, oldest first, in brief; the baseline, or the oldest that has a commit, comes
-- first, and is returned whole, too.
local function line_of(history, record)
  local line = { brief(record) }
  while record.outcome ~= "baseline" do
    local parent = record.parents and record.parents[1] and history:get(record.parents[1])
    if not parent or not parent.commit then break end
    if parent.experiment >= record.experiment then break end -- an edited journal may name itself
    record = parent
    line[#line + 1] = brief(record)
  end
  for at = 1, #line // 2 do line[at], line[#line + 1 - at] = line[#line + 1 - at], line[at] end
  return line, record
end

-- Whether a step is better than the ones before it. Under noise, only if the measurements showed that.
local function gained(one, bar)
  if not one.kept or not one.value then return false end
  if one.verdict then return one.verdict == "kept" end
  return one.metric:better(one.value, bar)
end

-- of(history, record) -> { { id, value, record, from = the record it starts from, folded = ids of those without
-- gain }... }, base. The last step is the candidate, with or without gain; none if it is the base itself. record and
-- from are read when they are asked for.
function steps.of(history, record)
  local line, base = line_of(history, record)
  local class = { __index = function(step, key)
    return key == "record" and history:get(step.id) or key == "from" and history:get(step.starts) or nil
  end }
  local list, folded, from, bar = {}, {}, line[1].id, line[1].value
  for index = 2, #line do
    local one = line[index]
    if index == #line or gained(one, bar) then
      one.starts, one.folded = from, folded
      list[#list + 1] = setmetatable(one, class)
      from, folded, bar = one.id, {}, one.value or bar
    else
      folded[#folded + 1] = one.id
    end
  end
  if #list > 0 then list[#list].record = record end -- it may have no line yet
  return list, base
end

return steps
