-- fuzz_patch: whatever the bytes, hunks.parse answers or refuses with a line. What it answers is what its heads say; put into a text
-- that has its old lines, all of it and any part of it applies and is taken back to the byte; into another text, it is refused.
local hunks = require "apsis.hunks"

local MOST_LINES = 2000
local statuses = { modified = true, added = true, deleted = true, renamed = true, copied = true }

local function check_side(hunk, side)
  assert(#hunk[side] == hunk[side .. "_count"] and math.type(hunk[side .. "_start"]) == "integer" and hunk[side .. "_start"] >= 0)
  for index, line in ipairs(hunk[side]) do
    assert(line:find "^[^\n]*\n$" or index == #hunk[side] and not line:find "\n", "a line without its end")
  end
end

local function check_hunk(hunk, text)
  check_side(hunk, "old")
  check_side(hunk, "new")
  assert(hunk.added >= 0 and hunk.deleted >= 0 and #hunk.new - #hunk.old == hunk.added - hunk.deleted)
  assert(text:find(hunk.text, 1, true))
end

-- A text with the old lines of the hunks where they say; nil where two overlap, one has to be a text's last, or it would be long.
local function text_of(list)
  local lines = {}
  for index, hunk in ipairs(list) do
    local start = hunk.old_start + (hunk.old_count == 0 and 1 or 0)
    if start <= #lines or start > MOST_LINES then return nil end
    for _, side in ipairs { hunk.old, hunk.new } do
      if #side > 0 and side[#side]:sub(-1) ~= "\n" and index < #list then return nil end
    end
    while #lines < start - 1 do lines[#lines + 1] = ("filler %d\n"):format(#lines + 1) end
    table.move(hunk.old, 1, #hunk.old, #lines + 1, lines)
  end
  local last = list[#list]
  local ends = { (last.old[#last.old] or "\n"):sub(-1), (last.new[#last.new] or "\n"):sub(-1) }
  if ends[1] == "\n" and ends[2] == "\n" then lines[#lines + 1] = "the end" end
  return table.concat(lines)
end

-- Whether the new starts follow from the old ones, as in a patch that is to be taken back.
local function is_whole(list)
  local grown = 0
  for _, hunk in ipairs(list) do
    local from = hunk.old_start + (hunk.old_count == 0 and 1 or 0)
    local to = hunk.new_start + (hunk.new_count == 0 and 1 or 0)
    if from + grown ~= to then return false end
    grown = grown + #hunk.new - #hunk.old
  end
  return true
end

local function check_applied(list)
  local old = text_of(list)
  if not old then return end
  local new = assert(hunks.apply(old, list))
  if is_whole(list) then assert(hunks.revert(new, list) == old, "what is taken back is not what was") end
  for index, hunk in ipairs(list) do
    local one = assert(hunks.apply(old, { hunk }))
    assert(#one - #old == #table.concat(hunk.new) - #table.concat(hunk.old), "a hunk alone changes something else")
    if index > 1 then assert(hunks.apply(old, { hunk, list[1] }), "the order matters") end
  end
  assert(hunks.apply(old, {}) == old)
  if #table.concat(list[1].old) > 0 then
    local other, message, code = hunks.apply("another text\n" .. old:rep(2), list)
    assert(other or code == "ENOMATCH" and message:find "^line %d+: ")
  end
end

return function(bytes)
  local files, message, code = hunks.parse(bytes)
  if not files then
    assert(code == "EMALFORMED" and message:find "^line %d+: .")
    return
  end
  for _, file in ipairs(files) do
    assert(type(file.path) == "string" and statuses[file.status] and type(file.binary) == "boolean")
    assert(file.old_path == nil or type(file.old_path) == "string")
    for _, hunk in ipairs(file.hunks) do check_hunk(hunk, bytes) end
    if #file.hunks > 0 then check_applied(file.hunks) end
    for _, hunk in ipairs(file.hunks) do
      local new, said, why = hunks.apply("a\nb\nc\n", { hunk })
      assert(type(new) == "string" or why == "ENOMATCH" and said:find "^line %-?%d+: ", "apply neither answers nor refuses")
    end
  end
end
