-- edit/region: EVOLVE-BLOCK regions: the lines between one that contains EVOLVE-BLOCK-START and one that contains EVOLVE-BLOCK-END,
-- in any comment syntax. Says whether a new text leaves all else as it was; changes nothing. Called by edit and, for every
-- provider, by the live world at COMMIT.
local editline = require "apsis.edit.line"

local editregion = {}

local START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"

-- A line that names both is prose about them.
local function mark_of(line)
  local starts, ends = line:find(START, 1, true), line:find(END, 1, true)
  if starts and not ends then return "start" end
  if ends and not starts then return "end" end
end

local REGION = "\n" -- stands for a region among lines; no line has it

-- Calls give the lines outside regions, without blanks at their ends, and their numbers; for each region REGION and the count of
-- further starts in it. A start without an end reaches to the end of the text; an end without a start is a line like others.
local function outside_lines(text)
  local position, number, region = 1, 0, nil
  return function()
    while position <= #text do
      local stop = text:find("\n", position, true) or #text + 1
      local line = editline.strip(text:sub(position, stop - 1))
      local mark = mark_of(line)
      if region and mark == "end" then
        local shown = REGION .. region
        region = nil -- the end's line itself comes next
        return shown, number
      end
      position, number = stop + 1, number + 1
      if not region then
        if mark == "start" then region = 0 end
        return line, number
      elseif mark == "start" then
        region = region + 1
      end
    end
    if region then
      local shown = REGION .. region
      region = nil
      return shown, number
    end
    return nil, number + 1
  end
end

function editregion.has(text)
  if not text:find(START, 1, true) then return false end
  for line in outside_lines(text) do
    if line:sub(1, 1) == REGION then return true end
  end
  return false
end

local function difference(was, is, number)
  local marks = (was or ""):sub(1, 1) == REGION or (is or ""):sub(1, 1) == REGION or mark_of(was or "") or mark_of(is or "")
  local rule = marks and "the lines of EVOLVE-BLOCK-START and EVOLVE-BLOCK-END stay as they are, as many and in their order"
    or "only what is between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END may change"
  local what
  if not was then
    what = ("%s was added at line %d"):format(editline.quote(is), number)
  elseif was:sub(1, 1) == REGION then
    what = ("the region that ends at line %d has other marker lines"):format(number)
  elseif not is then
    what = ("line %d, %s, was removed"):format(number, editline.quote(was))
  elseif is:sub(1, 1) == REGION then
    what = ("line %d, %s, came into a region"):format(number, editline.quote(was))
  else
    what = ("line %d, %s, became %s"):format(number, editline.quote(was), editline.quote(is))
  end
  return what .. "; " .. rule
end

-- nil where old has no regions or new leaves everything outside them as it was, up to blanks at the ends of lines and of the text;
-- else what differs first, and the number of the line in old.
function editregion.outside(old, new)
  if old == new or not editregion.has(old) then return nil end
  local before, after = outside_lines(old), outside_lines(new)
  while true do
    local was, number = before()
    local is = after()
    if was == nil and is == nil then return nil end
    local ended = was == nil and is == "" or is == nil and was == ""
    if was ~= is and not ended then return difference(was, is, number), number end
  end
end

return editregion
