-- columns: how many columns of a terminal a text takes, because a wide character takes two and a combining mark none.
-- The ranges are Unicode's (East Asian Width W and F; the usual combining marks). A mark that is not listed counts as
-- one: the result is never less than what the terminal shows.
local columns = {}

local WIDE <const> = [[
1100-115F 231A-231B 2329-232A 23E9-23EC 23F0 23F3 25FD-25FE 2614-2615 2648-2653 267F 2693 26A1 26AA-26AB 26BD-26BE
26C4-26C5 26CE 26D4 26EA 26F2-26F3 26F5 26FA 26FD 2705 270A-270B 2728 274C 274E 2753-2755 2757 2795-2797 27B0 27BF
2B1B-2B1C 2B50 2B55 2E80-303E 3041-A4C6 A960-A97C AC00-D7A3 F900-FAD9 FE10-FE19 FE30-FE6B FF01-FF60 FFE0-FFE6
16FE0-1B2FB 1F004 1F0CF 1F18E 1F191-1F19A 1F200-1F320 1F32D-1F335 1F337-1F37C 1F37E-1F393 1F3A0-1F3CA 1F3CF-1F3D3
1F3E0-1F3F0 1F3F4 1F3F8-1F43E 1F440 1F442-1F4FC 1F4FF-1F53D 1F54B-1F54E 1F550-1F567 1F57A 1F595-1F596 1F5A4
1F5FB-1F64F 1F680-1F6C5 1F6CC 1F6D0-1F6D2 1F6D5-1F6DF 1F6EB-1F6EC 1F6F4-1F6FC 1F7E0-1F7F0 1F90C-1F93A 1F93C-1F945
1F947-1F9FF 1FA70-1FAFF 20000-3FFFD
]]
local MARKS <const> = "300-36F 483-489 591-5BD 610-61A 64B-65F 1AB0-1ACE 1DC0-1DFF 20D0-20F0 FE20-FE2F"

local function parse(text)
  local list = {}
  for first, last in text:gmatch "(%x+)%-?(%x*)" do
    list[#list + 1] = { tonumber(first, 16), tonumber(last ~= "" and last or first, 16) }
  end
  return list
end

local wide, marks = parse(WIDE), parse(MARKS)

-- Whether one of the ranges, which are in order, has the code point.
local function has(ranges, code)
  local low, high = 1, #ranges
  while low <= high do
    local middle = (low + high) // 2
    if code < ranges[middle][1] then high = middle - 1
    elseif code > ranges[middle][2] then low = middle + 1
    else return true end
  end
  return false
end

local function of_character(code)
  if code < 0x300 then return 1 end
  return has(wide, code) and 2 or has(marks, code) and 0 or 1
end

-- Whether each character of the text takes a column: none is U+0300 or later, but for box drawing and braille.
local function is_plain(text)
  return not text:find "[\xCC-\xE1\xE3-\xFF]" and not text:find "\xE2[^\x94-\x97\xA0-\xA3]"
end

-- How many columns a text takes; bytes that are not UTF-8 take one each.
function columns.of(text)
  local length = utf8.len(text)
  if not length then return #text end
  if length == #text or is_plain(text) then return length end
  local count = 0
  for _, code in utf8.codes(text) do count = count + of_character(code) end
  return count
end

-- The longest beginning of a text that takes at most `width` columns.
local function beginning(text, width)
  if not utf8.len(text) then return text:sub(1, width) end
  local used = 0
  for at, code in utf8.codes(text) do
    used = used + of_character(code)
    if used > width then return text:sub(1, at - 1) end
  end
  return text
end

-- A text of at most `width` columns: one that is longer ends in "~".
function columns.cut(text, width)
  if not width or columns.of(text) <= width then return text end
  return width > 0 and beginning(text, width - 1) .. "~" or ""
end

return columns
