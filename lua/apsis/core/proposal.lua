-- proposal: what plan may return, checked; its short form for the journal. Knows no world.
local json = require "apsis.json"
local suggest = require "apsis.suggest"

local proposal = {}

local kinds = {
  parents = "table", operator = "string", inspirations = "table", model = "string", k = "number", complexity = "string",
  title = "string", notes = "table", edits = "table", measure = "table", ask = "table", repeats = "number",
  stage = "number", items = "table", split = "string", answer = "string",
}

local forms = { diff = true, rewrite = true, either = true } -- how a model is asked to answer
local MOST_ANSWERS = 64 -- side by side, of one proposal

local function key_names()
  local names = {}
  for name in pairs(kinds) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The id of what a proposal names, a candidate or an id; nil and why it may not be named.
local function named(what, index, field, history)
  local id = type(what) == "table" and what.id or what
  if what == history.best then return id end
  local has, why = history:has(id)
  if has then return id end
  if has == nil then return nil, ("%s[%d] is no candidate: %s"):format(field, index, tostring(id or what)) end
  return nil, ("%s[%d]: %s %s"):format(field, index, id, why)
end

local function check_ids(list, field, history)
  local ids, count, known = {}, 0, history.asked
  for index = 1, #list do
    local id = list[index]
    if not known[id] then
      local message
      id, message = named(id, index, field, history)
      if not id then return nil, message end
    end
    for earlier = 1, count do
      if ids[earlier] == id then goto twice end
    end
    count = count + 1
    ids[count] = id
    ::twice::
  end
  return ids
end

local function count(value)
  return value == nil or math.type(value) == "integer" and value >= 1
end

-- What is wrong with the part of a request for measurements that proposals, accept and stage share; nil if nothing is.
function proposal.request_problem(request)
  if not count(request.repeats) then return "repeats must be a whole number, 1 or more" end
  if not count(request.stage) then return "stage must be a whole number, 1 or more" end
  if request.items ~= nil and type(request.items) ~= "table" then return "items must be a list of ids" end
  for index = 1, #(request.items or {}) do
    if type(request.items[index]) ~= "string" then return ("items[%d] must be an id, a string"):format(index) end
  end
  if request.split ~= nil and type(request.split) ~= "string" then return "split must be a string" end
end

-- Why JSON cannot hold a value; nil if it can.
function proposal.not_plain(value)
  if value == nil then return nil end
  local ok, message = pcall(json.encode, value)
  return not ok and message or nil
end

local free_form = { "notes", "ask", "items" }

-- What of a proposal the disk and the journal could not hold; nil if they can hold all.
local function not_plain(checked)
  for index = 1, #free_form do
    local value = checked[free_form[index]]
    local message = value ~= nil and proposal.not_plain(value)
    if message then return ("%s: %s"):format(free_form[index], message) end
  end
end

-- A copy of what was given, each key of the kind that it must be, and whether it has more than parents and operator;
-- nil and what is wrong.
local function copy_checked(given)
  local checked, more = { parents = nil, operator = nil, experiment = nil, notes = nil }, false
  for key, value in pairs(given) do
    local kind = kinds[key]
    more = more or key ~= "parents" and key ~= "operator"
    if not kind then
      return nil, ("unknown key %q in a proposal%s; keys: %s"):format(tostring(key),
        suggest.sentence(tostring(key), key_names()), table.concat(key_names(), ", "))
    end
    if type(value) ~= kind and not (key == "ask" and type(value) == "string") then
      return nil, ("proposal.%s must be a %s, not %s"):format(key, kind, type(value))
    end
    checked[key] = value
  end
  return checked, more
end

local of_measure = { "repeats", "stage", "items", "split" }

-- What a proposal has that its kind has no use for; nil if all counts.
local function idle(checked)
  for index = 1, #of_measure do
    local key = of_measure[index]
    if checked[key] ~= nil and not checked.measure then
      return ("%s goes with measure: it says what is measured again"):format(key)
    end
  end
  local kinds_given = {}
  for _, key in ipairs { "measure", "ask", "edits" } do
    if checked[key] ~= nil then kinds_given[#kinds_given + 1] = key end
  end
  if #kinds_given > 1 then return ("%s: a proposal has one of them"):format(table.concat(kinds_given, " and ")) end
end

-- Checks what a proposal may have beside parents and operator, in place. nil, or what is wrong.
local function check_rest(checked, history)
  local message = proposal.request_problem(checked) or idle(checked) or not_plain(checked)
  if message then return message end
  if checked.measure then
    checked.measure, message = check_ids(checked.measure, "measure", history)
    if message then return message end
    if #checked.measure == 0 then return "measure needs at least one candidate" end
  end
  if checked.k and (math.type(checked.k) ~= "integer" or checked.k < 1 or checked.k > MOST_ANSWERS) then
    return ("proposal.k must be a whole number from 1 to %d"):format(MOST_ANSWERS)
  end
  if checked.answer and not forms[checked.answer] then
    return ("proposal.answer must be diff, rewrite or either, not %q"):format(checked.answer)
  end
end

local function check(given, history)
  if type(given) ~= "table" then return nil, "a proposal must be a table, not " .. type(given) end
  if given.candidate then return nil, "a candidate is no proposal; return { parents = { it } }" end
  local checked, more = copy_checked(given)
  if not checked then return nil, more end
  local parents, message = checked.parents
  if parents and parents.candidate then parents = { parents } end -- one candidate instead of a list of one
  checked.parents, message = check_ids(parents or { history.best }, "parents", history)
  if not checked.parents then return nil, message end
  if #checked.parents == 0 then return nil, "a proposal needs at least one parent" end
  message = more and check_rest(checked, history)
  if message then return nil, message end
  if checked.inspirations then
    checked.inspirations, message = check_ids(checked.inspirations, "inspirations", history)
    if message then return nil, message end
  end
  checked.operator = checked.operator or (checked.measure and "measure") or (checked.ask and "ask") or "exploitation"
  return checked
end

-- check(given, history) -> proposal with parents as ids | nil, what is wrong (tables that raise when read, too).
function proposal.check(given, history)
  local ok, checked, wrong = pcall(check, given, history)
  if not ok then return nil, tostring(checked) end
  return checked, wrong
end

-- Whether plan returned a group: a list of proposals.
function proposal.is_group(given)
  return type(given) == "table" and type(given[1]) == "table" and given.parents == nil and given.candidate == nil
end

-- What the journal keeps of a proposal: all but what would be large there.
function proposal.brief(checked)
  local brief = { parents = nil, operator = nil }
  for key, value in next, checked do
    if key == "edits" then
      local paths = {}
      for path in pairs(value) do paths[#paths + 1] = path end
      table.sort(paths)
      brief.edits = paths
    elseif key ~= "ask" and key ~= "experiment" and key ~= "trajectory" then
      brief[key] = value
    end
  end
  -- As it was planned; its line reports how many were asked for.
  if checked.trajectory then brief.k = checked.trajectory.own end
  return brief
end

return proposal
