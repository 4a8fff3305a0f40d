-- edit/evolve_block: guards EVOLVE-BLOCK regions: the lines between one that contains EVOLVE-BLOCK-START and one that
-- contains EVOLVE-BLOCK-END, in any comment syntax. Checks that a new text or a commit leaves everything else
-- unchanged, to the byte, and restores the blanks and line ends that a model lost there.
local editline = require "apsis.edit.line"

local evolve_block = {}

local START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"

-- A line with both markers is prose about them.
local function mark_of(line)
  local starts, ends = line:find(START, 1, true), line:find(END, 1, true)
  if starts and not ends then return "start" end
  if ends and not starts then return "end" end
end

local REGION = "\n" -- represents a region among lines; no line contains it

local function is_region(line)
  return line:byte() == 10
end

-- Calls give the lines outside regions, their ends and their numbers; for each region REGION and the count of further
-- starts in it, its text, and the number of its last line. A start without an end reaches to the end of the text; an
-- end without a start is an ordinary line.
local function outside_lines(text)
  local position, number, region, from = 1, 0, nil, nil
  local function close(last)
    local shown = REGION .. region
    region = nil
    return shown, text:sub(from, last), number
  end
  return function()
    while position <= #text do
      local stop = text:find("\n", position, true)
      local line, ending = text:sub(position, stop and stop - 1), stop and "\n" or ""
      if stop and line:byte(-1) == 13 then line, ending = line:sub(1, -2), "\r\n" end
      local mark = mark_of(line)
      if region and mark == "end" then return close(position - 1) end -- the end's line itself comes next
      position, number = (stop or #text) + 1, number + 1
      if not region then
        if mark == "start" then region, from = 0, position end
        return line, ending, number
      elseif mark == "start" then
        region = region + 1
      end
    end
    if region then return close(#text) end
    return nil, nil, number + 1
  end
end

function evolve_block.has(text)
  if not text:find(START, 1, true) then return false end
  for line in outside_lines(text) do
    if is_region(line) then return true end
  end
  return false
end

local function shown(line)
  return line:find("%S") and editline.quote(line) or "a blank line"
end

local END_NAMES = { ["\n"] = "LF", ["\r\n"] = "CRLF", [""] = "none" }

-- What differs if it is only blanks or the line's end; nil if it is more.
local function blank_difference(was, was_end, is, is_end)
  if was == is then
    return ("only its line end differs (%s instead of %s)"):format(END_NAMES[is_end], END_NAMES[was_end])
  elseif editline.strip(was) == editline.strip(is) then
    return "only the blanks at its end differ"
  elseif was:gsub("%s+", "") == is:gsub("%s+", "") then
    return "only its blanks differ"
  end
end

local function difference(number, was, was_end, is, is_end)
  local old_region, new_region = is_region(was or ""), is_region(is or "")
  local marks = old_region or new_region or mark_of(was or "") or mark_of(is or "")
  local rule = marks and "the lines of EVOLVE-BLOCK-START and EVOLVE-BLOCK-END stay as they are, as many and in their "
    .. "order"
    or "only what is between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END may change"
  local what
  if not was then
    what = new_region and "a region was added at the end" or ("%s was added at line %d"):format(shown(is), number)
  elseif old_region then
    what = ("the region that ends at line %d has other marker lines"):format(number)
  elseif not is then
    what = ("line %d, %s, was removed"):format(number, shown(was))
  elseif new_region then
    what = ("line %d, %s, came into a region"):format(number, shown(was))
  else
    local blanks = blank_difference(was, was_end, is, is_end)
    what = blanks and ("line %d: %s"):format(number, blanks) or ("line %d, %s, became %s"):format(number, shown(was),
      shown(is))
  end
  return what .. "; " .. rule
end

-- Whether a line's end is allowed: unchanged, or added to a start that was the unterminated last line when its region
-- is filled.
local function end_fits(was, was_end, is_end)
  return was_end == is_end or is_region(was) or was_end == "" and mark_of(was) == "start"
end

-- nil if old has no regions or new has the same bytes outside them; else the first difference, and the number of the
-- line in old.
function evolve_block.outside(old, new)
  if old == new or not evolve_block.has(old) then return nil end
  local before, after = outside_lines(old), outside_lines(new)
  while true do
    local was, was_end, number = before()
    local is, is_end = after()
    if was == nil and is == nil then return nil end
    if was ~= is or not end_fits(was, was_end, is_end) then
      return difference(number, was, was_end, is, is_end), number
    end
  end
end

-- new with old's bytes outside the regions, if the lines there differ only in line ends, trailing blanks and blank
-- lines at the end of the text; else nil, message, line as from outside. new itself if old has no regions.
function evolve_block.restored(old, new)
  if old == new or not evolve_block.has(old) then return new end
  local before, after, parts = outside_lines(old), outside_lines(new), {}
  while true do
    local was, was_end, number = before()
    local is, is_end = after()
    if was == nil and is == nil then return table.concat(parts) end
    if editline.strip(was or "") ~= editline.strip(is or "") then
      return nil, difference(number, was, was_end, is, is_end), number
    end
    if was then
      if not is_region(was) then parts[#parts + 1] = was end
      parts[#parts + 1] = end_fits(was, was_end, is_end) and is_end or was_end
    end
  end
end

local LARGEST = 4194304 -- bytes of a file that is guarded

-- What a commit's changes, as git lists them, change in a file outside its regions, its mode included: a reason, or
-- nil. before(path) and after(path) read a file of the parent and of the commit; show(path) is its name in the reason.
function evolve_block.violation(changes, before, after, show)
  for _, change in ipairs(changes) do
    local path = change.old_path or change.path
    local old = change.old_mode:find("^100") and before(path)
    if old and #old <= LARGEST and evolve_block.has(old) then
      if change.status ~= "modified" then
        return ("%s was %s; it has EVOLVE-BLOCK regions, and only what is in them may change"):format(show(path),
          change.status == "type" and "replaced" or change.status)
      end
      local message = evolve_block.outside(old, after(change.path) or "")
      if message then return ("%s: %s"):format(show(path), message) end
      -- old repositories also have 100664, which becomes 100644
      if change.mode:sub(1, 4) ~= change.old_mode:sub(1, 4) then
        return ("%s: its mode became %s instead of %s; only its EVOLVE-BLOCK regions may change"):format(show(path),
          change.mode, change.old_mode)
      end
    end
  end
end

return evolve_block
