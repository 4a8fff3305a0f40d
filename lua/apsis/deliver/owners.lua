-- owners: which steps made each piece of the difference between the baseline and a candidate. Of a text that was only
-- modified, by following its lines through the steps; of any other file, every step that touched it. Called by parts.
local hunks = require "apsis.hunks"

local owners = {}

local function lines_of(text)
  local list = {}
  for line in text:gmatch "[^\n]*\n?" do
    if line ~= "" then list[#list + 1] = line end
  end
  return list
end

-- The first line of a side of a hunk; one without lines comes after the line it names.
local function start_of(hunk, side)
  return hunk[side .. "_start"] + (hunk[side .. "_count"] == 0 and 1 or 0)
end

-- The patch of each step, by path: { [path] = file of apsis.hunks }. A renamed file is found by both names.
local function patches(repo, list)
  local found = {}
  for index, step in ipairs(list) do
    local text, message = repo:diff(step.from.commit, step.record.commit, { context = 0 })
    local files
    if text then files, message = hunks.parse(text) end
    if not files then return nil, message end
    found[index] = {}
    for _, file in ipairs(files) do
      found[index][file.path] = file
      if file.old_path then found[index][file.old_path] = file end
    end
  end
  return found
end

local function touching(found, path, old_path)
  local list = {}
  for index, files in ipairs(found) do
    if files[path] or old_path and files[old_path] then list[#list + 1] = index end
  end
  return list
end

-- Replaces a hunk's lines; marks what it removes: a line of the baseline as removed by this step, one of an earlier
-- step as changed by both.
local function replay(state, hunk, step, at)
  local made = table.move(state.lines, 1, at - 1, 1, {})
  for _, line in ipairs(hunk.new) do made[#made + 1] = { text = line, step = step } end
  for index = at, at + #hunk.old - 1 do
    local line = state.lines[index]
    if not line or line.text ~= hunk.old[index - at + 1] then return false end
    if line.step then state.join(line.step, step) else state.removed[line.number] = step end
  end
  table.move(state.lines, at + #hunk.old, #state.lines, #made + 1, made)
  state.lines = made
  return true
end

-- Follows a text's lines through the steps. { lines, removed } | nil, if a step did more than modify it.
local function follow(file, found, join)
  local state = { lines = {}, removed = {}, join = join }
  for number, text in ipairs(lines_of(file.old.bytes)) do state.lines[number] = { text = text, number = number } end
  for step, files in ipairs(found) do
    local patch, shift = files[file.change.path], 0
    if patch and (patch.status ~= "modified" or patch.binary) then return nil end
    for _, hunk in ipairs(patch and patch.hunks or {}) do
      if not replay(state, hunk, step, start_of(hunk, "old") + shift) then return nil end
      shift = shift + #hunk.new - #hunk.old
    end
  end
  local made = {}
  for index, line in ipairs(state.lines) do made[index] = line.text end
  return table.concat(made) == file.new and state or nil
end

-- The steps of one hunk between the baseline's text and the candidate's.
local function of_hunk(state, hunk)
  local list, from, to = {}, start_of(hunk, "old"), start_of(hunk, "new")
  for number = from, from + #hunk.old - 1 do list[#list + 1] = state.removed[number] end
  for number = to, to + #hunk.new - 1 do
    local line = state.lines[number]
    list[#list + 1] = line and line.step
  end
  return list
end

-- of(repo, pieces, steps, join) -> { [piece's number] = list of steps' numbers, at least one }; join(a, b) is called of
-- two steps that cannot be apart. nil, message if git cannot read them.
function owners.of(repo, pieces, list, join)
  local found, message = patches(repo, list)
  if not found then return nil, message end
  local followed, result = {}, {}
  for number, piece in ipairs(pieces) do
    local file, change = piece.file, piece.file.change
    if followed[file] == nil then
      local plain = file.divisible and change.status == "modified" and change.mode == change.old_mode
      followed[file] = plain and follow(file, found, join) or false
    end
    result[number] = piece.hunk and followed[file] and of_hunk(followed[file], piece.hunk) or {}
    if #result[number] == 0 then result[number] = touching(found, change.path, change.old_path) end
    if #result[number] == 0 then -- renamed more than once
      for index = 1, #list do result[number][index] = index end
    end
  end
  return result
end

return owners
