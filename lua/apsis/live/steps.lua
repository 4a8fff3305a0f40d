-- steps: the way from the baseline to a candidate: the kept steps that gained something, in order. What lies between
-- two of them, steps without gain, belongs to the later one. Reads the history only. Called by the room deliver and by
-- view.
local steps = {}

-- The candidate and its first parents, oldest first; the baseline, or the oldest that has a commit, comes first.
local function line_of(history, record)
  local line = { record }
  while record.outcome ~= "baseline" do
    local parent = record.parents and record.parents[1] and history:get(record.parents[1])
    if not parent or not parent.commit then break end
    if parent.experiment >= record.experiment then break end -- an edited journal may name itself
    record = parent
    line[#line + 1] = record
  end
  for at = 1, #line // 2 do line[at], line[#line + 1 - at] = line[#line + 1 - at], line[at] end
  return line
end

-- Whether a step is better than the ones before it. Under noise, only if the measurements showed that.
local function gained(record, bar)
  if not record.kept or not record.value then return false end
  local judged = record.acceptance and record.acceptance.verdict
  if judged then return judged == "kept" end
  return record.measured_by:better(record.value, bar)
end

-- of(history, record) -> { { record, from = the record it starts from, folded = records without gain }... }, base. The
-- last step is the candidate, with or without gain; none if it is the base itself.
function steps.of(history, record)
  local line = line_of(history, record)
  local list, folded, from, bar = {}, {}, line[1], line[1].value
  for index = 2, #line do
    local one = line[index]
    if index == #line or gained(one, bar) then
      list[#list + 1] = { record = one, from = from, folded = folded }
      from, folded, bar = one, {}, one.value or bar
    else
      folded[#folded + 1] = one
    end
  end
  return list, line[1]
end

return steps
